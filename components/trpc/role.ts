'use client';

import { useScope } from './provider.tsx';

/** True for members whose lists show what things are called, and nothing of how they are set. */
export const useNamesOnly = (): boolean => useScope().role === 'member';

/** Why this member may not change things here, for disabled controls; undefined when they may. The server judges again. */
export function useReadOnlyReason(): string | undefined {
  const { role } = useScope();
  if (role === 'owner' || role === 'admin' || role === 'editor') return undefined;
  return `Your role, ${role}, may look but not change. An Owner or Admin can make you an Editor.`;
}
