'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { LocateFixed, Plus } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useMemo, useState } from 'react';
import { useTraffic } from '#components/logs/use-traffic.ts';
import { useCollections } from '#components/secrets/use-environments.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { ColumnsMenu, useColumnChoice } from '#components/ui/columns.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { clientColumns } from './client-columns.tsx';
import type { ClientRow } from './client-labels.ts';
import { DeleteClient } from './delete-client.tsx';
import { clientFilters } from './list-filters.ts';
import { clientListInput, clientSearch } from './list-search.ts';
import { NoClients } from './no-clients.tsx';
import { useEnableClient } from './use-enable-client.ts';

const GroupedList = lazyTab(() => import('#components/collections/grouped-list.tsx').then((module) => module.GroupedList));
const ClientSheet = lazyOverlay(() => import('./client-form.tsx').then((module) => module.ClientSheet), whenOpen);

/** The callers that are known by address, with how they fare. */
export function ClientList() {
  const trpc = useTRPC();
  const path = usePath();
  const [search, setSearch] = useQueryStates(clientSearch);
  const [deleting, setDeleting] = useState<ClientRow>();
  const list = useQuery({ ...trpc.clients.list.queryOptions(clientListInput(search)), placeholderData: keepPreviousData });
  const collections = useCollections();
  const usage = useLimit('clients', 'clients');
  const readOnly = useForbidden('client:update');
  const { mutate: enable } = useEnableClient();
  const columns = useMemo(
    () =>
      clientColumns({
        toggle: ({ id }, enabled) => enable({ id, enabled }),
        readOnly,
        collectionName: (id) => collections?.find((one) => one.id === id)?.name,
      }),
    [enable, readOnly, collections],
  );
  const choice = useColumnChoice('clients', columns);
  const form = usePanel('open');
  const openNew = () => form.open('new');
  const openMine = () => form.open('mine');
  useHotkeys([{ keys: 'c', label: 'New client', group: 'List', run: () => !readOnly && openNew() }]);
  const traffic = useTraffic(
    'client',
    list.data?.data.map((row) => row.id),
  );
  const rows = list.data?.data.map((row) => ({ ...row, traffic: traffic(row.id) }));
  const filters = clientFilters(search, setSearch, collections);
  const clear = () => void setSearch({ q: '', type: null, enabled: null, collection: null, by: null, page: 1 });
  const filtered = filters.active.length > 0 || search.q !== '';
  const newClient = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={openNew}>
      New client
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Clients"
        description="Callers identified by IP address. Assign them to routes that require a client."
        usage={usage}
        actions={
          <>
            <Button icon={<LocateFixed />} disabledReason={readOnly} onClick={openMine}>
              Add my IP address
            </Button>
            {newClient}
          </>
        }
      />
      {(filtered || (rows && rows.length > 0)) && (
        <FilterBar
          query={search.q}
          onQuery={(q) => void setSearch({ q, page: 1 })}
          placeholder="Filter by name or IP address"
          filters={filters.active}
          onClear={clear}
          choices={filters.choices}
        >
          <ViewsMenu page="clients" columns={choice} />
          <ColumnsMenu choice={choice} />
        </FilterBar>
      )}
      {list.isError ? (
        <QueryError query={list} what="Clients" />
      ) : rows?.length === 0 && filtered ? (
        <NoResults
          noun="clients"
          filters={[...(search.q ? [`contains “${search.q}”`] : []), ...filters.active.map((one) => one.text)]}
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
          hiddenColumns={choice.hidden}
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
            { label: 'View logs', href: path(`/logs?client_id=${row.id}`) },
            'separator',
            { label: 'Delete…', danger: true, disabledReason: readOnly, onSelect: () => setDeleting(row) },
          ]}
          empty={
            <NoClients
              create={newClient}
              createMine={
                <Button variant="ghost" icon={<LocateFixed />} disabledReason={readOnly} onClick={openMine}>
                  Add my IP address
                </Button>
              }
            />
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
