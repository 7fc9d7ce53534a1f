'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { ScimCredential, ScimPlan } from '#server/domain/scim-credentials/schema.ts';
import { planReason } from './plan-note.tsx';

const CreateCredential = lazyOverlay(() => import('./create-credential.tsx').then((module) => module.CreateCredential), whenOpen);

type Credential = z.output<typeof ScimCredential>;

const SOON_MS = 30 * 24 * 3_600_000;

function State({ credential: { revoked_at, expires_at } }: { credential: Credential }) {
  const left = Date.parse(expires_at) - Date.now();
  if (revoked_at) return <Status state="off">Revoked</Status>;
  if (left <= 0) return <Status state="expired">Expired</Status>;
  return left < SOON_MS ? <Status state="warning">Expires soon</Status> : <Status state="ok">Active</Status>;
}

const column = columnsFor<Credential>();
const columns = [
  column.accessor('name', {
    header: 'Name',
    cell: ({ row: { original } }) => (
      <span className="block min-w-0">
        <span className="flex items-center gap-2">
          <span className="truncate">{original.name}</span>
          {original.space === 'test' && <Badge tone="test">Test</Badge>}
        </span>
        <span className="block truncate font-mono font-normal text-ink-3 text-xs">{original.prefix}</span>
      </span>
    ),
  }),
  column.display({ id: 'state', header: 'State', cell: ({ row: { original } }) => <State credential={original} /> }),
  column.accessor('expires_at', {
    header: 'Expires',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Time value={getValue()} format="date" />,
  }),
  column.accessor('last_used_at', {
    header: 'Last used',
    meta: { hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span>
        <Time value={original.last_used_at} empty="Never" />
        {original.last_used_ip && <span className="block text-ink-3 text-xs">from {original.last_used_ip}</span>}
      </span>
    ),
  }),
  column.accessor('created_at', {
    header: 'Created',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original } }) => (
      <span>
        <Time value={original.created_at} format="date" />
        <span className="block truncate text-ink-3 text-xs">by {original.created_by.label}</span>
      </span>
    ),
  }),
];

/** What directories authenticate with. */
export function Credentials({ plan }: { plan: ScimPlan }) {
  const trpc = useTRPC();
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Credential>();
  const cannotRevoke = useForbidden('scim_credential:revoke');
  const forbidden = useForbidden('scim_credential:create') ?? planReason(plan);
  const query = useQuery(trpc.scimCredentials.list.queryOptions({}));
  const rows = query.data?.data;
  const create = (
    <Button variant="primary" icon={<Plus />} disabledReason={forbidden} onClick={() => setCreating(true)}>
      Create credential
    </Button>
  );
  return (
    <SectionCard
      title="Credentials"
      description="Each can add and remove members of this workspace. Give every directory its own."
      actions={rows && rows.length > 0 && create}
    >
      {query.isError ? (
        <QueryError query={query} what="Credentials" />
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => row.name}
          caption="SCIM credentials"
          skeletonRows={2}
          actions={(row) => [
            {
              label: 'Revoke…',
              danger: true,
              disabledReason: row.revoked_at ? 'It is revoked already.' : cannotRevoke,
              onSelect: () => setRevoking(row),
            },
          ]}
          empty={
            <EmptyState icon={<KeyRound />} title="No credentials yet" action={create}>
              Create a credential, then enter the base URL and its token at Okta, Microsoft Entra ID or any directory that speaks SCIM 2.0.
            </EmptyState>
          }
        />
      )}
      <CreateCredential open={creating} onClose={() => setCreating(false)} />
      {revoking && <RevokeCredential credential={revoking} onClose={() => setRevoking(undefined)} />}
    </SectionCard>
  );
}

function RevokeCredential({ credential, onClose }: { credential: Credential; onClose: () => void }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const revoke = useMutation(
    trpc.scimCredentials.delete.mutationOptions({
      onSuccess: async () => {
        notifyDone(`${credential.name} revoked`);
        onClose();
        await cache.invalidateQueries(trpc.scimCredentials.pathFilter());
      },
    }),
  );
  return (
    <ConfirmDanger
      open
      onOpenChange={(open) => {
        if (open) return;
        revoke.reset();
        onClose();
      }}
      space="live"
      title={`Revoke ${credential.name}?`}
      resourceName={credential.name}
      confirmLabel="Revoke credential"
      consequences={[
        'The directory that uses it is refused on its next call.',
        'Members stay members, and are no longer removed when they leave your organization, until the directory has a new credential.',
      ]}
      busy={revoke.isPending}
      error={revoke.error ? refusalOf(revoke.error) : undefined}
      onConfirm={() => revoke.mutate({ id: credential.id })}
    />
  );
}
