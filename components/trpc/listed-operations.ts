'use client';

import { useQuery } from '@tanstack/react-query';
import type { ListedOperation } from '#server/domain/explorer/schema.ts';

/** Everything that can be done here, with words and needed capabilities; fetched once a visit. */
export const listedOperationsQuery = {
  queryKey: ['listed-operations'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async () => {
    const response = await fetch('/admin/operations', { headers: { accept: 'application/json' } });
    if (!response.ok) throw new Error(`the list of operations answered ${response.status}`);
    return (await response.json()) as ListedOperation[];
  },
};

/** The same in a component, from when it is first `wanted`. */
export const useListedOperations = (wanted = true) => useQuery({ ...listedOperationsQuery, enabled: wanted });
