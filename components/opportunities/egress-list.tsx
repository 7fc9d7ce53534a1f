'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Eye, EyeOff, Plus, Radar, Route } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import type { MenuEntry } from '#components/ui/dropdown-menu.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { Time } from '#components/ui/time.tsx';
import type { HostRow } from './evidence.ts';
import { egressQuery, egressSearch, type HostState } from './list-search.ts';
import { useDecisions } from './use-decisions.ts';

const column = columnsFor<HostRow>();
const few = (texts: readonly string[]) =>
  texts.length > 3 ? `${texts.slice(0, 3).join(', ')} and ${texts.length - 3} more` : texts.join(', ');
const columns = [
  column.accessor('host', {
    header: 'Host',
    meta: { cap: '20rem' },
    cell: ({ getValue }) => <span className="font-medium">{getValue()}</span>,
  }),
  column.accessor('calls', {
    header: 'Calls',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
  column.accessor('methods', { header: 'Methods', meta: { hideBelow: 'lg' }, cell: ({ getValue }) => few(getValue()) }),
  column.accessor('segments', {
    header: 'Paths',
    meta: { hideBelow: 'xl', cap: '14rem' },
    cell: ({ getValue }) => <span className="block truncate font-mono text-xs">{few(getValue())}</span>,
  }),
  column.accessor('header_names', {
    header: 'Credential headers',
    meta: { hideBelow: 'md', cap: '14rem' },
    cell: ({ getValue }) => <span className="block truncate font-mono text-xs">{few(getValue())}</span>,
  }),
  column.accessor('last_seen', { header: 'Last seen', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.display({ id: 'state', header: 'Route', cell: ({ row: { original } }) => <Coverage host={original} /> }),
];

function Coverage({ host: { covered_by_route: route, ignored, ignored_until, opportunity_id } }: { host: HostRow }) {
  const path = usePath();
  if (ignored)
    return (
      <span className="inline-flex flex-wrap items-center gap-1">
        <Status state="off">Ignored</Status>
        {ignored_until && (
          <span className="text-ink-3 text-xs">
            until <Time value={ignored_until} />
          </span>
        )}
      </span>
    );
  if (route)
    return (
      <Link href={path(`/routes/${route.id}`)} className="relative z-10 inline-flex min-h-6 items-center hover:underline">
        <Status state="ok">{route.name}</Status>
      </Link>
    );
  return <Status state="warning">{opportunity_id ? 'Suggested' : 'None'}</Status>;
}

const TABS: { value: HostState; label: string }[] = [
  { value: 'uncovered', label: 'Uncovered' },
  { value: 'covered', label: 'Covered' },
  { value: 'ignored', label: 'Ignored' },
];

/** Hosts that SDKs saw calls with a credential go to directly, with what is and isn't collected of them. */
export function EgressList() {
  const trpc = useTRPC();
  const path = usePath();
  const router = useRouter();
  const [search, setSearch] = useQueryStates(egressSearch);
  const list = useQuery(trpc.opportunities.observed.queryOptions(egressQuery(search), { placeholderData: keepPreviousData }));
  const notCreate = useForbidden('route:create');
  const notDecide = useForbidden('opportunity:dismiss');
  const { ignore, show } = useDecisions();
  const rows = list.data?.data;
  const actions = (row: HostRow): MenuEntry[] => [
    row.opportunity_id
      ? { label: 'View opportunity', icon: <Route />, href: path(`/opportunities?id=${row.opportunity_id}`) }
      : {
          label: 'Create route',
          icon: <Plus />,
          disabledReason: notCreate,
          onSelect: () => router.push(path(`/routes?create=true&target=${encodeURIComponent(`https://${row.host}`)}`)),
        },
    row.ignored
      ? { label: 'Stop ignoring', icon: <Eye />, disabledReason: notDecide, onSelect: () => show.mutate({ host: row.host }) }
      : { label: 'Ignore host', icon: <EyeOff />, disabledReason: notDecide, onSelect: () => ignore.mutate({ host: row.host }) },
  ];
  return (
    <Page>
      <PageHeader
        title="Uncovered egress"
        description="Calls with a credential that your SDKs saw go out directly, past every route."
        actions={
          <LinkButton href={path('/opportunities')} icon={<Route />}>
            Opportunities
          </LinkButton>
        }
      />
      <div className="flex flex-wrap items-center gap-3">
        <Segmented label="Show" value={search.status} onValueChange={(status) => void setSearch({ status, page: null })} options={TABS} />
        <FilterBar
          query={search.host}
          onQuery={(host) => void setSearch({ host: host || null, page: null })}
          placeholder="Filter by host"
        />
      </div>
      {list.isError ? (
        <QueryError query={list} what="Observed hosts" />
      ) : rows?.length === 0 && search.host ? (
        <NoResults noun="hosts" filters={[`contains “${search.host}”`]} onClear={() => void setSearch({ host: null })} />
      ) : (
        <DataTable
          caption="Observed hosts, the busiest first"
          columns={columns}
          rows={rows}
          rowId={(row) => row.host}
          rowName={(row) => row.host}
          refreshing={list.isPlaceholderData}
          actions={actions}
          empty={<Nothing status={search.status} />}
        />
      )}
      <Pagination
        noun="hosts"
        meta={list.data?.meta}
        onPage={(page) => void setSearch({ page })}
        onPerPage={(per_page) => void setSearch({ per_page, page: null })}
      />
      <SectionCard title="What is collected">
        <div className="grid gap-x-8 gap-y-3 text-ink-2 md:grid-cols-3">
          <p>
            <span className="block font-medium text-ink">Collected</span>
            Host, first path segment, method, name of the credential header, a count, and the first and last time. Kept for 90 days after
            the last call.
          </p>
          <p>
            <span className="block font-medium text-ink">Never collected</span>
            Credentials and other header values, queries, deeper paths, bodies and addresses. A path segment that looks like a credential is
            stored as /.
          </p>
          <p>
            <span className="block font-medium text-ink">Turn it off</span>
            Set <code className="font-mono text-ink text-xs">observeUncovered: false</code> in the SDK, or{' '}
            <code className="font-mono text-ink text-xs">SERVICE_OBSERVE_UNCOVERED=off</code> in the environment of the process.
          </p>
        </div>
      </SectionCard>
    </Page>
  );
}

const NOTHING: Record<HostState, { title: string; text: string }> = {
  uncovered: {
    title: 'No uncovered calls reported',
    text: 'An SDK that intercepts reports direct calls with a credential once a minute. None did yet, or all of them have a route.',
  },
  covered: { title: 'No covered hosts', text: 'Observed hosts that a route covers by now are listed here.' },
  ignored: { title: 'No ignored hosts', text: 'Hosts that you ignore are hidden from the list and not suggested.' },
};

function Nothing({ status }: { status: HostState }) {
  return (
    <EmptyState
      icon={<Radar />}
      title={NOTHING[status].title}
      link={
        <LinkButton variant="ghost" href="/docs/opportunities">
          How reports work
        </LinkButton>
      }
    >
      {NOTHING[status].text}
    </EmptyState>
  );
}
