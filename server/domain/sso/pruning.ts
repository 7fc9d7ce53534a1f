import type { Db } from '#server/kernel/database.ts';

const KEPT_MS = 24 * 3_600_000;

/** Forgets attempts and tests after a day, and assertions once they have ended by themselves. */
export async function pruneSso(db: Db, now: Date) {
  const attempts = await db.sso_attempts.deleteMany({ where: { expires_at: { lt: new Date(now.getTime() - KEPT_MS) } } });
  const assertions = await db.sso_assertions.deleteMany({ where: { expires_at: { lt: now } } });
  return { attempts: attempts.count, assertions: assertions.count };
}
