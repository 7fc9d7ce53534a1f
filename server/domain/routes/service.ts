import type { z } from 'zod';
import { defaultEnvironment, heldEnvironment } from '#server/domain/environments/service.ts';
import { withinPlan } from '#server/domain/plans/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { pageOf } from '#server/kernel/page.ts';
import { inOrder, listIds } from '#server/platform/lists/list.ts';
import { countBy, type Filter, inCollection } from '#server/platform/lists/sql.ts';
import * as answers from './answers.ts';
import { routeEntry } from './audit.ts';
import { applyPatch, checkDraft, configPatch, draftOf, fanOut, newDraft, rebase } from './config/draft.ts';
import { forgetReferences } from './config/references.ts';
import { checkTarget } from './config/target.ts';
import { withFillInAllowed } from './fill-in.ts';
import { collectionForBody, joinCollection, warnNobodyAdmitted } from './joining.ts';
import { saveDraft } from './saving.ts';
import { type CreateRoute, type ListRoutes, type RouteRef, routeSlugFrom, type UpdateRoute } from './schema.ts';
import { environmentIds, freeSlug, lockRoute, routeByRef } from './store.ts';

export { record as recordOf } from './answers.ts';
export { checkTarget } from './config/target.ts';
export { type EffectiveConfig, effectiveConfig } from './effective.ts';
export { fetchDueIcons } from './icon/service.ts';
export { byPrecedence, coversPath, interceptedTarget } from './intercept.ts';
export { freeSlug as freeRouteSlug } from './store.ts';

/** One page: its ids from the index of the sort, its rows, and the configurations of those rows, whatever the number of routes. */
export function listRoutes(ctx: Ctx, query: z.output<typeof ListRoutes>) {
  return read(ctx, async (tx) => {
    const { enabled, collection_id, environment, ...asked } = query;
    const { ids, total } = await listIds(tx, ctx, {
      ...asked,
      table: 'routes',
      filters: [
        enabled !== undefined && { column: 'enabled', is: enabled, mostly: true },
        collection_id !== undefined && inCollection(collection_id),
        environment !== undefined && configuredFor(environment),
      ],
    });
    const rows = await tx.routes.findMany({ where: { ...own(ctx), id: { in: ids } }, select: LISTED });
    const items = inOrder(ids, rows).map((row) =>
      answers.listItem(
        row,
        row.configs.find((c) => c.is_base),
        row.configs.length,
      ),
    );
    return pageOf(items, total, query);
  });
}

/** By id or slug. @throws Refusal not_found */
export const getRoute = (ctx: Ctx, { id }: z.output<typeof RouteRef>) =>
  read(ctx, async (tx) => answers.detail(await routeByRef(tx, ctx, id)));

/** @throws Refusal plan_limit 402, conflict when the name or the given slug is taken */
export async function createRoute(ctx: Ctx, input: z.output<typeof CreateRoute>) {
  await checkTarget(ctx, 'target_base_url', input.target_base_url);
  return mutate(ctx, async (tx) => {
    await withinPlan(tx, ctx, 'routes');
    const { row, entry } = await insertRoute(tx, ctx, input);
    return audited(answers.record(row), entry);
  });
}

/** Inside a `mutate` of the caller, who has checked the target URL and the plan; `entry` is the audit entry to hand back there. */
export async function insertRoute(tx: Tx, ctx: Ctx, input: z.output<typeof CreateRoute>) {
  const environment = await heldEnvironment(tx, ctx, input.base_environment ?? (await defaultEnvironment(tx, ctx)).name);
  if (!environment) throw invalid('base_environment', 'no such environment in this space');
  const collection = await collectionForBody(tx, ctx, input.collection_id);
  await refuseTaken(tx, ctx, input);
  const slug =
    input.slug === undefined
      ? await freeSlug(tx, ctx, routeSlugFrom(collection ? `${collection.name}-${input.name}` : input.name))
      : input.slug;
  const given = newDraft(environment.name, { ...configPatch(input), target_base_url: input.target_base_url });
  const draft = input.body_placeholders === undefined ? await withFillInAllowed(ctx, given) : given;
  checkDraft(draft);
  const route = await tx.routes
    .create({
      data: {
        ...own(ctx),
        id: newId(),
        name: input.name,
        slug,
        enabled: input.enabled ?? true,
        base_environment_id: environment.id,
        collection_id: collection?.id ?? null,
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    })
    .catch(onUnique('A route with this name or slug already exists.'));
  await saveDraft(tx, ctx, route, null, draft, new Map([[environment.name, environment.id]]));
  if (collection) await joinCollection(tx, ctx, route.id, collection, true);
  const row = await routeByRef(tx, ctx, route.id);
  await warnNobodyAdmitted(tx, ctx, row, input.requires_clients);
  return { row, entry: routeEntry('create', row) };
}

/**
 * Fields of the route, of its base configuration, and the two that reach every environment (interface rule 10 §4.4).
 * @throws Refusal validation_error for a slug change or settings that contradict each other; conflict
 */
export async function updateRoute(ctx: Ctx, { id, ...input }: z.output<typeof UpdateRoute>) {
  await checkTarget(ctx, 'target_base_url', input.target_base_url);
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    if (input.slug !== undefined && input.slug !== route.slug && route.slug !== null)
      throw invalid('slug', "can't be changed once it is set");
    await refuseTaken(tx, ctx, input, route.id);
    const collection = input.collection_id === undefined ? undefined : await collectionForBody(tx, ctx, input.collection_id);
    const before = draftOf(route.configs);
    const draft = draftOf(route.configs);
    const patch = configPatch(input);
    if (input.base_environment !== undefined && input.base_environment !== draft.base) rebase(draft, input.base_environment);
    applyPatch(draft, draft.base, patch);
    fanOut(draft, patch);
    checkDraft(draft);

    const ids = await environmentIds(tx, ctx, [draft.base]);
    const moved = collection !== undefined && (collection?.id ?? null) !== route.collection_id;
    await tx.routes
      .update({
        where: { id: route.id, ...own(ctx) },
        data: {
          name: input.name,
          slug: input.slug,
          enabled: input.enabled,
          collection_id: collection === undefined ? undefined : (collection?.id ?? null),
          base_environment_id: ids.get(draft.base),
          config_version: { increment: 1 },
          updated_at: ctx.now,
        },
        select: { id: true },
      })
      .catch(onUnique('A route with this name or slug already exists.'));
    await saveDraft(
      tx,
      ctx,
      { id: route.id, collection_id: collection === undefined ? route.collection_id : (collection?.id ?? null), from: route.collection_id },
      before,
      draft,
      ids,
    );
    if (moved && collection) await joinCollection(tx, ctx, route.id, collection);
    const after = await routeByRef(tx, ctx, route.id);
    await warnNobodyAdmitted(tx, ctx, after, input.requires_clients);
    return audited(answers.record(after), routeEntry('update', after, route));
  });
}

/**
 * Another target, and another signature for it, of a route that came with an AI agent, inside a `mutate` of the agent's family, which has checked the URL.
 * `entry` is the audit entry to hand back there. @throws Refusal not_found, and as updateRoute
 */
export async function retargetManaged(
  tx: Tx,
  ctx: Ctx,
  id: string,
  target: { target_base_url: string; upstream_auth?: z.output<typeof UpdateRoute>['upstream_auth'] },
) {
  const route = await lockRoute(tx, ctx, id, { managed: true });
  const before = draftOf(route.configs);
  const draft = draftOf(route.configs);
  applyPatch(draft, draft.base, configPatch(target));
  checkDraft(draft);
  const data = { config_version: { increment: 1 }, updated_at: ctx.now };
  await tx.routes.update({ where: { id: route.id, ...own(ctx) }, data, select: { id: true } });
  await saveDraft(tx, ctx, route, before, draft, new Map());
  return { entry: routeEntry('update', await routeByRef(tx, ctx, route.id), route) };
}

/** Configurations and assignments go with the route; request logs keep its name. */
export function deleteRoute(ctx: Ctx, { id }: z.output<typeof RouteRef>) {
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    await forgetReferences(tx, ctx, route.id);
    await tx.routes.delete({ where: { id: route.id, ...own(ctx) } });
    return audited({ deleted: true as const }, routeEntry('delete', route));
  });
}

const LISTED = {
  id: true,
  name: true,
  slug: true,
  enabled: true,
  collection_id: true,
  created_at: true,
  configs: {
    select: {
      is_base: true,
      environment_name: true,
      target_base_url: true,
      requires_clients: true,
      require_signature: true,
      rate_limit_enabled: true,
      rate_limit_requests: true,
      rate_limit_window_sec: true,
      allowed_methods: true,
      http_method_restrictions_enabled: true,
    },
  },
} as const satisfies Prisma.routesSelect;

/** A route has one configuration an environment at most, so these can be counted in place of the routes. */
const configuredFor = (environment: string): Filter => ({
  where: (bind) =>
    `exists (select from route_environment_configs c where c.tenant_id = routes.tenant_id and c.sandbox = routes.sandbox and c.route_id = routes.id
      and c.environment_name = ${bind(environment, 'text')})`,
  count: countBy(
    (bind, own) => `select count(*) from route_environment_configs where ${own} and environment_name = ${bind(environment, 'text')}`,
  ),
});

/** Said before the insert, so that the message can name which of the two is taken. */
async function refuseTaken(tx: Tx, ctx: Ctx, wanted: { name?: string | undefined; slug?: string | null | undefined }, self?: string) {
  const other = self === undefined ? {} : { id: { not: self } };
  if (
    wanted.name !== undefined &&
    (await tx.routes.findFirst({ where: { ...own(ctx), name: wanted.name, ...other }, select: { id: true } }))
  )
    throw new Refusal('conflict', 'A route with this name already exists.');
  if (wanted.slug && (await tx.routes.findFirst({ where: { ...own(ctx), slug: wanted.slug, ...other }, select: { id: true } })))
    throw new Refusal('conflict', 'Another route already uses this slug.');
}
