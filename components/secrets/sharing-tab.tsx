'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Share2 } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { LEVEL_LABELS } from '#server/domain/secret-shares/levels.shared.ts';
import type { SecretShare } from '#server/domain/secret-shares/schema.ts';
import type { SecretDetail } from '#server/domain/secrets/schema.ts';
import { shareStates } from './share-states.ts';

const ShareSheet = lazyOverlay(
  () => import('./share-sheet.tsx').then((module) => module.ShareSheet),
  ({ open }) => open,
);

type Share = z.output<typeof SecretShare>;
const STATES = shareStates('Waiting');

const column = columnsFor<Share>();
const columns = [
  column.accessor('recipient_email', {
    header: 'Shared with',
    cell: ({ row: { original } }) => (
      <span className="block min-w-0">
        <span className="block truncate">{original.recipient_tenant_name ?? original.recipient_email}</span>
        {original.recipient_tenant_name && <span className="block truncate text-ink-3 text-xs">{original.recipient_email}</span>}
      </span>
    ),
  }),
  column.accessor('access_level', {
    header: 'Level',
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap gap-1">
        {LEVEL_LABELS[original.access_level]}
        {original.unrestricted && <Badge tone="bad">Any host</Badge>}
      </span>
    ),
  }),
  column.accessor('allowed_hosts', {
    header: 'Hosts',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span className="font-mono text-xs [overflow-wrap:anywhere]">{getValue()?.join(', ') ?? 'Any'}</span>,
  }),
  column.accessor('environment', { header: 'Environment', meta: { hideBelow: 'lg' }, cell: ({ getValue }) => getValue() }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={STATES[getValue()].state}>{STATES[getValue()].label}</Status>,
  }),
  column.accessor('expires_at', {
    header: 'Expires',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original } }) => <Time value={original.expires_at ?? original.offer_expires_at} empty="Never" />,
  }),
  column.accessor('last_used_at', {
    header: 'Last used',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
];

/** Who else may use the secret, and on what terms. */
export function SecretSharing({ secret }: { secret: z.output<typeof SecretDetail> }) {
  return secret.shared ? <SharedWithUs shared={secret.shared} /> : <Shares secret={secret} />;
}

function SharedWithUs({ shared }: { shared: NonNullable<z.output<typeof SecretDetail>['shared']> }) {
  if (shared.status !== 'active')
    return (
      <Callout tone="warn" title="This secret is no longer shared with this workspace">
        Calls that use it are refused. Ask {shared.owner_workspace ?? 'the workspace that shared it'} to share it again, or remove its
        references and delete it.
      </Callout>
    );
  return (
    <Callout title={`${shared.owner_workspace} shares this secret with you: ${LEVEL_LABELS[shared.access_level ?? 'use'].toLowerCase()}`}>
      It always has the value of the environment {shared.environment} there.{' '}
      {shared.allowed_hosts ? `It can only be sent to ${shared.allowed_hosts.join(', ')}.` : 'It can be sent to any host.'} Expiry and hosts
      are set by the workspace that shares it. To give it up, delete this secret.
    </Callout>
  );
}

function Shares({ secret }: { secret: z.output<typeof SecretDetail> }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const readOnly = useForbidden('secret:update');
  const noFeature = useFeatureReason('secret_sharing');
  const list = useQuery(trpc.secretShares.list.queryOptions({ id: secret.id }));
  const [open, setOpen] = useState(false);
  const [revoking, setRevoking] = useState<Share>();
  const changed = () => {
    void cache.invalidateQueries(trpc.secretShares.pathFilter());
    void cache.invalidateQueries(trpc.secrets.pathFilter());
  };
  const resend = useMutation(
    trpc.secretShares.resend.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ recipient_email }) => {
        changed();
        notifyDone(`Offer sent to ${recipient_email}`);
      },
    }),
  );
  const revoke = useMutation(
    trpc.secretShares.revoke.mutationOptions({
      onSuccess: () => {
        changed();
        setRevoking(undefined);
        notifyDone('Share revoked');
      },
    }),
  );
  if (list.isError) return <QueryError query={list} what="Shares" />;
  const actions = (share: Share): MenuEntry[] => [
    ...(share.claimed_at === null && (share.status === 'pending' || share.status === 'expired')
      ? [{ label: 'Send the offer again', disabledReason: readOnly, onSelect: () => resend.mutate({ id: secret.id, shareId: share.id }) }]
      : []),
    ...(share.status === 'pending' || share.status === 'active'
      ? [{ label: 'Revoke…', danger: true, disabledReason: readOnly, onSelect: () => setRevoking(share) }]
      : []),
  ];
  const add = (
    <Button variant="primary" icon={<Share2 />} disabledReason={readOnly ?? noFeature} onClick={() => setOpen(true)}>
      Share secret
    </Button>
  );
  return (
    <>
      {list.data && list.data.shares.length > 0 && <div className="flex justify-end">{add}</div>}
      <DataTable
        columns={columns}
        rows={list.data?.shares}
        rowId={(row) => row.id}
        rowName={(row) => row.recipient_email}
        caption={`Shares of ${secret.name}`}
        actions={actions}
        skeletonRows={3}
        empty={
          <EmptyState icon={<Share2 />} title="Not shared" action={add}>
            Let a partner’s workspace call with this secret without handing it out.
          </EmptyState>
        }
      />
      <ShareSheet open={open} secret={secret} onClose={() => setOpen(false)} onShared={changed} />
      <ConfirmDanger
        open={revoking !== undefined}
        onOpenChange={(next) => {
          if (!next) setRevoking(undefined);
          revoke.reset();
        }}
        title={`Revoke the share with ${revoking?.recipient_tenant_name ?? revoking?.recipient_email}?`}
        consequences={
          revoking?.status === 'pending'
            ? ['The link in the mail stops working.']
            : ['Their next call that uses this secret is refused.', 'If they could see the value, change it: they may have kept it.']
        }
        confirmLabel="Revoke share"
        space={space}
        busy={revoke.isPending}
        error={revoke.error ? refusalOf(revoke.error) : undefined}
        onConfirm={() => revoking && revoke.mutate({ id: secret.id, shareId: revoking.id })}
      />
    </>
  );
}
