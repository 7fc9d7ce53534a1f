import { type Windows, windowEnd } from '#server/domain/retention/service.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';

const BATCH = 5_000;

/**
 * Removes general entries beyond each workspace's window, in short transactions, and leaves one entry that says how many (interface rule 61 §5).
 * The critical store is not touched: its triggers would not allow it. @returns rows removed
 */
export async function pruneAuditLogs(windows: readonly Windows[], now: Date): Promise<number> {
  let removed = 0;
  for (const { tenant_id, audit_days } of windows) {
    if (audit_days === null) continue;
    try {
      removed += await pruneTenant(tenant_id, windowEnd(now, audit_days), now);
    } catch (error) {
      log.error({ err: error, tenant_id }, 'cannot remove old audit log entries; the next run tries again');
    }
  }
  return removed;
}

async function pruneTenant(tenantId: string, before: Date, now: Date): Promise<number> {
  const removed = (await pruneSpace(tenantId, false, before)) + (await pruneSpace(tenantId, true, before));
  if (removed === 0) return 0;
  const ctx = systemContext(db(), { tenant_id: tenantId, now, label: 'audit retention' });
  await db().$transaction((tx) =>
    writeAudit(tx, ctx, {
      action: 'delete',
      resource_type: 'audit_log',
      resource_id: null,
      details: { removed, older_than: before },
      workspace_level: true,
    }),
  );
  return removed;
}

async function pruneSpace(tenantId: string, sandbox: boolean, before: Date): Promise<number> {
  for (let removed = 0; ; ) {
    const { rowCount } = await sql().query(
      `delete from audit_logs where id in (select id from audit_logs where tenant_id = $1 and sandbox = $2 and created_at < $3 order by created_at, seq limit ${BATCH})`,
      [tenantId, sandbox, before],
    );
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return removed;
  }
}
