import type { z } from 'zod';
import { figuresOfRoutes, noCalls } from '#server/domain/request-logs/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import type { OverviewRoutes } from './schema.ts';

/**
 * What the dashboard's list shows beside each route: the environments it serves, the base first, and its last day. Two statements, whatever the number of
 * routes; ids that are nobody's here are left out.
 */
export function overviewRoutes(ctx: Ctx, { ids }: z.output<typeof OverviewRoutes>) {
  return read(ctx, async (tx) => {
    const configs = await tx.route_environment_configs.findMany({
      where: { ...own(ctx), route_id: { in: ids } },
      orderBy: [{ is_base: 'desc' }, { environment_name: 'asc' }],
      select: { route_id: true, environment_name: true, enabled: true, is_base: true },
    });
    const byRoute = Map.groupBy(configs, (config) => config.route_id);
    const figures = await figuresOfRoutes(tx, ctx, [...byRoute.keys()]);
    return ids.flatMap((route_id) => {
      const environments = byRoute.get(route_id)?.map((c) => ({ name: c.environment_name, enabled: c.enabled !== false }));
      return environments ? [{ route_id, environments, ...(figures.get(route_id) ?? noCalls()) }] : [];
    });
  });
}
