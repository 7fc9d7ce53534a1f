import type { Db, Tx } from '#server/kernel/database.ts';

/** Why a family ended, as its row keeps it. */
export type FamilyEnd = 'code_replay' | 'refresh_reuse' | 'revoked_by_client' | 'revoked_by_person' | 'revoked_by_admin' | 'member_removed';

/** Ends families with every token born of them. @returns how many worked until now */
export async function endFamilies(tx: Tx | Db, ids: readonly string[], reason: FamilyEnd, now: Date): Promise<number> {
  const { count } = await tx.oauth_families.updateMany({
    where: { id: { in: [...ids] }, revoked_at: null },
    data: { revoked_at: now, revoked_reason: reason },
  });
  const ofFamilies = { family_id: { in: [...ids] }, revoked_at: null };
  await tx.oauth_refresh.updateMany({ where: ofFamilies, data: { revoked_at: now } });
  await tx.oauth_access.updateMany({ where: ofFamilies, data: { revoked_at: now } });
  return count;
}
