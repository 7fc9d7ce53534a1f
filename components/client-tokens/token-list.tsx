'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ban, Code2, TicketCheck } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import type { z } from 'zod';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { ClientToken } from '#server/domain/client-tokens/schema.ts';
import { ACTION_LABELS, STATES } from './labels.ts';
import { TOKEN_STATES, tokenQuery, tokenSearch } from './list-search.ts';

const MintSheet = lazyOverlay(() => import('./mint-sheet.tsx').then((module) => module.MintSheet), whenOpen);

type Row = z.output<typeof ClientToken>;
const column = columnsFor<Row>();
const columns = [
  column.accessor('action', { header: 'Action', cell: ({ getValue }) => ACTION_LABELS[getValue()] }),
  column.display({
    id: 'target',
    header: 'Bound to',
    meta: { cap: '18rem' },
    cell: ({ row: { original: row } }) => (
      <span className="block truncate text-ink-2">{row.vault_name ?? row.key_name ?? row.payload_fp ?? row.vault_id ?? row.key_id}</span>
    ),
  }),
  column.accessor('origins', {
    header: 'Pages',
    meta: { hideBelow: 'lg', cap: '16rem' },
    cell: ({ getValue }) => <span className="block truncate text-ink-2">{getValue().join(', ') || 'Any'}</span>,
  }),
  column.accessor('minted_by', {
    header: 'Minted by',
    meta: { hideBelow: 'md', cap: '12rem' },
    cell: ({ getValue }) => <span className="block truncate">{getValue().label}</span>,
  }),
  column.accessor('created_at', { header: 'Minted', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.display({
    id: 'spent',
    header: 'Spent',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original: row } }) => (
      <span className="flex flex-col">
        <Time value={row.consumed_at} empty="—" />
        {row.consumed_at && (
          <span className="text-ink-3 text-xs">{[row.consumed_origin, row.consumed_ip].filter(Boolean).join(' · ')}</span>
        )}
      </span>
    ),
  }),
  column.accessor('state', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={STATES[getValue()].state}>{STATES[getValue()].label}</Status>,
  }),
];

/** The client tokens, newest first: what each is bound to, and when and where it was spent. The tokens themselves are nowhere. */
export function TokenList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [search, setSearch] = useQueryStates(tokenSearch);
  const panel = usePanel('open');
  const readOnly = useForbidden('transit:update');
  const list = useQuery(trpc.clientTokens.list.queryOptions(tokenQuery(search), { placeholderData: keepPreviousData }));
  const revoke = useMutation(
    trpc.clientTokens.delete.mutationOptions({
      onSuccess: () => {
        notifyDone('Client token revoked');
        return cache.invalidateQueries(trpc.clientTokens.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const code = (
    <Button variant="primary" icon={<Code2 />} onClick={() => void panel.open('mint')}>
      Mint in code
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Client tokens"
        description="Let a page without an API key open one value, or put one into a vault, exactly once."
        actions={code}
      />
      <div className="overflow-x-auto">
        <Segmented
          label="Status"
          value={search.state ?? 'all'}
          onValueChange={(state) => void setSearch({ state: state === 'all' ? null : state, page: null })}
          options={[{ value: 'all', label: 'All' }, ...TOKEN_STATES.map((value) => ({ value, label: STATES[value].label }))]}
        />
      </div>
      {list.isError ? (
        <QueryError query={list} what="Client tokens" />
      ) : list.data?.data.length === 0 && search.state ? (
        <NoResults
          noun="client tokens"
          filters={[STATES[search.state].label]}
          onClear={() => void setSearch({ state: null, page: null })}
        />
      ) : (
        <DataTable
          caption="Client tokens"
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => `${ACTION_LABELS[row.action]} ${row.id}`}
          refreshing={list.isPlaceholderData}
          actions={(row) => [
            {
              label: 'Revoke',
              icon: <Ban />,
              danger: true,
              disabledReason: readOnly ?? (row.state === 'minted' ? undefined : 'Only open tokens can be revoked'),
              onSelect: () => revoke.mutate({ id: row.id }),
            },
          ]}
          empty={
            <EmptyState icon={<TicketCheck />} title="No client tokens yet" action={code}>
              Your backend mints one with its API key and gives it to a page, which spends it once within ten minutes.
            </EmptyState>
          }
        />
      )}
      <Pagination noun="client tokens" meta={list.data?.meta} onPage={(page) => void setSearch({ page })} />
      <MintSheet open={panel.id === 'mint'} onClose={() => void panel.close()} />
    </Page>
  );
}
