'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link2, Users } from 'lucide-react';
import { parseAsString, useQueryState } from 'nuqs';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Grant, Server } from './server-labels.ts';

const column = columnsFor<Grant>();
const columns = [
  column.accessor('external_id', {
    header: 'Person',
    meta: { cap: '18rem' },
    cell: ({ getValue }) => <span className="truncate">{getValue()}</span>,
  }),
  column.accessor('status', {
    header: 'State',
    cell: ({ getValue }) => (getValue() === 'active' ? <Status state="ok">Connected</Status> : <Status state="off">Ended</Status>),
  }),
  column.accessor('scopes', {
    header: 'Scopes',
    meta: { hideBelow: 'md', cap: '14rem' },
    cell: ({ getValue }) => <span className="truncate font-mono text-xs">{getValue().join(' ')}</span>,
  }),
  column.accessor('last_used_at', { header: 'Last used', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('created_at', { header: 'Connected', meta: { hideBelow: 'lg' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

const PROBLEMS: Record<string, string> = {
  denied: 'The access was declined at the server.',
  expired: 'The sign-in took longer than ten minutes, or was begun in another browser. Start again.',
  mismatch: 'The answer was not valid for this connection. Start again.',
  rejected: 'The authorization server refused the exchange. Check the client ID and secret.',
  unreachable: 'The authorization server didn’t answer. Try again in a minute.',
};

/** Whose accounts calls go out with. */
export function PeopleTab({ server }: { server: Server }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [connected, setConnected] = useQueryState('connected', parseAsString);
  const cannotRevoke = useForbidden('ai_gateway:delete');
  const list = useQuery(trpc.mcpServers.grants.queryOptions({ id: server.id, per_page: 100 }));
  const perUser = 'oauth' in server.auth;
  const connect = useMutation(
    trpc.mcpServers.connect.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: ({ location }) => window.location.assign(location),
    }),
  );
  const done = () => queryClient.invalidateQueries(trpc.mcpServers.pathFilter());
  const revoke = useMutation(
    trpc.mcpServers.grant_revoke.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('Account disconnected');
        return done();
      },
    }),
  );
  const revokeAll = useMutation(
    trpc.mcpServers.grants_revoke.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('All accounts disconnected');
        return done();
      },
    }),
  );
  if (!perUser)
    return (
      <EmptyState icon={<Users />} title="Everybody shares one credential">
        Calls of this server carry a stored secret. Set it to people’s own accounts through the API (auth.oauth) to connect them here.
      </EmptyState>
    );
  const active = list.data?.data.filter(({ status }) => status === 'active').length ?? 0;
  return (
    <>
      {connected && connected !== 'yes' && (
        <Callout
          tone="bad"
          title="The account wasn’t connected"
          actions={
            <Button size="sm" onClick={() => void setConnected(null)}>
              Dismiss
            </Button>
          }
        >
          {PROBLEMS[connected] ?? 'Something went wrong on the way back. Start again.'}
        </Callout>
      )}
      {connected === 'yes' && <Callout tone="good" title="Your account is connected" />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button
          variant="danger-quiet"
          loading={revokeAll.isPending}
          disabledReason={active === 0 ? 'Nobody is connected' : cannotRevoke}
          onClick={() => revokeAll.mutate({ id: server.id })}
        >
          Disconnect everybody
        </Button>
        <Button variant="primary" icon={<Link2 />} loading={connect.isPending} onClick={() => connect.mutate({ id: server.id })}>
          Connect my account
        </Button>
      </div>
      {list.isError ? (
        <QueryError query={list} what="Connected accounts" />
      ) : (
        <DataTable
          columns={columns}
          rows={list.data?.data}
          rowId={(row) => row.id}
          rowName={(row) => row.external_id}
          caption="Connected accounts"
          actions={(row) => [
            {
              label: 'Disconnect',
              danger: true,
              disabledReason: row.status === 'active' ? cannotRevoke : 'It has ended',
              onSelect: () => revoke.mutate({ id: server.id, grantId: row.id }),
            },
          ]}
          empty={
            <EmptyState icon={<Users />} title="Nobody has connected an account yet">
              Calls for a person are refused until they connect their account.
            </EmptyState>
          }
        />
      )}
    </>
  );
}
