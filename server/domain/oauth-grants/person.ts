import { type MemberRole, memberCapabilities } from '#server/kernel/capabilities.ts';
import { scopesForPerson } from '#server/kernel/scopes.ts';
import { isConfirmed } from '#server/kernel/step-up.ts';
import type { OAuthClient } from './client.ts';

/** What a grant depends on of its person, read beside a code or refresh token. Null role: not a member any more, or the account is disabled. */
export type Standing = { role: MemberRole | null; reveal_secrets: boolean | null };

/** The columns of a standing, of `m` and `u` in the joins below. */
export const STANDING = 'case when u.disabled_at is null then m.role end as role, m.reveal_secrets';
export const standingOf = (tenant: string, user: string): string =>
  `left join users u on u.id = ${user} left join memberships m on m.tenant_id = ${tenant} and m.user_id = u.id and m.removed_at is null`;

/** What of a grant its token carries now: within the client's scopes and the person's role, those of a second factor only for eight hours after it. */
export function grantedNow(
  scopes: readonly string[],
  client: Pick<OAuthClient, 'allowed_scopes' | 'step_up_scopes'>,
  { role, reveal_secrets }: { role: MemberRole; reveal_secrets: boolean | null },
  step_up_at: Date | null,
  now: Date,
): string[] {
  const isFresh = isConfirmed(step_up_at, now);
  const held = memberCapabilities(role, { reveal_secrets: reveal_secrets ?? false });
  const within = scopes.filter((scope) => client.allowed_scopes.includes(scope) && (isFresh || !client.step_up_scopes.includes(scope)));
  return [...scopesForPerson(within, role, (capability) => held.has(capability))].sort();
}
