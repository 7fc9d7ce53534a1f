import { isDeepStrictEqual } from 'node:util';
import type { Space } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { Target } from './counterparts.ts';
import { createNameIndex, indexBy } from './name-index.ts';
import type { Family } from './schema.ts';
import type { Source } from './source.ts';

export type Change = { field: string; environment: string | null; from: unknown; to: unknown; also_in?: string[] };

/** What becomes of one thing. */
export type Step = {
  type: Family;
  /** Where it comes from. */
  id: string;
  name: string;
  slug: string | null;
  picked: boolean;
  action: 'create' | 'update' | 'skip' | 'conflict';
  reason: string | null;
  /** Its id there; made up beforehand for what is to be created, so that others can refer to it. */
  there: string;
  exists: boolean;
  /** Ids of what it refers to, where it comes from: it cannot go without them. */
  needs: readonly string[];
  enabled: boolean | null;
  changes: Change[];
  /** `routes`: who there needs it, if it is not this step's own thing. */
  needs_values: { secret: string; environment: string; routes?: string[] }[];
  upstreams: string[];
  left_behind: string[];
  /** What the rows on both sides were when this was judged. */
  versions: string;
};

/** Both sides, and what was judged so far. Families are judged in the order in which one may refer to the next. */
export type PlanBuilder = {
  source: Source;
  target: Target;
  to: Space;
  keepTargets: boolean;
  steps: Map<string, Step>;
  find: Finder;
  there: Map<string, Step>;
};

/** Notes what becomes of a thing, under its id on either side. */
export function addStep(builder: PlanBuilder, step: Step): void {
  builder.steps.set(step.id, step);
  builder.there.set(step.there, step);
}

/** Where the collection of a thing is on the other side, or will be; null for a thing without one. */
export const targetCollectionId = ({ steps }: PlanBuilder, { collection_id }: { collection_id: string | null }): string | null =>
  (collection_id && steps.get(collection_id)?.there) || null;

/** The collection of a thing by the name both sides know it by; of one that is not among those that were looked up, that there is one. */
export const collectionNamed = (
  { source, find }: PlanBuilder,
  { collection_id }: { collection_id: string | null },
  side: 'source' | 'target',
) => (side === 'source' ? source.collections : find.theirs.collection).get(collection_id ?? '')?.slug ?? (collection_id && 'another');

/** What routes look up again and again, whatever the number of routes and secrets. */
type Finder = ReturnType<typeof finderOf>;
export function finderOf(source: Source, target: Target) {
  return {
    mine: {
      secretNamed: indexBy(source.secrets.values(), (row) => row.shortcode_name),
      collectionSlugged: indexBy(source.collections.values(), (row) => row.slug),
    },
    theirs: {
      ...createNameIndex(target.collections, target.secrets),
      secretFolded: indexBy(target.secrets, (row) => row.shortcode_name.toLowerCase()),
      routeSlugged: indexBy(
        target.routes.filter((row) => row.slug !== null),
        (row) => row.slug,
      ),
      routeNamed: indexBy(target.routes, (row) => row.name),
    },
  };
}

export const there = (to: Space): string => (to === 'live' ? 'Live' : 'Test');
/** What the page calls doing it. */
export const again = (to: Space): string => (to === 'live' ? 'promote' : 'copy');

type Row = { id: string; updated_at: Date };
type Judged = Partial<Pick<Step, 'slug' | 'needs' | 'enabled' | 'changes' | 'needs_values' | 'upstreams' | 'left_behind' | 'reason'>> & {
  conflict?: string | null | undefined;
  /** More that a version depends on than the time of the row's last change. */
  version?: unknown;
};

/** A step from what a family found: nothing there makes it a creation, a difference an update if it was picked itself. */
export function stepOf(builder: PlanBuilder, type: Family, row: Row & { name: string }, match: Row | null, judged: Judged): Step {
  const { conflict, version, changes = [], ...rest } = judged;
  const picked = builder.source.picked.has(row.id);
  const action = conflict ? 'conflict' : match === null ? 'create' : picked && changes.length > 0 ? 'update' : 'skip';
  const differs = changes.length > 0 && !picked;
  return {
    type,
    id: row.id,
    name: row.name,
    slug: null,
    picked,
    action,
    reason: null,
    there: match?.id ?? newId(),
    exists: match !== null,
    needs: [],
    enabled: null,
    needs_values: [],
    upstreams: [],
    left_behind: [],
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null)),
    ...(conflict
      ? { reason: conflict }
      : action === 'skip'
        ? { reason: differs ? `Differs in ${there(builder.to)}. Select it to update it.` : `Unchanged in ${there(builder.to)}.` }
        : {}),
    changes: action === 'update' ? changes : [],
    versions: JSON.stringify([row.updated_at, match?.updated_at ?? null, version ?? null], bigints),
  };
}

/** The fields that differ, for what both sides have as one value. */
export const changesBetween = (from: Record<string, unknown>, to: Record<string, unknown>): Change[] =>
  Object.keys(to)
    .filter((field) => !isDeepStrictEqual(from[field] ?? null, to[field] ?? null))
    .map((field) => ({ field, environment: null, from: from[field] ?? null, to: to[field] ?? null }));

/** What came along only for things that cannot go stays where it is. */
export function dropUnneeded(builder: PlanBuilder): void {
  const needed = new Set<string>();
  const open = [...builder.steps.values()].filter((step) => step.picked && step.action !== 'conflict');
  for (let step = open.pop(); step; step = open.pop())
    for (const id of step.needs) {
      const next = builder.steps.get(id);
      if (!next || needed.has(id)) continue;
      needed.add(id);
      open.push(next);
    }
  for (const step of builder.steps.values()) if (!step.picked && step.action === 'create' && !needed.has(step.id)) step.action = 'skip';
}

/** What refers to something that cannot go cannot go either. */
export function spreadConflicts(builder: PlanBuilder): void {
  for (let spread = true; spread; ) {
    spread = false;
    for (const step of builder.steps.values()) {
      if (step.action !== 'create' && step.action !== 'update') continue;
      const stuck = step.needs.map((id) => builder.steps.get(id)).find((needed) => needed?.action === 'conflict');
      if (!stuck) continue;
      Object.assign(step, { action: 'conflict', changes: [], reason: `Needs the ${stuck.type} ${stuck.name}, which has a conflict.` });
      spread = true;
    }
  }
}

const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value);
