import { retentionWindows, SANDBOX_LOG_DAYS, windowEnd } from '#server/domain/retention/service.ts';
import { sql } from '#server/platform/sql.ts';

const BATCH = 5_000;

/** Removes replaced secrets whose overlap is over, and attempts beyond each workspace's log retention. @returns attempts removed */
export async function pruneWebhooks(now: Date): Promise<number> {
  await sql().query('delete from webhook_secrets where expires_at <= $1', [now]);
  let removed = 0;
  for (const { tenant_id, log_days } of await retentionWindows(now)) {
    removed += await prune(tenant_id, true, windowEnd(now, SANDBOX_LOG_DAYS));
    if (log_days !== null) removed += await prune(tenant_id, false, windowEnd(now, log_days));
  }
  return removed;
}

async function prune(tenantId: string, sandbox: boolean, before: Date): Promise<number> {
  for (let removed = 0; ; ) {
    const { rowCount } = await sql().query(
      `delete from webhook_attempts where id in (select id from webhook_attempts where tenant_id = $1 and sandbox = $2 and executed_at < $3 order by executed_at limit ${BATCH})`,
      [tenantId, sandbox, before],
    );
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return removed;
  }
}
