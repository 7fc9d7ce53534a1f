import type { Tx } from '#server/kernel/database.ts';
import type { Lease, LeaseHandlers, LeaseOutcome } from '#server/kernel/lease.ts';
import { writeAudits } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { destroyAll } from './destruction.ts';
import { lockedKey, type VersionRow, versionsOf } from './store.ts';

export const leases: LeaseHandlers = { crypto_key_version: { batch: 50, handle: destroyDue } };

/** Destroys the versions whose undo window is over. Keys are locked in one order, as any change of them locks them first. */
async function destroyDue(tx: Tx, due: readonly Lease[], now: Date): Promise<LeaseOutcome> {
  const rows = await tx.crypto_key_versions.findMany({
    where: { id: { in: due.map(({ resource_id }) => resource_id) }, destroy_after: { not: null } },
    orderBy: { key_id: 'asc' },
    select: { id: true, key_id: true, tenant_id: true, sandbox: true },
  });
  const next = new Map<string, Date>();
  let acted = 0;
  for (const [keyId, [first, ...more]] of Map.groupBy(rows, ({ key_id }) => key_id)) {
    if (!first) continue;
    const ctx = systemContext(db(), { tenant_id: first.tenant_id, sandbox: first.sandbox, now, label: 'scheduled destruction' });
    const key = await lockedKey(tx, ctx, keyId);
    const ids = new Set([first, ...more].map(({ id }) => id));
    const scheduled = (await versionsOf(tx, ctx, keyId)).filter((v) => ids.has(v.id) && v.destroy_after !== null);
    const over = scheduled.filter((v) => isOver(v, now));
    for (const version of scheduled) if (!isOver(version, now)) next.set(version.id, version.destroy_after as Date);
    if (over.length === 0) continue;
    await writeAudits(tx, ctx, await destroyAll(tx, ctx, key, over, { trigger: 'schedule' }));
    acted += over.length;
  }
  return { next, acted };
}

const isOver = ({ destroy_after }: VersionRow, now: Date) => destroy_after !== null && destroy_after <= now;
