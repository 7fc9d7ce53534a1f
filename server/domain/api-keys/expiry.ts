import type { Db } from '#server/kernel/database.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { notifyKeyExpiry } from './notices.ts';

const BATCH = 500;

/**
 * Marks keys whose end has come as inactive, with one audit entry each. They are refused from the moment itself; this is what makes lists, counts
 * and plan limits say so (interface rule 20 §1). Called by the worker each minute. @returns keys disabled
 */
export async function disableExpiredKeys(db: Db, now: Date): Promise<number> {
  const ended = await db.api_keys.findMany({
    where: { active: true, OR: [{ expires_at: { lte: now } }, { revoke_at: { lte: now } }] },
    select: { id: true, tenant_id: true, sandbox: true, name: true, key_id: true, revoke_at: true, expires_at: true },
    take: BATCH,
  });
  let disabled = 0;
  for (const { revoke_at, expires_at, ...key } of ended) {
    const replaced = revoke_at !== null && revoke_at <= now;
    disabled += await db.$transaction(async (tx) => {
      const { count } = await tx.api_keys.updateMany({
        where: { id: key.id, active: true },
        data: { active: false, ...(replaced ? { revoked_at: revoke_at } : {}) },
      });
      if (count === 0) return count;
      await writeAudit(tx, systemContext(db, { tenant_id: key.tenant_id, sandbox: key.sandbox, now, label: 'key expiry' }), {
        action: 'disable',
        resource_type: 'api_key',
        resource_id: key.id,
        name: key.name,
        details: { reason: replaced ? 'replaced' : 'expired', key_id: key.key_id },
      });
      if (!replaced && expires_at) await notifyKeyExpiry(tx, { ...key, expires_at }, 0, now);
      return count;
    });
  }
  return disabled;
}
