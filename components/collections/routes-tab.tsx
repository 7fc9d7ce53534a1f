'use client';

import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { Plus, RefreshCw } from 'lucide-react';
import { parseAsInteger, useQueryState } from 'nuqs';
import { useState } from 'react';
import { hostOf } from '#components/routes/host.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { describeDrift } from './drift-text.ts';
import { AddMember, takeOut, useMembersChanged } from './members.tsx';

const CreateRoute = lazyOverlay(() => import('#components/routes/create-route.tsx').then((module) => module.CreateRoute), whenOpen);

type Outputs = inferRouterOutputs<AppRouter>;
type Sync = Outputs['collections']['syncStatus']['data'][number];
type Row = Outputs['routes']['list']['data'][number] & { sync: Sync | undefined };
const column = columnsFor<Row>();

/** The member routes, and which of them lag behind what the collection expects. */
export function RoutesTab({ collectionId, expects }: { collectionId: string; expects: boolean }) {
  const trpc = useTRPC();
  const path = usePath();
  const readOnly = useForbidden('collection:update');
  const [page, setPage] = useQueryState('page', parseAsInteger.withDefault(1));
  const form = usePanel('create');
  const routes = useQuery(
    trpc.routes.list.queryOptions(
      { collection_id: collectionId, page, per_page: 20, sort: 'name', order: 'asc' },
      { placeholderData: keepPreviousData },
    ),
  );
  const sync = useQuery(trpc.collections.syncStatus.queryOptions({ id: collectionId }, { enabled: expects }));
  const refresh = useMembersChanged();
  const [q, setQ] = useState('');
  const found = useQuery(
    trpc.routes.list.queryOptions({ per_page: 50, sort: 'name', order: 'asc', ...(q ? { q } : {}) }, { placeholderData: keepPreviousData }),
  );
  const update = useMutation(trpc.routes.update.mutationOptions({ onSuccess: refresh }));
  const reset = useMutation(
    trpc.collections.resetRoute.mutationOptions({
      onSuccess: async () => {
        notifyDone('Route synced');
        await refresh();
      },
    }),
  );
  if (routes.error && !routes.data) return <QueryError query={routes} what="Routes" />;
  const rows = routes.data?.data.map((route) => ({ ...route, sync: sync.data?.data.find((one) => one.route_id === route.id) }));
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-start gap-2">
        <AddMember {...{ collectionId, readOnly }} type="route" found={found.data?.data} loading={found.isFetching} onQuery={setQ} />
        <Button icon={<Plus />} disabledReason={readOnly} onClick={() => form.open('true')} className="ml-auto">
          New route
        </Button>
      </div>
      <MutationError error={reset.error ?? update.error} />
      <DataTable
        caption="Collection routes"
        columns={columns}
        rows={rows}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        rowHref={(row) => path(`/routes/${row.id}`)}
        skeletonRows={4}
        refreshing={routes.isPlaceholderData}
        actions={(row) => [
          {
            label: 'Sync with defaults',
            detail: 'Adds missing environments and clients and updates base URLs. Removes nothing.',
            icon: <RefreshCw />,
            disabledReason: readOnly ?? (row.sync && !row.sync.in_sync ? undefined : 'The route is already in sync.'),
            onSelect: () => reset.mutate({ id: collectionId, routeId: row.id }),
          },
          takeOut(row.name, readOnly, () => update.mutateAsync({ id: row.id, collection_id: null })),
        ]}
        empty={
          <EmptyState
            title="No routes yet"
            action={
              <Button variant="primary" icon={<Plus />} disabledReason={readOnly} onClick={() => form.open('true')}>
                New route
              </Button>
            }
          >
            Add an existing route or create one. It gets the collection’s default environments.
          </EmptyState>
        }
      />
      <Pagination noun="routes" meta={routes.data?.meta} onPage={(next) => void setPage(next)} />
      <CreateRoute open={form.id === 'true' && !readOnly} onClose={form.close} collectionId={collectionId} />
    </div>
  );
}

const columns = [
  column.accessor('name', { header: 'Name', meta: { cap: '20rem' }, cell: ({ getValue }) => getValue() }),
  column.accessor('target_base_url', {
    header: 'Upstream',
    meta: { hideBelow: 'md', truncate: true, width: '30%' },
    cell: ({ getValue }) => <span className="font-mono text-ink-2 text-xs">{hostOf(getValue())}</span>,
  }),
  column.accessor('enabled', {
    header: 'Status',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'Enabled' : 'Disabled'}</Status>,
  }),
  column.accessor('sync', { header: 'Sync status', cell: ({ getValue }) => <Drift sync={getValue()} /> }),
];

function Drift({ sync }: { sync: Sync | undefined }) {
  if (!sync) return <span className="text-ink-3">No defaults</span>;
  if (sync.in_sync) return <Status state="ok">In sync</Status>;
  return (
    <span className="flex flex-col items-start">
      {sync.drift.slice(0, 3).map((one) => (
        <Status key={`${one.environment}${one.kind}${one.expected ?? ''}`} state="warning">
          {describeDrift(one)}
        </Status>
      ))}
      {sync.drift.length > 3 && <span className="text-ink-3 text-xs">and {sync.drift.length - 3} more</span>}
    </span>
  );
}
