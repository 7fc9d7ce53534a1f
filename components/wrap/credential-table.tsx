'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ExternalLink, Globe, Link2, Package, Route, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { type ReactNode, useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { credentialQuery } from './list-search.ts';
import type { CredentialRow } from './rows.ts';

type Overlay = { credential: CredentialRow | undefined; onClose: () => void };
const opened = ({ credential }: Overlay) => credential !== undefined;
const HostsSheet = lazyOverlay(() => import('./hosts-sheet.tsx').then((module) => module.HostsSheet), opened);
const TokenSheet = lazyOverlay(() => import('./token-sheet.tsx').then((module) => module.TokenSheet), opened);
const PromoteSheet = lazyOverlay(() => import('./promote-sheet.tsx').then((module) => module.PromoteSheet), opened);
const DeleteCredential = lazyOverlay(() => import('./delete-credential.tsx').then((module) => module.DeleteCredential), opened);

const column = columnsFor<CredentialRow>();
const columns = [
  column.accessor('name', { header: 'Name', cell: ({ getValue }) => <span className="font-medium font-mono text-sm">{getValue()}</span> }),
  column.accessor('provider', { header: 'Provider', meta: { hideBelow: 'sm' } }),
  column.accessor('allowed_hosts', {
    header: 'Hosts',
    meta: { cap: '18rem', hideBelow: 'md' },
    cell: ({ getValue }) => <span className="block truncate text-ink-2">{getValue().join(', ')}</span>,
  }),
  column.accessor('active_tokens', { header: 'Tokens', meta: { hideBelow: 'md' } }),
  column.accessor('last_used_at', { header: 'Last used', cell: ({ getValue }) => <Time value={getValue()} empty="Never" /> }),
];

/** The wrap credentials, newest first, with what can be done to each. Values are nowhere. */
export function CredentialTable({ page, onPage, start }: { page: number; onPage: (page: number) => void; start: ReactNode }) {
  const trpc = useTRPC();
  const router = useRouter();
  const { slug, space } = useScope();
  const readOnly = useForbidden('secret:update');
  const noTokens = useForbidden('secret:create');
  const noDelete = useForbidden('secret:delete');
  const [hosts, setHosts] = useState<CredentialRow>();
  const [token, setToken] = useState<CredentialRow>();
  const noRoutes = useForbidden('route:create');
  const [promoted, setPromoted] = useState<CredentialRow>();
  const [gone, setGone] = useState<CredentialRow>();
  const list = useQuery(trpc.wrap.listCredentials.queryOptions(credentialQuery({ page }), { placeholderData: keepPreviousData }));
  if (list.isError) return <QueryError query={list} what="Wrap credentials" />;
  return (
    <>
      <DataTable
        caption="Wrap credentials"
        columns={columns}
        rows={list.data?.data}
        rowId={(row) => row.secret_id}
        rowName={(row) => row.name}
        refreshing={list.isPlaceholderData}
        actions={(row) => [
          { label: 'Create gateway token', icon: <Link2 />, disabledReason: noTokens, onSelect: () => setToken(row) },
          { label: 'Edit hosts', icon: <Globe />, disabledReason: readOnly, onSelect: () => setHosts(row) },
          { label: 'Rotate value', icon: <ExternalLink />, onSelect: () => router.push(`/${slug}/${space}/secrets/${row.secret_id}`) },
          { label: 'Promote to route', icon: <Route />, disabledReason: noRoutes, onSelect: () => setPromoted(row) },
          { label: 'Delete', icon: <Trash2 />, danger: true, disabledReason: noDelete, onSelect: () => setGone(row) },
        ]}
        empty={
          <EmptyState icon={<Package />} title="No wrap credentials yet" action={start}>
            Store a provider's key once. Your SDK then works through the gateway, and the key stays here.
          </EmptyState>
        }
      />
      <Pagination noun="wrap credentials" meta={list.data?.meta} onPage={onPage} />
      <HostsSheet credential={hosts} onClose={() => setHosts(undefined)} />
      <TokenSheet credential={token} onClose={() => setToken(undefined)} />
      <PromoteSheet credential={promoted} onClose={() => setPromoted(undefined)} />
      <DeleteCredential credential={gone} onClose={() => setGone(undefined)} />
    </>
  );
}
