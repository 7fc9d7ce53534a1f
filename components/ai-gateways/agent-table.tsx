'use client';

import { BotMessageSquare } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePath } from '#components/trpc/provider.tsx';
import { Status } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { type Agent, STATUS, usd } from './ai-labels.ts';

type Row = Agent & { gateway?: string };
const column = columnsFor<Row>();
const columns = [
  column.accessor('name', {
    header: 'Agent',
    meta: { cap: '18rem' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col py-1">
        <span className="truncate font-medium">{original.name}</span>
        <span className="truncate font-mono text-ink-3 text-xs">{original.slug}</span>
      </span>
    ),
  }),
  column.accessor('gateway', { header: 'Gateway', meta: { hideBelow: 'lg', cap: '14rem' }, cell: ({ getValue }) => getValue() ?? '' }),
  column.accessor('provider', { header: 'Provider', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => getValue() ?? 'Custom route' }),
  column.accessor('default_model', {
    header: 'Default model',
    meta: { hideBelow: 'md', cap: '16rem' },
    cell: ({ getValue }) => <span className="truncate font-mono text-ink-2 text-xs">{getValue() ?? '—'}</span>,
  }),
  column.display({
    id: 'budget',
    header: 'Budget',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original } }) => (
      <span className="figures text-ink-2">
        {original.budget_daily_usd
          ? `${usd(Number(original.budget_daily_usd))} a day`
          : original.budget_monthly_usd
            ? `${usd(Number(original.budget_monthly_usd))} a month`
            : 'No limit'}
      </span>
    ),
  }),
  column.accessor('created_at', { header: 'Created', meta: { hideBelow: 'xl' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={STATUS[getValue()].state}>{STATUS[getValue()].label}</Status>,
  }),
];
const ofOneGateway = columns.filter(({ header }) => header !== 'Gateway');

/** Agents as rows; with the names of their gateways where they come from several. */
export function AgentTable({ agents, create }: { agents: readonly Row[] | undefined; create?: ReactNode }) {
  const path = usePath();
  return (
    <DataTable
      caption="Agents"
      columns={agents?.some(({ gateway }) => gateway !== undefined) ? columns : ofOneGateway}
      rows={agents}
      rowId={(row) => row.id}
      rowName={(row) => row.name}
      rowHref={(row) => path(`/ai/agents/${row.id}`)}
      empty={
        <EmptyState icon={<BotMessageSquare />} title="No agents yet" action={create}>
          An agent is a governed endpoint for one provider, with its own URL, models, budget and privacy rules.
        </EmptyState>
      }
    />
  );
}
