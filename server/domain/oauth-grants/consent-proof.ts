import { vouchedFor } from '#server/domain/people/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { isRecent, signInAgain } from '#server/kernel/recent-sign-in.ts';
import { hasFactor, mfaRequired, takeStepUp } from '#server/kernel/step-up.ts';
import { env } from '#server/platform/env.ts';
import type { ConsentProof } from './view.shared.ts';

/**
 * What a consent still takes of the person (interface rule 21 §7): a login lasts 90 days, so a session of any age doesn't give one. A sign-in of the last 12
 * hours is enough, and if the account has a second factor it must have used it; otherwise the factor now. The word of a workspace's identity provider is not
 * the account's own factor. `factor`: the login takes the factor in any case.
 */
export async function consentProof({ db, user, session, now }: SignedInCtx, { factor }: { factor: boolean }): Promise<ConsentProof> {
  if (factor) return 'confirm';
  if (await hasFactor(db, user.id)) return isRecent(session.mfa_at, now) && !vouchedFor(session) ? 'none' : 'confirm';
  return isRecent(session.created_at, now) ? 'none' : 'sign_in';
}

/**
 * Takes that proof in the transaction of the grant. The returned call names the verification that was used up, in its audit entry too.
 * @throws Refusal mfa_required, step_up_required
 */
export async function proveConsent(tx: Tx, ctx: SignedInCtx, wanted: { factor: boolean }): Promise<SignedInCtx> {
  const proof = await consentProof(ctx, wanted);
  if (proof === 'none') return ctx;
  if (proof === 'sign_in') throw signInAgain('oauth.consent', 'grant this access');
  if (!(await hasFactor(tx, ctx.user.id))) throw mfaRequired(env.PUBLIC_ADMIN_URL);
  const call: SignedInCtx = { ...ctx, step_up: { scope: 'oauth.consent', token_digest: ctx.step_up_digest ?? null, used: null } };
  await takeStepUp(tx, call);
  return call;
}
