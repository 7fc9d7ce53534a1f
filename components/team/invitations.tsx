'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { InvitationRow } from './member-labels.ts';

const column = columnsFor<InvitationRow>();
const columns = [
  column.accessor('email', {
    header: 'Email',
    cell: ({ row: { original } }) => (
      <span className="block min-w-0">
        <span className="block truncate">{original.email}</span>
        <span className="block font-normal text-ink-3 text-xs sm:hidden">{capitalize(original.role)}</span>
      </span>
    ),
  }),
  column.accessor('role', {
    header: 'Role',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap items-center gap-2">
        {capitalize(original.role)}
        {original.reveal_secrets && <Badge tone="warn">Reveals secrets</Badge>}
      </span>
    ),
  }),
  column.accessor('invited_by', { header: 'Invited by', meta: { hideBelow: 'md' }, cell: ({ getValue }) => getValue() }),
  column.accessor('sent_at', { header: 'Sent', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('expires_at', {
    header: 'Expires',
    cell: ({ row: { original } }) => (original.expired ? <Status state="expired">Expired</Status> : <Time value={original.expires_at} />),
  }),
];

/** Who was invited and hasn't joined. */
export function Invitations() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const list = useQuery(trpc.team.invitations.queryOptions({}));
  const [withdrawing, setWithdrawing] = useState<InvitationRow>();
  const changed = () => {
    void cache.invalidateQueries(trpc.team.invitations.pathFilter());
    void cache.invalidateQueries(trpc.account.pathFilter());
  };
  const resend = useMutation(
    trpc.team.resendInvitation.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ email }) => {
        changed();
        notifyDone(`Invitation sent to ${email}`);
      },
    }),
  );
  const withdraw = useMutation(
    trpc.team.revokeInvitation.mutationOptions({
      onSuccess: () => {
        changed();
        notifyDone('Invitation withdrawn');
        setWithdrawing(undefined);
      },
    }),
  );
  if (list.isError) return <QueryError query={list} what="Invitations" />;
  if (!list.data || list.data.data.length === 0) return null;
  return (
    <SectionCard title="Pending invitations" description="Each takes a seat of the plan until it’s used, withdrawn or expired.">
      <DataTable
        columns={columns}
        rows={list.data.data}
        rowId={(row) => row.id}
        rowName={(row) => row.email}
        caption="Pending invitations"
        actions={(row) => [
          { label: 'Send again', detail: 'With a new link; the old one stops working', onSelect: () => resend.mutate({ id: row.id }) },
          'separator',
          { label: 'Withdraw…', danger: true, onSelect: () => setWithdrawing(row) },
        ]}
      />
      {withdrawing && (
        <ConfirmDanger
          open
          onOpenChange={(open) => {
            if (open) return;
            withdraw.reset();
            setWithdrawing(undefined);
          }}
          title={`Withdraw the invitation of ${withdrawing.email}?`}
          consequences={['The link in the email stops working immediately.', 'You can invite this address again at any time.']}
          confirmLabel="Withdraw invitation"
          space="live"
          busy={withdraw.isPending}
          error={withdraw.error ? refusalOf(withdraw.error) : undefined}
          onConfirm={() => withdraw.mutate({ id: withdrawing.id })}
        />
      )}
    </SectionCard>
  );
}
