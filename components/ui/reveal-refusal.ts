import { capitalize } from './capitalize.ts';

/** What a refused reveal carries (interface rule 32 §5.6). */
export type RevealRefusal = {
  code: string;
  message: string;
  request_id?: string | undefined;
  retry_after?: number | undefined;
  policy_action?: unknown;
  cancelled?: unknown;
};

export type RevealProblem = { title: string; next: string; href?: { path: string; label: string } };

/** Why nothing was shown and what the person can do, for each code. `settings` is the address of the workspace's settings. */
export function revealProblem(refusal: RevealRefusal, settings: string): RevealProblem {
  const roles = { path: `${settings}/roles`, label: 'View roles' };
  switch (refusal.code) {
    case 'reveal_role_denied':
      return { title: 'Your role can’t reveal this', next: 'Ask an Owner or Admin to look it up, or to change your role.', href: roles };
    case 'reveal_tick_required':
      return {
        title: 'Reveal secrets is off for you',
        next: 'Editors see values only while “Reveal secrets” is on for them. Ask an Owner or Admin to turn it on.',
        href: roles,
      };
    case 'reveal_policy_denied':
      return {
        title: `A workspace policy denies ${typeof refusal.policy_action === 'string' ? refusal.policy_action : 'this reveal'}`,
        next: 'It applies to every role. An Owner can change the policy. Your verification wasn’t used.',
      };
    case 'mfa_required':
      return {
        title: 'Set up a second factor first',
        next: 'Values are shown only after a passkey or an authenticator code.',
        href: { path: '/me/security', label: 'Set up in Security' },
      };
    case 'reveal_budget_exceeded':
      return { title: 'You’ve used your 60 reveals of the last 5 minutes', next: 'Wait until the oldest is 5 minutes old.' };
    case 'reveal_budget_unavailable':
      return { title: 'Nothing was shown: reveals can’t be counted right now', next: 'Try again in a few seconds.' };
    case 'reveal_audit_unavailable':
      return { title: 'Nothing was shown: the audit log couldn’t record it', next: 'Try again in a few seconds.' };
    case 'reveal_check_failed':
      return {
        title: 'Nothing was shown: Sallyport couldn’t check whether you may see it',
        next: 'Try again. If it keeps failing, contact support with the request ID.',
      };
    case 'operator_custody_blocked':
      return { title: 'Operators of the platform can’t reveal a workspace’s values', next: 'Ask an Owner of the workspace.' };
    case 'tenant_sealed':
      return {
        title: 'This workspace is sealed, so nothing can be decrypted',
        next: 'An Owner can check its key in the settings of the workspace.',
      };
    case 'reveal_reason_required':
      return { title: 'Your workspace asks for a reason', next: 'Say why you need the value. It’s recorded in the audit log.' };
    case 'share_use_only':
      return { title: 'This secret was shared with you for use only', next: 'Ask the workspace that shared it for view access.' };
    case 'capture_expired':
      return { title: 'This capture has expired', next: 'Captures can be opened for 5 minutes. Start a new one.' };
    case 'not_authenticated':
      return { title: 'You’re signed out', next: 'Sign in again to reveal values.' };
    default:
      return { title: capitalize(refusal.message), next: '' };
  }
}
