import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseHandlers, LeaseOutcome } from '#server/kernel/lease.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { entryOf } from './rows.ts';

export const leases: LeaseHandlers = { tenant_domain: { handle: expireRequests } };

/** Ends requests whose record never came (interface rule 22 §10). */
async function expireRequests(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const pending = await tx.tenant_domains.findMany({
    where: { id: { in: due.map(({ resource_id }) => resource_id) }, status: 'pending', expires_at: { not: null } },
    select: { id: true, tenant_id: true, domain: true, expires_at: true },
  });
  const next = new Map<string, Date>();
  let acted = 0;
  for (const row of pending) {
    if (row.expires_at && row.expires_at > now) {
      next.set(row.id, row.expires_at);
      continue;
    }
    await tx.tenant_domains.update({ where: { id: row.id }, data: { status: 'expired', updated_at: now } });
    const ctx = systemContext(db(), { tenant_id: row.tenant_id, now, label: 'domain expiry' });
    await writeAudit(tx, ctx, { action: 'update', ...entryOf(row), details: { state: 'expired' } });
    acted++;
  }
  return { next, acted };
}
