import { isSsoReason, SSO_REASONS } from '#server/domain/sso/reasons.shared.ts';

/** Why a person is back on the sign-in page. The address carries a code of ours, never a text. */
export function signInProblem({ ended, sso }: { ended?: unknown; sso?: unknown }): string | undefined {
  if (sso !== undefined) return isSsoReason(sso) ? SSO_REASONS[sso] : 'Single sign-on failed. Try again in a minute.';
  return ended === undefined ? undefined : 'That took too long, or there were too many tries. Sign in again.';
}
