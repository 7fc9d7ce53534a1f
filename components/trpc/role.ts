'use client';

import { forbiddenTo } from '#components/roles/forbidden-reason.ts';
import type { Capability } from '#server/domain/roles/catalogue.shared.ts';
import { useScope } from './provider.tsx';

/** Why this member may not do what needs a capability, for disabled controls; undefined when they may. The server judges again. */
export function useForbidden(capability: Capability): string | undefined {
  const { role } = useScope();
  return forbiddenTo(role, capability);
}

/** True for members whose lists show what things are called, and nothing of how they are set. */
export const useNamesOnly = (): boolean => useForbidden('route:read') !== undefined;
