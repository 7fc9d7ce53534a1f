'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Combobox } from '#components/ui/combobox.tsx';

const FAMILIES = ['routes', 'secrets', 'clients', 'collections', 'environments', 'api-keys'] as const;
type Family = (typeof FAMILIES)[number];
const BY_FIELD: Record<string, Family> = {
  routeId: 'routes',
  route_id: 'routes',
  client_id: 'clients',
  collection_id: 'collections',
  secret_id: 'secrets',
  base_environment_id: 'environments',
  env: 'environments',
  environment: 'environments',
  base_environment: 'environments',
};

/** Whose ids a field takes; undefined where they cannot be chosen from a list. */
export function familyOf(field: string, path: string): Family | undefined {
  const family = path.split('/')[1];
  return field === 'id' ? FAMILIES.find((one) => one === family) : BY_FIELD[field];
}

type Props = {
  family: Family;
  /** Environments are named in paths and bodies, not numbered. */
  byName: boolean;
  value: string;
  onValue: (value: string) => void;
  label: string;
};

/** One's own resources by name, for a field that takes an id. */
export function IdPicker({ family, byName, value, onValue, label }: Props) {
  const trpc = useTRPC();
  const [q, setQuery] = useState('');
  const asked = { per_page: 50, ...(q ? { q } : {}) };
  const on = (one: Family) => ({ enabled: family === one, staleTime: 30_000 });
  const lists = {
    routes: useQuery(trpc.routes.list.queryOptions(asked, on('routes'))),
    secrets: useQuery(trpc.secrets.list.queryOptions(asked, on('secrets'))),
    clients: useQuery(trpc.clients.list.queryOptions(asked, on('clients'))),
    collections: useQuery(trpc.collections.list.queryOptions(asked, on('collections'))),
    environments: useQuery(trpc.environments.list.queryOptions({}, on('environments'))),
    'api-keys': useQuery(trpc.apiKeys.list.queryOptions({ per_page: 50 }, on('api-keys'))),
  };
  const list = lists[family];
  const options = (list.data?.data ?? []).map((row) => ({ value: byName ? row.name : row.id, label: row.name, detail: row.id }));
  return (
    <Combobox
      label={label}
      placeholder="Choose by name…"
      options={value && !options.some((one) => one.value === value) ? [{ value, label: value }, ...options] : options}
      value={value || null}
      onValueChange={(next) => onValue(next ?? '')}
      loading={list.isFetching}
      emptyText="No match in this space."
      {...(family === 'environments' || family === 'api-keys' ? {} : { onQueryChange: setQuery })}
    />
  );
}
