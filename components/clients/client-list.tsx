'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { LocateFixed, Network, Plus } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useMemo, useState } from 'react';
import { type Traffic, useTraffic } from '#components/logs/use-traffic.ts';
import { useCollections } from '#components/secrets/places.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ColumnsMenu, useColumns } from '#components/ui/columns.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazily, lazyTab, whenOpen } from '#components/ui/lazily.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { EmptyState, NoResults } from '#components/ui/states.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { addressIn } from '#server/domain/request-logs/country.shared.ts';
import { DeleteClient } from './delete-client.tsx';
import { ClientHealth } from './health.tsx';
import { clientListInput, clientSearch } from './list-search.ts';
import { useEnableClient } from './use-enable-client.ts';
import { type ClientRow, credentialsInWords, TYPES } from './words.ts';

const GroupedList = lazyTab(() => import('#components/collections/grouped-list.tsx').then((module) => module.GroupedList));
const ClientSheet = lazily(() => import('./client-form.tsx').then((module) => module.ClientSheet), whenOpen);

type Listed = ClientRow & { traffic: Traffic | undefined };
const column = columnsFor<Listed>();
const columnsOf = (
  toggle: (row: ClientRow, enabled: boolean) => void,
  readOnly: string | undefined,
  collectionName: (id: string) => string | undefined,
) => [
  column.accessor('name', {
    header: 'Name',
    meta: { sort: 'name', cap: '16rem' },
    cell: ({ row, getValue }) => (
      <>
        {getValue()}
        <span suppressHydrationWarning className="block truncate font-mono font-normal text-ink-2 text-xs sm:hidden">
          {addressIn(row.original.ip_address, row.original.ip_country)}
        </span>
      </>
    ),
  }),
  column.accessor('type', { header: 'Type', meta: { sort: 'type', hideBelow: 'lg' }, cell: ({ getValue }) => TYPES[getValue()] }),
  column.accessor('ip_address', {
    header: 'Address',
    meta: { sort: 'ip_address', cap: '12rem', hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span suppressHydrationWarning className="font-mono text-ink-2 text-xs">
        {addressIn(original.ip_address, original.ip_country)}
      </span>
    ),
  }),
  column.accessor('credential_kinds', {
    header: 'Credentials',
    meta: { hideBelow: 'xl' },
    cell: ({ getValue }) => <span className="whitespace-nowrap">{credentialsInWords(getValue())}</span>,
  }),
  column.accessor('collection_id', {
    header: 'Collection',
    meta: { hideBelow: 'xl', truncate: true, width: '10rem' },
    cell: ({ getValue }) => {
      const id = getValue();
      return id ? (collectionName(id) ?? '…') : <span className="text-ink-3">—</span>;
    },
  }),
  column.accessor('assigned_route_count', {
    header: 'Routes',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ getValue }) => grouped(getValue()),
  }),
  column.display({
    id: 'health',
    header: 'Health',
    meta: { hideBelow: 'sm' },
    cell: ({ row }) => <ClientHealth traffic={row.original.traffic} />,
  }),
  column.display({
    id: 'calls',
    header: 'Calls, 24 h',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ row }) => <span className="figures">{grouped(row.original.traffic?.calls_24h) ?? '…'}</span>,
  }),
  column.accessor('last_matched_at', {
    header: 'Last seen',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} empty="never" />,
  }),
  column.accessor('enabled', {
    header: 'On',
    cell: ({ row }) => (
      <span className="relative z-10 inline-flex">
        <Switch
          hideLabel
          label={`${row.original.name} is switched on`}
          checked={row.original.enabled}
          disabledReason={readOnly}
          onCheckedChange={(on) => toggle(row.original, on)}
        />
      </span>
    ),
  }),
];

/** The callers that are known by address, with how they fare. */
export function ClientList() {
  const trpc = useTRPC();
  const path = usePath();
  const { api_url } = useScope();
  const [search, setSearch] = useQueryStates(clientSearch);
  const [deleting, setDeleting] = useState<ClientRow>();
  const list = useQuery({ ...trpc.clients.list.queryOptions(clientListInput(search)), placeholderData: keepPreviousData });
  const collections = useCollections();
  const usage = useLimit('clients', 'clients');
  const readOnly = useForbidden('client:update');
  const { mutate: enable } = useEnableClient();
  const all = useMemo(
    () =>
      columnsOf(
        ({ id }, enabled) => enable({ id, enabled }),
        readOnly,
        (id) => collections?.find((one) => one.id === id)?.name,
      ),
    [enable, readOnly, collections],
  );
  const { columns, choice } = useColumns('clients', all);
  const form = usePanel('open');
  const openNew = () => form.open('new');
  const openMine = () => form.open('mine');
  useHotkeys([{ keys: 'c', label: 'New client', group: 'List', run: () => !readOnly && openNew() }]);
  const traffic = useTraffic(
    'client',
    list.data?.data.map((row) => row.id),
  );
  const rows = list.data?.data.map((row) => ({ ...row, traffic: traffic(row.id) }));
  const filter = (id: string, text: string, change: Partial<Record<'type' | 'enabled' | 'collection' | 'by', null>>): ActiveFilter => ({
    id,
    text,
    label: text,
    onRemove: () => void setSearch({ ...change, page: 1 }),
  });
  const filters = [
    ...(search.by ? [filter('by', 'By collection', { by: null })] : []),
    ...(search.type ? [filter('type', TYPES[search.type], { type: null })] : []),
    ...(search.enabled === null ? [] : [filter('enabled', search.enabled ? 'Switched on' : 'Switched off', { enabled: null })]),
    ...(search.collection
      ? [
          filter('collection', `Collection ${collections?.find((one) => one.id === search.collection)?.name ?? 'chosen'}`, {
            collection: null,
          }),
        ]
      : []),
  ];
  const clear = () => void setSearch({ q: '', type: null, enabled: null, collection: null, by: null, page: 1 });
  const filtered = filters.length > 0 || search.q !== '';
  const newClient = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={openNew}>
      New client
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Clients"
        description="Machines and people that may call the routes you restrict."
        usage={usage}
        actions={
          <>
            <Button icon={<LocateFixed />} disabledReason={readOnly} onClick={openMine}>
              Add my current address
            </Button>
            {newClient}
          </>
        }
      />
      {(filtered || (rows && rows.length > 0)) && (
        <FilterBar
          query={search.q}
          onQuery={(q) => void setSearch({ q, page: 1 })}
          placeholder="Filter by name or address"
          filters={filters}
          onClear={clear}
          choices={[
            {
              label: 'By collection',
              checked: search.by !== null,
              onSelect: () => void setSearch({ by: search.by ? null : 'collection', page: 1 }),
            },
            { heading: 'Type' },
            { label: 'Servers', checked: search.type === 'server', onSelect: () => void setSearch({ type: 'server', page: 1 }) },
            { label: 'People', checked: search.type === 'user', onSelect: () => void setSearch({ type: 'user', page: 1 }) },
            'separator',
            { label: 'Switched on', checked: search.enabled === true, onSelect: () => void setSearch({ enabled: true, page: 1 }) },
            { label: 'Switched off', checked: search.enabled === false, onSelect: () => void setSearch({ enabled: false, page: 1 }) },
            ...(collections?.length ? ['separator' as const, { heading: 'Collection' }] : []),
            ...(collections ?? []).map(({ id, name }) => ({
              label: name,
              checked: search.collection === id,
              onSelect: () => void setSearch({ collection: id, page: 1 }),
            })),
          ]}
        >
          <ViewsMenu page="clients" columns={choice} />
          <ColumnsMenu choice={choice} />
        </FilterBar>
      )}
      {list.isError ? (
        <QueryError query={list} what="The clients" />
      ) : rows?.length === 0 && filtered ? (
        <NoResults
          noun="clients"
          filters={[...(search.q ? [`contains ${search.q}`] : []), ...filters.map((one) => one.text)]}
          onClear={clear}
        />
      ) : search.by && rows?.length !== 0 ? (
        <GroupedList
          type="client"
          rows={rows?.map(({ id, name, collection_id, ip_address }) => ({
            id,
            name,
            collection_id,
            detail: ip_address,
            href: path(`/clients/${id}`),
          }))}
        />
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          caption="Clients"
          rowHref={(row) => path(`/clients/${row.id}`)}
          sort={{ sort: search.sort, order: search.order }}
          onSort={({ sort, order }) => void setSearch({ sort: sort as typeof search.sort, order, page: 1 })}
          refreshing={list.isPlaceholderData}
          actions={(row) => [
            { label: 'Open', href: path(`/clients/${row.id}`) },
            { label: 'Calls', href: path(`/logs?client_id=${row.id}`) },
            'separator',
            { label: 'Delete…', danger: true, disabledReason: readOnly, onSelect: () => setDeleting(row) },
          ]}
          empty={
            <EmptyState
              icon={<Network />}
              title="Anyone with a key may call until you restrict a route"
              action={newClient}
              link={
                <Button variant="ghost" icon={<LocateFixed />} disabledReason={readOnly} onClick={openMine}>
                  begin with your current address
                </Button>
              }
              command={[
                {
                  id: 'curl',
                  label: 'cURL',
                  language: 'bash',
                  code: `curl -X POST ${api_url}/clients \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"billing-worker","ip_address":"203.0.113.7"}'`,
                },
              ]}
            >
              A client is a caller you know by its address; a restricted route admits only the clients assigned to it.
            </EmptyState>
          }
        />
      )}
      <Pagination
        noun="clients"
        meta={list.data?.meta}
        onPage={(page) => void setSearch({ page })}
        onPerPage={(per_page) => void setSearch({ per_page, page: 1 })}
      />
      <ClientSheet open={form.id !== null && !readOnly} mine={form.id === 'mine'} onClose={form.close} />
      {deleting && <DeleteClient client={deleting} open onClose={() => setDeleting(undefined)} />}
    </Page>
  );
}
