import { dispatch, postMail } from '#server/domain/mail/service.ts';
import { factorCode } from '#server/domain/mail/templates.ts';
import { deviceOf, issueMailCode, lockSignedIn, useCode, vouchedFor } from '#server/domain/people/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { hasFactor, stepUpRequired, takeStepUp } from '#server/kernel/step-up.ts';
import { network, throttled } from '#server/platform/throttle.ts';

const FRESH_MS = 10 * 60_000;

/**
 * The right to add a factor (interface rule 22 §5.2, §5.3): an account with one confirms with it; one without needs the code that was mailed, or for
 * an authenticator app a sign-in of the last ten minutes. @throws Refusal step_up_required, mfa_code_invalid
 */
export async function admitEnrolment(
  tx: Tx,
  ctx: SignedInCtx,
  { code, fresh }: { code: string | undefined; fresh: boolean },
): Promise<void> {
  await lockSignedIn(tx, ctx);
  if (await hasFactor(tx, ctx.user.id)) {
    // Enrolled elsewhere since this call began: it has confirmed nothing yet.
    if (!ctx.step_up) throw stepUpRequired('mfa.credential');
    return takeStepUp(tx, ctx);
  }
  // The factor that was to confirm it is gone: so is the reason.
  if (ctx.step_up) throw stepUpRequired('mfa.credential');
  if (code !== undefined) return;
  if (fresh && ctx.now.getTime() - ctx.session.created_at.getTime() <= FRESH_MS && !vouchedFor(ctx.session)) return;
  throw fresh
    ? new Refusal('step_up_required', 'You signed in more than ten minutes ago. Sign in again to add your first second factor.', {
        extra: { action_scope: 'mfa.credential', allowed_methods: ['sign_in'] },
      })
    : wrongCode();
}

/** Mails the code with which an account without a factor proves itself. @throws Refusal rate_limited */
export async function mailFactorCode(ctx: SignedInCtx): Promise<void> {
  await throttled([{ what: 'factor-mail', subject: ctx.user.id, limit: 3, window_sec: 900 }], ctx.now, 'rate_limited');
  const id = await ctx.db.$transaction(async (tx) => {
    const requester = { device: deviceOf(ctx), network: network(ctx.ip) };
    const { code } = await issueMailCode(tx, { purpose: 'factor', email: ctx.user.email, user_id: ctx.user.id, now: ctx.now, requester });
    return postMail(tx, { to: ctx.user.email, kind: 'factor_code', letter: factorCode(code), now: ctx.now });
  });
  dispatch(ctx.db, id);
}

/** Uses the mailed code up, in a transaction of its own: a failed try stays counted. @throws Refusal mfa_code_invalid, rate_limited */
export async function useFactorCode(ctx: SignedInCtx, code: string): Promise<void> {
  const forgive = await throttled([{ what: 'factor-code', subject: ctx.user.id, limit: 10, window_sec: 900 }], ctx.now, 'rate_limited');
  const requester = { device: ctx.device === null ? null : deviceOf(ctx), network: network(ctx.ip) };
  const found = await ctx.db.$transaction((tx) => useCode(tx, 'factor', ctx.user.email, code, requester, ctx.now));
  if (found?.user_id !== ctx.user.id) throw wrongCode();
  await forgive();
}

const wrongCode = () => new Refusal('mfa_code_invalid', 'The code is incorrect or has expired. Request a new one.');

/** What was begun before the account had this factor ends: it was admitted on weaker grounds. */
export async function endOtherEnrolments(tx: Tx, userId: string): Promise<void> {
  await tx.totp_secrets.deleteMany({ where: { user_id: userId, enabled_at: null } });
  await tx.webauthn_challenges.deleteMany({ where: { user_id: userId, purpose: 'register', used_at: null } });
}

/** Recovery codes stand in for a factor; with the last one they go too. */
export async function dropCodesOfNoFactor(tx: Tx, userId: string): Promise<void> {
  if (!(await hasFactor(tx, userId))) await tx.recovery_codes.deleteMany({ where: { user_id: userId } });
}
