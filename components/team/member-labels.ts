import type { z } from 'zod';
import { capitalize } from '#components/ui/capitalize.ts';
import { MEMBER_ROLES, type MemberRole } from '#server/domain/roles/matrix.shared.ts';
import { isManager, mayManage, ROLE_TEXTS } from '#server/domain/team/rank.shared.ts';
import type { Invitation, Member } from '#server/domain/team/schema.ts';

export type MemberRow = z.output<typeof Member>;
export type InvitationRow = z.output<typeof Invitation>;

/** What to call a member: their name, or else the address. */
export const nameOf = ({ full_name, email }: Pick<MemberRow, 'full_name' | 'email'>): string => full_name || email;

const SOURCES: Record<string, string> = { signup: 'Sign-up', invite: 'Invitation', sso: 'Single sign-on', scim: 'Directory' };
export const sourceOf = (source: string): string => SOURCES[source] ?? source;

/** Roles as cards; those that the acting member can't grant say who can. */
export const roleOptions = (own: MemberRole, { owner }: { owner: boolean }) =>
  MEMBER_ROLES.filter((role) => owner || role !== 'owner').map((role) => ({
    value: role,
    title: capitalize(role),
    description: ROLE_TEXTS[role],
    ...(isManager(role) && own !== 'owner' ? { disabledReason: 'Only an Owner can grant this role.' } : {}),
  }));

/** Why the acting member can't change or remove this one; undefined when they can. */
export function unmanageable(own: MemberRole, person: string, member: Pick<MemberRow, 'id' | 'role'>): string | undefined {
  if (member.id === person) return 'You can’t change your own role. Ask another Owner or Admin.';
  if (mayManage(own, member.role)) return undefined;
  return own === 'admin' ? 'Only an Owner can manage Owners and Admins.' : 'Requires the Owner or Admin role.';
}
