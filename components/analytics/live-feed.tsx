'use client';

import type { z } from 'zod';
import { usePath } from '#components/trpc/provider.tsx';
import { HttpStatus, Method } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { millis } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { LiveCalls } from '#server/domain/request-logs/live/schema.ts';
import { countryName } from '#server/domain/tenants/country.shared.ts';

type Call = z.output<typeof LiveCalls>['calls'][number];

const column = columnsFor<Call>();
const base = [
  column.accessor('route_name', {
    header: 'Route',
    meta: { cap: '16rem' },
    cell: ({ row: { original } }) => (
      <span className="inline-flex min-w-0 max-w-full items-center gap-2">
        <Method method={original.method ?? ''} />
        <span className="truncate">{original.route_name ?? 'No route'}</span>
      </span>
    ),
  }),
  column.accessor('status_code', { header: 'Status', cell: ({ getValue }) => <HttpStatus status={getValue()} /> }),
  column.accessor('latency_ms', {
    header: 'Duration',
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="figures">{millis(getValue())}</span>,
  }),
  column.accessor('at', { header: 'Time', meta: { align: 'right' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];
const places = [
  column.accessor('from', { header: 'From', meta: { hideBelow: 'md' }, cell: ({ getValue }) => placeText(getValue()) }),
  column.accessor('to', { header: 'To', meta: { hideBelow: 'md' }, cell: ({ getValue }) => placeText(getValue()) }),
];

/** What the map shows, as a table. */
export function LiveFeed({ calls, withPlaces }: { calls: readonly Call[] | undefined; withPlaces: boolean }) {
  const path = usePath();
  return (
    <DataTable
      caption="Newest calls"
      columns={withPlaces ? [...base.slice(0, 2), ...places, ...base.slice(2)] : base}
      rows={calls}
      rowId={(row) => row.request_id}
      rowName={(row) => `${row.method ?? ''} ${row.route_name ?? 'No route'}`}
      rowHref={(row) => path(`/logs?peek=${row.request_id}`)}
    />
  );
}

function placeText(spot: Call['from']) {
  if (!spot) return <span className="text-ink-3">Unknown or private</span>;
  // Node and the browser may name a country differently.
  return <span suppressHydrationWarning>{[spot.city, spot.country && countryName(spot.country)].filter(Boolean).join(', ')}</span>;
}
