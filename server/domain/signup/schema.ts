import { z } from 'zod';
import { email, SignInAnswer, WorkspaceView } from '#server/domain/people/schema.ts';
import { REGIONS, tenantSlug } from '#server/domain/tenants/schema.ts';
import { isDisposable } from '#server/kernel/disposable-domains.ts';
import { label, secret, shownOnce, time } from '#server/kernel/fields.ts';

const signupEmail = () =>
  email().refine((text) => !isDisposable(text), 'must be a permanent address; this provider offers disposable mailboxes');
const country = () =>
  z
    .string()
    .trim()
    .regex(/^[A-Za-z]{2}$/, 'must be a two-letter country code')
    .transform((c) => c.toUpperCase());

const workspace = {
  tenant_name: label(120),
  tenant_slug: tenantSlug().optional(),
  country: country().optional(),
  region: z.enum(REGIONS).optional(),
};

/** POST /signup (interface rule 20 §7.1). */
export const SignUp = z.object({ email: signupEmail(), full_name: label(120).optional(), ...workspace });
export type SignUpInput = z.output<typeof SignUp>;

export const ClaimRef = z.object({ claim_handle: secret(z.string().max(200)) });

const pending = {
  status: z.literal('pending'),
  message: z.string(),
  poll_after_seconds: z.number(),
  expires_at: time(),
};

export const PendingSignUp = z
  .object({ ...pending, claim_handle: shownOnce(z.string()), claim_path: z.string(), documentation: z.string() })
  .meta({ id: 'PendingSignup' });

export const StarterKey = z.object({
  id: z.uuid(),
  key_id: z.string(),
  api_key: shownOnce(z.string()),
  key_prefix: z.string(),
  key_type: z.literal('test'),
});

export const Claim = z
  .discriminatedUnion('status', [
    z.object(pending),
    z.object({
      status: z.literal('ready'),
      tenant: z.object({ id: z.uuid(), slug: z.string(), name: z.string(), region: z.string(), plan: z.string() }),
      starter: z.object({
        route: z.object({ id: z.uuid(), name: z.string(), target_base_url: z.string() }).nullable(),
        api_key: StarterKey,
        sandbox_host: z.string(),
        curl: z.string(),
      }),
      sandbox: z.object({ management_api: z.string(), proxy_host: z.string(), note: z.string() }),
      documentation: z.string(),
    }),
  ])
  .meta({ id: 'SignupClaim' });

/** The web form. */
export const WebSignUp = z.object({
  email: signupEmail(),
  password: secret(z.string().min(1).max(4096)),
  full_name: label(120).optional(),
  ...workspace,
});
export const WebSignUpAnswer = z.discriminatedUnion('status', [
  SignInAnswer,
  z.object({ status: z.literal('check_mail'), message: z.string() }),
]);

export const Onboarding = z.object({ full_name: label(120), use_case: z.string().trim().max(200).optional(), ...workspace });
export const OnboardingAnswer = z.object({ workspace: WorkspaceView });

export const StarterKeyRequest = z.object({ tenant_id: z.string().max(100).optional() });
export const StarterKeyAnswer = StarterKey.extend({ curl: z.string(), route_url: z.string(), message: z.string() });
