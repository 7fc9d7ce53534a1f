import { digest } from '#server/crypto/tokens.ts';
import { CeremonyFailed, type FactorKeyKind, type RelyingParty } from '#server/crypto/webauthn.ts';
import type { ActionScope } from '#server/kernel/action-scopes.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { env } from '#server/platform/env.ts';
import { log } from '#server/platform/log.ts';

const MINUTES = 5;

/** Whom and what a challenge was made for: its answer is good for nothing else. */
export type ChallengeOf = {
  purpose: 'register' | 'login' | 'mfa' | 'step_up';
  user_id?: string;
  session_id?: string;
  pending_login_id?: string;
  action_scope?: ActionScope;
  kind?: FactorKeyKind;
};

export const relyingParty = (): RelyingParty => ({ id: env.WEBAUTHN_RP_ID, origin: new URL(env.PUBLIC_ADMIN_URL).origin });

/** Stores the digest of a challenge. @returns when it ends */
export async function issueChallenge(tx: Db | Tx, challenge: string, made: ChallengeOf, now: Date): Promise<Date> {
  const expires_at = new Date(now.getTime() + MINUTES * 60_000);
  await tx.webauthn_challenges.create({
    data: { id: newId(), digest: new Uint8Array(digest(challenge)), ...made, expires_at, created_at: now },
  });
  return expires_at;
}

/**
 * Uses a challenge up before its answer is judged, in a statement of its own: an answer is judged once, whatever comes of it. One that was made for another
 * purpose, scope, session or person stays as it was. @throws Refusal invalid
 */
export async function useChallenge(db: Db, challenge: string, made: ChallengeOf, now: Date): Promise<{ kind: string | null }> {
  const { purpose, user_id = null, session_id = null, pending_login_id = null, action_scope = null } = made;
  const [row] = await db.webauthn_challenges.updateManyAndReturn({
    where: {
      digest: new Uint8Array(digest(challenge)),
      purpose,
      user_id,
      session_id,
      pending_login_id,
      action_scope,
      used_at: null,
      expires_at: { gt: now },
    },
    data: { used_at: now },
    select: { kind: true },
  });
  if (!row) throw new Refusal('invalid', 'challenge: is not one of this ceremony, was already used, or has expired. Start again.');
  return row;
}

/** What a failed ceremony is answered with; any other error stays what it is. */
export function ceremonyRefusal(error: unknown): unknown {
  if (!(error instanceof CeremonyFailed)) return error;
  log.debug({ err: error }, 'a WebAuthn ceremony failed');
  return webauthnFailed();
}

export const webauthnFailed = (message = "The passkey or security key couldn't be verified. Try again.") =>
  new Refusal('webauthn_failed', message);
