'use client';

import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { type LogFilters, PAGE_SIZE } from './list-search.ts';

export type LogQuery = LogFilters & { from?: string; to?: string; sort?: 'ts' | 'latency_ms' };

/**
 * The calls that pass, newest first, page after page. The first page may have come with the page from the server. Beside a `live` tail another filter
 * asks anew: what was asked a moment ago lacks what came since.
 */
export function useLogs(filters: LogQuery, live = false) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const input = { ...filters, per_page: PAGE_SIZE };
  const first = trpc.requestLogs.browse.queryKey(input);
  return useInfiniteQuery({
    queryKey: [...first, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      client.requestLogs.browse.query({ ...input, ...(pageParam ? { before: pageParam } : {}) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    // A refetch of ten pages would move rows under the pointer; new calls come by the live switch or the refresh button.
    refetchOnWindowFocus: false,
    ...(live ? { staleTime: 0 } : {}),
    initialData: () => {
      const held = queryClient.getQueryData(first);
      return held && { pages: [held], pageParams: [null] };
    },
    initialDataUpdatedAt: () => queryClient.getQueryState(first)?.dataUpdatedAt,
  });
}
