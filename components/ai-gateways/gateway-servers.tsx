'use client';

import { useQuery } from '@tanstack/react-query';
import { Cable } from 'lucide-react';
import type { z } from 'zod';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Status } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import type { McpServerOverview } from '#server/domain/mcp-servers/schema.ts';
import { STATUS } from './ai-labels.ts';

const column = columnsFor<z.output<typeof McpServerOverview>>();
const columns = [
  column.accessor('name', { header: 'Name', meta: { cap: '18rem' } }),
  column.accessor('slug', {
    header: 'Slug',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span>,
  }),
  column.accessor('status', {
    header: 'State',
    cell: ({ getValue }) => <Status state={STATUS[getValue()].state}>{STATUS[getValue()].label}</Status>,
  }),
  column.display({
    id: 'tools',
    header: 'Tools',
    meta: { align: 'right' },
    cell: ({ row: { original } }) => (
      <span className="figures whitespace-nowrap">
        {original.server_type === 'toolset'
          ? grouped(original.members.length)
          : `${grouped(original.allowed_tools.length)} of ${grouped(original.tools_discovered)}`}
      </span>
    ),
  }),
];

/** The MCP servers of one gateway: its kill switch stops them too. */
export function GatewayServers({ gatewayId }: { gatewayId: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const servers = useQuery(trpc.mcpServers.overview.queryOptions({}));
  if (servers.isError && !servers.data) return <QueryError query={servers} what="MCP servers" />;
  return (
    <DataTable
      caption="MCP servers"
      columns={columns}
      rows={servers.data?.data.filter(({ gateway_id }) => gateway_id === gatewayId)}
      rowId={(row) => row.id}
      rowName={(row) => row.name}
      rowHref={(row) => path(`/ai/mcp/${row.id}`)}
      skeletonRows={3}
      empty={
        <EmptyState
          icon={<Cable />}
          title="No MCP servers in this gateway"
          action={
            <LinkButton variant="primary" href={path('/ai/mcp?open=new')}>
              Register server
            </LinkButton>
          }
        >
          Tools that agents and editors use through it, without the upstream’s credential.
        </EmptyState>
      }
    />
  );
}
