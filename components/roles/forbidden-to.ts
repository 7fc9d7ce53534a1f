import { capital } from '#components/ui/capital.ts';
import { type Capability, type MemberRole, ROLE_MATRIX, rolesWith } from '#server/domain/roles/matrix.shared.ts';

/** Why a role may not do what needs a capability, with the roles that may, from the matrix; undefined when it may. */
export function forbiddenTo(role: string, capability: Capability): string | undefined {
  const cell = ROLE_MATRIX.get(capability)?.[role as MemberRole] ?? '-';
  if (cell === 'y' || cell === 'o') return undefined;
  const step = rolesWith(capability).length > 0 ? '; whoever runs this installation can change your role.' : '.';
  return `Your role, ${capital(role)}, may not do this. ${mayDo(capability)}${step}`;
}

/** "Owner, Admin, or Editor may". */
export function mayDo(capability: Capability): string {
  const who = rolesWith(capability).map(capital);
  return who.length > 0 ? `${listFormat.format(who)} may` : 'Only a machine credential may';
}

const listFormat = new Intl.ListFormat('en', { type: 'disjunction' });
/** `viewer` as people read it. */
