import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { MOST_PER_PAIR } from '#server/domain/clients/service.ts';
import {
  actionInWords,
  contradiction,
  type Draft,
  differences,
  draftOf,
  merged,
  settingsOfAction,
  shownAction,
  type UnusableActions,
  upstreamsOf,
  withIds,
} from '#server/domain/routes/transfer/service.ts';
import { addStep, type Change, changesBetween, type PlanBuilder, type Step, stepOf, targetCollectionId, there } from '../plan-builder.ts';
import type { RouteRow } from '../rows.ts';
import { type Fault, failureOf, faultsOf, freshOf, waitsFor } from '../secret-faults.ts';
import { worldOf } from '../world.ts';
import { needsOf, unresolved } from './references.ts';

/** What a route is there, and what it becomes. */
export type RouteDrafts = Map<string, { before: Draft | null; after: Draft }>;

/**
 * Routes are matched by slug, which callers use and which never changes; those without one by name. Judged last: by now it is known what becomes of
 * everything they refer to.
 */
export async function planRoutes(builder: PlanBuilder, at: Date, unusable: UnusableActions): Promise<RouteDrafts> {
  const drafts: RouteDrafts = new Map();
  const [now, then] = [worldOf(builder.find.theirs), worldOf(builder.find.theirs, builder)];
  let since = performance.now();
  for (const row of builder.source.routes.values()) {
    // Thousands of them take a while, and this process serves others too.
    if (performance.now() - since > BREATH_MS) {
      await nextTurn();
      since = performance.now();
    }
    const named = builder.find.theirs.routeNamed.get(row.name);
    const match = (row.slug === null ? (named?.slug === null ? named : undefined) : builder.find.theirs.routeSlugged.get(row.slug)) ?? null;
    const namesake = named && named.id !== match?.id ? named : undefined;
    const coming = withIds(builder.source.drafts.get(row.id) as Draft, (id) => builder.steps.get(id)?.there);
    const before = match && draftOf(match.configs);
    const after = before ? merged(before, coming, builder.keepTargets) : coming;
    drafts.set(row.id, { before, after });

    const faults = faultsOf({ draft: after, collection_id: targetCollectionId(builder, row) }, then, at);
    const missing = faults.flatMap(({ why, secret, environment }) => (why === 'value' ? [{ secret, environment }] : []));
    const changes = match && before ? changesOf(builder, row, match, before, after) : [];
    const problem = namesake
      ? `${there(builder.to)} has another route named ${row.name}${namesake.slug ? ` (${namesake.slug})` : ''}. Rename one of them.`
      : (unresolved(builder, row, match, after, then) ??
        (before ? contradiction(after) : undefined) ??
        crowded(builder, row, match) ??
        actionsProblem(builder, row, unusable));
    const enabled = match ? match.enabled : row.enabled && builder.to === 'live' && faults.length === 0;
    const step = stepOf(builder, 'route', row, match, {
      changes,
      enabled,
      slug: row.slug,
      needs: needsOf(builder, row),
      needs_values: missing,
      upstreams: upstreamsOf(after),
      conflict: problem,
      version: [
        row.config_version,
        match?.config_version,
        faults.map(({ why, secret, environment }) => [why, secret, environment]),
        builder.keepTargets,
      ],
      reason: match ? null : whyOff(builder, row, faults),
    });
    if (step.action === 'update' && match?.enabled && before)
      holdBack(builder, step, freshOf(faults, faultsOf({ draft: before, collection_id: match.collection_id }, now, at)));
    addStep(builder, step);
  }
  return drafts;
}

const BREATH_MS = 20;

/** A route never arrives without what protects its values. */
function actionsProblem({ to }: PlanBuilder, row: RouteRow, unusable: UnusableActions): string | undefined {
  const problem = row.field_actions.map(unusable).find((one) => one !== undefined);
  return problem && `One of its field actions can't be used in ${there(to)}: ${problem}.`;
}

/** Clients are only added: those of both sides together may be more than a route may admit. */
function crowded({ steps, to }: PlanBuilder, row: RouteRow, match: RouteRow | null): string | undefined {
  if (!match) return undefined;
  const held = match.assignments.map((one) => [one.environment.name, one.client_id] as const);
  const coming = row.assignments.map((one) => [one.environment.name, steps.get(one.client_id)?.there ?? one.client_id] as const);
  for (const [environment, ones] of Map.groupBy([...held, ...coming], ([name]) => name))
    if (new Set(ones.map(([, id]) => id)).size > MOST_PER_PAIR)
      return `Would have more than ${MOST_PER_PAIR} assigned clients in ${environment} of ${there(to)}.`;
  return undefined;
}

/** A route that serves calls keeps serving them: a change that would make them fail waits until it would not. */
function holdBack(builder: PlanBuilder, step: Step, fresh: readonly Fault[]): void {
  if (fresh.length === 0) return;
  step.action = 'skip';
  step.reason = `On in ${there(builder.to)}, and its calls ${waitsFor(builder, step, fresh)}`;
}

function whyOff(builder: PlanBuilder, row: RouteRow, faults: readonly Fault[]): string | null {
  if (!row.enabled) return 'Off here, so it stays off.';
  const unfilled = new Set(faults.flatMap(({ why, secret }) => (why === 'value' ? [secret] : [])));
  if (unfilled.size > 0) return `Stays off until ${list.format(unfilled)} ${unfilled.size === 1 ? 'has a value' : 'have values'}.`;
  if (faults.length > 0) {
    const { fails, remedy } = failureOf(builder.to, 'route', faults);
    return `Stays off: its calls ${fails}. ${remedy}, then turn it on.`;
  }
  return builder.to === 'test' ? 'Starts off because it calls the same upstream as in Live.' : null;
}
const list = new Intl.ListFormat('en');

/** Every difference there is, what environments inherit included; whether it serves calls is not one, and clients are only added. */
function changesOf(builder: PlanBuilder, row: RouteRow, match: RouteRow, before: Draft, after: Draft): Change[] {
  const { source, find, steps } = builder;
  const to = targetCollectionId(builder, row);
  const slugOf = (id: string | null) => (id === null ? null : (find.theirs.collection.get(id)?.slug ?? 'another'));
  const facts = changesBetween({ name: match.name, base_environment: before.base }, { name: row.name, base_environment: after.base });
  const collection =
    to === match.collection_id
      ? []
      : [
          {
            field: 'collection',
            environment: null,
            from: slugOf(match.collection_id),
            to: row.collection_id ? (source.collections.get(row.collection_id)?.slug ?? null) : null,
          },
        ];
  const held = new Set(match.assignments.map((one) => `${one.environment.name} ${one.client_id}`));
  const added = row.assignments.filter((one) => !held.has(`${one.environment.name} ${steps.get(one.client_id)?.there}`));
  const clients = [...Map.groupBy(added, (one) => one.environment.name)].map(
    ([environment, ones]): Change => ({
      field: 'clients',
      environment,
      from: null,
      to: ones.map((one) => source.clients.get(one.client_id)?.name ?? one.client_id),
    }),
  );
  const [mine, theirs] = [match.field_actions, row.field_actions].map((rows) => rows.map(actionInWords));
  const actions = isDeepStrictEqual(actionSettings(match), actionSettings(row))
    ? []
    : [{ field: 'field_actions', environment: null, from: mine, to: theirs }];
  return [...facts, ...collection, ...differences(before, after), ...clients, ...actions];
}

const actionSettings = (row: RouteRow) => row.field_actions.map((one) => settingsOfAction(shownAction(one)));
