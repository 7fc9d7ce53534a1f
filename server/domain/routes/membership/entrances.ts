import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { baseOf } from '../answers.ts';
import { effectiveConfig } from '../effective.ts';

const MOST_ROUTES = 100;
const MOST_CLIENTS = 20;

/** What decides who gets in at every environment of a collection's routes, the routes by name, the base environment first; three statements. */
export async function entrancesOf(tx: Tx, ctx: Ctx, collectionId: string) {
  const routes = await tx.routes.findMany({
    where: { ...own(ctx), collection_id: collectionId },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: MOST_ROUTES,
    include: { configs: { orderBy: [{ is_base: 'desc' }, { environment_name: 'asc' }] } },
    omit: { favicon_data: true },
  });
  const assigned = await tx.route_client_assignments.findMany({
    where: { ...own(ctx), route_id: { in: routes.map(({ id }) => id) } },
    orderBy: [{ client: { name: 'asc' } }, { client_id: 'asc' }],
    select: { route_id: true, environment_id: true, client: { select: { id: true, name: true, enabled: true } } },
  });
  const addressed = await withAddress(tx, ctx, [...new Set(assigned.map(({ client }) => client.id))]);
  const byPlace = Map.groupBy(assigned, ({ route_id, environment_id }) => `${route_id} ${environment_id}`);
  return routes.map((route) => ({
    id: route.id,
    name: route.name,
    entrances: route.configs.map((config) => {
      const settings = effectiveConfig(baseOf(route), config.is_base ? null : config);
      const clients = (byPlace.get(`${route.id} ${config.environment_id}`) ?? []).map(({ client: { id, name, enabled } }) => ({
        id,
        name,
        may_call: enabled && addressed.has(id),
      }));
      return {
        environment: config.environment_name,
        off: route.enabled ? (settings.enabled ? null : ('environment' as const)) : ('route' as const),
        requires_clients: settings.requires_clients,
        clients: clients.slice(0, MOST_CLIENTS),
        client_count: clients.length,
        client_count_able: clients.filter((client) => client.may_call).length,
        methods: settings.http_method_restrictions_enabled ? (settings.allowed_methods ?? []) : null,
        addresses: settings.ip_allowlist,
      };
    }),
  }));
}

/** Clients one of whose addresses is switched on and has not ended. */
async function withAddress(tx: Tx, ctx: Ctx, ids: string[]): Promise<ReadonlySet<string>> {
  const rows = await tx.client_credentials.findMany({
    where: { ...own(ctx), client_id: { in: ids }, kind: 'ip', enabled: true, OR: [{ expires_at: null }, { expires_at: { gt: ctx.now } }] },
    distinct: ['client_id'],
    select: { client_id: true },
  });
  return new Set(rows.map((row) => row.client_id));
}
