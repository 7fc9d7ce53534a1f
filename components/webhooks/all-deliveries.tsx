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
import { type Log, problemOf, type WebhookRow } from './webhook-labels.ts';

const AttemptSheet = lazyOverlay(() => import('./attempt-sheet.tsx').then((module) => module.AttemptSheet), whenOpen);

const column = columnsFor<Log>();
const columns = [
  column.accessor('event_type', { header: 'Event', cell: ({ row: { original } }) => <EventCell attempt={original} /> }),
  column.accessor('webhook_name', {
    header: 'Webhook',
    meta: { cap: '14rem' },
    cell: ({ getValue }) => <span className="truncate">{getValue()}</span>,
  }),
  column.accessor('success', { header: 'Outcome', cell: ({ row: { original } }) => <OutcomeCell attempt={original} /> }),
  column.accessor('response_status', {
    header: 'Status',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <HttpStatus status={getValue()} />,
  }),
  column.accessor('error_code', {
    header: 'Problem',
    meta: { hideBelow: 'lg', cap: '20rem' },
    cell: ({ row: { original } }) => (original.success ? '' : <span className="truncate">{problemOf(original)}</span>),
  }),
  column.accessor('executed_at', { header: 'Sent', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** What was sent to every receiver of the space, newest first; followed while it is open. */
export function AllDeliveries({ webhooks }: { webhooks: readonly WebhookRow[] }) {
  const trpc = useTRPC();
  const [{ page, success, event_type, log }, setSearch] = useQueryStates(deliverySearch);
  const input = { page, per_page: 50, ...(success === null ? {} : { success }), ...(event_type === null ? {} : { event_type }) };
  const list = useQuery(
    trpc.webhooks.browseLogs.queryOptions(input, { placeholderData: keepPreviousData, refetchInterval: page === 1 ? 3_000 : false }),
  );
  const outcome = (one: boolean) => (one ? 'Delivered' : 'Failed');
  const filters: ActiveFilter[] =
    success === null
      ? []
      : [{ id: 'success', text: outcome(success), label: 'Outcome', onRemove: () => void setSearch({ success: null }) }];
  const choices: MenuEntry[] = [
    { heading: 'Outcome' },
    ...[true, false].map((one) => ({
      label: outcome(one),
      checked: success === one,
      onSelect: () => void setSearch({ success: one, page: null }),
    })),
  ];
  const opened = list.data?.data.find(({ id }) => id === log);
  const of = webhooks.find(({ id }) => id === opened?.webhook_id);
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
          rowName={(row) => `${row.event_type} to ${row.webhook_name}, attempt ${row.attempt}`}
          caption="Deliveries of all webhooks"
          onOpen={(row) => void setSearch({ log: row.id })}
          openId={log ?? undefined}
          empty={
            <p className="py-8 text-center text-ink-3">
              {success === null && event_type === null ? 'Nothing was sent yet.' : 'No delivery matches.'}
            </p>
          }
        />
      )}
      <Pagination noun="deliveries" meta={list.data?.meta} onPage={(next) => void setSearch({ page: next })} />
      {opened && (
        <AttemptSheet
          open
          id={opened.id}
          webhook={{ id: opened.webhook_id, name: opened.webhook_name, enabled: of?.enabled ?? true }}
          onClose={() => void setSearch({ log: null })}
        />
      )}
    </>
  );
}
