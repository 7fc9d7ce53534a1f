import { confirmAdmissions } from '#server/domain/clients/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { baseOf } from './answers.ts';
import { type Draft, draftOf } from './config/draft.ts';
import { saveDraft } from './saving.ts';
import { environmentIds, routeByRef, type StoredRoute } from './store.ts';

type CollectionRow = { id: string; expected_environments: string[] };
export type Defaults = Map<string, { base_url: string | null; default_client_ids: string[] }>;

/** The collection that `collection_id` in a body names; null is none. @throws Refusal validation_error */
export async function collectionForBody(tx: Tx, ctx: Ctx, id: string | null | undefined) {
  if (!id) return null;
  const row = await tx.collections.findFirst({ where: { ...own(ctx), id } });
  if (!row) throw invalid('collection_id', 'no such collection in this space');
  return row;
}

/**
 * A route that joins a collection gets every environment the collection expects and it lacks, with the default target and the default
 * clients there (interface rule 10 §13.3). Environments it already has stay as they are. A route that is new admits nobody by more than before.
 * @throws Refusal what `confirmAdmissions` throws
 */
export async function joinCollection(tx: Tx, ctx: Ctx, routeId: string, collection: CollectionRow, isNew = false): Promise<void> {
  const route = await routeByRef(tx, ctx, routeId);
  const defaults = await defaultsOf(tx, ctx, collection.id);
  const added = await addExpected(tx, ctx, route, collection, defaults);
  await attachDefaultClients(tx, ctx, route.id, added, defaults, isNew);
}

/** What the collection says per environment; default clients that are gone are left out. */
export async function defaultsOf(tx: Tx, ctx: Ctx, collectionId: string): Promise<Defaults> {
  const rows = await tx.collection_environment_defaults.findMany({ where: { ...own(ctx), collection_id: collectionId } });
  const wanted = [...new Set(rows.flatMap((d) => d.default_client_ids))];
  const clients =
    wanted.length === 0 ? [] : await tx.clients.findMany({ where: { ...own(ctx), id: { in: wanted } }, select: { id: true } });
  const known = new Set(clients.map((c) => c.id));
  return new Map(
    rows.map((d) => [d.environment_name, { base_url: d.base_url, default_client_ids: d.default_client_ids.filter((id) => known.has(id)) }]),
  );
}

/** Makes the expected environments the route lacks; answers their ids by name. `retarget` also sets differing targets to the default. */
export async function addExpected(
  tx: Tx,
  ctx: Ctx,
  route: StoredRoute,
  collection: CollectionRow,
  defaults: Defaults,
  retarget = false,
): Promise<Map<string, string>> {
  const before = draftOf(route.configs);
  const missing = collection.expected_environments.filter((name) => !before.locals.has(name));
  const ids = await environmentIds(tx, ctx, missing);
  const after: Draft = { base: before.base, locals: new Map(before.locals) };
  for (const name of ids.keys()) after.locals.set(name, withTarget({}, defaults.get(name)?.base_url));
  if (retarget)
    for (const name of collection.expected_environments)
      if (before.locals.has(name)) after.locals.set(name, withTarget(before.locals.get(name), defaults.get(name)?.base_url));
  await saveDraft(tx, ctx, route, before, after, ids);
  return ids;
}

const withTarget = (local: object | undefined, url: string | null | undefined) => (url ? { ...local, target_base_url: url } : { ...local });

/** Attaches each environment's default clients. `environments`: name -> id. @throws Refusal what `confirmAdmissions` throws, unless the route is new */
export async function attachDefaultClients(
  tx: Tx,
  ctx: Ctx,
  routeId: string,
  environments: Map<string, string>,
  defaults: Defaults,
  isNew = false,
): Promise<void> {
  const pairs = [...environments].flatMap(([name, environment_id]) =>
    (defaults.get(name)?.default_client_ids ?? []).map((client_id) => ({ environment_id, client_id })),
  );
  const held = await tx.route_client_assignments.findMany({
    where: { ...own(ctx), route_id: routeId },
    select: { environment_id: true, client_id: true },
  });
  const fresh = pairs
    .filter((pair) => !held.some((one) => one.environment_id === pair.environment_id && one.client_id === pair.client_id))
    .map((pair) => ({ ...pair, route_id: routeId }));
  if (!isNew) await confirmAdmissions(tx, ctx, fresh);
  const data = fresh.map((pair) => ({ ...own(ctx), ...pair, created_at: ctx.now }));
  await tx.route_client_assignments.createMany({ data, skipDuplicates: true });
}

/** Restricting a route to clients while none is assigned refuses every call: allowed, and said. */
export async function warnNobodyAdmitted(
  tx: Tx,
  ctx: Ctx,
  route: StoredRoute,
  requires: boolean | null | undefined,
  environmentId = baseOf(route).environment_id,
): Promise<void> {
  if (!requires) return;
  const some = await tx.route_client_assignments.findFirst({
    where: { ...own(ctx), route_id: route.id, environment_id: environmentId },
    select: { client_id: true },
  });
  if (!some) ctx.warnings.push('requires_clients is on but no client is assigned, so every call is refused until one is.');
}
