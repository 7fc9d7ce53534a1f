import { Login } from '#server/domain/people/schema.ts';
import { Onboarding, WebSignUp } from '#server/domain/signup/schema.ts';

// What the forms of this folder check before they ask the server. They are fetched when their page has settled.

export { ForgotPassword, ResetPassword } from '#server/domain/people/schema.ts';
export const SignUpFields = WebSignUp.pick({ tenant_name: true, full_name: true, email: true, password: true }).required({
  full_name: true,
});
export const SignInStart = Login.pick({ email: true, keep: true });
export const SignInPassword = Login.pick({ password: true });
export const OnboardingFields = Onboarding.pick({ full_name: true, tenant_name: true, use_case: true });
