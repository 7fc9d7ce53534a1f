import { z } from 'zod';
import { MagicVerify, SignedInView } from '#server/domain/people/schema.ts';
import { answerOf, signInByCode } from '#server/domain/people/service.ts';
import { secret } from '#server/kernel/fields.ts';
import { personOperation } from '#server/kernel/person-operation.ts';
import { Onboarding, OnboardingAnswer, StarterKeyAnswer, StarterKeyRequest, WebSignUp, WebSignUpAnswer } from './schema.ts';
import { useMagicLink } from './service.ts';
import { completeOnboarding, signUpOnTheWeb, starterKey } from './web.ts';

export const signup = personOperation({
  id: 'auth.signup',
  summary: 'Sign up on the web',
  http: 'POST /auth/signup',
  kind: 'mint',
  session: 'none',
  refuses: ['dependency_unavailable'],
  input: WebSignUp,
  output: WebSignUpAnswer,
  success: { among: [200, 202], of: (answer) => (answer.status === 'check_mail' ? 202 : 200) },
  run: async (ctx, input) => {
    const answer = await signUpOnTheWeb(ctx, input);
    return answer.status === 'ok' ? answerOf(answer) : answer;
  },
});

export const magicVerify = personOperation({
  id: 'auth.magic.verify',
  summary: 'Sign in with an emailed code or link',
  http: 'POST /auth/magic/verify',
  kind: 'mint',
  session: 'none',
  refuses: ['mfa_code_invalid', 'invalid_credentials', 'not_a_member'],
  input: MagicVerify,
  output: SignedInView,
  run: async (ctx, { email, code, token, password, ...scope }) =>
    answerOf(
      token === undefined
        ? await signInByCode(ctx, { email: email ?? '', code: code ?? '', ...scope })
        : await useMagicLink(ctx, { token, password, ...scope }),
    ),
});

export const magicUse = personOperation({
  id: 'auth.magic.use',
  summary: 'Use an emailed link',
  http: 'POST /auth/magic',
  kind: 'mint',
  session: 'none',
  refuses: ['mfa_code_invalid', 'invalid_credentials'],
  input: z.object({ token: secret(z.string().max(100)), password: secret(z.string().max(4096)).optional() }),
  output: SignedInView,
  run: async (ctx, input) => answerOf(await useMagicLink(ctx, input)),
});

export const onboarding = personOperation({
  id: 'auth.complete-onboarding',
  summary: 'Create or name your first workspace',
  http: 'POST /auth/complete-onboarding',
  kind: 'change',
  session: 'required',
  refuses: ['session_scope_mismatch', 'subscription_inactive'],
  input: Onboarding,
  output: OnboardingAnswer,
  run: (ctx, input) => completeOnboarding(ctx, input),
});

export const takeStarterKey = personOperation({
  id: 'auth.starter-key',
  summary: 'Collect the Test key of a new workspace',
  http: 'POST /auth/starter-key',
  kind: 'mint',
  session: 'required',
  refuses: ['not_a_member', 'session_scope_mismatch', 'role_denied', 'subscription_inactive', 'conflict'],
  input: StarterKeyRequest,
  output: StarterKeyAnswer,
  run: (ctx, input) => starterKey(ctx, input),
});
