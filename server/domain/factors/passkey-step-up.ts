import { type Answer, requestOptions } from '#server/crypto/webauthn.ts';
import type { ActionScope } from '#server/kernel/action-scopes.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { assertProof, credentialById } from './assertions.ts';
import { issueChallenge, relyingParty, useChallenge, webauthnFailed } from './challenges.ts';
import { admitStepUp, confirmingPerson, failedStepUp, insertVerification } from './verifications.ts';

/** A challenge for every passkey and security key of the account (interface rule 22 §5.4). @throws Refusal mfa_required, rate_limited */
export async function stepUpOptions(ctx: SignedInCtx, { action_scope }: { action_scope: ActionScope }) {
  const admitted = await admitStepUp(confirmingPerson(ctx));
  await admitted(); // only failures count
  const options = await optionsForKeysOf(ctx, ctx.user.id);
  const made = { purpose: 'step_up' as const, user_id: ctx.user.id, session_id: ctx.session.id, action_scope };
  const expires_at = await issueChallenge(ctx.db, options.challenge, made, ctx.now);
  return { options, challenge: options.challenge, action_scope, expires_at };
}

/**
 * Asks for one of the keys of an account; those that were refused as copies are left out. Only if each is a passkey must the person be verified: a security
 * key may not be able to. @throws Refusal invalid for an account without one, which would ask for any passkey of this site
 */
export async function optionsForKeysOf(ctx: Pick<SignedInCtx, 'db'>, userId: string) {
  const known = await ctx.db.webauthn_credentials.findMany({
    where: { user_id: userId, cloned_at: null },
    select: { credential_id: true, transports: true, kind: true },
  });
  if (known.length === 0) throw new Refusal('invalid', 'This account has no passkey or security key. Use a code instead.');
  return requestOptions(relyingParty(), { verify: known.every(({ kind }) => kind === 'passkey'), known });
}

/** @throws Refusal invalid for a challenge of another scope, session or person; webauthn_failed, mfa_required, rate_limited */
export async function verifyAssertion(ctx: SignedInCtx, input: { credential: Answer; challenge: string; action_scope: ActionScope }) {
  const confirming = confirmingPerson(ctx);
  const forgive = await admitStepUp(confirming);
  const { action_scope: scope, challenge } = input;
  await useChallenge(
    ctx.db,
    challenge,
    { purpose: 'step_up', user_id: ctx.user.id, session_id: ctx.session.id, action_scope: scope },
    ctx.now,
  );
  const credential = await credentialById(ctx.db, input.credential.id);
  if (credential?.user_id !== ctx.user.id) throw failedStepUp(confirming, null, webauthnFailed());
  await assertProof(ctx, credential, input.credential, challenge).catch((error: unknown) => {
    throw failedStepUp(confirming, null, error);
  });
  const verified = await ctx.db.$transaction((tx) => insertVerification(tx, confirming, scope, 'passkey'));
  await forgive();
  return { ...verified, method: 'passkey' as const };
}
