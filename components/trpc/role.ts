'use client';

import { type Capability, type MemberRole, ROLE_MATRIX, rolesWith } from '#server/domain/roles/schema.ts';
import { useScope } from './provider.tsx';

/** Why this member may not do what needs a capability, for disabled controls; undefined when they may. The server judges again. */
export function useForbidden(capability: Capability): string | undefined {
  const { role } = useScope();
  return forbiddenTo(role, capability);
}

/** True for members whose lists show what things are called, and nothing of how they are set. */
export const useNamesOnly = (): boolean => useForbidden('route:read') !== undefined;

/** From the matrix of roles: `Your role, Viewer, may not do this. Owner, Admin or Editor may; …`. */
export function forbiddenTo(role: string, capability: Capability): string | undefined {
  const cell = ROLE_MATRIX.get(capability)?.[role as MemberRole] ?? '-';
  if (cell === 'y' || cell === 'o') return undefined;
  const who = rolesWith(capability).map(roleWord);
  return `Your role, ${roleWord(role)}, may not do this. ${listFormat.format(who)} may; an Owner or Admin can change your role.`;
}

const listFormat = new Intl.ListFormat('en', { type: 'disjunction' });
/** `viewer` as people read it. */
export const roleWord = (role: string): string => role.charAt(0).toUpperCase() + role.slice(1);
