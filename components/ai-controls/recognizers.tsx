'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { BellOff, BellRing, History, Pencil, Plus, ScanSearch, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { DeleteControl } from './delete-control.tsx';
import { ACTION_LABELS, ACTION_TONES, type RecognizerRow } from './labels.ts';

const RecognizerSheet = lazyOverlay(() => import('./recognizer-sheet.tsx').then((module) => module.RecognizerSheet), whenOpen);
const column = columnsFor<RecognizerRow>();

/** The workspace's own detectors. */
export function Recognizers() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const readOnly = useForbidden('ai_gateway:update');
  const notInPlan = useFeatureReason('custom_pii');
  const panel = usePanel('recognizer');
  const [deleting, setDeleting] = useState<RecognizerRow>();
  const recognizers = useQuery(trpc.aiControls.piiRecognizers.queryOptions({ per_page: 100 }));
  const mute = useMutation(
    trpc.aiControls.updateRecognizer.mutationOptions({
      onSuccess: (row) => {
        notifyDone(row.enabled ? `${row.name} runs again` : `${row.name} is muted`);
        return cache.invalidateQueries(trpc.aiControls.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const create = (
    <Button variant="primary" icon={<Plus />} disabledReason={readOnly ?? notInPlan} onClick={() => panel.open('new')}>
      New recognizer
    </Button>
  );
  if (recognizers.error && !recognizers.data) return <QueryError query={recognizers} what="Recognizers" />;
  return (
    <>
      {(recognizers.data?.data.length ?? 1) > 0 && <div className="flex justify-end">{create}</div>}
      <DataTable
        caption="Recognizers"
        columns={columns}
        rows={recognizers.data?.data}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        onOpen={(row) => panel.open(row.id)}
        openId={panel.id ?? undefined}
        skeletonRows={3}
        empty={
          <EmptyState icon={<ScanSearch />} title="No recognizers" action={create}>
            Find what only you know, such as member numbers or code names, with a pattern or a list of words.
          </EmptyState>
        }
        actions={(row) => [
          { label: 'Edit', icon: <Pencil />, disabledReason: readOnly, onSelect: () => panel.open(row.id) },
          {
            label: row.enabled ? 'Mute' : 'Unmute',
            icon: row.enabled ? <BellOff /> : <BellRing />,
            disabledReason: readOnly ?? notInPlan,
            onSelect: () => mute.mutate({ id: row.id, enabled: !row.enabled }),
          },
          { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=pii_recognizer&resource_id=${row.id}`) },
          'separator',
          { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: readOnly, onSelect: () => setDeleting(row) },
        ]}
      />
      <RecognizerSheet
        open={panel.id !== null}
        recognizer={recognizers.data?.data.find((one) => one.id === panel.id)}
        onClose={panel.close}
      />
      <DeleteControl kind="pii-recognizers" row={deleting} onClose={() => setDeleting(undefined)} />
    </>
  );
}

const columns = [
  column.accessor('name', { header: 'Name', cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span> }),
  column.accessor('action', {
    header: 'Action',
    cell: ({ getValue }) => <Badge tone={ACTION_TONES[getValue()]}>{ACTION_LABELS[getValue()]}</Badge>,
  }),
  column.accessor('kind', {
    header: 'Kind',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => (getValue() === 'regex' ? 'Pattern' : getValue() === 'aho_corasick' ? 'Word list' : getValue()),
  }),
  column.accessor('stream_safe', {
    header: 'Streams',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => (getValue() ? 'As they come' : <Badge tone="warn">Buffered</Badge>),
  }),
  column.accessor('enabled', {
    header: 'State',
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'Enabled' : 'Muted'}</Status>,
  }),
];
