import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import { routeEntry } from '../audit.ts';
import { checkDraft, draftOf } from '../config/draft.ts';
import { addExpected, attachDefaultClients, type Defaults, defaultsOf, joinCollection } from '../joining.ts';
import { saveDraft } from '../saving.ts';
import { environmentIds, lockRoute, routeByRef } from '../store.ts';

export { checkTarget } from '../config/target.ts';
export { entrancesOf } from './entrances.ts';

/** Routes as members of a collection: what drifted from its defaults, how it is brought back, how many move in at once (interface rule 10 §13). */
type CollectionRow = { id: string; name: string; expected_environments: string[] };
type Drift = {
  environment: string;
  kind: 'missing_environment' | 'base_url' | 'missing_client';
  expected: string | null;
  actual: string | null;
};

/** Every member route with its drift, by name; `only` narrows to one route. */
export async function driftOf(tx: Tx, ctx: Ctx, collection: CollectionRow, only?: string) {
  const defaults = await defaultsOf(tx, ctx, collection.id);
  const routes = await tx.routes.findMany({
    where: { ...own(ctx), collection_id: collection.id, ...(only === undefined ? {} : { id: only }) },
    select: {
      id: true,
      name: true,
      configs: { select: { environment_name: true, is_base: true, target_base_url: true, overridden_fields: true } },
      assignments: { select: { client_id: true, environment: { select: { name: true } } } },
    },
    orderBy: { name: 'asc' },
  });
  return routes.map((route) => {
    const base = route.configs.find((c) => c.is_base)?.target_base_url ?? null;
    const targets = new Map(
      route.configs.map((c) => [
        c.environment_name,
        c.is_base || c.overridden_fields.includes('target_base_url') ? c.target_base_url : base,
      ]),
    );
    const attached = new Set(route.assignments.map((a) => `${a.environment.name}:${a.client_id}`));
    const drift = collection.expected_environments.flatMap((name) => driftIn(name, targets, attached, defaults));
    return { route_id: route.id, route_name: route.name, in_sync: drift.length === 0, drift };
  });
}

/** Creates missing environments, sets targets to the defaults, attaches missing clients. @throws Refusal not_found for a route that is no member */
export async function resetToDefaults(tx: Tx, ctx: Ctx, collection: CollectionRow, ref: string) {
  const route = await lockRoute(tx, ctx, ref);
  if (route.collection_id !== collection.id) throw notFound();
  const defaults = await defaultsOf(tx, ctx, collection.id);
  await addExpected(tx, ctx, route, collection, defaults, true);
  const environments = await environmentIds(tx, ctx, collection.expected_environments);
  await attachDefaultClients(tx, ctx, route.id, environments, defaults);
  await tx.routes.update({
    where: { id: route.id, ...own(ctx) },
    data: { config_version: { increment: 1 }, updated_at: ctx.now },
    select: { id: true },
  });
  const after = await routeByRef(tx, ctx, route.id);
  checkDraft(draftOf(after.configs));
  const [status] = await driftOf(tx, ctx, collection, route.id);
  if (!status) throw notFound();
  return {
    status,
    entry: routeEntry('update', after, route, {
      change: 'reset',
      collection: collection.name,
      environments: after.configs.map((c) => c.environment_name),
    }),
  };
}

/** @throws Refusal validation_error for an unknown id, or when a template names a variable the new collection does not have */
export async function moveRoutes(tx: Tx, ctx: Ctx, collection: CollectionRow, ids: readonly string[]): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (const id of [...ids].sort()) {
    const before = await lockRoute(tx, ctx, id).catch(asUnknown);
    if (before.collection_id === collection.id) continue;
    await tx.routes.update({
      where: { id, ...own(ctx) },
      data: { collection_id: collection.id, config_version: { increment: 1 }, updated_at: ctx.now },
      select: { id: true },
    });
    const draft = draftOf(before.configs);
    await saveDraft(tx, ctx, { id, collection_id: collection.id, from: before.collection_id }, draft, draft, new Map());
    await joinCollection(tx, ctx, id, collection);
    entries.push(routeEntry('update', await routeByRef(tx, ctx, id), before));
  }
  return entries;
}

function driftIn(name: string, targets: Map<string, string | null>, attached: Set<string>, defaults: Defaults): Drift[] {
  if (!targets.has(name)) return [{ environment: name, kind: 'missing_environment', expected: name, actual: null }];
  const actual = targets.get(name) ?? null;
  const { base_url = null, default_client_ids = [] } = defaults.get(name) ?? {};
  const found: Drift[] = [];
  if (base_url !== null && hostOf(base_url) !== hostOf(actual))
    found.push({ environment: name, kind: 'base_url', expected: base_url, actual });
  for (const client of default_client_ids)
    if (!attached.has(`${name}:${client}`)) found.push({ environment: name, kind: 'missing_client', expected: client, actual: null });
  return found;
}

/** Host and port as written: variables in it compare as text. */
const hostOf = (url: string | null) => /^[a-z]+:\/\/([^/]*)/i.exec(url ?? '')?.[1]?.toLowerCase() ?? null;

function asUnknown(error: unknown): never {
  if (error instanceof Refusal && error.type === 'not_found')
    throw new Refusal('validation_error', "ids: contains a route that doesn't exist in this space");
  throw error;
}
