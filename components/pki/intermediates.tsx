'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ban, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { Life } from './life.tsx';
import { INTERMEDIATE_STATES, type Intermediate, type Root } from './pki-labels.ts';

const RotateDialog = lazyOverlay(() => import('./root-dialogs.tsx').then((module) => module.RotateDialog), whenOpen);
const RevokeIntermediateDialog = lazyOverlay(
  () => import('./revoke-dialogs.tsx').then((module) => module.RevokeIntermediateDialog),
  ({ intermediate }) => intermediate !== undefined,
);

const column = columnsFor<Intermediate>();
const columns = [
  column.accessor('subject', {
    header: 'Intermediate',
    meta: { cap: '20rem' },
    cell: ({ getValue }) => <span className="block truncate">{getValue()}</span>,
  }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={INTERMEDIATE_STATES[getValue()].state}>{INTERMEDIATE_STATES[getValue()].label}</Status>,
  }),
  column.display({
    id: 'life',
    header: 'Lifetime',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) =>
      original.status === 'active' || original.status === 'retired' ? (
        <Life of={original} label={`Lifetime of ${original.subject}`} className="w-28" />
      ) : (
        <span className="text-ink-3">—</span>
      ),
  }),
  column.accessor('not_after', {
    header: 'Until',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <Time value={getValue()} format="date" />,
  }),
];

/** The intermediates of a root, newest first. Exactly one is active. */
export function Intermediates({ root, rows }: { root: Root; rows: readonly Intermediate[] | undefined }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const cannotRotate = useForbidden('pki:rotate');
  const cannotRevoke = useForbidden('pki:revoke');
  const [rotating, setRotating] = useState(false);
  const [revoking, setRevoking] = useState<Intermediate>();
  const rotate = useMutation(
    trpc.pki.rotateIntermediate.mutationOptions({
      onSuccess: () => {
        notifyDone('A new intermediate is active');
        setRotating(false);
        return queryClient.invalidateQueries(trpc.pki.pathFilter());
      },
    }),
  );
  return (
    <SectionCard
      title="Intermediates"
      description="They sign certificates, so that the root’s key is used as seldom as can be."
      actions={
        <Button
          size="sm"
          icon={<RotateCw />}
          disabledReason={cannotRotate ?? (root.status === 'active' ? undefined : 'The root isn’t active')}
          onClick={() => setRotating(true)}
        >
          Rotate
        </Button>
      }
    >
      <DataTable
        columns={columns}
        rows={rows && [...rows]}
        rowId={(row) => row.id}
        rowName={(row) => row.subject}
        caption="Intermediates"
        skeletonRows={1}
        actions={(row) => [
          {
            label: 'Revoke…',
            icon: <Ban />,
            danger: true,
            disabledReason:
              cannotRevoke ??
              (row.status === 'active' || row.status === 'retired'
                ? undefined
                : `Already ${INTERMEDIATE_STATES[row.status].label.toLowerCase()}`),
            onSelect: () => setRevoking(row),
          },
        ]}
      />
      <RotateDialog
        root={root}
        open={rotating}
        busy={rotate.isPending}
        error={rotate.error}
        onConfirm={() => rotate.mutate({ name: root.id })}
        onClose={() => {
          rotate.reset();
          setRotating(false);
        }}
      />
      <RevokeIntermediateDialog root={root} intermediate={revoking} onClose={() => setRevoking(undefined)} />
    </SectionCard>
  );
}
