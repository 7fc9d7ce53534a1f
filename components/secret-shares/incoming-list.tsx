'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Share2 } from 'lucide-react';
import { parseAsString, useQueryState } from 'nuqs';
import { useState } from 'react';
import type { z } from 'zod';
import { shareStates } from '#components/secrets/share-states.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader, textLink } from '#components/ui/layout.tsx';
import { lazyOverlay } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { LEVEL_LABELS } from '#server/domain/secret-shares/levels.shared.ts';
import type { IncomingShare } from '#server/domain/secret-shares/schema.ts';

const ClaimDialog = lazyOverlay(
  () => import('./claim-dialog.tsx').then((module) => module.ClaimDialog),
  ({ token }) => token !== null,
);

type Share = z.output<typeof IncomingShare> & { href: string | undefined };
const STATES = shareStates('Offered');

const column = columnsFor<Share>();
const columns = [
  column.accessor('secret_name', {
    header: 'Secret',
    cell: ({ row: { original } }) =>
      original.href ? (
        <Link className={`${textLink} font-mono text-xs`} href={original.href}>
          {original.secret_name}
        </Link>
      ) : (
        <span className="font-mono text-xs">{original.secret_name}</span>
      ),
  }),
  column.accessor('owner_workspace', {
    header: 'Shared by',
    cell: ({ row: { original } }) => (
      <span className="block min-w-0">
        <span className="block truncate">{original.owner_workspace ?? 'A deleted workspace'}</span>
        {original.offered_by && <span className="block truncate text-ink-3 text-xs">{original.offered_by}</span>}
      </span>
    ),
  }),
  column.accessor('access_level', {
    header: 'Level',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap gap-1">
        {original.access_level ? LEVEL_LABELS[original.access_level] : '—'}
        {original.unrestricted && <Badge>Any host</Badge>}
      </span>
    ),
  }),
  column.accessor('allowed_hosts', {
    header: 'Hosts',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="font-mono text-xs [overflow-wrap:anywhere]">{getValue()?.join(', ') ?? '—'}</span>,
  }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status state={STATES[getValue()].state}>{STATES[getValue()].label}</Status>,
  }),
  column.accessor('expires_at', {
    header: 'Expires',
    meta: { hideBelow: 'md' },
    cell: ({ row: { original } }) => <Time value={original.expires_at ?? original.offer_expires_at} empty="Never" />,
  }),
];

/** What other workspaces share with this one, or offer to whoever is looking. */
export function IncomingShares() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const { space } = useScope();
  const readOnly = useForbidden('secret:create');
  const list = useQuery(trpc.secretShares.listIncoming.queryOptions({}));
  const [token, setToken] = useQueryState('token', parseAsString);
  const [declining, setDeclining] = useState<Share>();
  const changed = () => {
    void cache.invalidateQueries(trpc.secretShares.pathFilter());
    void cache.invalidateQueries(trpc.secrets.pathFilter());
  };
  const decline = useMutation(
    trpc.secretShares.decline.mutationOptions({
      onSuccess: () => {
        changed();
        setDeclining(undefined);
        notifyDone('Share declined');
      },
    }),
  );
  const actions = (share: Share): MenuEntry[] =>
    share.status === 'pending' ? [{ label: 'Decline…', danger: true, disabledReason: readOnly, onSelect: () => setDeclining(share) }] : [];
  return (
    <Page>
      <PageHeader
        title="Shared with me"
        description="Secrets of other workspaces. Their values stay there; your routes use them by name."
      />
      {list.isError ? (
        <QueryError query={list} what="Shares" />
      ) : (
        <DataTable
          columns={columns}
          rows={list.data?.shares.map((share) => ({
            ...share,
            href: share.linked_secret_id ? path(`/secrets/${share.linked_secret_id}`) : undefined,
          }))}
          rowId={(row) => row.id}
          rowName={(row) => row.secret_name}
          caption="Secrets shared with this workspace"
          actions={actions}
          skeletonRows={3}
          empty={
            <EmptyState icon={<Share2 />} title="Nothing is shared with you">
              When another workspace shares a secret with your address, you get an email. Its link leads here.
            </EmptyState>
          }
        />
      )}
      <ClaimDialog token={token} onClose={() => void setToken(null)} onClaimed={changed} />
      <ConfirmDanger
        open={declining !== undefined}
        onOpenChange={(next) => {
          if (!next) setDeclining(undefined);
          decline.reset();
        }}
        title={`Decline ${declining?.secret_name}?`}
        consequences={[`${declining?.owner_workspace} is told, and the link in your mail stops working.`]}
        confirmLabel="Decline share"
        space={space}
        busy={decline.isPending}
        error={decline.error ? refusalOf(decline.error) : undefined}
        onConfirm={() => declining && decline.mutate({ shareId: declining.id })}
      />
    </Page>
  );
}
