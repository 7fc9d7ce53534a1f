'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ban, History, Pencil, Plus, Power, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { counted } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Policy } from '#server/domain/policies/schema.ts';
import { policyInWords } from './policy-words.ts';
import { useCandidates } from './use-candidates.ts';

export type PolicyRow = z.output<typeof Policy>;

const column = columnsFor<PolicyRow & { words: string }>();

/** Every policy in words, with how often it denied a call. */
export function PolicyList({ onOpen }: { onOpen: (id: string) => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const readOnly = useForbidden('policy:update');
  const policies = useQuery(trpc.policies.list.queryOptions({}));
  const { named } = useCandidates();
  const [deleting, setDeleting] = useState<PolicyRow>();
  const toggle = useMutation(
    trpc.policies.update.mutationOptions({
      onSuccess: (row) => {
        notifyDone(row.enabled ? `${row.name} is on` : `${row.name} is off`);
        return cache.invalidateQueries(trpc.policies.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  if (policies.error && !policies.data) return <QueryError query={policies} what="Policies" />;
  return (
    <>
      <DataTable
        caption="Policies"
        columns={columns}
        rows={policies.data?.data.map((row) => ({ ...row, words: policyInWords(row, named) }))}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        onOpen={(row) => onOpen(row.id)}
        skeletonRows={3}
        empty={
          <EmptyState
            icon={<Ban />}
            title="No policies yet"
            action={
              <Button variant="primary" icon={<Plus />} disabledReason={readOnly} onClick={() => onOpen('new')}>
                New policy
              </Button>
            }
          >
            A policy denies actions to people, roles or keys, such as reading payloads. It binds Owners too.
          </EmptyState>
        }
        actions={(row) => [
          { label: 'Edit', icon: <Pencil />, disabledReason: readOnly, onSelect: () => onOpen(row.id) },
          {
            label: row.enabled ? 'Turn off' : 'Turn on',
            icon: <Power />,
            disabledReason: readOnly,
            onSelect: () => toggle.mutate({ id: row.id, enabled: !row.enabled }),
          },
          { label: 'Activity', icon: <History />, href: path(`/audit?resource_type=policy&resource_id=${row.id}`) },
          'separator',
          { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: readOnly, onSelect: () => setDeleting(row) },
        ]}
      />
      <DeletePolicy policy={deleting} onClose={() => setDeleting(undefined)} />
    </>
  );
}

const columns = [
  column.accessor('name', {
    header: 'Policy',
    cell: ({ row: { original: row } }) => (
      <span className="flex min-w-0 flex-col gap-0.5 py-1">
        <span className="truncate font-medium">{row.name}</span>
        <span className="whitespace-normal text-ink-2 text-xs">{row.words}</span>
      </span>
    ),
  }),
  column.accessor('enabled', {
    header: 'Status',
    meta: { width: '6rem' },
    cell: ({ getValue }) => <Status state={getValue() ? 'ok' : 'off'}>{getValue() ? 'On' : 'Off'}</Status>,
  }),
  column.accessor('space', {
    header: 'Space',
    meta: { width: '7rem', hideBelow: 'md' },
    cell: ({ getValue }) => {
      const space = getValue();
      return (
        <Badge tone={space === 'test' ? 'test' : 'neutral'}>
          {space === 'both' ? 'Live and Test' : space === 'live' ? 'Live' : 'Test'}
        </Badge>
      );
    },
  }),
  column.accessor('denied_calls', {
    header: 'Denied',
    meta: { width: '9rem', hideBelow: 'sm' },
    cell: ({ row: { original: row } }) =>
      row.last_denied_at === null ? (
        <span className="text-ink-3">Never</span>
      ) : (
        <span className="flex flex-col">
          <span className="figures">{counted(row.denied_calls, 'call')}</span>
          <Time value={row.last_denied_at} className="text-ink-3 text-xs" />
        </span>
      ),
  }),
];

function DeletePolicy({ policy, onClose }: { policy: PolicyRow | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.policies.delete.mutationOptions({
      onSuccess: () => {
        notifyDone(`${policy?.name ?? 'Policy'} deleted`);
        onClose();
        return cache.invalidateQueries(trpc.policies.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDanger
      open={policy !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      space={space}
      title={`Delete “${policy?.name ?? ''}”?`}
      resourceName={policy?.name ?? ''}
      confirmLabel="Delete policy"
      consequences={[
        'What it denied is allowed again from the next request.',
        'Its count of denied calls is deleted. The audit log keeps what it said.',
      ]}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => policy && remove.mutate({ id: policy.id })}
    />
  );
}
