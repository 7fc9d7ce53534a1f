import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/** An enabled route for each host that routes of the space call, in any environment. Hosts with a variable in them are left out. */
export async function coveringRoutes(tx: Tx, ctx: Ctx): Promise<ReadonlyMap<string, { id: string; name: string }>> {
  const rows = await tx.$queryRaw<{ host: string; id: string; name: string }[]>`
    select distinct on (host) host, id, name from (
      select rtrim(lower(substring(c.target_base_url from '^[A-Za-z]+://([^/:?#{}]+)(?=[/:]|$)')), '.') as host, r.id::text, r.name
      from routes r join route_environment_configs c on c.route_id = r.id
      where r.tenant_id = ${ctx.tenant_id}::uuid and r.sandbox = ${ctx.sandbox} and c.tenant_id = ${ctx.tenant_id}::uuid and c.sandbox = ${ctx.sandbox}
        and r.enabled and c.enabled is distinct from false and c.target_base_url is not null) t
    where host is not null order by host, name`;
  return new Map(rows.map(({ host, ...route }) => [host, route]));
}
