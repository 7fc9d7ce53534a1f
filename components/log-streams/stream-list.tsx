'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Forward, History, Pause, Pencil, Play, Plus, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone, notifyFailed } from '#components/ui/toaster.tsx';
import { DeleteStream } from './delete-stream.tsx';
import { KIND_LABELS, SOURCE_LABELS, STATE_LABELS, type StreamRow } from './stream-labels.ts';

const StreamSheet = lazyOverlay(() => import('./stream-sheet.tsx').then((module) => module.StreamSheet), whenOpen);
const column = columnsFor<StreamRow>();

/** Where the logs of the space are sent, and how that goes. */
export function LogStreamList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const forbidden = useForbidden('log_stream:manage');
  const notInPlan = useFeatureReason('audit_export');
  const panel = usePanel('stream');
  const [deleting, setDeleting] = useState<StreamRow>();
  // What a stream has sent changes while one looks.
  const streams = useQuery(trpc.logStreams.list.queryOptions({}, { refetchInterval: 10_000 }));
  const refresh = () => cache.invalidateQueries(trpc.logStreams.pathFilter());
  const toggle = useMutation(
    trpc.logStreams.update.mutationOptions({
      onSuccess: (row) => {
        notifyDone(row.enabled ? `${row.name} is on. It continues where it stopped.` : `${row.name} is off`);
        return refresh();
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const trial = useMutation(
    trpc.logStreams.test.mutationOptions({
      onSuccess: ({ ok, error, latency_ms }) =>
        ok ? notifyDone(`The test record arrived in ${latency_ms} ms`) : notifyFailed(error ?? 'The test record was not accepted.'),
      onError: (error) => notifyRefused(error),
    }),
  );
  const create = (
    <Button variant="primary" icon={<Plus />} disabledReason={forbidden ?? notInPlan} onClick={() => panel.open('new')}>
      New log stream
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Log streams"
        description="Send the audit log and the calls of this space to your own systems, as they happen."
        actions={create}
      />
      {streams.error && !streams.data ? (
        <QueryError query={streams} what="Log streams" />
      ) : (
        <DataTable
          caption="Log streams"
          columns={columns}
          rows={streams.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          onOpen={(row) => panel.open(row.id)}
          openId={panel.id ?? undefined}
          skeletonRows={3}
          empty={
            <EmptyState icon={<Forward />} title="No log streams">
              Rows arrive within a minute and at least once. A destination that is down gets what it missed when it is back.
            </EmptyState>
          }
          actions={(row) => [
            { label: 'Edit', icon: <Pencil />, disabledReason: forbidden, onSelect: () => panel.open(row.id) },
            {
              label: 'Send test record',
              icon: <Send />,
              disabledReason: forbidden ?? (trial.isPending ? 'A test is running' : undefined),
              onSelect: () => trial.mutate({ id: row.id }),
            },
            {
              label: row.enabled ? 'Turn off' : 'Turn on',
              icon: row.enabled ? <Pause /> : <Play />,
              disabledReason: forbidden ?? notInPlan,
              onSelect: () => toggle.mutate({ id: row.id, enabled: !row.enabled }),
            },
            { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=log_stream&resource_id=${row.id}`) },
            'separator',
            { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: forbidden, onSelect: () => setDeleting(row) },
          ]}
        />
      )}
      <StreamSheet open={panel.id !== null} stream={streams.data?.data.find((one) => one.id === panel.id)} onClose={panel.close} />
      <DeleteStream stream={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}

const columns = [
  column.accessor('name', { header: 'Name' }),
  column.accessor('state', {
    header: 'State',
    cell: ({ row: { original: row } }) => {
      const { label, state } = STATE_LABELS[row.state];
      return (
        <span className="flex flex-col">
          <Status state={state}>{label}</Status>
          {row.last_error && <span className="text-xs text-ink-2">{row.last_error}</span>}
        </span>
      );
    },
  }),
  column.accessor('source', { header: 'Sends', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => SOURCE_LABELS[getValue()] }),
  column.accessor('kind', { header: 'To', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => KIND_LABELS[getValue()] }),
  column.accessor('sent_count', { header: 'Rows', meta: { hideBelow: 'md' }, cell: ({ getValue }) => grouped(getValue()) }),
  column.accessor('last_sent_at', {
    header: 'Last sent',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => {
      const at = getValue();
      return at ? <Time value={at} /> : <span className="text-ink-2">Never</span>;
    },
  }),
];
