'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IdCard, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
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
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import { NameCheck } from './name-check.tsx';
import { duration, inPath, type Role, type Root } from './pki-labels.ts';

const RoleSheet = lazyOverlay(() => import('./role-sheet.tsx').then((module) => module.RoleSheet), whenOpen);

const column = columnsFor<Role>();
const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '14rem' },
    cell: ({ getValue }) => <span className="truncate">{getValue()}</span>,
  }),
  column.accessor('allowed_domains', {
    header: 'Domains',
    meta: { cap: '20rem' },
    cell: ({ getValue }) => <span className="block truncate font-mono text-xs">{getValue().join(', ') || 'None'}</span>,
  }),
  column.display({
    id: 'names',
    header: 'Also allows',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original: role } }) => <span className="text-ink-2">{switchesOf(role) || '—'}</span>,
  }),
  column.accessor('default_ttl_seconds', {
    header: 'Usual lifetime',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span className="whitespace-nowrap">{duration(getValue())}</span>,
  }),
  column.accessor('max_ttl_seconds', {
    header: 'Longest lifetime',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="whitespace-nowrap">{duration(getValue())}</span>,
  }),
];

const switchesOf = (role: Role): string =>
  [role.allow_subdomains && 'subdomains', role.allow_wildcards && 'wildcards', role.allow_ip_sans && 'IP addresses']
    .filter(Boolean)
    .join(', ');

/** The roles of a root: what certificates may claim, and a place to try a name on them. */
export function RolesTab({ root }: { root: Root }) {
  const trpc = useTRPC();
  const panel = usePanel('role');
  const readOnly = useForbidden('pki:manage_roles');
  const [deleting, setDeleting] = useState<Role>();
  const list = useQuery(trpc.pki.listRoles.queryOptions({ name: root.id }));
  const roles = list.data?.data;
  const editing = roles?.find(({ id }) => id === panel.id);
  const newRole = (
    <Button variant="primary" icon={<Plus />} disabledReason={readOnly} onClick={() => void panel.open('new')}>
      New role
    </Button>
  );
  if (list.isError) return <QueryError query={list} what="Roles" />;
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-2xl text-pretty text-ink-2">A role says which names a certificate may carry and how long it may last.</p>
        {roles?.length !== 0 && newRole}
      </div>
      <DataTable
        columns={columns}
        rows={roles}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        caption="Roles"
        skeletonRows={3}
        onOpen={(row) => void panel.open(row.id)}
        openId={panel.id ?? undefined}
        actions={(row) => [
          { label: 'Edit…', icon: <Pencil />, onSelect: () => void panel.open(row.id) },
          { label: 'Delete…', icon: <Trash2 />, danger: true, disabledReason: readOnly, onSelect: () => setDeleting(row) },
        ]}
        empty={
          <EmptyState icon={<IdCard />} title="No roles yet" action={newRole}>
            Nothing can be issued without a role. Create one that allows the names of your services.
          </EmptyState>
        }
      />
      {roles && roles.length > 0 && <NameCheck roles={roles} />}
      <RoleSheet
        root={root}
        role={editing}
        open={editing !== undefined || (panel.id === 'new' && !readOnly)}
        onClose={() => void panel.close()}
      />
      <DeleteRoleDialog root={root} role={deleting} onClose={() => setDeleting(undefined)} />
    </>
  );
}

function DeleteRoleDialog({ root, role, onClose }: { root: Root; role: Role | undefined; onClose: () => void }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.pki.deleteRole.mutationOptions({
      onSuccess: () => {
        notifyDone('Role deleted');
        onClose();
        return queryClient.invalidateQueries(trpc.pki.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDanger
      open={role !== undefined}
      onOpenChange={(next) => {
        if (next) return;
        remove.reset();
        onClose();
      }}
      title={`Delete ${role?.name ?? 'the role'}?`}
      consequences={[
        'Nothing can be issued under it any more.',
        'Certificates that it allowed stay valid until they expire or are revoked.',
      ]}
      confirmLabel="Delete role"
      resourceName={role?.name ?? ''}
      space={space}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => role && remove.mutate({ name: root.id, role: role.id })}
    >
      {role && <ApiEquivalent method="DELETE" path={`/pki/roots/${inPath(root)}/roles/${inPath(role)}`} />}
    </ConfirmDanger>
  );
}
