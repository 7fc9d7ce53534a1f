import { log } from '../log.ts';
import { sql } from '../sql.ts';
import type { KmsFailure } from './kms.ts';

/**
 * Seals the workspace, once, for a failure to unwrap the version in use: every process drops its keys at the announcement that the row's trigger makes, and the
 * worker tells the people and polls. Without Prisma: gateways seal as well. @returns whether it was this call that sealed it
 */
export async function sealTenant(
  tenantId: string,
  version: number,
  { reason, detail }: Pick<KmsFailure, 'reason' | 'detail'>,
): Promise<boolean> {
  const { rowCount } = await sql().query(
    `update tenant_kms_configs c set sealed_since = now(), sealed_reason = $3, last_verify_error = $4, polled_at = now(), updated_at = now()
     where tenant_id = $1 and sealed_since is null
       and exists (select from tenant_master_keys k where k.tenant_id = c.tenant_id and k.version = $2 and k.status = 'active' and k.wrap_method = 'customer_kms')`,
    [tenantId, version, reason, `${reason}: ${detail}`],
  );
  if (rowCount !== 1) return false;
  await sql()
    .query("select enqueue_job('poll_sealed', '{}'::jsonb, null, 'poll_sealed', null)::text")
    .catch((error: unknown) => log.warn({ err: error }, 'cannot queue the poll of sealed workspaces; the minute job starts it'));
  return true;
}
