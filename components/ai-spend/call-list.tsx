'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import { ListTree } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import type { z } from 'zod';
import { usePath, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { grouped, millis } from '#components/ui/numbers.ts';
import { LoadMore } from '#components/ui/pagination.tsx';
import { Select } from '#components/ui/select.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { AiRequest } from '#server/domain/ai-spend/requests/schema.ts';
import { usd } from './amounts.ts';
import { CALL_STATUSES, callQuery, callSearch } from './list-search.ts';

export type CallRow = z.output<typeof AiRequest>;
const column = columnsFor<CallRow>();
export const STATUS_LABELS = {
  ok: { label: 'OK', tone: 'good' },
  refused: { label: 'Refused', tone: 'warn' },
  upstream_error: { label: 'Provider error', tone: 'bad' },
  stream_failed: { label: 'Stream failed', tone: 'bad' },
  client_closed: { label: 'Caller left', tone: 'neutral' },
} as const;

const columns = [
  column.accessor('ts', { header: 'Time', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('status', {
    header: 'Result',
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        <Badge tone={STATUS_LABELS[original.status].tone}>{STATUS_LABELS[original.status].label}</Badge>
        {original.code && <span className="font-mono text-ink-3 text-xs">{original.code}</span>}
      </span>
    ),
  }),
  column.accessor('final_model', {
    header: 'Model',
    meta: { cap: '14rem' },
    cell: ({ row: { original } }) => <span className="truncate font-mono text-xs">{original.final_model ?? original.tool ?? '—'}</span>,
  }),
  column.accessor('agent_name', { header: 'Agent', meta: { hideBelow: 'md', cap: '12rem' }, cell: ({ getValue }) => getValue() ?? '—' }),
  column.accessor('user', { header: 'User', meta: { hideBelow: 'lg', cap: '10rem' }, cell: ({ getValue }) => getValue() ?? '—' }),
  column.accessor('input_tokens', {
    header: 'Tokens in / out',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ row: { original } }) => (
      <span className="figures">
        {grouped(original.input_tokens)} / {grouped(original.output_tokens)}
      </span>
    ),
  }),
  column.accessor('cost_usd', {
    header: 'Cost',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{usd(getValue())}</span>,
  }),
  column.accessor('latency_ms', {
    header: 'Duration',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="figures">{millis(getValue())}</span>,
  }),
];

/** Calls through the AI gateway, newest first. */
export function CallList() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const path = usePath();
  const [search, set] = useQueryStates(callSearch);
  const input = callQuery(search);
  const calls = useInfiniteQuery({
    queryKey: [...trpc.aiSpend.listRequests.queryKey(input), 'pages'],
    queryFn: ({ pageParam, signal }) =>
      client.aiSpend.listRequests.query({ ...input, ...(pageParam ? { cursor: pageParam } : {}) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.meta.next_cursor as string | null,
    refetchInterval: 10_000,
  });
  const rows = calls.data?.pages.flatMap(({ data }) => data);
  const filters = Object.entries({ agent: search.agent_id, model: search.model, user: search.user, code: search.code }).flatMap(
    ([name, value]) => (value ? [`${name}: ${value}`] : []),
  );
  const filtered = filters.length > 0 || search.status !== null;
  const clear = () => void set({ status: null, agent_id: null, model: null, user: null, code: null });
  return (
    <Page>
      <PageHeader
        title="AI calls"
        description="Every call of an agent or MCP server with what it used, cost and ran into. Prompts and answers aren’t part of it."
      />
      <div className="flex flex-wrap items-center gap-2">
        <Select
          size="sm"
          label="Result"
          options={[
            { value: 'all', label: 'All results' },
            ...CALL_STATUSES.map((value) => ({ value, label: STATUS_LABELS[value].label })),
          ]}
          value={search.status ?? 'all'}
          onValueChange={(value) => void set({ status: value === 'all' ? null : (value as (typeof CALL_STATUSES)[number]) })}
          className="w-40"
        />
        {filters.map((text) => (
          <Badge key={text} mono>
            {text}
          </Badge>
        ))}
      </div>
      {calls.isError && !rows ? (
        <QueryError query={calls} what="AI calls" />
      ) : rows?.length === 0 && filtered ? (
        <NoResults noun="calls" filters={[...filters, ...(search.status ? [STATUS_LABELS[search.status].label] : [])]} onClear={clear} />
      ) : (
        <>
          <DataTable
            caption="AI calls"
            columns={columns}
            rows={rows}
            rowId={(row) => row.request_id}
            rowName={(row) => `${row.final_model ?? row.operation ?? 'call'} ${row.request_id.slice(0, 8)}`}
            rowHref={(row) => path(`/ai/calls/${row.request_id}`)}
            empty={
              <EmptyState icon={<ListTree />} title="No calls yet">
                Calls appear here within a second. Copy an agent’s settings from its Connect tab and make the first one.
              </EmptyState>
            }
          />
          {rows && rows.length > 0 && <LoadMore pages={calls} endNote="No older calls." />}
        </>
      )}
    </Page>
  );
}
