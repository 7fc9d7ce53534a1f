import { SignInAnswer } from '#server/domain/people/schema.ts';
import { operation } from '#server/kernel/operation.ts';
import { pendingLogin, signInBySecondFactor } from './login.ts';
import {
  EnableTotp,
  Nothing,
  Ok,
  PendingLoginView,
  PendingRef,
  RecoveryCodes,
  SecondFactor,
  SetUpTotp,
  TotpEnabled,
  TotpSetup,
  Verification,
  VerifyCode,
} from './schema.ts';
import { disableTotp, enableTotp, newRecoveryCodes, setUpTotp } from './totp.ts';
import { confirmingMember, confirmingPerson, verifyCode } from './verifications.ts';

export const setUp = operation({
  id: 'factors.totp.set-up',
  summary: 'Start setting up an authenticator app',
  http: 'POST /auth/2fa/setup',
  kind: 'mint',
  needs: 'session',
  step_up: { when_enrolled: 'mfa.credential' },
  refuses: ['step_up_required', 'mfa_code_invalid'],
  input: SetUpTotp,
  output: TotpSetup,
  run: (ctx, input) => setUpTotp(ctx, input),
});

export const enable = operation({
  id: 'factors.totp.enable',
  summary: 'Finish setting up an authenticator app',
  http: 'POST /auth/2fa/verify',
  kind: 'mint',
  needs: 'session',
  refuses: ['mfa_code_invalid'],
  input: EnableTotp,
  output: TotpEnabled,
  run: (ctx, input) => enableTotp(ctx, input),
});

export const disable = operation({
  id: 'factors.totp.disable',
  summary: 'Remove the authenticator app',
  http: 'POST /auth/2fa/disable',
  kind: 'change',
  needs: 'session',
  step_up: 'mfa.credential',
  refuses: [],
  input: Nothing,
  output: Ok,
  run: async (ctx) => {
    await disableTotp(ctx);
    return { status: 'ok' as const };
  },
});

export const recoveryCodes = operation({
  id: 'factors.recovery-codes.replace',
  summary: 'Replace your recovery codes',
  http: 'POST /auth/2fa/recovery-codes',
  kind: 'mint',
  needs: 'session',
  step_up: 'mfa.credential',
  refuses: [],
  input: Nothing,
  output: RecoveryCodes,
  run: (ctx) => newRecoveryCodes(ctx),
});

export const verifyStepUp = operation({
  id: 'factors.step-up.code',
  summary: 'Confirm an action with a code',
  http: 'POST /auth/2fa/verify-step-up',
  kind: 'mint',
  needs: 'session',
  refuses: ['mfa_code_invalid', 'mfa_required', 'not_authenticated'],
  input: VerifyCode,
  output: Verification,
  run: (ctx, input) => verifyCode(confirmingPerson(ctx), input),
});

/** A read for the pipeline: what it writes says nothing yet, its use is audited (interface rule 22 §12). */
export const stepUp = operation({
  id: 'factors.step-up.member',
  summary: 'Confirm an action in a workspace with a code',
  http: 'POST /admin/auth/step-up',
  kind: 'read',
  needs: 'any',
  refuses: ['mfa_code_invalid', 'mfa_required', 'role_denied', 'rate_limited', 'not_authenticated'],
  input: VerifyCode,
  output: Verification,
  run: async (ctx, input) => verifyCode(confirmingMember(ctx), input),
});

export const pending = operation({
  id: 'factors.login.pending',
  summary: 'Get the sign-in that awaits its second factor',
  http: 'GET /auth/login/mfa',
  kind: 'read',
  needs: 'visitor',
  refuses: ['not_authenticated'],
  input: PendingRef,
  output: PendingLoginView,
  run: (ctx, input) => pendingLogin(ctx, input),
});

export const secondFactor = operation({
  id: 'factors.login.finish',
  summary: 'Sign in with a second factor',
  http: 'POST /auth/login/mfa',
  kind: 'mint',
  needs: 'visitor',
  refuses: ['not_authenticated', 'mfa_code_invalid', 'webauthn_failed', 'invalid_credentials'],
  input: SecondFactor,
  output: SignInAnswer,
  run: (ctx, input) => signInBySecondFactor(ctx, input),
});
