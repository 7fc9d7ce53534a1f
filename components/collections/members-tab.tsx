'use client';

import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { parseAsInteger, useQueryState } from 'nuqs';
import { type ReactNode, useState } from 'react';
import type { ClientRow } from '#components/clients/client-labels.ts';
import { Coverage } from '#components/secrets/coverage.tsx';
import type { SecretRow } from '#components/secrets/secret-row.ts';
import { SecretState } from '#components/secrets/secret-state.tsx';
import { useEnvironments } from '#components/secrets/use-environments.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { AddMember, takeOut, useMembersChanged } from './members.tsx';

const usePageNumber = () => useQueryState('page', parseAsInteger.withDefault(1));
const PER_PAGE = 20;

/** The secrets of a collection. */
export function SecretsTab({ collectionId }: { collectionId: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const changed = useMembersChanged();
  const readOnly = useForbidden('secret:update');
  const environments = useEnvironments();
  const [page, setPage] = usePageNumber();
  const [q, setQ] = useState('');
  const members = useQuery(
    trpc.secrets.list.queryOptions({ collection_id: collectionId, page, per_page: PER_PAGE }, { placeholderData: keepPreviousData }),
  );
  const found = useQuery(trpc.secrets.list.queryOptions({ per_page: 50, ...(q ? { q } : {}) }, { placeholderData: keepPreviousData }));
  const update = useMutation(trpc.secrets.update.mutationOptions({ onSuccess: changed }));
  if (members.error && !members.data) return <QueryError query={members} what="Secrets" />;
  const column = columnsFor<SecretRow>();
  return (
    <Members
      adding={
        <AddMember {...{ collectionId, readOnly }} type="secret" found={found.data?.data} loading={found.isFetching} onQuery={setQ} />
      }
      error={update.error}
      page={members.data?.meta}
      noun="secrets"
      onPage={(next) => void setPage(next)}
    >
      <DataTable
        caption="Collection secrets"
        columns={[
          column.accessor('name', { header: 'Name', cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span> }),
          column.accessor('environment_names', {
            header: 'Values',
            cell: ({ getValue }) => <Coverage environments={environments} set={getValue()} />,
          }),
          column.display({
            id: 'state',
            header: 'Status',
            meta: { hideBelow: 'sm' },
            cell: ({ row }) => <SecretState secret={row.original} />,
          }),
        ]}
        rows={members.data?.data}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        rowHref={(row) => path(`/secrets/${row.id}`)}
        skeletonRows={3}
        refreshing={members.isPlaceholderData}
        actions={(row) => [takeOut(row.name, readOnly, () => update.mutateAsync({ id: row.id, collection_id: null }))]}
        empty={
          <EmptyState title="No secrets yet">
            Add the credentials these routes use. By default, callers of these routes can only reference secrets from this collection.
          </EmptyState>
        }
      />
    </Members>
  );
}

/** The clients of a collection. */
export function ClientsTab({ collectionId }: { collectionId: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const changed = useMembersChanged();
  const readOnly = useForbidden('client:update');
  const [page, setPage] = usePageNumber();
  const [q, setQ] = useState('');
  const asked = { sort: 'name', order: 'asc' } as const;
  const members = useQuery(
    trpc.clients.list.queryOptions(
      { ...asked, collection_id: collectionId, page, per_page: PER_PAGE },
      { placeholderData: keepPreviousData },
    ),
  );
  const found = useQuery(
    trpc.clients.list.queryOptions({ ...asked, per_page: 50, ...(q ? { q } : {}) }, { placeholderData: keepPreviousData }),
  );
  const update = useMutation(trpc.clients.update.mutationOptions({ onSuccess: changed }));
  if (members.error && !members.data) return <QueryError query={members} what="Clients" />;
  const column = columnsFor<ClientRow>();
  return (
    <Members
      adding={
        <AddMember {...{ collectionId, readOnly }} type="client" found={found.data?.data} loading={found.isFetching} onQuery={setQ} />
      }
      error={update.error}
      page={members.data?.meta}
      noun="clients"
      onPage={(next) => void setPage(next)}
    >
      <DataTable
        caption="Collection clients"
        columns={[
          column.accessor('name', { header: 'Name', meta: { cap: '16rem' }, cell: ({ getValue }) => getValue() }),
          column.accessor('ip_address', {
            header: 'IP address',
            cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span>,
          }),
          column.accessor('last_matched_at', {
            header: 'Last seen',
            meta: { hideBelow: 'md' },
            cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
          }),
          column.accessor('enabled', {
            header: 'Status',
            meta: { hideBelow: 'sm' },
            cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'Enabled' : 'Disabled'}</Status>,
          }),
        ]}
        rows={members.data?.data}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        rowHref={(row) => path(`/clients/${row.id}`)}
        skeletonRows={3}
        refreshing={members.isPlaceholderData}
        actions={(row) => [takeOut(row.name, readOnly, () => update.mutateAsync({ id: row.id, collection_id: null }))]}
        empty={
          <EmptyState title="No clients yet">
            Membership only organizes clients. Set which clients can call under Environments and on each route.
          </EmptyState>
        }
      />
    </Members>
  );
}

type MembersProps = {
  adding: ReactNode;
  children: ReactNode;
  error: Parameters<typeof MutationError>[0]['error'];
  page: Parameters<typeof Pagination>[0]['meta'];
  noun: string;
  onPage: (page: number) => void;
};

const Members = ({ adding, children, error, page, noun, onPage }: MembersProps) => (
  <div className="flex flex-col gap-4">
    {adding}
    <MutationError error={error} />
    {children}
    <Pagination noun={noun} meta={page} onPage={onPage} />
  </div>
);
