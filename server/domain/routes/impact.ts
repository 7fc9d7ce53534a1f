import type { z } from 'zod';
import { callersOfRoute, figuresOfRoutes, noCalls } from '#server/domain/request-logs/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import type { RouteRef } from './schema.ts';
import { routeByRef } from './store.ts';

/** Who would notice if the route were gone: its last day, who called it then, who is assigned to it, and the secrets it puts in (interface rule 70 §3.5). */
export function impactOfRoute(ctx: Ctx, { id }: z.output<typeof RouteRef>) {
  return read(ctx, async (tx) => {
    const route = await routeByRef(tx, ctx, id);
    const { calls, errors } = (await figuresOfRoutes(tx, ctx, [route.id])).get(route.id) ?? noCalls();
    const assigned = await tx.route_client_assignments.findMany({
      where: { ...own(ctx), route_id: route.id },
      distinct: ['client_id'],
      select: { client_id: true },
    });
    const mine = await tx.secret_references.findMany({
      where: { ...own(ctx), kind: 'route_environment', referrer_id: route.id },
      select: { secret_id: true },
    });
    const secrets = await tx.secrets.findMany({
      where: { ...own(ctx), id: { in: mine.map((one) => one.secret_id) } },
      orderBy: { shortcode_name: 'asc' },
      select: {
        id: true,
        shortcode_name: true,
        references: { where: { NOT: { kind: 'route_environment', referrer_id: route.id } }, take: 1, select: { id: true } },
      },
    });
    return {
      calls_24h: calls,
      errors_24h: errors,
      callers: await callersOfRoute(tx, ctx, route.id),
      assigned_clients: assigned.length,
      environments: route.configs.map((c) => c.environment_name),
      secrets: secrets.map((secret) => ({ id: secret.id, name: secret.shortcode_name, used_elsewhere: secret.references.length > 0 })),
    };
  });
}
