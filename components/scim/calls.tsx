'use client';

import { useQuery } from '@tanstack/react-query';
import { ArrowLeftRight, RotateCw } from 'lucide-react';
import type { z } from 'zod';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { ScimRequest } from '#server/domain/scim-credentials/schema.ts';

type Row = z.output<typeof ScimRequest>;

const column = columnsFor<Row>();
const columns = [
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => (
      <Badge tone={getValue() < 400 ? 'good' : getValue() < 500 ? 'warn' : 'bad'} mono>
        {getValue()}
      </Badge>
    ),
  }),
  column.accessor('target', {
    header: 'Call',
    cell: ({ row: { original } }) => (
      <span className="block min-w-0 [overflow-wrap:anywhere]">
        <span className="font-mono text-xs">
          {original.method} {original.target}
        </span>
        {original.detail && (
          <span className="block text-ink-2 text-xs">
            {(original.error ?? original.scim_type) && <span className="font-mono">{original.error ?? original.scim_type}: </span>}
            {original.detail}
          </span>
        )}
        <span className="block text-ink-3 text-xs sm:hidden">
          <Time value={original.created_at} />
        </span>
      </span>
    ),
  }),
  column.accessor('credential', {
    header: 'Credential',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="block max-w-40 truncate">{getValue().name}</span>,
  }),
  column.accessor('duration_ms', {
    header: 'Took',
    meta: { hideBelow: 'md', align: 'right' },
    cell: ({ getValue }) => <span className="tabular-nums">{getValue()} ms</span>,
  }),
  column.accessor('created_at', { header: 'Time', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** What directories asked last and what they were answered. */
export function Calls() {
  const trpc = useTRPC();
  const query = useQuery(trpc.scimCredentials.requests.queryOptions({}));
  return (
    <SectionCard
      title="Latest calls"
      description="The last 100 calls with a valid credential. Bodies are never kept."
      actions={
        <Button icon={<RotateCw />} loading={query.isFetching} onClick={() => void query.refetch()}>
          Refresh
        </Button>
      }
    >
      {query.isError ? (
        <QueryError query={query} what="Latest calls" />
      ) : (
        <DataTable
          columns={columns}
          rows={query.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => `${row.method} ${row.target}`}
          caption="Latest SCIM calls"
          empty={
            <EmptyState icon={<ArrowLeftRight />} title="No calls yet">
              Use “Test connection” at your identity provider. Its calls appear here with the reason for every refusal.
            </EmptyState>
          }
        />
      )}
    </SectionCard>
  );
}
