'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ban, KeyRound, ShieldCheck } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Chip } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { ADVICE, type Denial, denialOf } from './denial-row.ts';
import { DENIALS, denialSearch } from './list-search.ts';

const column = columnsFor<Denial>();
const columns = [
  column.accessor('created_at', { header: 'Time', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.accessor('code', {
    header: 'Reason',
    meta: { cap: '24rem' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col gap-0.5 py-1">
        <span className="inline-flex items-center gap-2">
          <Badge mono>{original.code}</Badge>
          {original.count > 1 && <span className="figures text-ink-3 text-xs">×{original.count}</span>}
        </span>
        {ADVICE[original.code] && <span className="whitespace-normal text-ink-2 text-xs">{ADVICE[original.code]}</span>}
      </span>
    ),
  }),
  column.accessor('token_prefix', {
    header: 'Token',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="font-mono text-xs">{getValue() ? `${getValue()}…` : '—'}</span>,
  }),
  column.accessor('target', { header: 'Called', meta: { hideBelow: 'md', cap: '12rem' }, cell: ({ getValue }) => getValue() ?? '—' }),
  column.accessor('ip_address', {
    header: 'Address',
    meta: { hideBelow: 'md' },
    cell: ({ row: { original } }) => (
      <span className="flex flex-col">
        <span className="font-mono text-xs">{original.ip_address ?? '—'}</span>
        {original.country && <span className="text-ink-3 text-xs">{original.country}</span>}
      </span>
    ),
  }),
];

/** Calls whose token was refused, with the reason: who knocks with what. */
export function DenialList() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const router = useRouter();
  const path = usePath();
  const [{ code }, setSearch] = useQueryStates(denialSearch);
  const cannotMint = useForbidden('ai_gateway:mint');
  const entries = useQuery(trpc.auditLogs.browse.queryOptions(DENIALS, { refetchInterval: 10_000 }));
  const all = entries.data?.entries.map(denialOf);
  const rows = all?.filter((row) => code === null || row.code === code);
  const counts = [...Map.groupBy(all ?? [], (row) => row.code)]
    .map(([name, same]) => ({ name, calls: same.reduce((sum, row) => sum + row.count, 0) }))
    .toSorted((a, b) => b.calls - a.calls);
  const revoke = useMutation(
    trpc.aiGateways.revokeGatewayToken.mutationOptions({
      onError: (error) => notifyRefused(error),
      onSuccess: () => {
        notifyDone('Token revoked');
        return cache.invalidateQueries(trpc.aiGateways.pathFilter());
      },
    }),
  );
  return (
    <Page>
      <PageHeader
        title="Denials"
        description="Calls of models and tools whose token was refused. Calls that a budget, model list or firewall refused are in the AI calls."
      />
      {counts.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would bring form semantics into a filter.
        <div role="group" aria-label="Reasons" className="flex flex-wrap gap-2">
          {counts.map(({ name, calls }) => (
            <Chip key={name} active={code === name} onClick={() => void setSearch({ code: code === name ? null : name })}>
              {name} · {calls}
            </Chip>
          ))}
        </div>
      )}
      {entries.isError && !entries.data ? (
        <QueryError query={entries} what="Denials" />
      ) : rows?.length === 0 && code !== null ? (
        <NoResults noun="denials" filters={[code]} onClear={() => void setSearch({ code: null })} />
      ) : (
        <DataTable
          caption="Denials"
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => `${row.code} ${row.token_prefix ?? row.ip_address ?? ''}`}
          actions={(row) => [
            {
              label: 'Open tokens',
              icon: <KeyRound />,
              disabledReason: (row.agent_id ?? row.gateway_id) ? undefined : 'The token is of no gateway here',
              onSelect: () =>
                router.push(path(row.agent_id ? `/ai/agents/${row.agent_id}?tab=tokens` : `/ai/gateways/${row.gateway_id}?tab=tokens`)),
            },
            {
              label: 'Revoke token',
              icon: <Ban />,
              danger: true,
              disabledReason: cannotMint ?? (row.token_id && row.gateway_id ? undefined : 'The token could not be read'),
              onSelect: () => row.token_id && row.gateway_id && revoke.mutate({ id: row.gateway_id, token_id: row.token_id }),
            },
          ]}
          empty={
            <EmptyState icon={<ShieldCheck />} title="Nothing was denied">
              Calls with an expired, revoked or misused token appear here, with the reason and where they came from.
            </EmptyState>
          }
        />
      )}
    </Page>
  );
}
