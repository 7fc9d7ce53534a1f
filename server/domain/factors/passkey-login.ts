import { digestEquals } from '#server/crypto/tokens.ts';
import { type Answer, requestOptions, userHandleOf } from '#server/crypto/webauthn.ts';
import {
  answerOf,
  type PendingLogin,
  pendingLoginOf,
  recordFailure,
  type Scope,
  scopeId,
  startSession,
} from '#server/domain/people/service.ts';
import type { PersonCtx } from '#server/kernel/person.ts';
import { inBackground } from '#server/platform/background.ts';
import { network, throttled } from '#server/platform/throttle.ts';
import { assertProof, credentialById } from './assertions.ts';
import { issueChallenge, relyingParty, useChallenge, webauthnFailed } from './challenges.ts';
import { optionsForKeysOf } from './passkey-step-up.ts';

/** A challenge for whoever has a passkey of this site. @throws Refusal rate_limited */
export async function loginOptions(ctx: PersonCtx) {
  await throttled([{ what: 'passkey-options', subject: network(ctx.ip), limit: 60, window_sec: 300 }], ctx.now, 'rate_limited');
  const options = await requestOptions(relyingParty(), { verify: true });
  return {
    options,
    challenge: options.challenge,
    expires_at: await issueChallenge(ctx.db, options.challenge, { purpose: 'login' }, ctx.now),
  };
}

/**
 * Signs in by a discoverable passkey that verified its person: what they have and what they know or are, so both factors (interface rule 22 §4.5). One answer
 * for a passkey that is unknown, of another person, or does not verify. @throws Refusal webauthn_failed, invalid, rate_limited, not_a_member
 */
export async function signInByPasskey(ctx: PersonCtx, input: { credential: Answer; challenge: string } & Scope) {
  await throttled([{ what: 'passkey-login', subject: network(ctx.ip), limit: 30, window_sec: 300 }], ctx.now, 'rate_limited');
  await useChallenge(ctx.db, input.challenge, { purpose: 'login' }, ctx.now);
  const credential = await credentialById(ctx.db, input.credential.id);
  const handle = userHandleOf(input.credential);
  if (credential?.kind !== 'passkey' || !isOwner(credential.user.webauthn_user_id, handle)) throw webauthnFailed();
  await assertProof(ctx, credential, input.credential, input.challenge).catch((error: unknown) => {
    inBackground('failed sign-in', () => recordFailure(ctx, credential.user, 'passkey'));
    throw error;
  });
  const signedIn = await ctx.db.$transaction(async (tx) => {
    const scope_tenant_id = await scopeId(tx, credential.user_id, input.scope_tenant);
    const proof = {
      methods: ['passkey'] as const,
      mfa: true,
      keep: input.keep ?? false,
      scope_tenant_id,
      judged: credential.user.login_epoch,
    };
    return startSession(tx, ctx, credential.user_id, proof);
  });
  return answerOf(signedIn);
}

const isOwner = (stored: Uint8Array | null, given: Uint8Array | null): boolean =>
  stored !== null && given !== null && digestEquals(stored, given);

/** A challenge for the keys of the account whose first factor is proven. @throws Refusal not_authenticated */
export async function secondFactorOptions(ctx: PersonCtx, input: { mfa_token?: string | undefined }) {
  const pending = await pendingLoginOf(ctx.db, ctx, input.mfa_token);
  const options = await optionsForKeysOf(ctx, pending.user_id);
  const made = { purpose: 'mfa' as const, pending_login_id: pending.id, user_id: pending.user_id };
  return { options, challenge: options.challenge, expires_at: await issueChallenge(ctx.db, options.challenge, made, ctx.now) };
}

/** Whether an answer is of a key of the account that signs in. @throws Refusal invalid, webauthn_failed */
export async function assertSecondFactor(
  ctx: PersonCtx,
  pending: PendingLogin,
  input: { credential: Answer; challenge: string },
): Promise<void> {
  const made = { purpose: 'mfa' as const, pending_login_id: pending.id, user_id: pending.user_id };
  await useChallenge(ctx.db, input.challenge, made, ctx.now);
  const credential = await credentialById(ctx.db, input.credential.id);
  if (credential?.user_id !== pending.user_id) throw webauthnFailed();
  await assertProof(ctx, credential, input.credential, input.challenge);
}
