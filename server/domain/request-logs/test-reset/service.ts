import { SANDBOX_LOG_DAYS } from '#server/domain/retention/service.ts';
import { processState } from '#server/kernel/process-state.ts';
import { sql } from '#server/platform/sql.ts';
import { pruneSpace } from '../retention.ts';

/** Deletes the calls made in Test before its reset at `until`, and their counters. Safe to repeat. @returns calls deleted */
async function deleteCallsUntil(tenantId: string, until: Date): Promise<number> {
  // Whole minutes, because rollups are: nobody has a key of the new Test before the next one begins.
  const minute = new Date((Math.floor(until.getTime() / 60_000) + 1) * 60_000);
  const removed = await pruneSpace(tenantId, true, minute);
  for (const table of ['log_payloads', 'call_days', 'api_key_uses', 'api_version_days'])
    await sql().query(`delete from ${table} where tenant_id = $1 and sandbox and ${STAMPS[table]} <= $2`, [tenantId, until]);
  return removed;
}

/** Workspaces this process is deleting calls of; true once they were reset again in the meantime. */
const underWay = processState('test_resets.under_way', () => new Map<string, boolean>());

/** The job a reset queues, so that no response waits for it. One run at a time per workspace, however often it is reset. @returns calls deleted */
export async function deleteResetCalls(tenantId: string): Promise<number> {
  if (underWay.has(tenantId)) {
    underWay.set(tenantId, true);
    return 0;
  }
  let removed = 0;
  try {
    do {
      underWay.set(tenantId, false);
      const { rows } = await sql().query<{ test_reset_at: Date | null }>('select test_reset_at from tenants where id = $1', [tenantId]);
      const until = rows[0]?.test_reset_at;
      if (until) removed += await deleteCallsUntil(tenantId, until);
    } while (underWay.get(tenantId));
  } finally {
    underWay.delete(tenantId);
  }
  return removed;
}

/** Finishes what a stopped process left behind; runs each hour, before pruning. @returns calls deleted */
export async function deleteAllResetCalls(now: Date): Promise<number> {
  const { rows } = await sql().query<{ id: string; test_reset_at: Date }>(
    'select id, test_reset_at from tenants where test_reset_at > $1',
    [new Date(now.getTime() - (SANDBOX_LOG_DAYS + 1) * 86_400_000)],
  );
  let removed = 0;
  for (const { id, test_reset_at } of rows) removed += await deleteCallsUntil(id, test_reset_at);
  return removed;
}

const STAMPS: Record<string, string> = {
  log_payloads: 'ts',
  call_days: 'last_at',
  api_key_uses: 'last_used_at',
  api_version_days: 'last_at',
};
