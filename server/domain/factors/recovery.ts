import { endedBy, endOthers, lockSignedIn } from '#server/domain/people/service.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { mailFactorCode, useFactorCode } from './enrolment.ts';
import { auditFactor, notifyOfFactor } from './notices.ts';

const WINDOW_MS = 15 * 60_000;

/**
 * For whoever lost their device: a recovery code signs in but confirms nothing (interface rule 22 §5.1), so they could never replace what they lost. Within
 * 15 minutes of such a sign-in a mailed code, as a third proof, removes every factor; new ones are enrolled as on an account that never had any.
 * @throws Refusal step_up_required for a session that no recovery code opened, rate_limited
 */
export async function challengeRecovery(ctx: SignedInCtx): Promise<void> {
  assertRecovering(ctx);
  await mailFactorCode(ctx);
}

/** Removes every factor and ends everything that stands for the person but this session. @throws Refusal step_up_required, mfa_code_invalid, rate_limited */
export async function resetFactors(ctx: SignedInCtx, { code }: { code: string }) {
  assertRecovering(ctx);
  await useFactorCode(ctx, code);
  const { token, ended } = await ctx.db.$transaction(async (tx) => {
    await lockSignedIn(tx, ctx);
    const where = { user_id: ctx.user.id };
    await tx.webauthn_credentials.deleteMany({ where });
    await tx.totp_secrets.deleteMany({ where });
    await tx.recovery_codes.deleteMany({ where });
    await tx.webauthn_challenges.deleteMany({ where });
    const { all, token } = await endOthers(tx, ctx, 'factors_reset');
    await auditFactor(tx, ctx, ctx.user, { action: 'delete', id: null, kind: null, details: { via: 'recovery_code' }, ended: all });
    return { token, ended: endedBy(ctx, all) };
  });
  notifyOfFactor(ctx, ctx.user, 'All second factors were removed after a sign-in with a recovery code', ended);
  return { token, ended };
}

function assertRecovering({ session, now }: SignedInCtx): void {
  if (session.auth_methods.includes('recovery') && now.getTime() - session.created_at.getTime() <= WINDOW_MS) return;
  throw new Refusal('step_up_required', 'Sign in with a recovery code first. It lets you replace lost factors for 15 minutes.', {
    extra: { action_scope: 'mfa.credential', allowed_methods: ['recovery'] },
  });
}
