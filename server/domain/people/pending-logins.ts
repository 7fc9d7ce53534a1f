import { digest, isMailToken, mintMailToken } from '#server/crypto/tokens.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { PersonCtx } from '#server/kernel/person.ts';

const MINUTES = 5;
const TRIES = 5;

export type PendingLogin = { id: string; user_id: string; method: string; keep: boolean; scope_tenant_id: string | null; expires_at: Date };

/** Remembers that the first factor is proven. The token opens nothing but the second step, and goes into a cookie too, for pages without script. */
export async function createPendingLogin(
  tx: Tx,
  ctx: PersonCtx,
  login: Omit<PendingLogin, 'id' | 'expires_at'>,
): Promise<{ mfa_token: string; expires_at: Date }> {
  const { token, digest: tokenDigest } = mintMailToken();
  const expires_at = new Date(ctx.now.getTime() + MINUTES * 60_000);
  await tx.pending_logins.create({
    data: { id: newId(), ...login, digest: new Uint8Array(tokenDigest), expires_at, created_at: ctx.now },
  });
  ctx.cookies.mfa = { token, expires_at };
  return { mfa_token: token, expires_at };
}

/** The sign-in that the token, or else the cookie of this browser, belongs to. @throws Refusal not_authenticated when it has ended */
export async function pendingLoginOf(tx: Db | Tx, ctx: PersonCtx, token: string | undefined): Promise<PendingLogin> {
  const presented = token ?? ctx.mfa_token ?? '';
  const row = isMailToken(presented) && (await tx.pending_logins.findFirst({ where: fresh(presented, ctx.now), select: COLUMNS }));
  if (!row) throw ended();
  return row;
}

/** Counts a try before it is judged: five in all (interface rule 22 §4.1). @throws Refusal not_authenticated after the last */
export async function countTry(db: Db, id: string): Promise<void> {
  const { count } = await db.pending_logins.updateMany({
    where: { id, used_at: null, tries: { lt: TRIES } },
    data: { tries: { increment: 1 } },
  });
  if (count === 0) throw ended();
}

/** Of several at once exactly one gets a session. @throws Refusal not_authenticated */
export async function usePendingLogin(tx: Tx, id: string, now: Date): Promise<void> {
  const { count } = await tx.pending_logins.updateMany({ where: { id, used_at: null, expires_at: { gt: now } }, data: { used_at: now } });
  if (count === 0) throw ended();
}

const COLUMNS = { id: true, user_id: true, method: true, keep: true, scope_tenant_id: true, expires_at: true } as const;
const fresh = (token: string, now: Date) => ({
  digest: new Uint8Array(digest(token)),
  used_at: null,
  expires_at: { gt: now },
  tries: { lt: TRIES },
  user: { disabled_at: null },
});
const ended = () => new Refusal('not_authenticated', 'This sign-in has ended. Sign in again.');
