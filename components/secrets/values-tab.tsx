'use client';

import { PenLine } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { revealCall } from '#components/reveals/reveal-call.ts';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { useScope, useTRPCClient } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import { RevealField } from '#components/ui/reveal-field.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { SecretDetail } from '#server/domain/secrets/schema.ts';
import { ExpiryChip } from './expiry.tsx';
import type { SetValueTarget } from './set-value-dialog.tsx';
import { useEnvironments } from './use-environments.ts';
import { type Asking, ConfirmValue, ExpiryDialog } from './value-dialogs.tsx';

const SetValueDialog = lazyOverlay(
  () => import('./set-value-dialog.tsx').then((module) => module.SetValueDialog),
  ({ target }) => target !== undefined,
);

type Detail = z.output<typeof SecretDetail>;
type Environment = NonNullable<ReturnType<typeof useEnvironments>>[number];
type Row = { environment: Pick<Environment, 'name' | 'display_name' | 'color'>; value: Detail['environments'][number] | undefined };

const Version = ({ value }: { value: Row['value'] }) =>
  value ? (
    <span className="figures">
      <span className="text-ink-3 text-xs sm:hidden">Version </span>
      {value.value_version}
    </span>
  ) : (
    <span className="whitespace-nowrap text-warn-ink">No value</span>
  );

type Acting = Row & {
  secret: Pick<Detail, 'id' | 'name' | 'expires_at' | 'strict_expiry_enforcement'>;
  set: () => void;
  readOnly: string | undefined;
  hidden: string | undefined;
};

/** The value of one environment, behind its gate. */
function StoredValue({ row: { secret, environment, value: stored, hidden } }: { row: Acting }) {
  const client = useTRPCClient();
  if (!stored) return null;
  return (
    <RevealField
      // A new version is another value: what was shown of the last one goes.
      key={stored.value_version}
      label={`value of ${secret.name} in ${environment.display_name}`}
      disabledReason={hidden}
      reveal={async (reason) => {
        const { value, reveals_left } = await client.secrets.reveal.mutate(
          { id: secret.id, environment: environment.name },
          revealCall(reason),
        );
        return { value, left: reveals_left };
      }}
    />
  );
}

const column = columnsFor<Acting>();
const columns = [
  column.display({
    id: 'environment',
    header: 'Environment',
    cell: ({ row: { original } }) => (
      <span className="flex flex-col">
        <EnvironmentDot name={original.environment.display_name} color={original.environment.color} />
        {/* A phone has no room for the column of versions. */}
        <span className="sm:hidden">
          <Version value={original.value} />
        </span>
      </span>
    ),
  }),
  column.display({
    id: 'value',
    header: 'Value',
    meta: { cap: '28rem' },
    cell: ({ row }) => <StoredValue row={row.original} />,
  }),
  column.display({
    id: 'version',
    header: 'Version',
    meta: { hideBelow: 'sm' },
    cell: ({ row }) => <Version value={row.original.value} />,
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
      const { value, secret } = row.original;
      if (!value) return null;
      return (
        <span className="inline-flex items-center gap-1.5">
          <ExpiryChip at={value.expires_at_override ?? secret.expires_at} strict={secret.strict_expiry_enforcement} />
          {value.expires_at_override && <span className="text-ink-3 text-xs">Override</span>}
        </span>
      );
    },
  }),
  column.display({
    id: 'act',
    header: () => <span className="sr-only">Actions</span>,
    // A phone has them in the row's menu.
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ row }) => (
      <Button size="sm" icon={<PenLine />} disabledReason={row.original.readOnly} onClick={row.original.set}>
        {row.original.value ? 'Replace value' : 'Set value'}
      </Button>
    ),
  }),
];

/** One row per environment of the space; the gaps are rows too. */
export function SecretValues({ secret }: { secret: Detail }) {
  const { role } = useScope();
  const environments = useEnvironments();
  const readOnly = useForbidden('secret:update');
  const hidden = useRevealForbidden('secret:reveal');
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
  const ask = (what: Asking['what'], { environment, value }: Row) => value && setAsking({ what, environment, value });
  const setValue = ({ environment, value }: Row) =>
    setTarget({ secret, environment, version: value?.value_version, replaces: value !== undefined });
  const entries = (row: Row): MenuEntry[] => [
    { label: row.value ? 'Replace value…' : 'Set value…', disabledReason: readOnly, onSelect: () => setValue(row) },
    ...(row.value
      ? ([
          'separator',
          { label: 'Set expiry…', disabledReason: readOnly, onSelect: () => ask('expiry', row) },
          {
            label: 'Restore previous value…',
            detail: 'Available for 24 hours',
            disabledReason: mayRestore
              ? row.value.value_version === 1
                ? 'No previous version'
                : undefined
              : 'Only Owners and Admins can restore values',
            onSelect: () => ask('restore', row),
          },
          'separator',
          { label: 'Remove value…', danger: true, disabledReason: readOnly, onSelect: () => ask('remove', row) },
        ] satisfies MenuEntry[])
      : []),
  ];
  return (
    <>
      <DataTable
        columns={columns}
        rows={rows?.map((row) => ({
          ...row,
          secret,
          readOnly,
          hidden,
          set: () => setValue(row),
        }))}
        rowId={(row) => row.environment.name}
        rowName={(row) => row.environment.display_name}
        caption={`Values of ${secret.name} by environment`}
        actions={entries}
        skeletonRows={3}
      />
      <Callout title="Every reveal is recorded">
        A reveal takes your passkey or an authenticator code. Your name, the time and the reason go to the audit log before the value is
        shown.
      </Callout>
      <SetValueDialog target={target} onClose={() => setTarget(undefined)} />
      {asking?.what === 'expiry' && <ExpiryDialog secret={secret} value={asking.value} onClose={() => setAsking(undefined)} />}
      <ConfirmValue asking={asking} secret={secret} onClose={() => setAsking(undefined)} />
    </>
  );
}
