import type { z } from 'zod';
import { confirmAdmissions } from '#server/domain/clients/service.ts';
import { environmentByName, heldEnvironment } from '#server/domain/environments/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { routeEntry } from '../audit.ts';
import type { RouteEnvironmentRef, SetRouteClients } from '../schema.ts';
import { lockRoute, routeByRef } from '../store.ts';

/** Who may call the route in this environment while requires_clients is on, by name (interface rule 11 §4). */
export function listRouteClients(ctx: Ctx, { id, env }: z.output<typeof RouteEnvironmentRef>) {
  return read(ctx, async (tx) => {
    const route = await routeByRef(tx, ctx, id);
    const environment = await environmentByName(tx, ctx, env);
    if (!environment) throw notFound();
    return assigned(tx, ctx, route.id, environment.id);
  });
}

/** Replaces the set. @throws Refusal validation_error for an unknown client or an environment the route does not serve, what `confirmAdmissions` throws */
export function setRouteClients(ctx: Ctx, { id, env, client_ids }: z.output<typeof SetRouteClients>) {
  return mutate(ctx, async (tx) => {
    const route = await lockRoute(tx, ctx, id);
    const environment = await heldEnvironment(tx, ctx, env);
    if (!environment) throw notFound();
    if (!route.configs.some((c) => c.environment_id === environment.id))
      throw new Refusal('validation_error', `The route is not configured for ${env}, so clients can't be assigned there.`);
    const wanted = [...new Set(client_ids)];
    const known = await tx.clients.findMany({ where: { ...own(ctx), id: { in: wanted } }, select: { id: true } });
    const ids = new Set(known.map((k) => k.id));
    const unknown = wanted.findIndex((client) => !ids.has(client));
    if (unknown >= 0) throw invalid(`client_ids.${unknown}`, "contains a client that doesn't exist in this space");

    const before = (await assigned(tx, ctx, route.id, environment.id)).map((a) => a.client_id);
    const added = wanted.filter((c) => !before.includes(c));
    const removed = before.filter((c) => !wanted.includes(c));
    const pair = { ...own(ctx), route_id: route.id, environment_id: environment.id };
    await confirmAdmissions(
      tx,
      ctx,
      added.map((client_id) => ({ ...pair, client_id })),
    );
    await tx.route_client_assignments.deleteMany({ where: { ...pair, client_id: { in: removed } } });
    await tx.route_client_assignments.createMany({
      data: added.map((client_id) => ({ ...pair, client_id, created_at: ctx.now })),
      skipDuplicates: true,
    });
    await tx.routes.update({
      where: { id: route.id, ...own(ctx) },
      data: { config_version: { increment: 1 }, updated_at: ctx.now },
      select: { id: true },
    });
    return audited(
      await assigned(tx, ctx, route.id, environment.id),
      routeEntry('update', route, undefined, { environment: env, assigned: added, unassigned: removed }),
    );
  });
}

async function assigned(tx: Tx, ctx: Ctx, routeId: string, environmentId: string) {
  const rows = await tx.route_client_assignments.findMany({
    where: { ...own(ctx), route_id: routeId, environment_id: environmentId },
    select: { client: { select: { id: true, name: true, type: true, ip_address: true, enabled: true } } },
    orderBy: [{ client: { name: 'asc' } }, { client_id: 'asc' }],
  });
  return rows.map(({ client: { id, ...client } }) => ({ client_id: id, ...client }));
}
