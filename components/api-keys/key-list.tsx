'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { type Traffic, useTraffic } from '#components/logs/use-traffic.ts';
import { useHanded } from '#components/trpc/handover.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ColumnsMenu, useColumnChoice } from '#components/ui/columns.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { ViewsMenu } from '#components/views/views-menu.tsx';
import { useKeyHandover } from './created-card.tsx';
import { endOf, type Key, limitInWords, stateOf, TYPES } from './key-labels.ts';
import { keyListInput, keySearch } from './list-search.ts';
import { Roles } from './roles.tsx';
import { useRevocable } from './use-revocable.ts';

const CreateKeySheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateKeySheet), whenOpen);

const KeyPanel = lazyOverlay(
  () => import('./key-panel.tsx').then((module) => module.KeyPanel),
  ({ id }) => id !== null,
);
const RevokeDialog = lazyOverlay(() => import('./key-dialogs.tsx').then((module) => module.RevokeDialog), whenOpen);

type Listed = Key & { traffic: Traffic | undefined };
const column = columnsFor<Listed>();
const columns = [
  column.accessor('name', { header: 'Name', enableSorting: true, meta: { cap: '16rem' }, cell: ({ getValue }) => getValue() }),
  column.accessor('key_prefix', {
    header: 'Key',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="font-mono text-ink-2 text-xs">{getValue()}</span>,
  }),
  column.accessor('key_type', { header: 'Type', meta: { hideBelow: 'lg' }, cell: ({ getValue }) => TYPES[getValue()] }),
  column.accessor('role_ids', { header: 'Roles', meta: { hideBelow: 'md' }, cell: ({ getValue }) => <Roles ids={getValue()} /> }),
  column.display({
    id: 'limit',
    header: 'Rate limit',
    meta: { hideBelow: '2xl' },
    cell: ({ row }) => (
      <span className="whitespace-nowrap">
        {limitInWords(row.original.rate_limit_requests, row.original.rate_limit_window_sec) ?? <span className="text-ink-3">—</span>}
      </span>
    ),
  }),
  column.display({
    id: 'calls',
    header: 'Calls (30 days)',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ row }) => <span className="figures">{grouped(row.original.traffic?.calls_30d) ?? '…'}</span>,
  }),
  column.accessor('last_used_at', {
    header: 'Last used',
    enableSorting: true,
    meta: { hideBelow: 'sm' },
    cell: ({ row }) => (
      <span className="flex flex-wrap items-baseline gap-x-2">
        <Time value={row.original.last_used_at} empty="Never" />
        {row.original.last_used_ip && <span className="font-mono text-ink-3 text-xs max-lg:hidden">{row.original.last_used_ip}</span>}
      </span>
    ),
  }),
  column.accessor('expires_at', {
    header: 'Expires',
    meta: { hideBelow: 'xl' },
    cell: ({ row }) => <Time value={endOf(row.original)} format="date" empty="Never" />,
  }),
  column.accessor('created_by', {
    header: 'Created by',
    meta: { hideBelow: '2xl', truncate: true, width: '10rem' },
    cell: ({ getValue }) => getValue()?.label ?? <span className="text-ink-3">—</span>,
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

/** The keys of the space: made, looked at, rotated and revoked from here. */
export function KeyList() {
  const trpc = useTRPC();
  const { api_url, space, person } = useScope();
  const path = usePath();
  const [search, setSearch] = useQueryStates(keySearch);
  const handKey = useKeyHandover();
  const handed = useHanded(person);
  const [revoking, setRevoking] = useState<Key>();
  const list = useQuery({ ...trpc.apiKeys.list.queryOptions(keyListInput(search)), placeholderData: keepPreviousData });
  const usage = useLimit('api_keys', 'keys');
  const readOnly = useForbidden('api_key:update');
  const irrevocable = useRevocable();
  const choice = useColumnChoice('api_keys', columns);
  const traffic = useTraffic(
    'api_key',
    list.data?.data.map((row) => row.id),
  );
  const rows = list.data?.data.map((row) => ({ ...row, traffic: traffic(row.id) }));
  const form = usePanel('open');
  const peek = usePanel('peek');
  const openNew = () => void peek.close().then(() => form.open('new'));
  useHotkeys([{ keys: 'c', label: 'New key', group: 'List', run: () => !readOnly && openNew() }]);
  const newKey = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={openNew}>
      New key
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="API keys"
        description="Credentials for applications that call routes or use the Management API."
        usage={usage}
        actions={newKey}
      />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <ViewsMenu page="api_keys" columns={choice} />
        <ColumnsMenu choice={choice} />
        {/* Test has keys of one kind. */}
        {space === 'live' && (
          <Segmented
            label="Type"
            value={search.kind ?? 'any'}
            onValueChange={(kind) => void setSearch({ kind: kind === 'any' ? null : kind, page: 1 })}
            options={[
              { value: 'any', label: 'Any type' },
              { value: 'standard', label: TYPES.standard },
              { value: 'access_key', label: TYPES.access_key },
            ]}
          />
        )}
        <Segmented
          label="Status"
          value={search.show}
          onValueChange={(show) => void setSearch({ show, page: 1 })}
          options={[
            { value: 'active', label: 'Active' },
            { value: 'ended', label: 'Revoked or expired' },
            { value: 'all', label: 'All' },
          ]}
        />
      </div>
      {list.isError ? (
        <QueryError query={list} what="API keys" />
      ) : rows?.length === 0 && (search.show === 'ended' || search.kind) ? (
        <NoResults
          noun="keys"
          filters={[...(search.show === 'all' ? [] : [search.show]), ...(search.kind ? [TYPES[search.kind]] : [])]}
          onClear={() => void setSearch({ show: null, kind: null, page: 1 })}
        />
      ) : (
        <DataTable
          columns={columns}
          hiddenColumns={choice.hidden}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          caption="API keys"
          onOpen={(row) => peek.open(row.id)}
          openId={peek.id ?? undefined}
          sort={{ sort: search.sort, order: search.order }}
          onSort={({ sort, order }) => void setSearch({ sort: sort as typeof search.sort, order, page: 1 })}
          refreshing={list.isPlaceholderData}
          actions={(row) =>
            row.active
              ? [
                  { label: 'Details', onSelect: () => peek.open(row.id) },
                  { label: 'Calls', href: path(`/logs?api_key_id=${row.id}&range=30d`) },
                  'separator',
                  { label: 'Revoke…', danger: true, disabledReason: irrevocable(row), onSelect: () => setRevoking(row) },
                ]
              : [{ label: 'Details', onSelect: () => peek.open(row.id) }]
          }
          empty={
            <EmptyState
              icon={<KeyRound />}
              title="No API keys yet"
              action={newKey}
              command={[
                { id: 'curl', label: 'cURL', language: 'bash', code: `curl ${api_url}/account -H "Authorization: Bearer $SALLYPORT_KEY"` },
              ]}
            >
              Applications use a key to call your routes. Give each one its own, with only the roles it needs.
            </EmptyState>
          }
        />
      )}
      <Pagination
        noun="keys"
        meta={list.data?.meta}
        onPage={(page) => void setSearch({ page })}
        onPerPage={(per_page) => void setSearch({ per_page, page: 1 })}
      />
      <CreateKeySheet
        open={form.id === 'new' && !handed && !readOnly}
        onClose={form.close}
        onCreated={(key) => {
          handKey(key);
          void form.close();
        }}
      />
      <KeyPanel id={peek.id} onClose={peek.close} onRotated={handKey} />
      {revoking && <RevokeDialog apiKey={revoking} open onClose={() => setRevoking(undefined)} />}
    </Page>
  );
}
