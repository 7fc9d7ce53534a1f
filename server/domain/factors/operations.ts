import { z } from 'zod';
import { Ended, SignInAnswer } from '#server/domain/people/schema.ts';
import { factorsOf } from '#server/domain/people/service.ts';
import { Deleted } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { pendingLogin, signInBySecondFactor } from './login.ts';
import { loginOptions, secondFactorOptions, signInByPasskey } from './passkey-login.ts';
import { stepUpOptions, verifyAssertion } from './passkey-step-up.ts';
import { challengeFirstPasskey, deletePasskey, passkeyOptions, registerPasskey, renamePasskey } from './passkeys.ts';
import { challengeRecovery, resetFactors } from './recovery.ts';
import {
  CodeSent,
  EnableTotp,
  Nothing,
  Ok,
  PasskeyAnswer,
  PasskeyList,
  PasskeyLogin,
  PasskeyOptions,
  PasskeyOptionsRequest,
  PasskeyRef,
  PasskeyRegistered,
  PendingLoginView,
  PendingRef,
  RecoveryCodes,
  RegisterPasskey,
  RenamePasskey,
  ResetFactors,
  SecondFactor,
  SetUpTotp,
  StepUpOptions,
  StepUpOptionsRequest,
  TotpEnabled,
  TotpSetup,
  Verification,
  VerifyAssertion,
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
  vouched: 'proof',
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
  any_session: { why: 'finishes a setup that a code, a factor or the second factor of this sign-in began' },
  needs: 'session',
  vouched: 'proof',
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
  vouched: 'proof',
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
  vouched: 'proof',
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
  any_session: { why: 'is the confirmation itself: a second factor, good for one action' },
  needs: 'session',
  vouched: 'proof',
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
  refuses: ['not_authenticated', 'mfa_code_invalid', 'webauthn_failed', 'invalid_credentials', 'sso_required'],
  input: SecondFactor,
  output: SignInAnswer,
  run: (ctx, input) => signInBySecondFactor(ctx, input),
});

export const passkeyChallenge = operation({
  id: 'factors.passkeys.challenge',
  summary: 'Email the code for your first passkey',
  http: 'POST /auth/passkey/challenge',
  kind: 'change',
  needs: 'session',
  vouched: 'proof',
  refuses: ['step_up_required'],
  input: Nothing,
  output: CodeSent,
  run: async (ctx) => {
    await challengeFirstPasskey(ctx);
    return { code_sent: true as const };
  },
});

export const passkeyRegisterOptions = operation({
  id: 'factors.passkeys.options',
  summary: 'Start adding a passkey or security key',
  http: 'POST /auth/passkey/register-options',
  kind: 'change',
  needs: 'session',
  vouched: 'proof',
  step_up: { when_enrolled: 'mfa.credential' },
  refuses: ['step_up_required', 'mfa_code_invalid', 'conflict'],
  input: PasskeyOptionsRequest,
  output: PasskeyOptions,
  run: (ctx, input) => passkeyOptions(ctx, input),
});

export const passkeyRegister = operation({
  id: 'factors.passkeys.create',
  summary: 'Add a passkey or security key',
  http: 'POST /auth/passkey/register',
  kind: 'mint',
  any_session: { why: 'finishes what a mailed code or a second factor began' },
  needs: 'session',
  vouched: 'proof',
  refuses: ['webauthn_failed', 'conflict'],
  input: RegisterPasskey,
  output: PasskeyRegistered,
  run: (ctx, input) => registerPasskey(ctx, input),
});

export const passkeys = operation({
  id: 'factors.passkeys.list',
  summary: 'List your passkeys and security keys',
  http: 'GET /auth/passkeys',
  kind: 'read',
  needs: 'session',
  vouched: 'workspace',
  refuses: [],
  input: Nothing,
  output: PasskeyList,
  run: async (ctx) => ({ passkeys: (await factorsOf(ctx.db, ctx.user.id)).passkeys }),
});

export const passkeyRename = operation({
  id: 'factors.passkeys.update',
  summary: 'Rename a passkey',
  http: 'PATCH /auth/passkeys/{id}',
  kind: 'change',
  needs: 'session',
  refuses: ['not_found'],
  input: RenamePasskey,
  output: PasskeyAnswer,
  run: (ctx, input) => renamePasskey(ctx, input),
});

export const passkeyDelete = operation({
  id: 'factors.passkeys.delete',
  summary: 'Remove a passkey',
  http: 'DELETE /auth/passkeys/{id}',
  kind: 'change',
  needs: 'session',
  vouched: 'proof',
  step_up: 'mfa.credential',
  refuses: ['not_found'],
  input: PasskeyRef,
  output: Deleted,
  run: async (ctx, input) => {
    await deletePasskey(ctx, input);
    return { deleted: true as const };
  },
});

export const passkeyLoginOptions = operation({
  id: 'factors.passkeys.login-options',
  summary: 'Start signing in with a passkey',
  http: 'POST /auth/passkey/login-options',
  kind: 'change',
  needs: 'visitor',
  refuses: [],
  input: Nothing,
  output: PasskeyOptions,
  run: (ctx) => loginOptions(ctx),
});

export const passkeyLogin = operation({
  id: 'factors.passkeys.login',
  summary: 'Sign in with a passkey',
  http: 'POST /auth/passkey/login',
  kind: 'mint',
  needs: 'visitor',
  refuses: ['webauthn_failed', 'not_a_member', 'invalid_credentials', 'sso_required'],
  input: PasskeyLogin,
  output: SignInAnswer,
  run: (ctx, input) => signInByPasskey(ctx, input),
});

export const secondFactorPasskey = operation({
  id: 'factors.login.options',
  summary: 'Start proving a second factor with a passkey',
  http: 'POST /auth/login/mfa/options',
  kind: 'change',
  needs: 'visitor',
  refuses: ['not_authenticated'],
  input: PendingRef,
  output: PasskeyOptions,
  run: (ctx, input) => secondFactorOptions(ctx, input),
});

export const stepUpPasskeyOptions = operation({
  id: 'factors.step-up.options',
  summary: 'Start confirming an action with a passkey',
  http: 'POST /auth/2fa/webauthn/step-up-options',
  kind: 'change',
  needs: 'session',
  vouched: 'proof',
  refuses: ['mfa_required'],
  input: StepUpOptionsRequest,
  output: StepUpOptions,
  run: (ctx, input) => stepUpOptions(ctx, input),
});

export const stepUpPasskey = operation({
  id: 'factors.step-up.passkey',
  summary: 'Confirm an action with a passkey',
  http: 'POST /auth/2fa/webauthn/verify-step-up',
  kind: 'mint',
  any_session: { why: 'is the confirmation itself: a second factor, good for one action' },
  needs: 'session',
  vouched: 'proof',
  refuses: ['webauthn_failed', 'mfa_required', 'not_authenticated'],
  input: VerifyAssertion,
  output: Verification,
  run: (ctx, input) => verifyAssertion(ctx, input),
});

export const recoveryChallenge = operation({
  id: 'factors.recovery.challenge',
  summary: 'Email the code that replaces lost factors',
  http: 'POST /auth/2fa/recovery/challenge',
  kind: 'change',
  needs: 'session',
  vouched: 'proof',
  refuses: ['step_up_required'],
  input: Nothing,
  output: CodeSent,
  run: async (ctx) => {
    await challengeRecovery(ctx);
    return { code_sent: true as const };
  },
});

export const recoveryReset = operation({
  id: 'factors.recovery.reset',
  summary: 'Remove lost factors',
  http: 'POST /auth/2fa/recovery/reset',
  kind: 'mint',
  any_session: { why: 'takes a recovery code at sign-in and a mailed code' },
  needs: 'session',
  vouched: 'proof',
  refuses: ['step_up_required', 'mfa_code_invalid'],
  input: ResetFactors,
  output: Ok.extend({ token: z.string(), ended: Ended }),
  run: async (ctx, input) => ({ status: 'ok' as const, ...(await resetFactors(ctx, input)) }),
});
