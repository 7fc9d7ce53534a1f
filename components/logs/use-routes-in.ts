import { useQuery } from '@tanstack/react-query';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';

const AT_ONCE = 100;

/** The ids of all routes of a collection, while a live view needs to tell its calls apart: a call knows its route only. Undefined until they are known. */
export function useRoutesIn(collectionId: string | null, needed: boolean): ReadonlySet<string> | undefined {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const input = { collection_id: collectionId ?? '', per_page: AT_ONCE, sort: 'created_at' as const, order: 'asc' as const };
  return useQuery({
    queryKey: [...trpc.routes.list.queryKey(input), 'all'],
    enabled: needed && collectionId !== null,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const ids = new Set<string>();
      for (let page = 1; ; page++) {
        const { data } = await client.routes.list.query({ ...input, page }, { signal });
        for (const { id } of data) ids.add(id);
        if (data.length < AT_ONCE) return ids;
      }
    },
  }).data;
}
