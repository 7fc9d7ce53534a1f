'use client';

import { useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import type { BuiltInRule } from '#server/domain/ai-controls/schema.ts';

const column = columnsFor<z.output<typeof BuiltInRule>>();

/** What runs in every firewall. */
export function FirewallRules() {
  const trpc = useTRPC();
  const rules = useQuery(trpc.aiControls.firewallRules.queryOptions({}));
  if (rules.error && !rules.data) return <QueryError query={rules} what="Built-in rules" />;
  return (
    <DataTable caption="Built-in rules" columns={columns} rows={rules.data?.data} rowId={(row) => row.name} rowName={(row) => row.name} />
  );
}

const columns = [
  column.accessor('name', { header: 'Rule', cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span> }),
  column.accessor('description', { header: 'What it finds' }),
  column.accessor('example', {
    header: 'Example',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span className="font-mono text-xs [overflow-wrap:anywhere]">{getValue().slice(0, 60)}</span>,
  }),
];
