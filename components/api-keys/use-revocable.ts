'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import type { Key } from './key-labels.ts';

/** Why this member may not revoke a key, or undefined: whose role holds it for own keys only ends no other. */
export function useRevocable(): (key: Pick<Key, 'created_by'>) => string | undefined {
  const { role, person } = useScope();
  const forbidden = useForbidden('api_key:revoke');
  return (key) =>
    forbidden ??
    (role === 'editor' && key.created_by?.id !== person ? 'Editors can only revoke keys they created. Ask an Owner or Admin.' : undefined);
}
