import { retentionWindows, SANDBOX_LOG_DAYS, windowEnd } from '#server/domain/retention/service.ts';
import { sql } from '#server/platform/sql.ts';

const BATCH = 2_000;

/** Removes runs that ended beyond each workspace's log retention, with what their nodes gave. @returns runs removed */
export async function pruneExecutions(now: Date): Promise<number> {
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
      `delete from workflow_executions where id in (select id from workflow_executions
        where tenant_id = $1 and sandbox = $2 and completed_at < $3 order by completed_at limit ${BATCH})`,
      [tenantId, sandbox, before],
    );
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return removed;
  }
}
