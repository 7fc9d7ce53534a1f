import { z } from 'zod';
import { MFA_METHODS, PasskeyView } from '#server/domain/people/schema.ts';
import { ACTION_SCOPE_NAMES } from '#server/kernel/action-scopes.ts';
import { label, pathId, secret, shownOnce, time } from '#server/kernel/fields.ts';

const code = () => secret(z.string().trim().min(1).max(40));
const mfa_token = secret(z.string().max(100)).optional();
const actionScope = () => z.enum(ACTION_SCOPE_NAMES);

/** `code` is the mailed one; an account with a factor confirms by a step-up instead. */
export const SetUpTotp = z.object({ code: code().optional() });
export const TotpSetup = z.object({
  secret_base32: shownOnce(z.string()),
  otpauth_uri: shownOnce(z.string()),
  qr_svg: shownOnce(z.string()),
  setup_token: shownOnce(z.string()),
  expires_at: time(),
});
export const EnableTotp = z.object({ setup_token: secret(z.string().max(100)), code: code() });
export const RecoveryCodes = z.object({ recovery_codes: shownOnce(z.array(z.string())) });
export const TotpEnabled = RecoveryCodes.extend({ enabled: z.literal(true) });

export const VerifyCode = z.object({ code: code(), action_scope: actionScope() });
export const Verification = z.object({
  verified: z.literal(true),
  method: z.enum(['passkey', '2fa']),
  action_scope: actionScope(),
  expires_at: time(),
  /** For the header X-Svc-StepUp: picks this verification. Without it the oldest one of the session and scope is used. */
  step_up_token: shownOnce(z.string()),
});

/** The JSON form of an authenticator's answer, `toJSON()` of a PublicKeyCredential (WebAuthn §5.1); `challenge` is the one of its options. */
const answered = { credential: z.looseObject({ id: z.string().max(1400) }), challenge: z.string().max(100) };
/** What `navigator.credentials` takes, in its JSON form. */
const ceremony = { options: z.record(z.string(), z.unknown()), challenge: z.string(), expires_at: time() };
const kind = z.enum(['passkey', 'security_key']);

export const PasskeyOptionsRequest = z.object({ code: code().optional(), kind: kind.default('passkey') });
export const PasskeyOptions = z.object(ceremony);
export const RegisterPasskey = z.object({ ...answered, name: label(60) });
/** `recovery_codes` come with the first factor of an account. */
export const PasskeyRegistered = z.object({ passkey: PasskeyView, recovery_codes: shownOnce(z.array(z.string()).nullable()) });
export const PasskeyList = z.object({ passkeys: z.array(PasskeyView) });
export const PasskeyRef = z.object({ id: pathId() });
export const RenamePasskey = PasskeyRef.extend({ name: label(60) });
export const PasskeyAnswer = z.object({ passkey: PasskeyView });
export const CodeSent = z.object({ code_sent: z.literal(true) });
export const ResetFactors = z.object({ code: code() });

export const StepUpOptionsRequest = z.object({ action_scope: actionScope() });
export const StepUpOptions = z.object({ ...ceremony, action_scope: actionScope() });
export const VerifyAssertion = z.object({ ...answered, action_scope: actionScope() });
export const PasskeyLogin = z.object({ ...answered, keep: z.boolean().default(false), scope_tenant: z.string().max(60).optional() });

/** Browsers leave `mfa_token` out: they have it as a cookie. */
export const PendingRef = z.object({ mfa_token });
export const PendingLoginView = z.object({ email: z.string(), methods: z.array(z.enum(MFA_METHODS)), expires_at: time() });
export const SecondFactor = z.discriminatedUnion('method', [
  z.object({ mfa_token, method: z.literal('2fa'), code: code() }),
  z.object({ mfa_token, method: z.literal('recovery'), code: code() }),
  z.object({ mfa_token, method: z.literal('passkey'), ...answered }),
]);
export type SecondFactor = z.output<typeof SecondFactor>;

export const Nothing = z.object({});
export const Ok = z.object({ status: z.literal('ok') });
