'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import type { SelectOption } from '#components/ui/select.tsx';

/** The environments of this space, the default first. */
export function useEnvironments() {
  const trpc = useTRPC();
  return useQuery({ ...trpc.environments.list.queryOptions({}), staleTime: 60_000 }).data?.data;
}

/** The collections of this space, for pickers and for naming an id. */
export function useCollections() {
  const trpc = useTRPC();
  return useQuery({ ...trpc.collections.list.queryOptions({ per_page: 100 }), staleTime: 60_000 }).data?.data;
}

/** Environments as the options of a select. */
export const environmentOptions = (list: ReturnType<typeof useEnvironments>, label: (name: string) => string): SelectOption[] =>
  (list ?? []).map(
    ({ name, display_name }) =>
      ({ value: name, label: label(display_name), detail: name === display_name ? undefined : name }) as SelectOption,
  );

export const NO_COLLECTION = 'none';

/** Says the collection behind the `collection_id` of a form; other fields speak for themselves. */
export const namedCollection = (list: ReturnType<typeof useCollections>) => (field: string, value: unknown) =>
  field === 'collection_id' ? (list?.find(({ id }) => id === value)?.name ?? 'No collection') : undefined;

/** The collections and "no collection", which a select cannot say with null. */
export const collectionOptions = (list: ReturnType<typeof useCollections>): SelectOption[] => [
  { value: NO_COLLECTION, label: 'No collection' },
  ...(list ?? []).map(({ id, name }) => ({ value: id, label: name })),
];
