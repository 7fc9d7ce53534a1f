'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Gauge, Pencil, Plus, Power, Trash2 } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { limitQuery, limitSearch } from './list-search.ts';
import type { LimitRow } from './rows.ts';

const LimitSheet = lazyOverlay(() => import('./limit-sheet.tsx').then((module) => module.LimitSheet), whenOpen);

const column = columnsFor<LimitRow>();
const UNITS = { usd: 'USD', tokens: 'tokens', requests: 'calls' } as const;

/** What a limit binds, in words. */
function boundBy({ match }: LimitRow): string {
  const parts = [
    match.user && `user ${match.user}`,
    match.team && `team ${match.team}`,
    match.model && `model ${match.model}`,
    match.tag && `tag ${match.tag.key}${match.tag.value === undefined ? '' : `=${match.tag.value}`}`,
  ].filter(Boolean);
  return parts.length === 0 ? 'All calls' : parts.join(', ');
}

const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '16rem' },
    cell: ({ getValue }) => <span className="truncate font-medium">{getValue()}</span>,
  }),
  column.accessor('limit', {
    header: 'Limit',
    cell: ({ row: { original } }) => (
      <span className="figures">
        {original.limit} {UNITS[original.metric]} per {original.window}
      </span>
    ),
  }),
  column.accessor('match', {
    header: 'Binds',
    meta: { hideBelow: 'sm', cap: '18rem' },
    cell: ({ row: { original } }) => boundBy(original),
  }),
  column.accessor('group_by', {
    header: 'For each',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => (getValue().length === 0 ? '—' : getValue().join(', ')),
  }),
  column.accessor('action', {
    header: 'At the limit',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => (getValue() === 'block' ? 'Refuse' : 'Warn'),
  }),
  column.accessor('enabled', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'Enabled' : 'Disabled'}</Status>,
  }),
];

/** Limits per user, team, tag and model, beside the budgets of agents and gateways. */
export function LimitList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [{ page, open }, set] = useQueryStates(limitSearch);
  const cannot = {
    create: useForbidden('ai_gateway:create'),
    update: useForbidden('ai_gateway:update'),
    delete: useForbidden('ai_gateway:delete'),
  };
  const list = useQuery(trpc.aiSpend.listLimits.queryOptions(limitQuery(page), { placeholderData: keepPreviousData }));
  const changed = (words: string) => {
    notifyDone(words);
    return cache.invalidateQueries(trpc.aiSpend.pathFilter());
  };
  const update = useMutation(
    trpc.aiSpend.updateLimit.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ enabled }) => changed(enabled ? 'Limit enabled' : 'Limit disabled'),
    }),
  );
  const remove = useMutation(
    trpc.aiSpend.deleteLimit.mutationOptions({ onError: (error) => notifyRefused(error), onSuccess: () => changed('Limit deleted') }),
  );
  useHotkeys([{ keys: 'c', label: 'New limit', group: 'List', run: () => !cannot.create && void set({ open: 'new' }) }]);
  const create = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={cannot.create} onClick={() => void set({ open: 'new' })}>
      New limit
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Limit policies"
        description="Bound USD, tokens or calls per user, team, tag or model. A call must pass every limit that matches it."
        actions={create}
      />
      {list.isError && !list.data ? (
        <QueryError query={list} what="Limit policies" />
      ) : (
        <DataTable
          caption="Limit policies"
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          refreshing={list.isPlaceholderData}
          actions={(row) => [
            { label: 'Edit', icon: <Pencil />, disabledReason: cannot.update, onSelect: () => void set({ open: row.id }) },
            {
              label: row.enabled ? 'Disable' : 'Enable',
              icon: <Power />,
              disabledReason: cannot.update,
              onSelect: () => update.mutate({ id: row.id, enabled: !row.enabled }),
            },
            {
              label: 'Delete',
              icon: <Trash2 />,
              danger: true,
              disabledReason: cannot.delete,
              onSelect: () => remove.mutate({ id: row.id }),
            },
          ]}
          empty={
            <EmptyState icon={<Gauge />} title="No limit policies" action={create}>
              Budgets of agents and gateways hold without one. Add a limit to bound what each user, team or model may spend.
            </EmptyState>
          }
        />
      )}
      <Pagination noun="limit policies" meta={list.data?.meta} onPage={(next) => void set({ page: next })} />
      <LimitSheet
        open={open !== null && (open === 'new' || list.data?.data.some(({ id }) => id === open) === true)}
        limit={list.data?.data.find(({ id }) => id === open)}
        onClose={() => void set({ open: null })}
      />
    </Page>
  );
}
