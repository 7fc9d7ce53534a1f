'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Plus, Trash2 } from 'lucide-react';
import { parseAsString, useQueryState } from 'nuqs';
import { type ReactNode, useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ACCOUNT_STATES, type AcmeAccountRow, inPath, type Role, type Root } from './pki-labels.ts';

const NewAccountSheet = lazyOverlay(() => import('./acme-account-sheet.tsx').then((module) => module.NewAccountSheet), whenOpen);

const column = columnsFor<AcmeAccountRow>();
const columns = [
  column.accessor('label', {
    header: 'Account',
    meta: { cap: '16rem' },
    cell: ({ getValue, row: { original } }) => <span className="truncate">{getValue() ?? original.id.slice(0, 8)}</span>,
  }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={ACCOUNT_STATES[getValue()].state}>{ACCOUNT_STATES[getValue()].label}</Status>,
  }),
  column.accessor('minted_by', {
    header: 'Created by',
    meta: { hideBelow: 'md', cap: '12rem' },
    cell: ({ getValue }) => <span className="block truncate">{getValue().label}</span>,
  }),
  column.accessor('registered_at', {
    header: 'Registered',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Not yet" />,
  }),
  column.accessor('last_used_at', {
    header: 'Last used',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
  column.accessor('expires_at', { header: 'Key expires', meta: { hideBelow: 'lg' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** Accounts with which ACME clients enrol under a role. */
export function AcmeTab({ root }: { root: Root }) {
  const trpc = useTRPC();
  const [chosen, choose] = useQueryState('for', parseAsString);
  const roles = useQuery(trpc.pki.listRoles.queryOptions({ name: root.id }));
  if (roles.isError) return <QueryError query={roles} what="Roles" />;
  if (!roles.data) return <Skeleton lines={6} label="Loading roles" />;
  const role = roles.data.data.find(({ name }) => name === chosen) ?? roles.data.data[0];
  if (!role)
    return (
      <EmptyState icon={<KeyRound />} title="No roles yet">
        ACME clients enrol under a role. Create one on the Roles tab first.
      </EmptyState>
    );
  return (
    <Accounts key={role.id} root={root} role={role}>
      <Select
        label="Role"
        className="w-52"
        options={roles.data.data.map(({ name }) => ({ value: name, label: name }))}
        value={role.name}
        onValueChange={(name) => void choose(name)}
      />
    </Accounts>
  );
}

function Accounts({ root, role, children }: { root: Root; role: Role; children: ReactNode }) {
  const trpc = useTRPC();
  const panel = usePanel('open');
  const cannotCreate = useForbidden('pki:sign');
  const cannotRevoke = useForbidden('pki:revoke');
  const [deleting, setDeleting] = useState<AcmeAccountRow>();
  const list = useQuery(trpc.acme.listAccounts.queryOptions({ name: root.id, role: role.id }));
  const inactive = root.status === 'active' ? undefined : 'Only an active root issues certificates';
  const newAccount = (
    <Button variant="primary" icon={<Plus />} disabledReason={cannotCreate ?? inactive} onClick={() => void panel.open('account')}>
      New account
    </Button>
  );
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-2xl text-pretty text-ink-2">
          certbot, Caddy, lego and cert-manager enrol and renew by themselves, with an account that belongs to one role.
        </p>
        <div className="flex flex-wrap items-center gap-2">
          {children}
          {list.data?.data.length !== 0 && newAccount}
        </div>
      </div>
      {list.isError ? (
        <QueryError query={list} what="ACME accounts" />
      ) : (
        <DataTable
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => row.label ?? row.id}
          caption="ACME accounts"
          skeletonRows={2}
          actions={(row) => [
            {
              label: 'Delete…',
              icon: <Trash2 />,
              danger: true,
              disabledReason: cannotCreate && cannotRevoke,
              onSelect: () => setDeleting(row),
            },
          ]}
          empty={
            <EmptyState icon={<KeyRound />} title={`No ACME accounts of ${role.name} yet`} action={newAccount}>
              Create one for each machine, and give its key to the ACME client there.
            </EmptyState>
          }
        />
      )}
      <NewAccountSheet
        root={root}
        role={role}
        open={panel.id === 'account' && !cannotCreate && !inactive}
        onClose={() => void panel.close()}
      />
      <DeleteAccountDialog root={root} role={role} account={deleting} onClose={() => setDeleting(undefined)} />
    </>
  );
}

type DeleteProps = { root: Root; role: Role; account: AcmeAccountRow | undefined; onClose: () => void };

function DeleteAccountDialog({ root, role, account, onClose }: DeleteProps) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const remove = useMutation(
    trpc.acme.deleteAccount.mutationOptions({
      onSuccess: () => {
        notifyDone('ACME account deleted');
        onClose();
        return queryClient.invalidateQueries(trpc.acme.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDanger
      open={account !== undefined}
      onOpenChange={(next) => {
        if (next) return;
        remove.reset();
        onClose();
      }}
      title={`Delete the account ${account?.label ?? account?.id.slice(0, 8) ?? ''}?`}
      consequences={[
        'Its client can neither enrol nor renew any more.',
        'Certificates that it got stay valid until they expire or are revoked.',
      ]}
      confirmLabel="Delete account"
      space={space}
      busy={remove.isPending}
      error={remove.error ? refusalOf(remove.error) : undefined}
      onConfirm={() => account && remove.mutate({ name: root.id, role: role.id, id: account.id })}
    >
      {account && <ApiEquivalent method="DELETE" path={`/pki/roots/${inPath(root)}/roles/${inPath(role)}/acme-accounts/${account.id}`} />}
    </ConfirmDanger>
  );
}
