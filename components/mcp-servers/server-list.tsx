'use client';

import { useQuery } from '@tanstack/react-query';
import { Cable, Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { parseAsString, useQueryState } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { hostOf, type Listed, protocolText, TYPES } from './server-labels.ts';

const RegisterSheet = lazyOverlay(() => import('./register-sheet.tsx').then((module) => module.RegisterSheet), whenOpen);

const column = columnsFor<Listed>();
const figure = (n: number) => <span className="figures">{grouped(n)}</span>;

const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '18rem' },
    cell: ({ row: { original } }) => (
      <span className="inline-flex min-w-0 max-w-full items-center gap-2">
        <span className="truncate">{original.name}</span>
        {original.tools_changed > 0 && <Badge tone="warn">{original.tools_changed} changed</Badge>}
        {original.pending_approvals > 0 && <Badge tone="accent">{original.pending_approvals} waiting</Badge>}
      </span>
    ),
  }),
  column.accessor('slug', {
    header: 'Slug',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span>,
  }),
  column.display({
    id: 'upstream',
    header: 'Upstream',
    meta: { hideBelow: 'lg', cap: '14rem' },
    cell: ({ row: { original } }) => <span className="truncate">{hostOf(original.upstream_url) ?? TYPES[original.server_type]}</span>,
  }),
  column.display({
    id: 'protocol',
    header: 'Protocol',
    meta: { hideBelow: 'md' },
    cell: ({ row: { original } }) => protocolText(original),
  }),
  column.accessor('status', {
    header: 'State',
    cell: ({ row: { original } }) =>
      original.status === 'paused' ? (
        <Status state="off">Paused</Status>
      ) : original.protocol.error ? (
        <Status state="warning">Unreachable</Status>
      ) : (
        <Status state="ok">Active</Status>
      ),
  }),
  column.display({
    id: 'tools',
    header: 'Tools',
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span className="figures whitespace-nowrap">
        {original.server_type === 'toolset' ? original.members.length : `${original.allowed_tools.length} of ${original.tools_discovered}`}
      </span>
    ),
  }),
  column.accessor('calls_24h', {
    header: 'Calls, 24 h',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ getValue }) => figure(getValue()),
  }),
  column.accessor('refusals_24h', {
    header: 'Refused, 24 h',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ getValue }) => figure(getValue()),
  }),
];

/** The MCP servers of the space. The list isn't paged: it is narrowed here. */
export function ServerList() {
  const trpc = useTRPC();
  const { api_url } = useScope();
  const path = usePath();
  const router = useRouter();
  const [q, setQ] = useQueryState('q', parseAsString.withDefault(''));
  const list = useQuery(trpc.mcpServers.overview.queryOptions({}));
  const limit = useLimit('mcp_servers', 'servers');
  const readOnly = useForbidden('ai_gateway:create');
  const form = usePanel('open');
  useHotkeys([{ keys: 'c', label: 'Register MCP server', group: 'List', run: () => !readOnly && void form.open('new') }]);
  const words = q.toLowerCase();
  const rows = list.data?.data.filter((row) => `${row.name} ${row.slug} ${row.upstream_url ?? ''}`.toLowerCase().includes(words));
  const register = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('new')}>
      Register server
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="MCP servers"
        description="Agents and editors use tools through the gateway, which injects the credential and shows only the tools you allow."
        usage={limit}
        actions={register}
      />
      {!(rows?.length === 0 && !words) && <FilterBar query={q} onQuery={(next) => void setQ(next || null)} placeholder="Filter by name" />}
      {list.isError ? (
        <QueryError query={list} what="MCP servers" />
      ) : rows?.length === 0 && words ? (
        <NoResults noun="servers" filters={[`name contains “${q}”`]} onClear={() => void setQ(null)} />
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          caption="MCP servers"
          rowHref={(row) => path(`/ai/mcp/${row.id}`)}
          empty={
            <EmptyState
              icon={<Cable />}
              title="No MCP servers yet"
              action={register}
              command={[
                {
                  id: 'curl',
                  label: 'cURL',
                  language: 'bash',
                  code: `curl ${api_url}/ai-gateway/gateways/$GATEWAY/mcp-servers \\\n  -H "Authorization: Bearer $SALLYPORT_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"Issues","slug":"issues","upstream_url":"https://mcp.example.com/mcp"}'`,
                },
              ]}
            >
              Register a remote server, or turn your routes into tools. Clients never hold the upstream’s credential.
            </EmptyState>
          }
        />
      )}
      <RegisterSheet
        open={form.id === 'new' && !readOnly}
        onClose={form.close}
        onCreated={(id) => router.replace(path(`/ai/mcp/${id}?tab=tools`))}
      />
    </Page>
  );
}
