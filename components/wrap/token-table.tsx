'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ban, Link2 } from 'lucide-react';
import type { z } from 'zod';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { WrapToken } from '#server/domain/wrap/schema.ts';

type Row = z.output<typeof WrapToken>;
const stateOf = ({ revoked_at, expires_at }: Row): 'active' | 'revoked' | 'expired' =>
  revoked_at !== null ? 'revoked' : expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
const STATES = {
  active: { state: 'ok', label: 'Active' },
  expired: { state: 'off', label: 'Expired' },
  revoked: { state: 'off', label: 'Revoked' },
} as const;

const column = columnsFor<Row>();
const columns = [
  column.accessor('label', {
    header: 'Label',
    meta: { cap: '16rem' },
    cell: ({ getValue }) => getValue() ?? <span className="text-ink-3">—</span>,
  }),
  column.accessor('host', {
    header: 'Host',
    cell: ({ getValue }) => <span className="block truncate font-mono text-sm">{getValue()}</span>,
  }),
  column.accessor('created_at', { header: 'Created', meta: { hideBelow: 'md' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('expires_at', {
    header: 'Expires',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
  column.accessor('last_used_at', {
    header: 'Last used',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
  column.display({
    id: 'state',
    header: 'Status',
    cell: ({ row: { original: row } }) => <Status state={STATES[stateOf(row)].state}>{STATES[stateOf(row)].label}</Status>,
  }),
];

/** The gateway tokens, newest first. The tokens themselves were shown once. */
export function TokenTable() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const readOnly = useForbidden('secret:update');
  const list = useQuery(trpc.wrap.listTokens.queryOptions({}));
  const revoke = useMutation(
    trpc.wrap.deleteToken.mutationOptions({
      onSuccess: () => {
        notifyDone('Gateway token revoked');
        return cache.invalidateQueries(trpc.wrap.pathFilter());
      },
      onError: (error) => notifyRefused(error),
    }),
  );
  if (list.isError) return <QueryError query={list} what="Gateway tokens" />;
  return (
    <DataTable
      caption="Gateway tokens"
      columns={columns}
      rows={list.data?.tokens}
      rowId={(row) => row.id}
      rowName={(row) => row.label ?? row.host}
      actions={(row) => [
        {
          label: 'Revoke',
          icon: <Ban />,
          danger: true,
          disabledReason: readOnly ?? (stateOf(row) === 'active' ? undefined : 'This token has already ended'),
          onSelect: () => revoke.mutate({ id: row.id }),
        },
      ]}
      empty={
        <EmptyState icon={<Link2 />} title="No gateway tokens yet">
          A gateway token is an address for an SDK: it stands for one key at one host. Create one from a wrap credential.
        </EmptyState>
      }
    />
  );
}
