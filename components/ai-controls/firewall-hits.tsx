'use client';

import { useQuery } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import type { z } from 'zod';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { FirewallHit } from '#server/domain/ai-controls/schema.ts';

const column = columnsFor<z.output<typeof FirewallHit>>();

/** The newest calls whose prompt matched a rule. */
export function FirewallHits() {
  const trpc = useTRPC();
  const path = usePath();
  const hits = useQuery(trpc.aiControls.firewallHits.queryOptions({}));
  if (hits.error && !hits.data) return <QueryError query={hits} what="Recent hits" />;
  return (
    <DataTable
      caption="Recent hits"
      columns={columnsOf(path)}
      rows={hits.data?.data}
      rowId={(row) => row.request_id}
      rowName={(row) => row.request_id}
      skeletonRows={3}
      empty={
        <EmptyState icon={<ShieldCheck />} title="No hits">
          None of the last 5,000 calls matched a rule. Prompts are not kept: a hit shows the call and its rules.
        </EmptyState>
      }
    />
  );
}

const columnsOf = (path: (to: string) => string) => [
  column.accessor('at', { header: 'Time', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('rules', {
    header: 'Rules',
    cell: ({ getValue }) => (
      <span className="flex flex-wrap gap-1">
        {getValue().map((rule) => (
          <Badge key={rule} mono>
            {rule}
          </Badge>
        ))}
      </span>
    ),
  }),
  column.accessor('blocked', {
    header: 'Result',
    cell: ({ getValue }) => (getValue() ? <Badge tone="bad">Blocked</Badge> : <Badge tone="warn">Let through</Badge>),
  }),
  column.accessor('agent_name', {
    header: 'Agent',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original: row } }) =>
      row.agent_id && row.agent_name ? (
        <Link href={path(`/ai/agents/${row.agent_id}`)} className={textLink}>
          {row.agent_name}
        </Link>
      ) : (
        <span className="text-ink-3">None</span>
      ),
  }),
  column.accessor('request_id', {
    header: 'Request',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <CopyText value={getValue()} label="request ID" />,
  }),
];
