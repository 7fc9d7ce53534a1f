'use client';

import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import type { Entry } from './entry-text.ts';
import { newerEntries } from './newer-entries.ts';
import type { AuditFilters } from './use-entries.ts';

const EVERY_MS = 4_000;

/**
 * The entries above those of a list, newest first, while `on`: the newest page is asked for again and again. More new ones than a page holds leave a gap,
 * which `onGap` is to close by beginning the list anew.
 */
export function useLiveEntries(
  on: boolean,
  filters: AuditFilters,
  below: readonly Entry[] | undefined,
  onGap: () => void,
): readonly Entry[] {
  const trpc = useTRPC();
  const newest = useQuery({
    ...trpc.auditLogs.browse.queryOptions(filters),
    enabled: on,
    refetchInterval: on ? EVERY_MS : false,
    staleTime: 0,
  });
  const { fresh, gap } = newerEntries(on ? newest.data?.entries : undefined, below);
  useEffect(() => {
    if (gap) onGap();
  }, [gap, onGap]);
  return fresh;
}
