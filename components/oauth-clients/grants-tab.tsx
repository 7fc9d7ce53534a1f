'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { UserCheck } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { useForbidden } from '#components/trpc/role.ts';
import { ConfirmDanger } from '#components/ui/confirm-danger.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { isInteractive } from '#server/domain/oauth-clients/grants.shared.ts';
import type { OAuthGrant } from '#server/domain/oauth-clients/schema.ts';
import type { Detail } from './client-labels.ts';

type Grant = z.output<typeof OAuthGrant>;
const FLOWS: Record<string, string> = { code: 'Browser', device: 'Device code' };

const column = columnsFor<Grant>();
const columns = [
  column.accessor('user', {
    header: 'Person',
    meta: { cap: '18rem' },
    cell: ({ row }) => (
      <span className="flex min-w-0 flex-col">
        <span className="truncate">{row.original.user.name}</span>
        <span className="truncate text-ink-3 text-xs">{row.original.user.email}</span>
      </span>
    ),
  }),
  column.accessor('scopes', {
    header: 'Scopes',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span className="font-mono text-ink-2 text-xs [overflow-wrap:anywhere]">{getValue().join(' ') || '—'}</span>,
  }),
  column.accessor('flow', { header: 'Login', meta: { hideBelow: 'lg' }, cell: ({ getValue }) => FLOWS[getValue()] ?? getValue() }),
  column.accessor('created_at', { header: 'Granted', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('last_used_at', { header: 'Last used', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('expires_at', {
    header: 'Expires',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} format="date" />,
  }),
];

/** Who granted the client access; each grant can be ended. */
export function GrantsTab({ client }: { client: Detail }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { space } = useScope();
  const readOnly = useForbidden('oauth_client:update');
  const [ending, setEnding] = useState<Grant>();
  const grants = useQuery(trpc.oauthClients.listGrants.queryOptions({ id: client.id }));
  const revoke = useMutation(
    trpc.oauthClients.revokeGrant.mutationOptions({
      onSuccess: () => {
        void queryClient.invalidateQueries(trpc.oauthClients.pathFilter());
        notifyDone('Grant revoked');
        setEnding(undefined);
      },
    }),
  );
  if (grants.isError) return <QueryError query={grants} what="Grants" />;
  return (
    <>
      <DataTable
        columns={columns}
        rows={grants.data?.data}
        rowId={(row) => row.id}
        rowName={(row) => row.user.name}
        caption="Grants"
        skeletonRows={3}
        actions={(row) => [{ label: 'Revoke…', danger: true, disabledReason: readOnly, onSelect: () => setEnding(row) }]}
        empty={
          <EmptyState icon={<UserCheck />} title="No grants">
            {isInteractive(client.grant_types)
              ? 'People who sign in through this client and agree appear here.'
              : 'This client acts for itself: people don’t grant it access.'}
          </EmptyState>
        }
      />
      <ConfirmDanger
        open={ending !== undefined}
        onOpenChange={(next) => {
          if (next) return;
          revoke.reset();
          setEnding(undefined);
        }}
        title={`Revoke the grant of ${ending?.user.name ?? ''}?`}
        consequences={['Its tokens stop working immediately.', 'The person is asked again at the next login.']}
        confirmLabel="Revoke grant"
        space={space}
        busy={revoke.isPending}
        error={revoke.error ? refusalOf(revoke.error) : undefined}
        onConfirm={() => ending && revoke.mutate({ id: client.id, grant_id: ending.id })}
      >
        <ApiEquivalent oauth method="DELETE" path={`/oauth-clients/${client.id}/grants/${ending?.id}`} />
      </ConfirmDanger>
    </>
  );
}
