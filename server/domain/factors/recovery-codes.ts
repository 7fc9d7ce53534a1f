import { randomOf } from '#server/crypto/random.ts';
import { digest } from '#server/crypto/tokens.ts';
import type { Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';

/** Digits and letters that nobody mistakes for each other. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const HOW_MANY = 10;

/** New codes in place of all earlier ones, shown once; only digests stay (interface rule 22 §5.2). */
export async function replaceRecoveryCodes(tx: Tx, userId: string, now: Date): Promise<string[]> {
  await tx.recovery_codes.deleteMany({ where: { user_id: userId } });
  const codes = Array.from({ length: HOW_MANY }, () => [4, 4, 4].map((length) => randomOf(ALPHABET, length)).join('-'));
  await tx.recovery_codes.createMany({
    data: codes.map((code) => ({ id: newId(), user_id: userId, digest: recoveryDigest(code), created_at: now })),
  });
  return codes;
}

/** Uses a code up; null for one that is wrong or used. Of two at once exactly one wins. */
export async function useRecoveryCode(tx: Tx, userId: string, code: string, now: Date): Promise<{ id: string } | null> {
  const [used] = await tx.recovery_codes.updateManyAndReturn({
    where: { user_id: userId, digest: recoveryDigest(code), used_at: null },
    data: { used_at: now },
    select: { id: true },
  });
  return used ?? null;
}

/** SHA-256 of the code in upper case without dashes, however it was typed. */
export const recoveryDigest = (code: string): Uint8Array<ArrayBuffer> => new Uint8Array(digest(code.replace(/[\s-]/g, '').toUpperCase()));
