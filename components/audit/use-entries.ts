'use client';

import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import type { auditFilters } from './list-search.ts';

export type AuditFilters = ReturnType<typeof auditFilters>;

/** The entries that pass, newest first, page after page. The first page may have come with the page from the server. */
export function useEntries(filters: AuditFilters & { resource_type?: string; resource_id?: string }, limit?: number) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const input = { ...filters, ...(limit ? { limit } : {}) };
  const first = trpc.auditLogs.browse.queryKey(input);
  return useInfiniteQuery({
    queryKey: [...first, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      client.auditLogs.browse.query({ ...input, ...(pageParam ? { before: pageParam } : {}) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    initialData: () => {
      const held = queryClient.getQueryData(first);
      return held && { pages: [held], pageParams: [null] };
    },
    initialDataUpdatedAt: () => queryClient.getQueryState(first)?.dataUpdatedAt,
  });
}
