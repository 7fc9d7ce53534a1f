'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { History, Inbox, Pause, Pencil, Play, Plus, RefreshCw, ScrollText, Trash2 } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { errorText, FORMAT_LABELS, type InboundRow, stateOf, targetText } from './inbound-labels.ts';
import { inboundListInput, inboundSearch } from './list-search.ts';

const InboundSheet = lazyOverlay(() => import('./inbound-sheet.tsx').then((module) => module.InboundSheet), whenOpen);
const RotateInbound = lazyOverlay(() => import('./rotate-inbound.tsx').then((module) => module.RotateInbound), whenOpen);
const DeleteInbound = lazyOverlay(() => import('./delete-inbound.tsx').then((module) => module.DeleteInbound), whenOpen);

const column = columnsFor<InboundRow>();
const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '14rem' },
    cell: ({ getValue }) => <span className="truncate font-mono text-xs">{getValue()}</span>,
  }),
  column.accessor('format', { header: 'Signed by', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => FORMAT_LABELS[getValue()].label }),
  column.display({
    id: 'target',
    header: 'Goes to',
    meta: { hideBelow: 'md', cap: '14rem' },
    cell: ({ row: { original } }) => <span className="truncate">{targetText(original)}</span>,
  }),
  column.display({
    id: 'state',
    header: 'State',
    cell: ({ row: { original } }) => {
      const { state, label } = stateOf(original);
      return (
        <span className="flex flex-col">
          <Status state={state}>{label}</Status>
          {original.enabled && original.last_error && <span className="text-xs text-ink-2">{errorText(original.last_error)}</span>}
        </span>
      );
    },
  }),
  column.accessor('verified_count', { header: 'Verified', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => grouped(getValue()) }),
  column.accessor('refused_count', { header: 'Refused', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => grouped(getValue()) }),
  column.accessor('last_verified_at', {
    header: 'Last verified',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
];

/** The receivers of the space. */
export function InboundList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const cannotCreate = useForbidden('inbound_webhook:create');
  const cannotUpdate = useForbidden('inbound_webhook:update');
  const cannotDelete = useForbidden('inbound_webhook:delete');
  const limit = useLimit('inbound_webhooks', 'inbound webhooks');
  const [search, setSearch] = useQueryStates(inboundSearch);
  const panel = usePanel('receiver');
  const [rotating, setRotating] = useState<InboundRow>();
  const [deleting, setDeleting] = useState<InboundRow>();
  // Calls arrive while one looks.
  const list = useQuery(
    trpc.inboundWebhooks.list.queryOptions(inboundListInput(search), { placeholderData: keepPreviousData, refetchInterval: 10_000 }),
  );
  const listed = list.data?.data.find((row) => row.id === panel.id);
  // One that a link names may be on another page.
  const named = useQuery(
    trpc.inboundWebhooks.get.queryOptions(
      { id: panel.id ?? '' },
      { enabled: panel.id !== null && panel.id !== 'new' && list.isSuccess && !listed, retry: false },
    ),
  );
  const shown = listed ?? (panel.id === named.data?.id ? named.data : undefined);
  const toggle = useMutation(
    trpc.inboundWebhooks.update.mutationOptions({
      onSuccess: (row) => {
        notifyDone(row.enabled ? `${row.name} is on` : `${row.name} is off. Senders get 404.`);
        return cache.invalidateQueries(trpc.inboundWebhooks.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const create = (
    <Button variant="primary" icon={<Plus />} disabledReason={cannotCreate} onClick={() => panel.open('new')}>
      New inbound webhook
    </Button>
  );
  const rows = list.data?.data;
  const filtered = search.q !== '';
  const clear = () => void setSearch({ q: null, page: null });
  return (
    <Page>
      <PageHeader
        title="Inbound webhooks"
        description="Addresses for what others send you. Signatures are verified before anything reaches your systems."
        usage={limit}
        actions={create}
      />
      {(rows?.length !== 0 || filtered) && (
        <FilterBar
          query={search.q}
          onQuery={(q) => void setSearch({ q: q || null, page: null })}
          placeholder="Filter by name or target"
          filters={[]}
          choices={[]}
          onClear={clear}
        />
      )}
      {list.isError && !list.data ? (
        <QueryError query={list} what="Inbound webhooks" />
      ) : rows?.length === 0 && filtered ? (
        <NoResults noun="inbound webhooks" filters={[`name or target contains “${search.q}”`]} onClear={clear} />
      ) : (
        <DataTable
          caption="Inbound webhooks"
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          onOpen={(row) => panel.open(row.id)}
          openId={panel.id ?? undefined}
          empty={
            <EmptyState icon={<Inbox />} title="No inbound webhooks yet" action={create}>
              Give Stripe, GitHub, Slack or any sender that signs an address here. Calls whose signature holds go on to your URL or route.
            </EmptyState>
          }
          actions={(row) => [
            { label: 'Edit', icon: <Pencil />, disabledReason: cannotUpdate, onSelect: () => panel.open(row.id) },
            { label: 'Rotate secret…', icon: <RefreshCw />, disabledReason: cannotUpdate, onSelect: () => setRotating(row) },
            {
              label: row.enabled ? 'Turn off' : 'Turn on',
              icon: row.enabled ? <Pause /> : <Play />,
              disabledReason: cannotUpdate,
              onSelect: () => toggle.mutate({ id: row.id, enabled: !row.enabled }),
            },
            { label: 'Calls', icon: <ScrollText />, href: path(`/logs?mode=inbound&q=${encodeURIComponent(`/in/${row.name}`)}`) },
            { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=inbound_webhook&resource_id=${row.id}`) },
            'separator',
            { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: cannotDelete, onSelect: () => setDeleting(row) },
          ]}
        />
      )}
      <Pagination noun="inbound webhooks" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
      <InboundSheet open={panel.id === 'new' || shown !== undefined} receiver={shown} onClose={panel.close} />
      <RotateInbound open={rotating !== undefined} receiver={rotating} onClose={() => setRotating(undefined)} />
      <DeleteInbound open={deleting !== undefined} receiver={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}
