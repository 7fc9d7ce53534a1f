'use client';

import { useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import type { BuiltInRecognizer } from '#server/domain/ai-controls/schema.ts';

type Row = z.output<typeof BuiltInRecognizer>;
const column = columnsFor<Row>();

/** What is found without any recognizer. */
export function BuiltIns() {
  const trpc = useTRPC();
  const builtIns = useQuery(trpc.aiControls.builtInRecognizers.queryOptions({}));
  if (builtIns.error && !builtIns.data) return <QueryError query={builtIns} what="Built-in detectors" />;
  return (
    <DataTable
      caption="Built-in detectors"
      columns={columns}
      rows={builtIns.data?.data}
      rowId={(row) => row.entity_type}
      rowName={(row) => row.title}
    />
  );
}

const columns = [
  column.accessor('title', {
    header: 'Entity',
    cell: ({ row: { original: row } }) => (
      <span className="flex flex-col">
        {row.title}
        <span className="font-mono text-2xs text-ink-3">{row.entity_type}</span>
      </span>
    ),
  }),
  column.accessor('description', {
    header: 'How it is found',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span className="text-ink-2">{getValue()}</span>,
  }),
  column.accessor('example', {
    header: 'Example',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span>,
  }),
  column.accessor('available', {
    header: 'Check',
    cell: ({ row: { original: row } }) =>
      !row.available ? (
        <Badge>Needs a sidecar</Badge>
      ) : row.validated ? (
        <Badge tone="good">Verified</Badge>
      ) : row.needs_context ? (
        <Badge>By context</Badge>
      ) : (
        <Badge>By shape</Badge>
      ),
  }),
];
