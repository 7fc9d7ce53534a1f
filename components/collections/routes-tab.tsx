'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { Plus, RefreshCw } from 'lucide-react';
import { parseAsBoolean, parseAsInteger, useQueryState } from 'nuqs';
import { CreateRoute } from '#components/routes/create-route.tsx';
import { hostOf } from '#components/routes/host.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError, QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Combobox } from '#components/ui/combobox.tsx';
import { columnsFor, DataTable } from '#components/ui/data-table.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { EmptyState } from '#components/ui/states.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>;
type Sync = Outputs['collections']['syncStatus']['data'][number];
type Row = Outputs['routes']['list']['data'][number] & { sync: Sync | undefined };
const column = columnsFor<Row>();

/** The member routes, and which of them lag behind what the collection expects. */
export function RoutesTab({ collectionId, expects }: { collectionId: string; expects: boolean }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const readOnly = useForbidden('collection:update');
  const [page, setPage] = useQueryState('page', parseAsInteger.withDefault(1));
  const [creating, setCreating] = useQueryState('create', parseAsBoolean.withDefault(false));
  const routes = useQuery(
    trpc.routes.list.queryOptions(
      { collection_id: collectionId, page, per_page: 20, sort: 'name', order: 'asc' },
      { placeholderData: keepPreviousData },
    ),
  );
  const sync = useQuery(trpc.collections.syncStatus.queryOptions({ id: collectionId }, { enabled: expects }));
  const refresh = () =>
    Promise.all([cache.invalidateQueries(trpc.collections.pathFilter()), cache.invalidateQueries(trpc.routes.pathFilter())]);
  const reset = useMutation(
    trpc.collections.resetRoute.mutationOptions({
      onSuccess: async () => {
        notifyDone('The route is in step again');
        await refresh();
      },
    }),
  );
  if (routes.error && !routes.data) return <QueryError query={routes} what="The routes of the collection" />;
  const rows = routes.data?.data.map((route) => ({ ...route, sync: sync.data?.data.find((one) => one.route_id === route.id) }));
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-start gap-2">
        <AddRoute collectionId={collectionId} readOnly={readOnly} onAdded={refresh} />
        <Button icon={<Plus />} disabledReason={readOnly} onClick={() => void setCreating(true)} className="ml-auto">
          New route here
        </Button>
      </div>
      <MutationError error={reset.error} />
      <DataTable
        caption="Routes of the collection"
        columns={columns}
        rows={rows}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        rowHref={(row) => path(`/routes/${row.id}`)}
        skeletonRows={4}
        refreshing={routes.isPlaceholderData}
        actions={(row) => [
          {
            label: 'Bring in step',
            detail: 'Adds missing environments, sets base URLs, attaches missing clients. Takes nothing away.',
            icon: <RefreshCw />,
            disabledReason: readOnly ?? (row.sync && !row.sync.in_sync ? undefined : 'It is in step'),
            onSelect: () => reset.mutate({ id: collectionId, routeId: row.id }),
          },
        ]}
        empty={
          <EmptyState
            title="No routes in it yet"
            action={
              <Button variant="primary" icon={<Plus />} disabledReason={readOnly} onClick={() => void setCreating(true)}>
                New route here
              </Button>
            }
          >
            Add one that exists, or make a new one. Routes that join get the environments the collection expects.
          </EmptyState>
        }
      />
      {routes.data && routes.data.meta.total_pages > 1 && (
        <Pagination
          noun="routes"
          page={routes.data.meta.page}
          perPage={routes.data.meta.per_page}
          total={routes.data.meta.total}
          onPage={(next) => void setPage(next)}
        />
      )}
      <CreateRoute open={creating && !readOnly} onOpenChange={(open) => void setCreating(open || null)} collectionId={collectionId} />
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
    header: 'State',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'on' : 'off'}</Status>,
  }),
  column.accessor('sync', { header: 'Against the defaults', cell: ({ getValue }) => <Drift sync={getValue()} /> }),
];

function Drift({ sync }: { sync: Sync | undefined }) {
  if (!sync) return <span className="text-ink-3">no defaults</span>;
  if (sync.in_sync) return <Status state="ok">in step</Status>;
  return (
    <span className="flex flex-col items-start">
      {sync.drift.slice(0, 3).map((one) => (
        <Status key={`${one.environment}${one.kind}${one.expected ?? ''}`} state="warning">
          {inWords(one)}
        </Status>
      ))}
      {sync.drift.length > 3 && <span className="text-ink-3 text-xs">and {sync.drift.length - 3} more</span>}
    </span>
  );
}

const inWords = ({ environment, kind, actual }: Sync['drift'][number]) =>
  kind === 'missing_environment'
    ? `${environment} is not served`
    : kind === 'base_url'
      ? `${environment} goes to ${hostOf(actual)}`
      : `a client is missing in ${environment}`;

function AddRoute({
  collectionId,
  readOnly,
  onAdded,
}: {
  collectionId: string;
  readOnly: string | undefined;
  onAdded: () => Promise<unknown>;
}) {
  const trpc = useTRPC();
  const routes = useQuery(trpc.routes.list.queryOptions({ per_page: 100, sort: 'name', order: 'asc' }));
  const move = useMutation(trpc.collections.moveMembers.mutationOptions({ onSuccess: onAdded }));
  const others = routes.data?.data.filter((route) => route.collection_id !== collectionId) ?? [];
  return (
    <div className="w-full sm:w-80">
      <Combobox
        key={others.length}
        label="Add a route"
        placeholder="Add a route…"
        emptyText="No other route of that name."
        disabled={readOnly !== undefined || move.isPending}
        options={others.map((route) => ({
          value: route.id,
          label: route.name,
          ...(route.collection_id ? { detail: 'moves here from another collection' } : {}),
        }))}
        value={null}
        onValueChange={(id) => id && move.mutate({ id: collectionId, type: 'route', ids: [id] })}
      />
      <MutationError error={move.error} />
    </div>
  );
}
