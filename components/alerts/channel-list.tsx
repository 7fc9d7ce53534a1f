'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { History, Megaphone, Pause, Pencil, Play, Plus, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone, notifyFailed } from '#components/ui/toaster.tsx';
import { KIND_LABELS } from '#server/domain/alert-channels/kinds.shared.ts';
import { AlertTabs } from './alert-tabs.tsx';
import { DeleteChannel } from './delete-alert.tsx';
import type { ChannelRow } from './labels.ts';

const ChannelSheet = lazyOverlay(() => import('./channel-sheet.tsx').then((module) => module.ChannelSheet), whenOpen);

/** Where alerts of the space are told. */
export function ChannelList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const cannotCreate = useForbidden('alert:create');
  const cannotUpdate = useForbidden('alert:update');
  const cannotDelete = useForbidden('alert:delete');
  const panel = usePanel('open');
  const [deleting, setDeleting] = useState<ChannelRow>();
  const list = useQuery(trpc.alertChannels.list.queryOptions({}, { refetchInterval: 10_000 }));
  const refresh = () => cache.invalidateQueries(trpc.alertChannels.pathFilter());
  const toggle = useMutation(
    trpc.alertChannels.update.mutationOptions({
      onSuccess: (row) => {
        notifyDone(`${row.name} is ${row.enabled ? 'on' : 'off'}`);
        return refresh();
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const trial = useMutation(
    trpc.alertChannels.test.mutationOptions({
      onSuccess: ({ ok, name, error, latency_ms }) => {
        if (ok) notifyDone(`${name} took the test message in ${latency_ms} ms`);
        else notifyFailed(`${name}: ${error ?? 'The test message was not accepted.'}`);
        return refresh();
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const create = (
    <Button variant="primary" icon={<Plus />} disabledReason={cannotCreate} onClick={() => panel.open('new')}>
      New channel
    </Button>
  );
  return (
    <Page>
      <PageHeader title="Alert channels" description="Where the alerts of this space are told." actions={create}>
        <AlertTabs active="channels" />
      </PageHeader>
      {list.isError && !list.data ? (
        <QueryError query={list} what="Alert channels" />
      ) : (
        <DataTable
          caption="Alert channels"
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          onOpen={(row) => panel.open(row.id)}
          openId={panel.id ?? undefined}
          skeletonRows={3}
          empty={
            <EmptyState icon={<Megaphone />} title="No channels yet" action={create}>
              Create one for the people or the tool that should hear of an incident, send a test message, then choose it in an alert.
            </EmptyState>
          }
          actions={(row) => [
            { label: 'Edit', icon: <Pencil />, disabledReason: cannotUpdate, onSelect: () => panel.open(row.id) },
            {
              label: 'Send test message',
              icon: <Send />,
              disabledReason: cannotUpdate ?? (trial.isPending ? 'A test is running' : undefined),
              onSelect: () => trial.mutate({ id: row.id }),
            },
            {
              label: row.enabled ? 'Turn off' : 'Turn on',
              icon: row.enabled ? <Pause /> : <Play />,
              disabledReason: cannotUpdate,
              onSelect: () => toggle.mutate({ id: row.id, enabled: !row.enabled }),
            },
            { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=alert_channel&resource_id=${row.id}`) },
            'separator',
            { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: cannotDelete, onSelect: () => setDeleting(row) },
          ]}
        />
      )}
      <ChannelSheet open={panel.id !== null} channel={list.data?.data.find(({ id }) => id === panel.id)} onClose={panel.close} />
      <DeleteChannel channel={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}

const column = columnsFor<ChannelRow>();
const columns = [
  column.accessor('name', { header: 'Name' }),
  column.accessor('kind', { header: 'Kind', cell: ({ getValue }) => KIND_LABELS[getValue()] }),
  column.display({
    id: 'to',
    header: 'To',
    meta: { hideBelow: 'md', cap: '16rem' },
    cell: ({ row: { original: row } }) => <span className="truncate">{row.host ?? row.recipients.join(', ')}</span>,
  }),
  column.display({
    id: 'state',
    header: 'State',
    cell: ({ row: { original: row } }) => {
      const failing = row.last_failed_at !== null && (row.last_sent_at === null || row.last_failed_at > row.last_sent_at);
      return (
        <span className="flex flex-col">
          <Status state={row.enabled ? (failing ? 'failing' : 'ok') : 'off'}>{row.enabled ? (failing ? 'Failing' : 'On') : 'Off'}</Status>
          {failing && row.last_error && <span className="text-ink-2 text-xs">{row.last_error}</span>}
        </span>
      );
    },
  }),
  column.accessor('alerts', { header: 'Alerts', meta: { hideBelow: 'sm' } }),
  column.accessor('last_sent_at', {
    header: 'Last message',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
];
