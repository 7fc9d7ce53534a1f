import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';

/**
 * A reset of the space: users that exist on servers are revoked by the sweeper, so their leases stay until then, and with them the connections that lead
 * there, out of sight. A mint that is under way finds its lease taken, and drops what it made.
 */
export async function resetDatabases(tx: Tx, ctx: Ctx): Promise<void> {
  await tx.dyn_db_leases.deleteMany({ where: { ...own(ctx), ended_at: { not: null } } });
  await tx.$executeRaw`
    update dyn_db_leases set phase = 'revoking', ends_as = 'revoked', status = case status when 'errored' then status else 'renewing' end, attempts = 0,
      next_attempt_at = ${ctx.now}, renewable = false
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox}`;
  await tx.dyn_db_roles.deleteMany({ where: own(ctx) });
  await tx.$executeRaw`
    update dyn_db_connections c set deleted_at = ${ctx.now} where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and deleted_at is null
      and exists (select from dyn_db_leases l where l.connection_id = c.id and l.ended_at is null)`;
  await tx.dyn_db_connections.deleteMany({ where: { ...own(ctx), deleted_at: null } });
}
