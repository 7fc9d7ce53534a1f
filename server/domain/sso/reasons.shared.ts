/** Why a sign-in through an identity provider failed, in words for the person who tried. The code stands in the address of the sign-in page. */
export const SSO_REASONS = {
  unavailable: "Single sign-on isn't set up for this address or workspace. Sign in another way, or ask an Owner of your workspace.",
  expired: 'This sign-in expired, was already used, or was begun in another browser. Start again.',
  provider_error: 'Your identity provider refused the sign-in. Try again, or ask your administrator whether you have access to Sallyport.',
  provider_unreachable: "Your identity provider didn't answer. Try again in a minute. Owners can sign in with password and second factor.",
  provider_blocked:
    "Your identity provider's address can't be called from Sallyport. Ask an Owner of your workspace to check the connection.",
  misconfigured: 'The connection to your identity provider is set up incorrectly. Ask an Owner of your workspace to test it.',
  token_invalid:
    "Your identity provider's answer isn't valid for this sign-in. Start again; if this repeats, ask an Owner of your workspace.",
  assertion_invalid: "Your identity provider's answer was not accepted. Ask an Owner of your workspace to test the connection.",
  assertion_replayed: "Your identity provider's answer was already used. Start again.",
  email_missing: 'Your identity provider sent no email address. Ask your administrator to include it.',
  email_unverified: "Your identity provider doesn't confirm that this email address is yours. Ask your administrator to verify it there.",
  domain_unverified: "The domain of your email address isn't verified in this workspace. Ask an Owner or Admin to verify it.",
  not_a_member: "You're not a member of this workspace. Ask an Owner or Admin to invite you.",
  removed: 'You were removed from this workspace. Ask an Owner or Admin to invite you again.',
  member_limit: "This workspace's plan has no room for another member. Ask an Owner to make room or change the plan.",
  account_disabled: 'This account is disabled. Ask an Owner of your workspace.',
} as const;
export type SsoReason = keyof typeof SSO_REASONS;

export const isSsoReason = (text: unknown): text is SsoReason => typeof text === 'string' && Object.hasOwn(SSO_REASONS, text);
