'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCw, Trash2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { type Detail, managedReason, stateOfVersion, type Version } from './key-labels.ts';

const RotateDialog = lazyOverlay(() => import('./key-dialogs.tsx').then((module) => module.RotateDialog), whenOpen);
const DestroyVersionDialog = lazyOverlay(
  () => import('./key-dialogs.tsx').then((module) => module.DestroyVersionDialog),
  ({ version }) => version !== undefined,
);

type Row = Version & { oldest: number };
const column = columnsFor<Row>();
const columns = [
  column.accessor('version', {
    header: 'Version',
    cell: ({ row: { original } }) => (
      <span className="inline-flex items-center gap-2">
        <span className="figures font-medium">{original.version}</span>
        {original.status !== 'destroyed' && original.version < original.oldest && <Badge tone="warn">Below the minimum</Badge>}
      </span>
    ),
  }),
  column.display({
    id: 'state',
    header: 'Status',
    cell: ({ row: { original } }) => {
      const { state, label } = stateOfVersion(original);
      return (
        <span className="flex flex-col">
          <Status state={state}>{label}</Status>
          {original.destroy_after && original.status !== 'destroyed' && (
            <span className="text-ink-3 text-xs">
              <Time value={original.destroy_after} />
            </span>
          )}
        </span>
      );
    },
  }),
  column.accessor('encrypt_count', {
    header: 'Encryptions',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
  column.accessor('created_at', { header: 'Created', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('retired_at', {
    header: 'Retired',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} empty="—" />,
  }),
  column.accessor('destroyed_at', {
    header: 'Destroyed',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} empty="—" />,
  }),
];

/** The versions of a key, newest first: a new one is made here, and old ones end here. */
export function VersionsTab({ crypto }: { crypto: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const cannotRotate = useForbidden('transit:rotate');
  const cannotDestroy = useForbidden('transit:destroy');
  const cannotUpdate = useForbidden('transit:update');
  const [rotating, setRotating] = useState(false);
  const [destroying, setDestroying] = useState<Version>();
  const undo = useMutation(
    trpc.cryptoKeys.cancel_destruction.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ version }) => {
        notifyDone(`Version ${version} is kept`);
        return queryClient.invalidateQueries(trpc.cryptoKeys.pathFilter());
      },
    }),
  );
  const undestroyable = ({ status }: Version) =>
    cannotDestroy ??
    (status === 'destroyed'
      ? 'Already destroyed'
      : status === 'active'
        ? 'The active version: rotate the key first'
        : crypto.deletion_allowed
          ? undefined
          : 'Allow destruction on the Overview tab first');
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-2xl text-pretty text-ink-2">
          Each ciphertext and signature names its version, so old ones keep working after a rotation.
        </p>
        <Button icon={<RotateCw />} disabledReason={managedReason(crypto) ?? cannotRotate} onClick={() => setRotating(true)}>
          Rotate
        </Button>
      </div>
      <DataTable
        columns={columns}
        rows={crypto.versions.map((version) => ({ ...version, oldest: crypto.min_decryption_version }))}
        rowId={(row) => String(row.version)}
        rowName={(row) => `Version ${row.version}`}
        caption="Versions"
        actions={(row) => [
          ...(row.destroy_after && row.status !== 'destroyed'
            ? [
                {
                  label: 'Undo destruction',
                  icon: <Undo2 />,
                  disabledReason: cannotUpdate,
                  onSelect: () => undo.mutate({ name: crypto.id, n: String(row.version) }),
                },
              ]
            : []),
          { label: 'Destroy…', icon: <Trash2 />, danger: true, disabledReason: undestroyable(row), onSelect: () => setDestroying(row) },
        ]}
      />
      <RotateDialog crypto={crypto} open={rotating} onClose={() => setRotating(false)} />
      <DestroyVersionDialog crypto={crypto} version={destroying} onClose={() => setDestroying(undefined)} />
    </>
  );
}
