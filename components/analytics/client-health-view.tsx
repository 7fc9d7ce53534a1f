'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { UsersRound } from 'lucide-react';
import { parseAsStringLiteral, useQueryState } from 'nuqs';
import type { z } from 'zod';
import { HEALTH_LOOKS } from '#components/clients/health.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, Chip, Status } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyPart } from '#components/ui/lazy.tsx';
import { counted, grouped, millis, shareOf } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { HEALTH } from '#server/domain/clients/health.shared.ts';
import type { ClientHealth } from '#server/domain/request-logs/client-health/schema.ts';

const AgentHealth = lazyPart(() => import('./agent-health.tsx').then((module) => module.AgentHealth));

type Row = z.output<typeof ClientHealth>['clients'][number];

/** Days before its end from which a credential is marked. */
const SOON_DAYS = 30;

const column = columnsFor<Row>();
const columns = [
  column.accessor('name', {
    header: 'Client',
    meta: { cap: '16rem' },
    cell: ({ row: { original } }) => (
      <span className="inline-flex min-w-0 max-w-full items-center gap-2">
        <span className="truncate">{original.name}</span>
        {!original.enabled && <Badge>Off</Badge>}
      </span>
    ),
  }),
  column.accessor('state', {
    header: 'Health',
    cell: ({ getValue }) => <Status state={HEALTH_LOOKS[getValue()].state}>{HEALTH_LOOKS[getValue()].label}</Status>,
  }),
  column.accessor('calls_24h', {
    header: 'Calls (24 h)',
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
  column.accessor('errors_24h', {
    header: 'Error rate',
    meta: { align: 'right' },
    cell: ({ row: { original } }) => (
      <span className="figures">{original.calls_24h > 0 ? shareOf(original.errors_24h, original.calls_24h) : '—'}</span>
    ),
  }),
  column.accessor('latency_avg', {
    header: 'Average',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ getValue }) => <span className="figures">{millis(getValue())}</span>,
  }),
  column.accessor('latency_p95', {
    header: 'p95',
    meta: { align: 'right', hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="figures">{millis(getValue())}</span>,
  }),
  column.accessor('last_seen_at', {
    header: 'Last seen',
    meta: { hideBelow: 'sm' },
    cell: ({ getValue }) => <Time value={getValue()} empty="Never" />,
  }),
  column.accessor('credential_expires_at', {
    header: 'Credential ends',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <Ends at={getValue()} />,
  }),
];

function Ends({ at }: { at: string | null }) {
  if (at === null) return <span className="text-ink-3">Never</span>;
  const days = (Date.parse(at) - Date.now()) / 86_400_000;
  return (
    <span suppressHydrationWarning className={days < 0 ? 'text-bad-ink' : days < SOON_DAYS ? 'text-warn-ink' : undefined}>
      {days < 0 && 'Ended '}
      <Time value={at} />
    </span>
  );
}

/** How each client does, the worst first: from its calls alone, nobody's address is probed. */
export function ClientHealthView() {
  const trpc = useTRPC();
  const path = usePath();
  const [state, setState] = useQueryState('state', parseAsStringLiteral(HEALTH));
  const health = useQuery(
    trpc.requestLogs.clientHealth.queryOptions(state ? { state } : {}, { refetchInterval: 15_000, placeholderData: keepPreviousData }),
  );
  const counts = health.data?.counts;
  const all = HEALTH.reduce((sum, name) => sum + (counts?.[name] ?? 0), 0);
  const labelOf = (name: (typeof HEALTH)[number]) => `${HEALTH_LOOKS[name].label}${counts ? ` ${counts[name].toString()}` : ''}`;
  return (
    <Page>
      <PageHeader
        title="Client health"
        description="How the calls of each client went in the last 24 hours. Sallyport looks at calls only and never probes a client’s address."
      />
      {health.isError && !health.data ? (
        <QueryError query={health} what="Client health" />
      ) : counts && all === 0 ? (
        <EmptyState
          icon={<UsersRound />}
          title="No clients yet"
          action={
            <LinkButton variant="primary" href={path('/clients')}>
              View clients
            </LinkButton>
          }
        >
          Add the servers and people that call your routes, and see here how their calls go.
        </EmptyState>
      ) : (
        <>
          <fieldset aria-label="Health" className="flex flex-wrap gap-2">
            <Chip active={state === null} onClick={() => void setState(null)}>
              {counts ? `All ${all.toString()}` : 'All'}
            </Chip>
            {HEALTH.map((name) => (
              <Chip key={name} active={state === name} onClick={() => void setState(name)}>
                {labelOf(name)}
              </Chip>
            ))}
          </fieldset>
          <DataTable
            caption="Clients by health"
            columns={columns}
            rows={health.data?.clients}
            rowId={(row) => row.id}
            rowName={(row) => row.name}
            rowHref={(row) => path(`/clients/${row.id}?tab=analytics`)}
            empty={<p className="text-ink-2">No client is in this state.</p>}
          />
          {counts && (health.data?.clients.length ?? 0) < (state ? counts[state] : all) && (
            <p className="text-ink-3 text-xs">{`The ${counted(health.data?.clients.length ?? 0, 'client')} with most failures are listed.`}</p>
          )}
        </>
      )}
      <AgentHealth />
    </Page>
  );
}
