'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#components/trpc/provider.tsx';
import { capitalize } from '#components/ui/capitalize.ts';

/** The people, keys and OAuth clients that a policy can name, as options, and what each is called. */
export function useCandidates(enabled = true) {
  const trpc = useTRPC();
  const query = useQuery(trpc.policies.candidates.queryOptions({}, { enabled }));
  const { people = [], keys = [], oauth_clients = [] } = query.data ?? {};
  const names = new Map([...people, ...keys, ...oauth_clients].map(({ id, name }) => [id, name]));
  return {
    query,
    people: people.map(({ id, name, role }) => ({ value: id, label: name, detail: capitalize(role) })),
    keys: keys.map(({ id, name, space }) => ({ value: id, label: name, detail: capitalize(space) })),
    clients: oauth_clients.map(({ id, name, space }) => ({ value: id, label: name, detail: capitalize(space) })),
    named: (id: string) => names.get(id),
    keySpace: (id: string) => keys.find((key) => key.id === id)?.space,
  };
}
