import type { Db } from '#server/kernel/database.ts';

const KEPT_DAYS = 30;

/** Ends what has expired, so that it no longer counts, and forgets what was revoked thirty days ago. @returns tokens deleted */
export async function pruneWrapTokens(db: Db, now: Date): Promise<number> {
  await db.wrap_tokens.updateMany({
    where: { revoked_at: null, expires_at: { lte: now } },
    data: { revoked_at: now, revoked_reason: 'expired' },
  });
  const before = new Date(now.getTime() - KEPT_DAYS * 86_400_000);
  return (await db.wrap_tokens.deleteMany({ where: { revoked_at: { lt: before } } })).count;
}
