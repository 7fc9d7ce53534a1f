'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { BellOff, BellRing, History, ListChecks, Pause, Pencil, Play, Plus, Send, Siren, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone, notifyFailed } from '#components/ui/toaster.tsx';
import { describeCondition, TEMPLATES, UNITS } from '#server/domain/alerts/conditions.shared.ts';
import { AlertTabs } from './alert-tabs.tsx';
import { DeleteAlert } from './delete-alert.tsx';
import { type AlertRow, SEVERITY_LABELS, SEVERITY_TONES, type SparklineRow, stateOf, valueText } from './labels.ts';
import { ThresholdLine } from './threshold-line.tsx';

const AlertSheet = lazyOverlay(() => import('./alert-sheet.tsx').then((module) => module.AlertSheet), whenOpen);

type Listed = AlertRow & { sparkline: SparklineRow | undefined };
const column = columnsFor<Listed>();
const HOUR = 3_600_000;
const POLL_MS = 10_000;

/** The alerts of the space, how each stands, and its last hour. */
export function AlertList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const cannotCreate = useForbidden('alert:create');
  const cannotUpdate = useForbidden('alert:update');
  const cannotDelete = useForbidden('alert:delete');
  const panel = usePanel('open');
  const [deleting, setDeleting] = useState<AlertRow>();
  const list = useQuery(trpc.alerts.list.queryOptions({}, { refetchInterval: POLL_MS }));
  const sparklines = useQuery(trpc.alerts.sparklines.queryOptions({}, { refetchInterval: 30_000 }));
  const refresh = () => cache.invalidateQueries(trpc.alerts.pathFilter());
  const onError = (error: unknown) => notifyRefused(error);
  const mute = useMutation(
    trpc.alerts.mute.mutationOptions({
      onSuccess: (row) => {
        notifyDone(row.muted_until ? `${row.name} is muted` : `${row.name} is no longer muted`);
        return refresh();
      },
      onError,
    }),
  );
  const toggle = useMutation(
    trpc.alerts.update.mutationOptions({
      onSuccess: (row) => {
        notifyDone(`${row.name} is ${row.enabled ? 'on' : 'off'}`);
        return refresh();
      },
      onError,
    }),
  );
  const trial = useMutation(
    trpc.alerts.test.mutationOptions({
      onSuccess: ({ data }) => {
        const failed = data.filter(({ ok }) => !ok);
        if (failed.length === 0) notifyDone(`The test message went to ${counted(data.length, 'channel')}`);
        else notifyFailed(failed.map(({ name, error }) => `${name}: ${error ?? 'not accepted'}`).join(' '));
      },
      onError,
    }),
  );
  useHotkeys([{ keys: 'c', label: 'New alert', group: 'List', run: () => !cannotCreate && panel.open('new') }]);
  const lines = new Map(sparklines.data?.data.map((one) => [one.alert_id, one]));
  const rows = list.data?.data.map((row) => ({ ...row, sparkline: lines.get(row.id) }));
  const muteFor = (row: AlertRow, hours: number) =>
    mute.mutate({ id: row.id, until: hours === 0 ? null : new Date(Date.now() + hours * HOUR).toISOString() });
  const create = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={cannotCreate} onClick={() => panel.open('new')}>
      New alert
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Alerts"
        description="What should not happen unnoticed in this space. Each is looked at every 30 seconds."
        actions={create}
      >
        <AlertTabs active="alerts" />
      </PageHeader>
      {list.isError && !list.data ? (
        <QueryError query={list} what="Alerts" />
      ) : (
        <DataTable
          caption="Alerts"
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          onOpen={(row) => panel.open(row.id)}
          openId={panel.id ?? undefined}
          skeletonRows={4}
          empty={
            <EmptyState icon={<Siren />} title="No alerts yet" action={create}>
              Start from a template such as “{TEMPLATES[0]?.name}”, see what it would have done in the last seven days, and choose who is
              told.
            </EmptyState>
          }
          actions={(row) => {
            const muted = row.muted_until !== null && new Date(row.muted_until) > new Date();
            return [
              { label: 'Edit', icon: <Pencil />, onSelect: () => panel.open(row.id) },
              { label: 'Incidents', icon: <ListChecks />, href: path(`/alerts/incidents?alert=${row.id}`) },
              {
                label: 'Send test message',
                icon: <Send />,
                disabledReason:
                  cannotUpdate ?? (row.channel_ids.length === 0 ? 'It has no channel' : trial.isPending ? 'A test is running' : undefined),
                onSelect: () => trial.mutate({ id: row.id }),
              },
              ...(muted
                ? [{ label: 'Unmute', icon: <BellRing />, disabledReason: cannotUpdate, onSelect: () => muteFor(row, 0) }]
                : [1, 8, 24].map((hours) => ({
                    label: `Mute for ${hours === 1 ? '1 hour' : `${hours} hours`}`,
                    icon: <BellOff />,
                    disabledReason: cannotUpdate,
                    onSelect: () => muteFor(row, hours),
                  }))),
              {
                label: row.enabled ? 'Turn off' : 'Turn on',
                icon: row.enabled ? <Pause /> : <Play />,
                disabledReason: cannotUpdate,
                onSelect: () => toggle.mutate({ id: row.id, enabled: !row.enabled }),
              },
              { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=alert&resource_id=${row.id}`) },
              'separator' as const,
              { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: cannotDelete, onSelect: () => setDeleting(row) },
            ];
          }}
        />
      )}
      <AlertSheet open={panel.id !== null} alert={list.data?.data.find(({ id }) => id === panel.id)} onClose={panel.close} />
      <DeleteAlert alert={deleting} onClose={() => setDeleting(undefined)} />
    </Page>
  );
}

const columns = [
  column.accessor('name', {
    header: 'Name',
    cell: ({ row: { original: row } }) => (
      <span className="flex min-w-0 flex-col">
        <span className="flex flex-wrap items-center gap-x-2">
          {row.name} <Badge tone={SEVERITY_TONES[row.severity]}>{SEVERITY_LABELS[row.severity]}</Badge>
        </span>
        <span className="text-ink-2 text-xs [overflow-wrap:anywhere]">{describeCondition(row.type, row.condition as never)}</span>
      </span>
    ),
  }),
  column.accessor('state', {
    header: 'State',
    cell: ({ row: { original } }) => {
      const { state, label } = stateOf(original, Date.now());
      return <Status state={state}>{label}</Status>;
    },
  }),
  column.display({
    id: 'hour',
    header: 'Last hour',
    meta: { hideBelow: 'md' },
    cell: ({ row: { original } }) => <LastHour {...original} />,
  }),
  column.accessor('last_fired_at', {
    header: 'Last fired',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
];

function LastHour({ sparkline, type, name }: Listed) {
  if (!sparkline) return <span className="text-ink-2">—</span>;
  const { values, threshold } = sparkline;
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  return (
    <ThresholdLine
      values={values}
      threshold={threshold}
      label={`${name}, last hour: at most ${valueText(most, UNITS[type])}, threshold ${valueText(threshold, UNITS[type])}`}
    />
  );
}
