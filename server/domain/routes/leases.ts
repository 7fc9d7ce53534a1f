import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseHandlers, LeaseOutcome } from '#server/kernel/lease.ts';

const DAY = 24 * 3_600_000;

export const leases: LeaseHandlers = { payload_capture: { handle: expireCaptures } };

/** Deletes what was sent to a link at its end, and the row a day later: until then its page can say that it has expired. */
async function expireCaptures(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const ids = due.map(({ resource_id }) => resource_id);
  const expired = await tx.$executeRaw`
    update payload_captures set state = 'expired', value_ct = null, cek_wrapped = null, tmk_version = null
    where id = any(${ids}::uuid[]) and state in ('waiting', 'captured') and expires_at <= ${now}`;
  const deleted = await tx.$executeRaw`
    delete from payload_captures where id = any(${ids}::uuid[]) and expires_at <= ${new Date(now.getTime() - DAY)}`;
  const rows = await tx.payload_captures.findMany({ where: { id: { in: ids } }, select: { id: true, expires_at: true } });
  const next = rows.map(({ id, expires_at }): [string, Date] => [id, expires_at > now ? expires_at : new Date(expires_at.getTime() + DAY)]);
  return { next: new Map(next), acted: expired + deleted };
}
