import type { z } from 'zod';
import { Badge, Status } from '#components/ui/badge.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { AiRequest } from '#server/domain/ai-spend/requests/schema.ts';
import { usd } from './ai-labels.ts';

type Row = z.output<typeof AiRequest>;

const OUTCOMES: Readonly<Record<string, { state: 'ok' | 'blocked' | 'failing' | 'off'; label: string }>> = {
  ok: { state: 'ok', label: 'OK' },
  refused: { state: 'blocked', label: 'Refused' },
  upstream_error: { state: 'failing', label: 'Provider error' },
  stream_failed: { state: 'failing', label: 'Stream failed' },
  client_closed: { state: 'off', label: 'Caller left' },
};

const column = columnsFor<Row>();
export const callColumns = [
  column.accessor('ts', { header: 'Time', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.display({
    id: 'outcome',
    header: 'Outcome',
    cell: ({ row: { original } }) => {
      const outcome = OUTCOMES[original.status] ?? { state: 'off' as const, label: original.status };
      return (
        <span className="inline-flex flex-wrap items-center gap-2 py-1">
          <Status state={outcome.state}>{outcome.label}</Status>
          {original.code && <Badge mono>{original.code}</Badge>}
        </span>
      );
    },
  }),
  column.display({
    id: 'model',
    header: 'Model',
    meta: { cap: '16rem', hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span className="block truncate font-mono text-xs">{original.final_model ?? original.requested_model ?? '—'}</span>
    ),
  }),
  column.display({
    id: 'tokens',
    header: 'Tokens',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ row: { original } }) => (
      <span className="figures">
        {grouped(original.input_tokens)} → {grouped(original.output_tokens)}
      </span>
    ),
  }),
  column.display({
    id: 'cost',
    header: 'Cost',
    meta: { align: 'right' },
    cell: ({ row: { original } }) => (
      <span className="figures">{original.cost_usd === null ? <span className="text-ink-3">unpriced</span> : usd(original.cost_usd)}</span>
    ),
  }),
  column.display({
    id: 'latency',
    header: 'Time taken',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ row: { original } }) => (
      <span className="figures">{original.latency_ms === null ? '—' : `${grouped(original.latency_ms)} ms`}</span>
    ),
  }),
  column.accessor('user', {
    header: 'User',
    meta: { hideBelow: 'xl', cap: '10rem' },
    cell: ({ getValue }) => <span className="block truncate text-ink-2">{getValue() ?? '—'}</span>,
  }),
];

/** What fits beside other things. */
export const fewCallColumns = callColumns.filter(({ header }) => header !== 'User' && header !== 'Time taken');
