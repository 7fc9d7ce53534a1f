'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { EyeOff, PenLine } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useReadOnlyReason } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { columnsFor, DataTable } from '#components/ui/data-table.tsx';
import { DateTimeInput } from '#components/ui/date-time-input.tsx';
import { Dialog } from '#components/ui/dialog.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { Field } from '#components/ui/field.tsx';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { SecretDetail } from '#server/domain/secrets/schema.ts';
import { ExpiryChip } from './expiry.tsx';
import { useEnvironments } from './places.ts';
import { SetValueDialog, type SetValueTarget } from './set-value-dialog.tsx';

type Detail = z.output<typeof SecretDetail>;
type Environment = NonNullable<ReturnType<typeof useEnvironments>>[number];
type Row = { environment: Pick<Environment, 'name' | 'display_name' | 'color'>; value: Detail['environments'][number] | undefined };
type Asking = { what: 'restore' | 'remove' | 'expiry'; row: Row };

const NO_REVEAL = 'Values cannot be shown in this release. Set a new one if you no longer know it.';

const column = columnsFor<Row & { set: () => void; readOnly: string | undefined; strict: boolean; expires_at: string | null }>();
const columns = [
  column.display({
    id: 'environment',
    header: 'Environment',
    cell: ({ row }) => <EnvironmentDot name={row.original.environment.display_name} color={row.original.environment.color} />,
  }),
  column.display({
    id: 'version',
    header: 'Version',
    cell: ({ row }) =>
      row.original.value ? (
        <span className="figures">{row.original.value.value_version}</span>
      ) : (
        <span className="text-warn-ink">no value</span>
      ),
  }),
  column.display({
    id: 'updated',
    header: 'Updated',
    meta: { hideBelow: 'sm' },
    cell: ({ row }) => <Time value={row.original.value?.updated_at} />,
  }),
  column.display({
    id: 'expiry',
    header: 'Expires',
    meta: { hideBelow: 'md' },
    cell: ({ row }) => {
      const { value, strict, expires_at } = row.original;
      if (!value) return null;
      return (
        <span className="inline-flex items-center gap-1.5">
          <ExpiryChip at={value.expires_at_override ?? expires_at} strict={strict} />
          {value.expires_at_override && <span className="text-ink-3 text-xs">own date</span>}
        </span>
      );
    },
  }),
  column.display({
    id: 'act',
    header: () => <span className="sr-only">Actions</span>,
    meta: { align: 'right' },
    cell: ({ row }) => (
      <Button size="sm" icon={<PenLine />} disabledReason={row.original.readOnly} onClick={row.original.set}>
        {row.original.value ? 'New value' : 'Set value'}
      </Button>
    ),
  }),
];

/** One row per environment of the space; the gaps are rows too. */
export function SecretValues({ secret }: { secret: Detail }) {
  const { role } = useScope();
  const environments = useEnvironments();
  const readOnly = useReadOnlyReason();
  const [target, setTarget] = useState<SetValueTarget>();
  const [asking, setAsking] = useState<Asking>();
  const known = new Set(environments?.map(({ name }) => name));
  const rows: Row[] | undefined = environments && [
    ...environments.map((environment) => ({
      environment,
      value: secret.environments.find((value) => value.environment_name === environment.name),
    })),
    // A value of an environment that was renamed or removed still exists and can be taken away.
    ...secret.environments
      .filter((value) => !known.has(value.environment_name))
      .map((value) => ({ environment: { name: value.environment_name, display_name: value.environment_name, color: '#6b7280' }, value })),
  ];
  const mayRestore = role === 'owner' || role === 'admin';
  const entries = (row: Row): MenuEntry[] =>
    row.value
      ? [
          { label: 'Reveal value', icon: <EyeOff />, disabledReason: NO_REVEAL },
          'separator',
          { label: 'Expiry here…', disabledReason: readOnly, onSelect: () => setAsking({ what: 'expiry', row }) },
          {
            label: 'Put previous value back…',
            detail: 'Kept for 24 hours after a change',
            disabledReason: mayRestore
              ? row.value.value_version === 1
                ? 'There is only one version'
                : undefined
              : 'Only an Owner or Admin may restore a value',
            onSelect: () => setAsking({ what: 'restore', row }),
          },
          'separator',
          { label: 'Remove value…', danger: true, disabledReason: readOnly, onSelect: () => setAsking({ what: 'remove', row }) },
        ]
      : [];
  return (
    <>
      <DataTable
        columns={columns}
        rows={rows?.map((row) => ({
          ...row,
          readOnly,
          strict: secret.strict_expiry_enforcement,
          expires_at: secret.expires_at,
          set: () =>
            setTarget({ secret, environment: row.environment, version: row.value?.value_version, replaces: row.value !== undefined }),
        }))}
        rowId={(row) => row.environment.name}
        rowName={(row) => row.environment.display_name}
        caption={`Values of ${secret.name} by environment`}
        actions={entries}
        skeletonRows={3}
      />
      <Callout title="Values can be written, not read back">Routes receive them at the moment of a call. {NO_REVEAL}</Callout>
      <SetValueDialog target={target} onClose={() => setTarget(undefined)} />
      {asking?.what === 'expiry' && asking.row.value && (
        <ExpiryDialog secret={secret} value={asking.row.value} onClose={() => setAsking(undefined)} />
      )}
      <ConfirmValue asking={asking} secret={secret} onClose={() => setAsking(undefined)} />
    </>
  );
}

function ExpiryDialog({ secret, value, onClose }: { secret: Detail; value: Detail['environments'][number]; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [at, setAt] = useState(value.expires_at_override);
  const update = useMutation(
    trpc.secrets.updateEnvironment.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.secrets.pathFilter());
        onClose();
      },
    }),
  );
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Expiry in ${value.environment_name}`}
      description={
        secret.expires_at
          ? 'Without a date of its own this environment follows the date of the secret.'
          : 'The secret itself has no expiry.'
      }
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            loading={update.isPending}
            onClick={() => update.mutate({ id: secret.id, env: value.environment_name, expires_at_override: at })}
          >
            Save
          </Button>
        </>
      }
    >
      <Field label="Expires" optional hint="Empty: as the secret.">
        <DateTimeInput value={at} onChange={setAt} />
      </Field>
      <MutationError error={update.error} />
    </Dialog>
  );
}

function ConfirmValue({ asking, secret, onClose }: { asking: Asking | undefined; secret: Detail; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const done = (message: string) => () => {
    void queryClient.invalidateQueries(trpc.secrets.pathFilter());
    notifyDone(message);
    onClose();
  };
  const restore = useMutation(trpc.secrets.restore.mutationOptions({ onSuccess: done('The previous value is back, as a new version') }));
  const remove = useMutation(trpc.secrets.removeValue.mutationOptions({ onSuccess: done('The value is removed and wiped') }));
  const name = asking?.row.environment.name ?? '';
  const label = asking?.row.environment.display_name ?? '';
  const failed = restore.error ?? remove.error;
  const removing = asking?.what === 'remove';
  return (
    <ConfirmDanger
      open={asking?.what === 'restore' || removing}
      onOpenChange={(open) => {
        if (open) return;
        restore.reset();
        remove.reset();
        onClose();
      }}
      title={removing ? `Remove the value in ${label}?` : `Put the previous value back in ${label}?`}
      consequences={
        removing
          ? [
              'It is wiped at once, with every earlier version, and cannot be brought back.',
              `Calls in ${label} that need ${secret.name} are refused from then on.`,
            ]
          : [
              'The present value is replaced; the next call uses the previous one.',
              'It becomes a new version. Nothing is shown to anybody.',
            ]
      }
      confirmLabel={removing ? 'Remove value' : 'Put it back'}
      {...(removing ? { resourceName: secret.name } : {})}
      space={space}
      busy={restore.isPending || remove.isPending}
      error={failed ? refusalOf(failed) : undefined}
      onConfirm={() => (removing ? remove.mutate({ id: secret.id, env: name }) : restore.mutate({ id: secret.id, environment: name }))}
    />
  );
}
