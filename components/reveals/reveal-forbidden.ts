import type { Capability } from '#server/domain/roles/catalogue.shared.ts';
import { type MemberRole, ROLE_MATRIX } from '#server/domain/roles/matrix.shared.ts';

/** Why a member can't reveal what needs a capability; undefined when they can. */
export function revealForbidden(role: string, reveal_secrets: boolean, capability: Capability): string | undefined {
  const cell = ROLE_MATRIX.get(capability)?.[role as MemberRole] ?? '-';
  if (cell === 'y' || cell === 'B') return undefined;
  if (cell === 't') return reveal_secrets ? undefined : 'Reveal secrets is off for you. Ask an Owner or Admin to turn it on.';
  return 'Your role can’t reveal values. Ask an Owner or Admin.';
}
