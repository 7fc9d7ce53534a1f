'use client';

import type { inferRouterOutputs } from '@trpc/server';
import { isTestCall } from '#components/logs/call-kind.ts';
import { reasonOf } from '#components/logs/refusal-reasons.ts';
import { Badge, HttpStatus, Method } from '#components/ui/badge.tsx';
import { EnvironmentName } from '#components/ui/environment-name.tsx';
import { millis } from '#components/ui/numbers.ts';
import { type Columns, columnId, columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

export type Call = inferRouterOutputs<AppRouter>['requestLogs']['browse']['logs'][number];

const column = columnsFor<Call>();

/** A call of one route in a short list: what, how it ended, how long it took, when. */
export const routeCallColumns: Columns<Call> = [
  column.accessor('path', {
    header: 'Request',
    meta: { cap: '15rem' },
    cell: ({ row: { original: call } }) => (
      <span className="font-normal">
        <Method method={call.method ?? '—'} />
        <span className="font-mono text-xs">{call.path ?? '/'}</span>
        {isTestCall(call) && (
          <Badge tone="accent" className="ml-2">
            Test
          </Badge>
        )}
      </span>
    ),
  }),
  column.accessor('status_code', {
    header: 'Status',
    meta: { width: '4.5rem' },
    cell: ({ getValue }) => <HttpStatus status={getValue()} />,
  }),
  column.accessor('error', {
    header: 'Error',
    meta: { hideBelow: 'md', cap: '16rem' },
    cell: ({ getValue }) => <span className="text-ink-2">{reasonOf(getValue() ?? '')}</span>,
  }),
  column.accessor('environment', {
    header: 'Environment',
    meta: { hideBelow: 'lg', width: '9rem' },
    cell: ({ getValue }) => <EnvironmentName name={getValue()} />,
  }),
  column.accessor('latency_ms', {
    header: 'Duration',
    meta: { align: 'right', hideBelow: 'sm', width: '5.5rem' },
    cell: ({ getValue }) => millis(getValue()),
  }),
  column.accessor('ts', {
    header: 'Time',
    meta: { width: '7.5rem', hideBelow: 'sm' },
    cell: ({ getValue }) => <Time value={getValue()} className="text-ink-3" />,
  }),
];

const [first, ...others] = routeCallColumns;

/** Calls of many routes: each says which one it went to. The columns fit beside the cards of Home on a 1280 px screen. */
export const callColumns: Columns<Call> = [
  ...(first ? [{ ...first, meta: { cap: '13rem' } }] : []),
  column.accessor('route_name', {
    header: 'Route',
    meta: { cap: '7rem', hideBelow: 'xl' },
    cell: ({ getValue }) => getValue() ?? <span className="text-ink-3">none</span>,
  }),
  ...others.filter((one) => !['environment', 'error'].includes(columnId(one))),
];
