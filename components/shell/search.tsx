'use client';

import { useQueries } from '@tanstack/react-query';
import { KeyRound, LockKeyhole, Network, ScrollText, Waypoints } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useEffect, useState } from 'react';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import type { PaletteGroup } from './palette.tsx';

const PAUSE_MS = 180;
const SHOWN = 5;
const LEAST = 2;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What the space holds under a name, for the palette; nothing is asked before two characters. An id can only be that of a call. */
export function useSearchGroups(partitioned: boolean): { groups: PaletteGroup[]; searching: boolean; onQuery: (query: string) => void } {
  const trpc = useTRPC();
  const router = useRouter();
  const path = usePath();
  const [query, onQuery] = useState('');
  const q = useSettled(query.slice(0, 100));
  const enabled = partitioned && q.length >= LEAST && !UUID.test(q);
  const options = { enabled, staleTime: 30_000 };
  const [routes, secrets, clients] = useQueries({
    queries: [
      trpc.routes.list.queryOptions({ q, per_page: SHOWN }, options),
      trpc.secrets.list.queryOptions({ q, per_page: SHOWN }, options),
      trpc.clients.list.queryOptions({ q, per_page: SHOWN }, options),
    ],
  });
  const go = (to: string) => () => router.push(path(to));
  const found = enabled
    ? [
        ...(routes.data?.data ?? []).map((row) => ({
          id: row.id,
          label: row.name,
          detail: row.target_base_url ?? undefined,
          icon: <Waypoints />,
          run: go(`/routes/${row.id}`),
        })),
        ...(secrets.data?.data ?? []).map((row) => ({
          id: row.id,
          label: row.name,
          detail: 'Secret',
          icon: <LockKeyhole />,
          run: go(`/secrets/${row.id}`),
        })),
        ...(clients.data?.data ?? []).map((row) => ({
          id: row.id,
          label: row.name,
          detail: row.ip_address,
          icon: <Network />,
          run: go(`/clients/${row.id}`),
        })),
      ]
    : [];
  const byId =
    partitioned && UUID.test(q)
      ? [{ id: `call-${q}`, label: `Call ${q}`, detail: 'in the logs', icon: <ScrollText />, run: go(`/logs?peek=${q}`) }]
      : [];
  const make = partitioned
    ? [
        { id: 'new-secret', label: 'New secret', icon: <LockKeyhole />, run: go('/secrets?open=new') },
        { id: 'import-env', label: 'Paste a .env file', icon: <LockKeyhole />, run: go('/secrets?open=env') },
        { id: 'new-client', label: 'New client', icon: <Network />, run: go('/clients?open=new') },
        { id: 'new-key', label: 'New API key', icon: <KeyRound />, run: go('/api-keys?open=new') },
      ]
    : [];
  return {
    groups: [
      // The server matched what was typed, perhaps in an address the label does not show: the text is a keyword of each answer.
      { heading: 'Found', items: [...byId, ...found].map((item) => ({ ...item, keywords: [q] })) },
      { heading: 'Create', items: make, actions: true },
    ],
    searching:
      (enabled && [routes, secrets, clients].some((one) => one.isFetching)) ||
      (partitioned && query.length >= LEAST && q !== query.slice(0, 100)),
    onQuery,
  };
}

/** The text once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
