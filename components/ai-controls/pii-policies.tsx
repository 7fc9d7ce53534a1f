'use client';

import { useQuery } from '@tanstack/react-query';
import { History, Pencil, Plus, Trash2, UserLock } from 'lucide-react';
import { useState } from 'react';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { counted } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { DeleteControl } from './delete-control.tsx';
import { ACTION_LABELS, ACTION_TONES, PACK_NAMES, type PiiPolicyRow } from './labels.ts';

const PolicySheet = lazyOverlay(() => import('./pii-policy-sheet.tsx').then((module) => module.PiiPolicySheet), whenOpen);
const column = columnsFor<PiiPolicyRow>();

/** The PII policies of the space. */
export function PiiPolicies() {
  const trpc = useTRPC();
  const path = usePath();
  const readOnly = useForbidden('ai_gateway:update');
  const notInPlan = useFeatureReason('custom_pii');
  const panel = usePanel('policy');
  const [deleting, setDeleting] = useState<PiiPolicyRow>();
  const policies = useQuery(trpc.aiControls.piiPolicies.queryOptions({ per_page: 100 }));
  const create = (
    <Button variant="primary" icon={<Plus />} disabledReason={readOnly ?? notInPlan} onClick={() => panel.open('new')}>
      New policy
    </Button>
  );
  if (policies.error && !policies.data) return <QueryError query={policies} what="PII policies" />;
  return (
    <>
      {(policies.data?.data.length ?? 1) > 0 && <div className="flex justify-end">{create}</div>}
      <DataTable
        caption="PII policies"
        columns={columns}
        rows={policies.data?.data}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        onOpen={(row) => panel.open(row.id)}
        openId={panel.id ?? undefined}
        skeletonRows={3}
        empty={
          <EmptyState icon={<UserLock />} title="No PII policies" action={create}>
            Without one, built-in detectors tokenize what they find and every enabled recognizer runs. A policy changes that for the agents
            it is attached to.
          </EmptyState>
        }
        actions={(row) => [
          { label: 'Edit', icon: <Pencil />, disabledReason: readOnly, onSelect: () => panel.open(row.id) },
          { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=pii_policy&resource_id=${row.id}`) },
          'separator',
          { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: readOnly, onSelect: () => setDeleting(row) },
        ]}
      />
      <PolicySheet open={panel.id !== null} policy={policies.data?.data.find((one) => one.id === panel.id)} onClose={panel.close} />
      <DeleteControl kind="pii-policies" row={deleting} onClose={() => setDeleting(undefined)} />
    </>
  );
}

const columns = [
  column.accessor('name', { header: 'Name' }),
  column.accessor('default_action', {
    header: 'Built-in detectors',
    cell: ({ getValue }) => <Badge tone={ACTION_TONES[getValue()]}>{ACTION_LABELS[getValue()]}</Badge>,
  }),
  column.accessor('recognizer_ids', {
    header: 'Recognizers',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => (getValue().length === 0 ? 'All enabled' : counted(getValue().length, 'recognizer')),
  }),
  column.accessor('managed_by', {
    header: 'From',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => {
      const pack = getValue();
      return pack === null ? <span className="text-ink-3">Own</span> : <Badge>{PACK_NAMES[pack] ?? pack}</Badge>;
    },
  }),
  column.accessor('updated_at', { header: 'Updated', meta: { hideBelow: 'md' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];
