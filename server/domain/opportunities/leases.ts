import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseHandlers, LeaseOutcome } from '#server/kernel/lease.ts';

export const leases: LeaseHandlers = { opportunity: { handle: wakeSnoozed } };

/** Makes suggestions pending again whose snooze is over. */
async function wakeSnoozed(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const ids = due.map(({ resource_id }) => resource_id);
  const acted = await tx.$executeRaw`
    update opportunities set status = 'pending', snoozed_until = null, snoozed_calls = null, acted_at = null, updated_at = ${now}
    where id = any(${ids}::uuid[]) and status = 'snoozed' and snoozed_until <= ${now}`;
  const rows = await tx.opportunities.findMany({
    where: { id: { in: ids }, snoozed_until: { gt: now } },
    select: { id: true, snoozed_until: true },
  });
  return { next: new Map(rows.map(({ id, snoozed_until }) => [id, snoozed_until as Date])), acted };
}
