import { type Answer, type FactorKeyKind, verifiedAssertion } from '#server/crypto/webauthn.ts';
import { endedInAll, endPerson, lockPerson } from '#server/domain/people/service.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { ceremonyRefusal, relyingParty, webauthnFailed } from './challenges.ts';
import { auditFactor, notifyOfFactor } from './notices.ts';

type Caller = Pick<PersonCtx, 'db' | 'request_id' | 'ip' | 'user_agent' | 'now' | 'session'>;
type Credential = NonNullable<Awaited<ReturnType<typeof credentialById>>>;

/** A credential and its owner by what an answer names; null for an unknown one, or one that was refused as a copy. */
export const credentialById = (db: Db | Tx, id: string) =>
  db.webauthn_credentials.findFirst({
    where: { credential_id: id, cloned_at: null, user: { disabled_at: null } },
    select: {
      id: true,
      credential_id: true,
      public_key: true,
      kind: true,
      name: true,
      user_id: true,
      user: { select: { id: true, email: true, webauthn_user_id: true, login_epoch: true } },
    },
  });

/**
 * Whether an answer proves the credential, after its challenge was used up. A passkey must have verified its person; a security key follows a password, and
 * touching it is enough (interface rule 22 §5.3). @throws Refusal webauthn_failed
 */
export async function assertProof(ctx: Caller, credential: Credential, answer: Answer, challenge: string): Promise<void> {
  const kind = credential.kind as FactorKeyKind; // written by registration only
  const { counter, backed_up } = await verifiedAssertion(relyingParty(), answer, {
    challenge,
    key: { ...credential, kind },
    verify: kind === 'passkey',
  }).catch((error: unknown) => {
    throw ceremonyRefusal(error);
  });
  // Compared where it is stored: of two answers at once with one counter the later is a copy's.
  const { count } = await ctx.db.webauthn_credentials.updateMany({
    where: { id: credential.id, cloned_at: null, ...(counter === 0 ? { counter: 0 } : { counter: { lt: counter } }) },
    data: { counter, backed_up, last_used_at: ctx.now },
  });
  if (count === 0) throw await refusedAsCopy(ctx, credential);
}

/**
 * The counter went back: somebody has a copy of the key. Neither opens anything from now on, everything ends that either may have opened, and the person is told.
 */
async function refusedAsCopy(ctx: Caller, credential: Credential) {
  const { id, name, user } = credential;
  const kind = credential.kind as FactorKeyKind;
  const flagged = await ctx.db.$transaction(async (tx) => {
    await lockPerson(tx, user.id);
    const { count } = await tx.webauthn_credentials.updateMany({ where: { id, cloned_at: null }, data: { cloned_at: ctx.now } });
    if (count === 0) return null;
    const ended = await endPerson(tx, { user_id: user.id, reason: 'key_copied', now: ctx.now });
    await auditFactor(tx, ctx, user, { action: 'update', id, kind, name, details: { state: 'cloned' }, ended });
    return endedInAll(ended);
  });
  if (flagged) notifyOfFactor(ctx, user, `"${name}" was blocked because a copy of it may exist`, flagged);
  return webauthnFailed(
    'This key was blocked: its counter shows that a copy of it may exist. Your sessions and connected apps were signed out. Sign in another way, then remove the key.',
  );
}
