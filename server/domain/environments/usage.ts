import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import type { EnvironmentRef, EnvironmentUsage } from './schema.ts';
import { environmentById } from './service.ts';

const NAMED = 6;

/** How many routes, secrets and clients use each environment of the space, in no order. */
export const usageOfEnvironments = (ctx: Ctx) => read(ctx, (tx) => counted(tx, ctx));

/** What uses one environment, and the first of each by name: while a route or a secret does, it cannot be deleted. */
export function impactOfEnvironment(ctx: Ctx, input: z.output<typeof EnvironmentRef>) {
  return read(ctx, async (tx) => {
    const { id, name } = await environmentById(tx, ctx, input.id);
    const [counts] = await counted(tx, ctx, id);
    const first = { orderBy: { name: 'asc' }, take: NAMED, select: { id: true, name: true } } as const;
    return {
      routes: counts?.routes ?? 0,
      overrides: counts?.overrides ?? 0,
      secrets: counts?.secrets ?? 0,
      clients: counts?.clients ?? 0,
      some_routes: await tx.routes.findMany({ where: { ...own(ctx), configs: { some: { environment_id: id } } }, ...first }),
      some_secrets: await tx.secrets.findMany({ where: { ...own(ctx), environments: { some: { environment_name: name } } }, ...first }),
      some_clients: await tx.clients.findMany({ where: { ...own(ctx), assignments: { some: { environment_id: id } } }, ...first }),
    };
  });
}

function counted(tx: Tx, ctx: Ctx, only: string | null = null): Promise<z.output<typeof EnvironmentUsage>[]> {
  return tx.$queryRaw`select e.id::text,
      (select count(*)::int from route_environment_configs c where c.environment_id = e.id) as routes,
      (select count(*)::int from route_environment_configs c where c.environment_id = e.id and not c.is_base and cardinality(c.overridden_fields) > 0) as overrides,
      (select count(*)::int from secret_environments s where s.tenant_id = e.tenant_id and s.sandbox = e.sandbox and s.environment_name = e.name) as secrets,
      (select count(distinct a.client_id)::int from route_client_assignments a where a.environment_id = e.id) as clients
    from environments e where e.tenant_id = ${ctx.tenant_id}::uuid and e.sandbox = ${ctx.sandbox} and (${only}::uuid is null or e.id = ${only}::uuid)`;
}
