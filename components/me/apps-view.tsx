'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { z } from 'zod';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { ConnectedApps } from '#server/domain/oauth-grants/schema.ts';
import { deviceOf } from './device.ts';
import { usePersonCall } from './person-calls.ts';

type Apps = z.output<typeof ConnectedApps>['apps'];
type App = Apps[number];
type Row = App & { end: () => void };
const KEY = ['me', 'connected-apps'] as const;

const column = columnsFor<Row>();
const columns = [
  column.accessor('client', {
    header: 'Application',
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
        <span className="[overflow-wrap:anywhere]">{original.client.name}</span>
        {original.client.is_cli && <Badge>Command line</Badge>}
        {original.space === 'test' && <Badge tone="test">Test</Badge>}
      </span>
    ),
  }),
  column.accessor('workspace', { header: 'Workspace', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => getValue().name }),
  column.accessor('scopes', {
    header: 'Access',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span title={getValue().join(', ')}>{counted(getValue().length, 'permission')}</span>,
  }),
  column.accessor('user_agent', {
    header: 'Logged in from',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original } }) => (
      <span title={original.user_agent ?? undefined}>
        {deviceOf(original.user_agent)}
        {original.ip && <span className="ml-2 font-mono text-ink-2 text-xs">{original.ip}</span>}
      </span>
    ),
  }),
  column.accessor('last_used_at', { header: 'Last used', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('created_at', {
    header: 'Allowed',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} format="datetime" />,
  }),
  column.display({
    id: 'end',
    header: () => <span className="sr-only">Actions</span>,
    meta: { align: 'right' },
    cell: ({ row: { original } }) => (
      <Button size="sm" variant="danger-quiet" aria-label={`Disconnect ${original.client.name}`} onClick={original.end}>
        Disconnect
      </Button>
    ),
  }),
];

/** The applications that act in the person's name, and the way to end that. */
export function AppsView() {
  const call = usePersonCall();
  const cache = useQueryClient();
  const [asked, setAsked] = useState<App>();
  const [open, setOpen] = useState(false);
  const query = useQuery({ queryKey: KEY, queryFn: () => call<{ apps: Apps }>('GET', '/auth/connected-apps') });
  const end = useMutation({
    mutationFn: (id: string) => call('DELETE', `/auth/connected-apps/${id}`),
    onSuccess: () => {
      notifyDone('Application disconnected');
      setOpen(false);
    },
    onSettled: () => void cache.invalidateQueries({ queryKey: KEY }),
  });
  const ask = (app: App) => {
    end.reset();
    setAsked(app);
    setOpen(true);
  };
  return (
    <Page className="max-w-5xl">
      <PageHeader
        title="Connected apps"
        description="Applications that you allowed to act in your name. Each login ends by itself when it isn’t used for 30 days."
      />
      {query.isError ? (
        <QueryError query={query} what="Your connected apps" />
      ) : query.data?.apps.length === 0 ? (
        <p className="rounded-lg border border-line-strong border-dashed px-4 py-8 text-center text-ink-2">
          No application acts in your name. Log in with <code className="font-mono">service-cli login</code> or allow an application, and it
          appears here.
        </p>
      ) : (
        <DataTable
          columns={columns}
          rows={query.data?.apps.map((app) => ({ ...app, end: () => ask(app) }))}
          rowId={(row) => row.id}
          rowName={(row) => row.client.name}
          caption="Your connected apps"
          skeletonRows={2}
        />
      )}
      <ConfirmDanger
        open={open}
        onOpenChange={setOpen}
        title={`Disconnect ${asked?.client.name ?? 'the application'}?`}
        consequences={[
          'This login and all of its tokens stop working within a second.',
          'To use it again, you log in with it and allow it again.',
        ]}
        confirmLabel="Disconnect"
        space="live"
        busy={end.isPending}
        error={end.error ? refusalOf(end.error) : undefined}
        onConfirm={() => asked && end.mutate(asked.id)}
      />
    </Page>
  );
}
