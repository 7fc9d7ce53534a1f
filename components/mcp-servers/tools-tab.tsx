'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { FileJson, Route as RouteIcon, Wrench } from 'lucide-react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { lazyOverlay, lazyTab, whenOpen } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { Server, Tool } from './server-labels.ts';

const ToolsetMembers = lazyTab(() => import('./toolset-members.tsx').then((module) => module.ToolsetMembers));
const ToolSheet = lazyOverlay(() => import('./tool-sheet.tsx').then((module) => module.ToolSheet), whenOpen);
const ImportSheet = lazyOverlay(() => import('./import-sheet.tsx').then((module) => module.ImportSheet), whenOpen);
const FromRouteSheet = lazyOverlay(() => import('./from-route-sheet.tsx').then((module) => module.FromRouteSheet), whenOpen);

const column = columnsFor<Tool>();

/** What the upstream says of a tool, or what was written instead. */
export const descriptionOf = (tool: Tool): string => tool.description ?? String(tool.upstream_tool?.description ?? '');

/** Tools that exist and what clients see of them. */
export function ToolsTab({ server }: { server: Server }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const forbidden = useForbidden('ai_gateway:update');
  const cannotCreate = useForbidden('ai_gateway:create');
  const panel = usePanel('tool');
  const list = useQuery(trpc.mcpServers.tools.queryOptions({ id: server.id }));
  const update = useMutation(
    trpc.mcpServers.tool_update.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => queryClient.invalidateQueries(trpc.mcpServers.pathFilter()),
    }),
  );
  const rows = list.data?.data;
  const changed = rows?.filter(({ pin_state }) => pin_state === 'changed').length ?? 0;
  const open = rows?.find(({ id }) => id === panel.id);
  const columns = [
    column.accessor('tool_name', {
      header: 'Tool',
      meta: { cap: '16rem' },
      cell: ({ row: { original } }) => <span className="truncate font-mono text-xs">{original.tool_name}</span>,
    }),
    column.display({
      id: 'description',
      header: 'Description',
      meta: { cap: '22rem', hideBelow: 'md' },
      cell: ({ row: { original } }) => <span className="truncate text-ink-2">{descriptionOf(original)}</span>,
    }),
    column.display({
      id: 'marks',
      header: 'State',
      cell: ({ row: { original } }) => (
        <span className="inline-flex gap-1">
          {original.pin_state === 'changed' && <Badge tone="bad">Changed</Badge>}
          {original.pin_state === 'pinned' && <Badge tone="good">Pinned</Badge>}
          {original.poisoning.length > 0 && <Badge tone="bad">Suspicious text</Badge>}
          {original.approval === 'required' && <Badge tone="accent">Approval</Badge>}
          {original.argument_rules.length > 0 && <Badge>{counted(original.argument_rules.length, 'rule')}</Badge>}
          {!original.enabled && <Badge tone="warn">Disabled</Badge>}
          {!original.discovered && server.server_type === 'upstream' && <Badge>Gone</Badge>}
        </span>
      ),
    }),
    column.accessor('last_called_at', {
      header: 'Last called',
      meta: { hideBelow: 'lg' },
      cell: ({ getValue }) => <Time value={getValue()} />,
    }),
    column.display({
      id: 'allowed',
      header: 'Allowed',
      meta: { align: 'right' },
      cell: ({ row: { original } }) => (
        <span className="relative z-10 inline-flex">
          <Switch
            hideLabel
            label={`Allow ${original.tool_name}`}
            checked={original.allowed}
            disabledReason={update.isPending ? 'Saving…' : forbidden}
            onCheckedChange={(allowed) => update.mutate({ id: server.id, toolId: original.id, allowed })}
          />
        </span>
      ),
    }),
  ];
  if (server.server_type === 'toolset') return <ToolsetMembers server={server} />;
  return (
    <>
      {changed > 0 && (
        <Callout tone="bad" title={`${counted(changed, 'tool')} held back`}>
          The upstream describes them differently from what was approved. Open a tool to compare and approve it.
        </Callout>
      )}
      {server.server_type === 'collection' && (
        <div className="flex flex-wrap justify-end gap-2">
          <Button icon={<RouteIcon />} disabledReason={cannotCreate} onClick={() => void panel.open('from-route')}>
            Add from route
          </Button>
          <Button variant="primary" icon={<FileJson />} disabledReason={cannotCreate} onClick={() => void panel.open('import')}>
            Import OpenAPI
          </Button>
        </div>
      )}
      {list.isError ? (
        <QueryError query={list} what="Tools" />
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.tool_name}
          caption="Tools"
          onOpen={(row) => void panel.open(row.id)}
          openId={open?.id}
          empty={
            <EmptyState icon={<Wrench />} title="No tools yet">
              {server.server_type === 'collection'
                ? 'Make a tool from a route, or import an OpenAPI description.'
                : 'Nothing was found at the upstream yet. Check how the server signs in, then refresh.'}
            </EmptyState>
          }
        />
      )}
      <ToolSheet server={server} tool={open} open={open !== undefined} onClose={panel.close} />
      <ImportSheet server={server} open={panel.id === 'import'} onClose={panel.close} />
      <FromRouteSheet server={server} open={panel.id === 'from-route'} onClose={panel.close} />
    </>
  );
}
