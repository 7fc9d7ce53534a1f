'use client';

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { useKnownPlaces } from './active-filters.tsx';
import type { LogSearch } from './list-search.ts';
import { readQuery } from './typed-query.ts';
import { toldOf } from './words.ts';

type Props = {
  search: LogSearch;
  onChange: (change: Partial<LogSearch>) => void;
  filters: readonly ActiveFilter[];
  onClear: () => void;
  children?: ReactNode;
};

const SLOWER = [200, 500, 1_000, 5_000];

/** One line for both ways of filtering: choose from the menu, or type `status:5xx route:payments timeout`. */
export function LogFilterBar({ search, onChange, filters, onClear, children }: Props) {
  const trpc = useTRPC();
  const known = useKnownPlaces();
  const environments = useQuery({ ...trpc.environments.list.queryOptions({}), staleTime: 60_000 }).data?.data ?? [];
  const stats = useQuery(trpc.requestLogs.stats.queryOptions({})).data;
  const [wrong, setWrong] = useState<string[]>([]);
  const typed = (text: string, entered: boolean) => {
    const { change, rest, unknown } = readQuery(text, known);
    // A word that filters is taken on Enter: `latency:>8` may be on its way to `latency:>800`.
    if (!entered && (unknown.length > 0 || Object.keys(change).length > 0)) return;
    setWrong(unknown);
    onChange({ ...change, q: rest });
  };
  const choice = (label: string, key: keyof LogSearch, value: LogSearch[keyof LogSearch], detail?: string): MenuEntry => ({
    label,
    detail,
    checked: search[key] === value,
    onSelect: () => onChange({ [key]: search[key] === value ? null : value }),
  });
  const choices: MenuEntry[] = [
    { heading: 'Status' },
    ...['2xx', '3xx', '4xx', '5xx'].map((status) => choice(status, 'status', status)),
    choice('Refused by us', 'origin', 'service'),
    choice('Limited', 'limited', true),
    ...(stats && stats.error_codes.length > 0 ? ['separator' as const, { heading: 'Reason' }] : []),
    ...(stats?.error_codes ?? [])
      .slice(0, 6)
      .map(({ error, count }) => choice(toldOf(error)?.why ?? error, 'error', error, count.toLocaleString())),
    'separator',
    { heading: 'Route' },
    ...known.routes.slice(0, 12).map((route) => choice(route.name, 'route_id', route.id)),
    ...(known.clients.length > 0 ? ['separator' as const, { heading: 'Client' }] : []),
    ...known.clients.slice(0, 8).map((client) => choice(client.name, 'client_id', client.id)),
    'separator',
    { heading: 'Environment' },
    ...environments.map((environment) => choice(environment.display_name, 'environment', environment.name)),
    'separator',
    { heading: 'Slower than' },
    ...SLOWER.map((ms) => choice(`${ms.toLocaleString()} ms`, 'slower', ms)),
  ];
  return (
    <div className="flex flex-col gap-2">
      <FilterBar
        query={search.q}
        onQuery={typed}
        placeholder="Path, request id, or status:5xx route:…"
        filters={filters}
        choices={choices}
        onClear={onClear}
      >
        {children}
      </FilterBar>
      {wrong.length > 0 && (
        <Callout title={`Not understood: ${wrong.join(', ')}`}>
          Words that filter: route, client, status, method, env, error, origin, latency, ip, limited. What is not one of them is searched in
          the path.
        </Callout>
      )}
    </div>
  );
}
