'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Pencil, Plus, ShieldCheck, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useRevealForbidden } from '#components/reveals/use-reveal-forbidden.ts';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Connection, Role } from './labels.ts';
import { ttlWords } from './ttl-text.ts';

const RoleSheet = lazyOverlay(() => import('./role-sheet.tsx').then((module) => module.RoleSheet), whenOpen);
const CredentialDialog = lazyOverlay(() => import('./credential-dialog.tsx').then((module) => module.CredentialDialog), whenOpen);

const column = columnsFor<Role>();
const inherited = <span className="text-ink-3">Inherited</span>;
const columns = [
  column.accessor('name', {
    header: 'Role',
    meta: { cap: '16rem' },
    cell: ({ getValue }) => <span className="truncate font-medium">{getValue()}</span>,
  }),
  column.accessor('template', {
    header: 'Rights',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => original.template ?? (original.creation_sql_template === null ? 'IAM user' : 'Custom'),
  }),
  column.accessor('default_ttl_seconds', {
    header: 'Default lifetime',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => ((seconds) => (seconds === null ? inherited : ttlWords(seconds)))(getValue()),
  }),
  column.accessor('max_ttl_seconds', {
    header: 'Longest lifetime',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => ((seconds) => (seconds === null ? inherited : ttlWords(seconds)))(getValue()),
  }),
  column.accessor('live_leases', {
    header: 'Live leases',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
];

/** The roles of a connection: each says what users of it may do. */
export function RolesTab({ connection }: { connection: Connection }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.dynDb.list_roles.queryOptions({ connection: connection.name }));
  const readOnly = useForbidden('dyn_db_cred:manage_roles');
  const cannotMint = useRevealForbidden('dyn_db_cred:mint');
  const [editing, setEditing] = useState<Role | 'new'>();
  const [deleting, setDeleting] = useState<Role>();
  const [minting, setMinting] = useState<Role>();
  const rows = query.data?.data;
  const add = (
    <Button variant="primary" icon={<Plus />} disabledReason={readOnly} onClick={() => setEditing('new')}>
      New role
    </Button>
  );
  if (query.isError && !rows) return <QueryError query={query} what="Roles" />;
  return (
    <section className="flex flex-col gap-3">
      {rows && rows.length > 0 && (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="max-w-prose text-ink-2">Each credential is a new user with the rights of its role, and ends with its lease.</p>
          {add}
        </div>
      )}
      <DataTable
        caption="Roles"
        columns={columns}
        rows={rows}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        onOpen={setEditing}
        skeletonRows={3}
        empty={
          <EmptyState icon={<ShieldCheck />} title="No roles yet" action={add}>
            A role says what new users may do. Start with a template that reads, or write your own statements.
          </EmptyState>
        }
        actions={(row) => [
          {
            label: 'Get credential…',
            icon: <KeyRound />,
            disabledReason: cannotMint ?? (connection.enabled ? undefined : 'The connection is disabled'),
            onSelect: () => setMinting(row),
          },
          { label: 'Edit', icon: <Pencil />, onSelect: () => setEditing(row) },
          'separator',
          { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: readOnly, onSelect: () => setDeleting(row) },
        ]}
      />
      <RoleSheet
        open={editing !== undefined}
        connection={connection}
        role={editing === 'new' ? undefined : editing}
        onClose={() => setEditing(undefined)}
      />
      <CredentialDialog open={minting !== undefined} connection={connection} role={minting} onClose={() => setMinting(undefined)} />
      <DeleteRole connection={connection} role={deleting} onClose={() => setDeleting(undefined)} />
    </section>
  );
}

function DeleteRole({ connection, role, onClose }: { connection: Connection; role: Role | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.dynDb.delete_role.mutationOptions({
      onSuccess: async () => {
        notifyDone(`Role ${role?.name ?? ''} deleted`);
        onClose();
        await cache.invalidateQueries(trpc.dynDb.pathFilter());
      },
    }),
  );
  const live = role?.live_leases ?? 0;
  return (
    <ConfirmDanger
      open={role !== undefined}
      onOpenChange={(open) => {
        if (open) return;
        remove.reset();
        onClose();
      }}
      title={`Delete ${role?.name ?? ''}?`}
      consequences={['Calls that mint credentials of it are answered with 404.', 'Nothing changes on the server.']}
      confirmLabel="Delete role"
      resourceName={role?.name ?? ''}
      space={space}
      blockedReason={live > 0 ? `Revoke its ${counted(live, 'live lease')} first` : undefined}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => role && remove.mutate({ connection: connection.name, role: role.name })}
    >
      <ApiEquivalent method="DELETE" path={`/dyn-db-credentials/${connection.name}/roles/${role?.name}`} />
    </ConfirmDanger>
  );
}
