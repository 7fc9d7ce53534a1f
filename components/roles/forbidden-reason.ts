import { capitalize } from '#components/ui/capitalize.ts';
import { type Capability, type MemberRole, ROLE_MATRIX, rolesWith } from '#server/domain/roles/matrix.shared.ts';

/** Why a role can't do what needs a capability, with the roles that can, from the matrix; undefined when it can. */
export function forbiddenTo(role: string, capability: Capability): string | undefined {
  const cell = ROLE_MATRIX.get(capability)?.[role as MemberRole] ?? '-';
  if (cell === 'y' || cell === 'o') return undefined;
  const step = rolesWith(capability).length > 0 ? ' Ask an Owner or Admin to change your role.' : '';
  return `Requires ${requiredFor(capability)}. Your role is ${capitalize(role)}.${step}`;
}

/** "the Owner, Admin, or Editor role". */
export function requiredFor(capability: Capability): string {
  const roles = rolesWith(capability).map(capitalize);
  return roles.length > 0 ? `the ${listFormat.format(roles)} role` : 'a machine credential';
}

const listFormat = new Intl.ListFormat('en', { type: 'disjunction' });
