import { dropUnused } from '#server/domain/pictures/service.ts';
import type { Db } from '#server/kernel/database.ts';

const day = 24 * 3_600_000;

/**
 * Deletes sessions 30 days after their end, mail codes 7 days after theirs, unused pictures, ceremonies and confirmations a
 * day after their end, and expired throttle windows.
 */
export async function pruneIdentityData(db: Db, now: Date): Promise<void> {
  const ago = (days: number) => new Date(now.getTime() - days * day);
  await db.sessions.deleteMany({ where: { OR: [{ expires_at: { lt: ago(30) } }, { revoked_at: { lt: ago(30) } }] } });
  await db.mail_codes.deleteMany({ where: { expires_at: { lt: ago(7) } } });
  for (const table of [db.webauthn_challenges, db.pending_logins, db.step_up_verifications] as {
    deleteMany: typeof db.pending_logins.deleteMany;
  }[])
    await table.deleteMany({ where: { expires_at: { lt: ago(1) } } });
  await db.totp_secrets.deleteMany({ where: { enabled_at: null, expires_at: { lt: now } } });
  await dropUnused(db, now);
  await db.rate_counters.deleteMany({ where: { expires_at: { lt: now } } });
  await db.kept_rates.deleteMany({ where: { expires_at: { lt: now } } });
}
