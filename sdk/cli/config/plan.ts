import { isDeepStrictEqual } from 'node:util';
import { refuse } from './check.ts';
import { clients } from './clients.ts';
import { collections } from './collections.ts';
import { type Configuration, type Entry, KIND_NAMES, type KindName, oneOf, type Placed } from './document.ts';
import { defaultLast, environments } from './environments.ts';
import { type Change, changesBetween, type Kind } from './kind.ts';
import { ambiguous, inParallel, type Remote, type Row } from './remote.ts';
import { routes } from './routes.ts';
import { secrets } from './secrets.ts';
import type { State } from './state.ts';

export const KINDS: Readonly<Record<KindName, Kind>> = { environments, secrets, collections, clients, routes };

/** In the order of making: what is referred to comes first. Collections come before secrets and clients, which belong to them. */
export const MAKING_ORDER: readonly KindName[] = ['environments', 'collections', 'secrets', 'clients', 'routes'];

/** What uses others goes first. */
const DELETING_ORDER: readonly KindName[] = ['routes', 'clients', 'collections', 'secrets', 'environments'];

/** One resource of the plan. `current` is what is there; a step without `wanted` deletes. */
export type Step = {
  kind: KindName;
  name: string;
  action: 'create' | 'update' | 'delete' | 'unchanged';
  id: string | undefined;
  current: Entry | undefined;
  wanted: Entry | undefined;
  changes: Change[];
};

export type Plan = { steps: Step[]; notes: string[] };

export const pending = ({ steps }: Plan): Step[] => steps.filter(({ action }) => action !== 'unchanged');

/**
 * Compares the files with the workspace. Reads only what the files name.
 * @throws CliError that names every reference without a target, and what can't be changed
 */
export async function planOf(
  configuration: Configuration,
  remote: Remote,
  env: Readonly<Record<string, string | undefined>>,
  prune?: State,
): Promise<Plan> {
  const problems: string[] = [];
  const notes: string[] = [];
  const steps: Step[] = [];
  for (const kind of MAKING_ORDER) {
    const rows = await remote.rows(kind);
    const wanted = await inParallel(configuration.resources[kind], (placed) => stepOf(kind, placed, rows, remote, env, problems));
    if (kind === 'environments') wanted.sort((a, b) => defaultLast(a.wanted as Entry, b.wanted as Entry));
    steps.push(...wanted);
  }
  const deleted = await deletions(configuration, remote, steps, notes, prune);
  problems.push(...(await danglingReferences(configuration, steps, deleted, remote)));
  refuse(problems);
  return { steps: [...steps, ...deleted], notes };
}

async function stepOf(
  kind: KindName,
  { entry, place }: Placed,
  rows: readonly Row[],
  remote: Remote,
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): Promise<Step> {
  const { read, whole, brief, problems: judge } = KINDS[kind];
  const row = rowOf(kind, entry, rows);
  const current = row ? await read(row, remote, () => {}) : undefined;
  const wanted = await whole(entry, current, remote);
  problems.push(...(judge?.(wanted, current, env) ?? []).map((problem) => `${place}: ${problem}`));
  const changes = current ? changesBetween(current, wanted) : changesBetween(undefined, brief(wanted));
  const action = current === undefined ? 'create' : changes.length > 0 ? 'update' : 'unchanged';
  return { kind, name: entry.name, action, id: row?.id, current, wanted, changes };
}

/** By slug where the file gives one, so that a rename is a rename; else by name. */
function rowOf(kind: KindName, entry: Entry, rows: readonly Row[]): Row | undefined {
  const bySlug = typeof entry.slug === 'string' ? rows.find((row) => row.slug === entry.slug) : undefined;
  if (bySlug) return bySlug;
  const named = rows.filter((row) => row.name === entry.name);
  if (named.length > 1) throw ambiguous(kind, entry.name, named);
  return named[0];
}

/** What `_delete` lists, and what an earlier apply made and no file names any more. */
async function deletions(
  configuration: Configuration,
  remote: Remote,
  steps: readonly Step[],
  notes: string[],
  prune: State | undefined,
): Promise<Step[]> {
  const deleted: Step[] = [];
  for (const kind of DELETING_ORDER) {
    const rows = await remote.rows(kind);
    const listed = configuration.gone[kind].flatMap(({ name }) => {
      const found = rows.filter((row) => row.name === name);
      if (found.length > 1) throw ambiguous(kind, name, found);
      return found;
    });
    const kept = new Set(steps.flatMap((step) => (step.kind === kind && step.id ? [step.id] : [])));
    const made = (prune?.made ?? []).filter((one) => one.kind === kind && !kept.has(one.id));
    const pruned = rows.filter((row) => made.some(({ id }) => id === row.id) && !listed.includes(row));
    if (kind === 'secrets' && pruned.length > 0) {
      notes.push(
        `Secrets are never pruned, because their values can't be brought back: ${pruned.map(({ name }) => name).join(', ')}. List them under _delete.`,
      );
      pruned.length = 0;
    }
    for (const row of [...listed, ...pruned]) {
      const current = await KINDS[kind].read(row, remote, () => {});
      deleted.push({ kind, name: row.name, action: 'delete', id: row.id, current, wanted: undefined, changes: [] });
    }
  }
  return deleted;
}

async function danglingReferences(
  configuration: Configuration,
  steps: readonly Step[],
  deleted: readonly Step[],
  remote: Remote,
): Promise<string[]> {
  const problems = new Set<string>();
  const known = new Map<KindName, Set<string>>();
  for (const kind of KIND_NAMES) {
    const gone = new Set(deleted.filter((step) => step.kind === kind).map(({ id }) => id));
    const present = (await remote.rows(kind)).filter(({ id }) => !gone.has(id)).map(({ name }) => name);
    known.set(kind, new Set([...present, ...steps.filter((step) => step.kind === kind).map(({ name }) => name)]));
  }
  for (const { kind, name, wanted } of steps)
    for (const reference of wanted ? KINDS[kind].references(wanted) : []) {
      if (known.get(reference.kind)?.has(reference.name)) continue;
      const place = configuration.resources[kind].find(({ entry }) => entry.name === name)?.place ?? `${kind}[${name}]`;
      problems.add(
        `${place}.${reference.at}: no ${oneOf(reference.kind)} is called ${reference.name}. Add it to ${reference.kind}, or correct the name.`,
      );
    }
  return [...problems];
}

/** Whether a resource is still as the plan saw it. */
export async function isAsPlanned({ kind, id, current, name }: Step, remote: Remote): Promise<boolean> {
  if (id === undefined) {
    remote.forget(kind);
    return !(await remote.rows(kind)).some((row) => row.name === name);
  }
  if (kind === 'environments' || kind === 'clients') remote.forget(kind);
  const row = (await remote.rows(kind)).find((one) => one.id === id);
  return row !== undefined && isDeepStrictEqual(await KINDS[kind].read(row, remote, () => {}), current);
}
