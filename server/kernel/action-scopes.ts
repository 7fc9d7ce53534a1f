/**
 * What a person may confirm (interface rule 22 §5.4): a closed register. A verification is good for one use within its window, in the session that made it
 * and for this scope alone. `to` completes "Confirm it's you to …".
 */
export const ACTION_SCOPES = {
  'plaintext.reveal': { window_sec: 300, to: 'see a stored value' },
  'secret.migration': { window_sec: 300, to: 'review a migration' },
  'mfa.credential': { window_sec: 300, to: 'change how you sign in' },
  'scim.credential': { window_sec: 300, to: 'create a SCIM credential' },
  'oauth.client': { window_sec: 300, to: 'change an OAuth client' },
  'oauth.consent': { window_sec: 300, to: 'grant this access' },
  'api_key.create': { window_sec: 300, to: 'create an access key' },
  'credential.mint': { window_sec: 300, to: 'create a credential' },
  'tenant.kms': { window_sec: 300, to: 'change the encryption key of this workspace' },
  'tenant.kms.unseal': { window_sec: 120, to: 'unseal this workspace' },
  'tenant.slug': { window_sec: 300, to: 'change the slug of this workspace' },
  'tenant.delete': { window_sec: 300, to: 'delete this workspace' },
  'tenant.transfer': { window_sec: 300, to: 'transfer this workspace' },
  'billing.change': { window_sec: 300, to: 'change the subscription' },
  'member.role': { window_sec: 300, to: 'grant the Owner or Admin role' },
  'domain.remove': { window_sec: 300, to: 'remove this domain' },
  'sso.change': { window_sec: 300, to: 'change single sign-on' },
  'policy.change': { window_sec: 300, to: 'change this policy' },
  'crypto.destroy_latch': { window_sec: 300, to: 'destroy a crypto key or allow it' },
  'pki.revoke_root': { window_sec: 300, to: 'revoke this root certificate' },
  'agent.reset_fingerprint': { window_sec: 300, to: 'reset the fingerprint of this agent' },
  'sandbox.reset': { window_sec: 300, to: 'reset Test' },
  'ai.resume': { window_sec: 300, to: 'resume this AI agent' },
  'ai.clear_step_up': { window_sec: 300, to: 'clear the flag of this AI agent' },
  'credential.move': { window_sec: 300, to: 'send a stored credential to another place' },
  'capability.grant': { window_sec: 300, to: 'grant access that you have only by confirming' },
  'protection.loosen': { window_sec: 300, to: 'loosen a protection of this workspace' },
  'mcp.approve': { window_sec: 300, to: 'approve this call' },
} as const satisfies Record<string, { window_sec: number; to: string }>;

export type ActionScope = keyof typeof ACTION_SCOPES;
// Object.keys widens to string; these are the keys of the literal above.
export const ACTION_SCOPE_NAMES = Object.keys(ACTION_SCOPES) as [ActionScope, ...ActionScope[]];

/** The heading of the dialog, and the message of the refusal. */
export const confirmationOf = (scope: ActionScope): string => `Confirm it's you to ${ACTION_SCOPES[scope].to}.`;

/**
 * When an operation asks a person to confirm that it's them (interface rule 22 §5.4): always for one scope, depending on the input, only if the account
 * has a second factor, or when its verb finds that the change needs it (`confirmChange`, which names one of these scopes). An access token of a person needs
 * a login that was confirmed with a second factor instead (`confirmedLogin`). Machines are never asked.
 */
export type StepUpRule<Input> =
  | ActionScope
  | ((input: Input) => ActionScope | undefined)
  | { when_enrolled: ActionScope }
  | { by_verb: ActionScope | readonly [ActionScope, ...ActionScope[]] };

/** The scope that an input takes, or may take (of several, the first), whether or not the person has a factor; undefined when it takes none. */
export function scopeFor<Input>(rule: StepUpRule<Input> | undefined, input: Input): ActionScope | undefined {
  if (typeof rule === 'function') return rule(input);
  if (typeof rule !== 'object') return rule;
  return isByVerb(rule) ? scopesByVerb(rule)[0] : rule.when_enrolled;
}

/** Whether a verb decides in single cases. */
export const isByVerb = <Input>(rule: StepUpRule<Input> | undefined): rule is Extract<StepUpRule<Input>, { by_verb: unknown }> =>
  typeof rule === 'object' && 'by_verb' in rule;

/** The scopes that a verb may ask for. */
export const scopesByVerb = ({ by_verb }: { by_verb: ActionScope | readonly ActionScope[] }): readonly ActionScope[] =>
  typeof by_verb === 'string' ? [by_verb] : by_verb;

/** What confirmed a call, as its audit entries name it: a verification of a session, or the second factor of the login behind a person's access token. */
export type UsedConfirmation =
  | { verification_id: string; method: 'passkey' | 'totp' }
  | { oauth_family_id: string | null; confirmed_at: string };

/** The confirmation that a call needs. `used` is set by the transaction that used it up. */
export type StepUp = {
  scope: ActionScope;
  token_digest: StepUpDigest | null;
  used: UsedConfirmation | null;
  /** The scopes that the verb may ask for, of a row that leaves it to its verb. */
  by_verb?: readonly ActionScope[];
};
export type StepUpDigest = Uint8Array<ArrayBuffer>;
