import { z } from 'zod';
import { MagicVerify, SignInAnswer } from '#server/domain/people/schema.ts';
import { answerOf, signInByCode } from '#server/domain/people/service.ts';
import { secret } from '#server/kernel/fields.ts';
import { operation } from '#server/kernel/operation.ts';
import { collectClaim } from './claim.ts';
import {
  Claim,
  ClaimRef,
  Onboarding,
  OnboardingAnswer,
  PendingSignUp,
  SignUp,
  StarterKeyAnswer,
  StarterKeyRequest,
  WebSignUp,
  WebSignUpAnswer,
} from './schema.ts';
import { startSignUp, useMagicLink } from './service.ts';
import { completeOnboarding, signUpOnTheWeb, starterKey } from './web-sign-up.ts';

export const signup = operation({
  id: 'signup.start',
  summary: 'Sign up',
  http: 'POST /signup',
  kind: 'mint',
  needs: 'anonymous',
  refuses: ['rate_limit_exceeded', 'dependency_unavailable'],
  input: SignUp,
  output: PendingSignUp,
  success: 202,
  run: (ctx, input) => startSignUp(ctx, input, { password_hash: null, type: 'rate_limit_exceeded' }),
});

export const claim = operation({
  id: 'signup.claim',
  summary: 'Collect a new workspace and its starter key',
  http: 'POST /signup/claim',
  kind: 'mint',
  needs: 'anonymous',
  refuses: ['not_found', 'claim_already_collected', 'rate_limit_exceeded'],
  input: ClaimRef,
  output: Claim,
  success: { among: [200, 202], of: (answer) => (answer.status === 'pending' ? 202 : 200) },
  run: (ctx, input) => collectClaim(ctx, input),
});

export const signUpOnWeb = operation({
  id: 'auth.signup',
  summary: 'Sign up on the web',
  http: 'POST /auth/signup',
  kind: 'mint',
  needs: 'visitor',
  refuses: ['dependency_unavailable'],
  input: WebSignUp,
  output: WebSignUpAnswer,
  success: { among: [200, 202], of: (answer) => (answer.status === 'check_mail' ? 202 : 200) },
  run: async (ctx, input) => {
    const answer = await signUpOnTheWeb(ctx, input);
    return answer.status === 'check_mail' ? answer : answerOf(answer);
  },
});

export const magicVerify = operation({
  id: 'auth.magic.verify',
  summary: 'Sign in with an emailed code or link',
  http: 'POST /auth/magic/verify',
  kind: 'mint',
  needs: 'visitor',
  refuses: ['mfa_code_invalid', 'invalid_credentials', 'not_a_member', 'sso_required'],
  input: MagicVerify,
  output: SignInAnswer,
  run: async (ctx, { email, code, token, password, ...scope }) =>
    answerOf(
      token === undefined
        ? await signInByCode(ctx, { email: email ?? '', code: code ?? '', ...scope })
        : await useMagicLink(ctx, { token, password, ...scope }),
    ),
});

export const magicUse = operation({
  id: 'auth.magic.use',
  summary: 'Use an emailed link',
  http: 'POST /auth/magic',
  kind: 'mint',
  needs: 'visitor',
  refuses: ['mfa_code_invalid', 'invalid_credentials', 'sso_required'],
  input: z.object({ token: secret(z.string().max(100)), password: secret(z.string().max(4096)).optional() }),
  output: SignInAnswer,
  run: async (ctx, input) => answerOf(await useMagicLink(ctx, input)),
});

export const onboarding = operation({
  id: 'auth.complete-onboarding',
  summary: 'Create or name your first workspace',
  http: 'POST /auth/complete-onboarding',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  refuses: ['session_scope_mismatch', 'subscription_inactive', 'forbidden', 'sso_required', 'mfa_required'],
  input: Onboarding,
  output: OnboardingAnswer,
  run: (ctx, input) => completeOnboarding(ctx, input),
});

export const takeStarterKey = operation({
  id: 'auth.starter-key',
  summary: 'Collect the Test key of a new workspace',
  http: 'POST /auth/starter-key',
  kind: 'mint',
  needs: 'session',
  vouched: 'workspace',
  refuses: [
    'not_a_member',
    'session_scope_mismatch',
    'forbidden',
    'sso_required',
    'mfa_required',
    'role_denied',
    'subscription_inactive',
    'conflict',
  ],
  input: StarterKeyRequest,
  output: StarterKeyAnswer,
  run: (ctx, input) => starterKey(ctx, input),
});
