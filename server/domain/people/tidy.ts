import { dropUnused } from '#server/domain/pictures/service.ts';
import type { Db } from '#server/kernel/database.ts';

const day = 24 * 3_600_000;

/** Forgets what can no longer act: ended sessions after 30 days, codes and unused sign-ups a week past their end, pictures that
 * nobody used, old throttle windows. */
export async function tidyPeople(db: Db, now: Date): Promise<void> {
  const ago = (days: number) => new Date(now.getTime() - days * day);
  await db.sessions.deleteMany({ where: { OR: [{ expires_at: { lt: ago(30) } }, { revoked_at: { lt: ago(30) } }] } });
  await db.mail_codes.deleteMany({ where: { expires_at: { lt: ago(7) } } });
  await db.signup_claims.deleteMany({ where: { ready_at: null, expires_at: { lt: ago(7) } } });
  await dropUnused(db, now);
  await db.rate_counters.deleteMany({ where: { expires_at: { lt: now } } });
}
