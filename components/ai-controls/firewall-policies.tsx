'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bird, BrickWallShield, CopyPlus, History, Pencil, Plus, Trash2 } from 'lucide-react';
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
import { counted } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { DeleteControl } from './delete-control.tsx';
import { FIREWALL_LABELS, FIREWALL_TONES, type FirewallRow } from './labels.ts';

const FirewallSheet = lazyOverlay(() => import('./firewall-sheet.tsx').then((module) => module.FirewallSheet), whenOpen);
const column = columnsFor<FirewallRow>();

/** Firewall policies with their versions. */
export function FirewallPolicies() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const readOnly = useForbidden('ai_gateway:update');
  const notInPlan = useFeatureReason('custom_firewall');
  const panel = usePanel('policy');
  const [from, setFrom] = useState<FirewallRow>();
  const [deleting, setDeleting] = useState<FirewallRow>();
  const policies = useQuery(trpc.aiControls.firewallPolicies.queryOptions({ per_page: 100, sort: 'name', order: 'asc' }));
  const canary = useMutation(
    trpc.aiControls.updateFirewallPolicy.mutationOptions({
      onSuccess: (row) => {
        notifyDone(row.canary_enabled ? 'Canary on' : 'Canary off');
        return cache.invalidateQueries(trpc.aiControls.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  const open = (base: FirewallRow | undefined) => {
    setFrom(base);
    panel.open('new');
  };
  const create = (
    <Button variant="primary" icon={<Plus />} disabledReason={readOnly ?? notInPlan} onClick={() => open(undefined)}>
      New policy
    </Button>
  );
  if (policies.error && !policies.data) return <QueryError query={policies} what="Firewall policies" />;
  return (
    <>
      {(policies.data?.data.length ?? 1) > 0 && <div className="flex justify-end">{create}</div>}
      <DataTable
        caption="Firewall policies"
        columns={columns}
        rows={policies.data?.data}
        rowId={(row) => row.id}
        rowName={(row) => `${row.name}, version ${row.version}`}
        onOpen={(row) => panel.open(row.id)}
        openId={panel.id ?? undefined}
        skeletonRows={3}
        empty={
          <EmptyState icon={<BrickWallShield />} title="No firewall policies" action={create}>
            Without one, built-in rules warn. A policy can block, add your own rules and notice when a system prompt leaks.
          </EmptyState>
        }
        actions={(row) => [
          { label: 'Edit', icon: <Pencil />, disabledReason: readOnly, onSelect: () => panel.open(row.id) },
          { label: 'New version…', icon: <CopyPlus />, disabledReason: readOnly ?? notInPlan, onSelect: () => open(row) },
          {
            label: row.canary_enabled ? 'Turn canary off' : 'Turn canary on',
            icon: <Bird />,
            disabledReason: readOnly ?? notInPlan,
            onSelect: () => canary.mutate({ id: row.id, canary_enabled: !row.canary_enabled }),
          },
          { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=firewall_policy&resource_id=${row.id}`) },
          'separator',
          { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: readOnly, onSelect: () => setDeleting(row) },
        ]}
      />
      <FirewallSheet
        open={panel.id !== null}
        policy={policies.data?.data.find((one) => one.id === panel.id)}
        from={from}
        onClose={panel.close}
      />
      <DeleteControl kind="firewall-policies" row={deleting} onClose={() => setDeleting(undefined)} />
    </>
  );
}

const columns = [
  column.accessor('name', {
    header: 'Name',
    cell: ({ row: { original: row } }) => (
      <span className="inline-flex items-center gap-2">
        {row.name}
        <Badge>v{row.version}</Badge>
      </span>
    ),
  }),
  column.accessor('action', {
    header: 'Action',
    cell: ({ getValue }) => <Badge tone={FIREWALL_TONES[getValue()]}>{FIREWALL_LABELS[getValue()]}</Badge>,
  }),
  column.accessor('heuristics', {
    header: 'Own rules',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => (getValue().length === 0 ? <span className="text-ink-3">None</span> : counted(getValue().length, 'rule')),
  }),
  column.accessor('canary_enabled', {
    header: 'Canary',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'On' : 'Off'}</Status>,
  }),
  column.accessor('updated_at', { header: 'Updated', meta: { hideBelow: 'md' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];
