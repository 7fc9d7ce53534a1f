import { SANDBOX_LOG_DAYS, type Windows, windowEnd } from '#server/domain/retention/service.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';

const BATCH = 5_000;
/** Usage of days is kept 25 months (interface rule 50 §11.3), counters of budgets as long. */
const KEPT_MONTHS = 25;

/** Removes calls and usage events beyond each workspace's window; what wasn't added to its day yet stays. @returns rows removed */
export async function pruneCalls(windows: readonly Windows[], now: Date): Promise<number> {
  let removed = 0;
  for (const { tenant_id, log_days } of windows)
    try {
      if (log_days !== null) removed += await pruneSpace(tenant_id, false, windowEnd(now, log_days));
      removed += await pruneSpace(tenant_id, true, windowEnd(now, SANDBOX_LOG_DAYS));
    } catch (error) {
      log.error({ err: error, tenant_id }, 'cannot remove old calls of the AI gateway; the next run tries again');
    }
  return removed + (await pruneFigures(now));
}

const pruneSpace = async (tenantId: string, sandbox: boolean, before: Date): Promise<number> =>
  (await inBatches(
    `delete from ai_request_logs where id in (select id from ai_request_logs where tenant_id = $1 and sandbox = $2 and ts < $3 limit ${BATCH})`,
    [tenantId, sandbox, before],
  )) +
  (await inBatches(
    `delete from ai_usage_events where (call_id, attempt) in (select call_id, attempt from ai_usage_events
      where tenant_id = $1 and sandbox = $2 and ts < $3 and seq <= (select seq from ai_usage_watermark) limit ${BATCH})`,
    [tenantId, sandbox, before],
  ));

async function pruneFigures(now: Date): Promise<number> {
  const oldest = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - KEPT_MONTHS, 1));
  const minutes = new Date(now.getTime() - 2 * 24 * 3_600_000);
  return (
    (await inBatches(`delete from ai_usage_daily where ctid = any(array(select ctid from ai_usage_daily where date < $1 limit ${BATCH}))`, [
      oldest,
    ])) +
    (await inBatches(
      `delete from ai_spend_counters where ctid = any(array(select ctid from ai_spend_counters
        where (period_start < $1 or (period in ('minute', 'hour') and period_start < $2)) and reserved_nano = 0 limit ${BATCH}))`,
      [oldest, minutes],
    )) +
    (await inBatches(`delete from ai_alerts where id in (select id from ai_alerts where created_at < $1 limit ${BATCH})`, [oldest]))
  );
}

async function inBatches(text: string, values: unknown[]): Promise<number> {
  for (let removed = 0; ; ) {
    const { rowCount } = await sql().query(text, values);
    removed += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return removed;
  }
}
