'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { useEnvironmentLabel } from '#components/ui/environment-label.ts';
import type { ActiveFilter } from '#components/ui/filter-bar.tsx';
import { MODE_WORDS, OUTCOME_WORDS } from './filter-labels.ts';
import type { LogSearch } from './list-search.ts';
import { reasonOf } from './refusal-reasons.ts';

/** Routes, collections, clients and keys of the space, for the names behind ids and for `route:`, `collection:`, `client:` and `key:` in the query. */
export function useKnownPlaces() {
  const trpc = useTRPC();
  const routes = useQuery({ ...trpc.routes.list.queryOptions({ per_page: 100 }), staleTime: 60_000 }).data?.data ?? [];
  const clients = useQuery({ ...trpc.clients.list.queryOptions({ per_page: 100 }), staleTime: 60_000 }).data?.data ?? [];
  const collections = useQuery({ ...trpc.collections.list.queryOptions({ per_page: 100 }), staleTime: 60_000 }).data?.data ?? [];
  const keys = useQuery({ ...trpc.apiKeys.list.queryOptions({ per_page: 100 }), staleTime: 60_000 }).data?.data ?? [];
  return { routes, collections, clients, keys: keys.map(({ id, name, key_id }) => ({ id, name, slug: key_id })) };
}

/** The chips of what is filtered, each with its own removal. */
export function useActiveFilters(search: LogSearch, set: (change: Partial<LogSearch>) => void): ActiveFilter[] {
  const { routes, collections, clients, keys } = useKnownPlaces();
  const environmentName = useEnvironmentLabel();
  const chip = (key: keyof LogSearch, text: string): ActiveFilter => ({ id: key, text, label: text, onRemove: () => set({ [key]: null }) });
  const nameIn = (list: readonly { id: string; name: string }[], id: string) => list.find((one) => one.id === id)?.name ?? id.slice(0, 8);
  return [
    ...(search.outcome ? [chip('outcome', OUTCOME_WORDS[search.outcome])] : []),
    ...(search.mode ? [chip('mode', MODE_WORDS[search.mode])] : []),
    ...(search.status ? [chip('status', `Status ${search.status}`)] : []),
    ...(search.method ? [chip('method', search.method)] : []),
    ...(search.route_id ? [chip('route_id', `Route ${nameIn(routes, search.route_id)}`)] : []),
    ...(search.collection_id ? [chip('collection_id', `Collection ${nameIn(collections, search.collection_id)}`)] : []),
    ...(search.client_id ? [chip('client_id', `Client ${nameIn(clients, search.client_id)}`)] : []),
    ...(search.api_key_id ? [chip('api_key_id', `Key ${nameIn(keys, search.api_key_id)}`)] : []),
    ...(search.environment ? [chip('environment', `In ${environmentName(search.environment)}`)] : []),
    ...(search.origin ? [chip('origin', search.origin === 'service' ? 'Answered by gateway' : 'Answered by upstream')] : []),
    ...(search.error ? [chip('error', capitalize(reasonOf(search.error)))] : []),
    ...(search.limited ? [chip('limited', 'Rate limited')] : []),
    ...(search.slower === null ? [] : [chip('slower', `Slower than ${search.slower} ms`)]),
    ...(search.ip ? [chip('ip', `From ${search.ip}`)] : []),
  ];
}
