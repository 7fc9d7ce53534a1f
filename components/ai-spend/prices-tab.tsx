'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Pencil, Plus, Search, Undo2 } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { NoResults } from '#components/ui/empty-states.tsx';
import { Input } from '#components/ui/input.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { short } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { usdRate } from './amounts.ts';
import { otherPrices } from './image-prices.ts';
import { spendSearch } from './list-search.ts';
import type { PriceRow } from './rows.ts';

const PriceSheet = lazyOverlay(() => import('./price-sheet.tsx').then((module) => module.PriceSheet), whenOpen);

const column = columnsFor<PriceRow>();
const rate = (value: number | null) => <span className="figures">{value === null ? '—' : usdRate(value)}</span>;
const columns = [
  column.accessor('model', {
    header: 'Model',
    meta: { cap: '22rem' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col py-1">
        <span className="truncate font-mono text-sm">{original.model}</span>
        <span className="text-ink-3 text-xs">{original.provider}</span>
      </span>
    ),
  }),
  column.accessor('input_per_mtok', { header: 'Input', meta: { align: 'right' }, cell: ({ getValue }) => rate(getValue()) }),
  column.accessor('output_per_mtok', { header: 'Output', meta: { align: 'right' }, cell: ({ getValue }) => rate(getValue()) }),
  column.accessor('cached_input_per_mtok', {
    header: 'Cached input',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ getValue }) => rate(getValue()),
  }),
  column.display({
    id: 'others',
    header: 'Images and tiers',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original } }) => <span className="text-ink-2 text-xs">{otherPrices(original).join(' · ') || '—'}</span>,
  }),
  column.accessor('context_tokens', {
    header: 'Context',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="figures">{getValue() === null ? '—' : short(getValue() ?? 0)}</span>,
  }),
  column.accessor('source', {
    header: 'Price of',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => (getValue() === 'tenant' ? <Badge tone="accent">You</Badge> : <span className="text-ink-3">Price list</span>),
  }),
];

/** What calls are charged with, in USD per million tokens. A price of one's own replaces that of the list. */
export function PricesTab() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const [{ page, q, own, price }, set] = useQueryStates(spendSearch);
  const readOnly = useForbidden('ai_gateway:update');
  const list = useQuery(
    trpc.aiSpend.listPrices.queryOptions(
      { page, per_page: 25, ...(q ? { q } : {}), ...(own ? { overrides: true } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
  const remove = useMutation(
    trpc.aiSpend.deletePrice.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('Your price was removed');
        return cache.invalidateQueries(trpc.aiSpend.pathFilter());
      },
    }),
  );
  const [provider = '', ...rest] = price?.split('/') ?? [];
  const model = rest.join('/');
  const edited = list.data?.data.find((row) => row.provider === provider && row.model === model);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <Input
          icon={<Search />}
          aria-label="Search models"
          placeholder="Search models"
          className="w-full sm:w-64"
          value={q}
          onChange={(event) => void set({ q: event.target.value || null, page: null })}
        />
        <Segmented
          label="Prices"
          size="sm"
          options={[
            { value: 'all', label: 'All' },
            { value: 'own', label: 'Yours' },
          ]}
          value={own ? 'own' : 'all'}
          onValueChange={(value) => void set({ own: value === 'own' ? '1' : null, page: null })}
        />
        <Button className="ml-auto" variant="primary" icon={<Plus />} disabledReason={readOnly} onClick={() => void set({ price: 'new' })}>
          Set a price
        </Button>
      </div>
      {list.isError && !list.data ? (
        <QueryError query={list} what="Prices" />
      ) : list.data?.data.length === 0 ? (
        <NoResults
          noun="prices"
          filters={[...(q ? [q] : []), ...(own ? ['Yours'] : [])]}
          onClear={() => void set({ q: null, own: null, page: null })}
        />
      ) : (
        <DataTable
          caption="Prices in USD per million tokens"
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => `${row.provider}/${row.model}`}
          rowName={(row) => row.model}
          refreshing={list.isPlaceholderData}
          actions={(row) => [
            {
              label: row.source === 'tenant' ? 'Change your price' : 'Set your own price',
              icon: <Pencil />,
              disabledReason: readOnly,
              onSelect: () => void set({ price: `${row.provider}/${row.model}` }),
            },
            ...(row.source === 'tenant'
              ? [
                  {
                    label: row.overrides_system ? 'Use the price list' : 'Remove your price',
                    icon: <Undo2 />,
                    disabledReason: readOnly,
                    onSelect: () => remove.mutate({ provider: row.provider, model: row.model }),
                  },
                ]
              : []),
          ]}
        />
      )}
      <Pagination noun="prices" meta={list.data?.meta} onPage={(next) => void set({ page: next })} />
      <PriceSheet
        open={price !== null && !readOnly}
        given={price === 'new' || !price ? undefined : { provider, model }}
        price={edited}
        onClose={() => void set({ price: null })}
      />
    </>
  );
}
