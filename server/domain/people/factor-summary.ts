import type { Db, Tx } from '#server/kernel/database.ts';

/** How a person can prove the second factor at sign-in. A mailed code never counts (interface rule 22 §5.1). */
export type MfaMethod = 'passkey' | '2fa' | 'recovery';

/** What the person holds (interface rule 22 §4.8); the family `factors` writes these tables. */
export async function factorsOf(tx: Db | Tx, userId: string) {
  const passkeys = await tx.webauthn_credentials.findMany({
    where: { user_id: userId },
    orderBy: [{ created_at: 'asc' }, { id: 'asc' }],
    select: PASSKEY_COLUMNS,
  });
  const totp = await tx.totp_secrets.findFirst({ where: { user_id: userId, enabled_at: { not: null } }, select: { enabled_at: true } });
  return {
    totp: totp !== null,
    totp_enabled_at: totp?.enabled_at ?? null,
    passkeys,
    recovery_codes_left: await tx.recovery_codes.count({ where: { user_id: userId, used_at: null } }),
  };
}

/** What a person sees of a passkey. */
export const PASSKEY_COLUMNS = {
  id: true,
  kind: true,
  name: true,
  backed_up: true,
  created_at: true,
  last_used_at: true,
  cloned_at: true,
} as const;

/** What the person may sign in with after the first factor; none when they hold no factor. */
export async function mfaMethodsOf(tx: Tx, userId: string): Promise<MfaMethod[]> {
  const { totp, passkeys, recovery_codes_left } = await factorsOf(tx, userId);
  if (!totp && passkeys.length === 0) return [];
  return [
    ...(passkeys.some(({ cloned_at }) => cloned_at === null) ? ['passkey' as const] : []),
    ...(totp ? ['2fa' as const] : []),
    ...(recovery_codes_left > 0 ? ['recovery' as const] : []),
  ];
}
