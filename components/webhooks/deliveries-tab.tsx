'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useQueryStates } from 'nuqs';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { HttpStatus } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { EventCell, OutcomeCell } from './attempt-cells.tsx';
import { deliverySearch } from './list-search.ts';
import { RecoverSince } from './recover-since.tsx';
import { type Attempt, type Detail, problemOf } from './webhook-labels.ts';

const AttemptSheet = lazyOverlay(() => import('./attempt-sheet.tsx').then((module) => module.AttemptSheet), whenOpen);

const column = columnsFor<Attempt>();
const columns = [
  column.accessor('event_type', { header: 'Event', cell: ({ row: { original } }) => <EventCell attempt={original} /> }),
  column.accessor('success', { header: 'Outcome', cell: ({ row: { original } }) => <OutcomeCell attempt={original} /> }),
  column.accessor('response_status', {
    header: 'Status',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <HttpStatus status={getValue()} />,
  }),
  column.accessor('response_time_ms', {
    header: 'Time',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ getValue }) => <span className="figures">{getValue() === null ? '—' : `${getValue()} ms`}</span>,
  }),
  column.accessor('attempt', {
    header: 'Attempt',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ getValue }) => <span className="figures">{getValue()}</span>,
  }),
  column.accessor('error_code', {
    header: 'Problem',
    meta: { hideBelow: 'lg', cap: '20rem' },
    cell: ({ row: { original } }) => (original.success ? '' : <span className="truncate">{problemOf(original)}</span>),
  }),
  column.accessor('executed_at', { header: 'Sent', cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** What was sent to the receiver, newest first; followed while the tab is open. */
export function DeliveriesTab({ webhook }: { webhook: Detail }) {
  const trpc = useTRPC();
  const [search, setSearch] = useQueryStates(deliverySearch);
  const { page, success, event_type, log } = search;
  const input = {
    id: webhook.id,
    page,
    per_page: 50,
    ...(success === null ? {} : { success }),
    ...(event_type === null ? {} : { event_type }),
  };
  const list = useQuery(
    trpc.webhooks.logs.queryOptions(input, { placeholderData: keepPreviousData, refetchInterval: page === 1 ? 3_000 : false }),
  );
  const filters: ActiveFilter[] = [
    ...(success === null
      ? []
      : [{ id: 'success', text: success ? 'Delivered' : 'Failed', label: 'Outcome', onRemove: () => void setSearch({ success: null }) }]),
  ];
  const choices: MenuEntry[] = [
    { heading: 'Outcome' },
    { label: 'Delivered', checked: success === true, onSelect: () => void setSearch({ success: true, page: null }) },
    { label: 'Failed', checked: success === false, onSelect: () => void setSearch({ success: false, page: null }) },
    'separator',
    { heading: 'Event' },
    ...[...webhook.event_types, 'webhook.test'].map((type) => ({
      label: type,
      checked: event_type === type,
      onSelect: () => void setSearch({ event_type: type, page: null }),
    })),
  ];
  return (
    <>
      <FilterBar
        query={event_type ?? ''}
        onQuery={(type) => void setSearch({ event_type: type || null, page: null })}
        placeholder="Event type"
        filters={filters}
        choices={choices}
        onClear={() => void setSearch({ success: null, event_type: null, page: null })}
      />
      {list.isError && !list.data ? (
        <QueryError query={list} what="Deliveries" />
      ) : (
        <DataTable
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => `${row.event_type}, attempt ${row.attempt}`}
          caption="Deliveries"
          onOpen={(row) => void setSearch({ log: row.id })}
          openId={log ?? undefined}
          empty={
            <p className="py-8 text-center text-ink-3">
              {filters.length > 0 || event_type !== null
                ? 'No delivery matches.'
                : 'Nothing was sent yet. Send a test to try the receiver.'}
            </p>
          }
        />
      )}
      <Pagination noun="deliveries" meta={list.data?.meta} onPage={(next) => void setSearch({ page: next })} />
      <RecoverSince webhook={webhook} />
      <AttemptSheet open={log !== null} id={log} webhook={webhook} onClose={() => void setSearch({ log: null })} />
    </>
  );
}
