'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { BellRing } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import type { z } from 'zod';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { shareOf } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { BudgetAlert } from '#server/domain/ai-spend/budgets/schema.ts';
import { usd } from './amounts.ts';
import { spendSearch } from './list-search.ts';

type Row = z.output<typeof BudgetAlert>;
const column = columnsFor<Row>();

/** Alerts that were given. */
export function AlertsTab() {
  const trpc = useTRPC();
  const [{ page }, set] = useQueryStates(spendSearch);
  const list = useQuery(trpc.aiSpend.alerts.queryOptions({ page, per_page: 25 }, { placeholderData: keepPreviousData }));
  const budgets = useQuery(trpc.aiSpend.budgets.queryOptions({}));
  const names = new Map(budgets.data?.data.map(({ id, name }) => [id, name]));
  const columns = [
    column.accessor('created_at', { header: 'When', cell: ({ getValue }) => <Time value={getValue()} /> }),
    column.accessor('kind', {
      header: 'Alert',
      cell: ({ row: { original } }) =>
        original.kind === 'budget' ? (
          <Badge tone={original.threshold_pct >= 100 ? 'bad' : 'warn'}>
            {original.threshold_pct}% of the {original.period} budget
          </Badge>
        ) : (
          <Badge tone="warn">{original.kind === 'upstream' ? 'Provider failing' : 'Model without a price'}</Badge>
        ),
    }),
    column.accessor('subject_id', {
      header: 'Of',
      meta: { cap: '16rem' },
      cell: ({ row: { original } }) => (
        <span className="truncate">{names.get(original.subject_id) ?? `${original.scope} ${original.subject_id.slice(0, 8)}`}</span>
      ),
    }),
    column.accessor('spent_usd', {
      header: 'Figure',
      meta: { align: 'right' },
      cell: ({ row: { original } }) => <span className="figures">{figureOf(original)}</span>,
    }),
  ];
  if (list.isError && !list.data) return <QueryError query={list} what="Alerts" />;
  return (
    <>
      <DataTable
        caption="Alerts"
        columns={columns}
        rows={list.data?.data}
        rowId={(row) => row.id}
        rowName={(row) => `${row.kind} alert`}
        empty={
          <EmptyState icon={<BellRing />} title="No alerts">
            You get one when 50, 80 and 100% of a budget is spent, when most of an agent’s calls fail at its provider, and when an agent
            with a budget calls a model without a price.
          </EmptyState>
        }
      />
      <Pagination noun="alerts" meta={list.data?.meta} onPage={(next) => void set({ page: next })} />
    </>
  );
}

function figureOf({ kind, error_rate, model, spent_usd, limit_usd }: Row): string {
  if (kind === 'upstream') return `${shareOf(error_rate ?? 0, 1)} failed`;
  if (kind === 'unpriced') return model ?? '';
  return `${usd(spent_usd ?? 0)} of ${usd(limit_usd ?? 0)}`;
}
