'use client';

import { useQuery } from '@tanstack/react-query';
import { AppWindow, Plus, Search } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useHanded } from '#components/trpc/handover.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Input } from '#components/ui/input.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { type ClientRow, grantName, originOf, stateOf, TYPES } from './client-labels.ts';
import { clientSearch } from './list-search.ts';

const CreateClientSheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateClientSheet), whenOpen);

const column = columnsFor<ClientRow>();
const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '18rem' },
    cell: ({ row }) => {
      const origin = originOf(row.original);
      return (
        <span className="inline-flex min-w-0 max-w-full items-center gap-2">
          <span className="truncate">{row.original.name}</span>
          {origin && <Badge tone="accent">{origin.label}</Badge>}
        </span>
      );
    },
  }),
  column.accessor('client_id', {
    header: 'Client ID',
    meta: { hideBelow: 'xl', cap: '18rem' },
    cell: ({ getValue }) => <span className="font-mono text-ink-2 text-xs">{getValue()}</span>,
  }),
  column.accessor('type', { header: 'Type', meta: { hideBelow: 'md' }, cell: ({ getValue }) => TYPES[getValue()] }),
  column.accessor('grant_types', {
    header: 'Grants',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="text-ink-2">{getValue().map(grantName).join(', ')}</span>,
  }),
  column.accessor('allowed_scopes', {
    header: 'Scopes',
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="figures">{getValue().length}</span>,
  }),
  column.accessor('last_used_at', {
    header: 'Last used',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
  column.display({
    id: 'state',
    header: 'Status',
    cell: ({ row }) => {
      const { state, label } = stateOf(row.original);
      return <Status state={state}>{label}</Status>;
    },
  }),
];

const SHOWN = {
  own: (row: ClientRow) => row.source_api_key_id === null && row.revoked_at === null,
  keys: (row: ClientRow) => row.source_api_key_id !== null && row.active,
  revoked: (row: ClientRow) => row.revoked_at !== null,
  all: () => true,
};

/** The OAuth clients of the space. The list isn't paged: it is narrowed here. */
export function ClientList() {
  const trpc = useTRPC();
  const { person, api_url } = useScope();
  const path = usePath();
  const router = useRouter();
  const [search, setSearch] = useQueryStates(clientSearch);
  const handed = useHanded(person);
  const list = useQuery(trpc.oauthClients.list.queryOptions({}));
  const usage = useLimit('oauth_clients', 'registered clients');
  const readOnly = useForbidden('oauth_client:create');
  const form = usePanel('open');
  const words = search.q.toLowerCase();
  const shown = list.data?.data.filter(SHOWN[search.show]);
  const rows = shown?.filter(({ name, client_id }) => `${name} ${client_id}`.toLowerCase().includes(words));
  useHotkeys([{ keys: 'c', label: 'New OAuth client', group: 'List', run: () => !readOnly && void form.open('new') }]);
  const newClient = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('new')}>
      New client
    </Button>
  );
  const filtered = search.show !== 'own' || words !== '';
  return (
    <Page>
      <PageHeader
        title="OAuth clients"
        description="Applications that get access tokens, for themselves or for people who agree."
        usage={usage}
        actions={newClient}
      />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Input
          icon={<Search />}
          aria-label="Search by name or client ID"
          placeholder="Search by name or client ID"
          className="w-full sm:w-72"
          value={search.q}
          onChange={(event) => void setSearch({ q: event.target.value || null })}
        />
        <Segmented
          label="Show"
          value={search.show}
          onValueChange={(show) => void setSearch({ show })}
          options={[
            { value: 'own', label: 'Clients' },
            { value: 'keys', label: 'API keys' },
            { value: 'revoked', label: 'Revoked' },
            { value: 'all', label: 'All' },
          ]}
        />
      </div>
      {list.isError ? (
        <QueryError query={list} what="OAuth clients" />
      ) : rows?.length === 0 && filtered ? (
        <NoResults
          noun="clients"
          filters={[...(words ? [search.q] : []), search.show]}
          onClear={() => void setSearch({ show: null, q: null })}
        />
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          caption="OAuth clients"
          rowHref={(row) => path(`/oauth-clients/${row.id}`)}
          empty={
            <EmptyState
              icon={<AppWindow />}
              title="No OAuth clients yet"
              action={newClient}
              command={[
                {
                  id: 'curl',
                  label: 'cURL',
                  language: 'bash',
                  code: `curl ${api_url.replace(/\/v1$/, '')}/oauth/token -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials`,
                },
              ]}
            >
              A client gets tokens that work for an hour and carry only the scopes you allow. Each API key is a client too.
            </EmptyState>
          }
        />
      )}
      <CreateClientSheet
        open={form.id === 'new' && !handed && !readOnly}
        onClose={form.close}
        onCreated={(id) => void form.close().then(() => router.push(path(`/oauth-clients/${id}`)))}
      />
    </Page>
  );
}
