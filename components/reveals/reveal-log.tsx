'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { Download, Eye } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { nounOf, resourceOf } from '#components/shell/resources.ts';
import { useDownload } from '#components/trpc/download.ts';
import { useFeatureReason } from '#components/trpc/plan.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Avatar } from '#components/ui/avatar.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { type ActiveFilter, FilterBar } from '#components/ui/filter-bar.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Pagination } from '#components/ui/pagination.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { revealFilters, revealListInput, revealSearch } from './list-search.ts';
import { RevealRules } from './reveal-rules.tsx';

type Entry = inferRouterOutputs<AppRouter>['reveals']['list']['data'][number];

const METHODS = { passkey: 'Passkey', totp: 'Authenticator app' } as const;
const Missing = () => <span className="text-ink-3">—</span>;

const column = columnsFor<Entry>();
const columns = [
  column.accessor('created_at', { header: 'Time', cell: ({ getValue }) => <Time value={getValue()} /> }),
  column.display({
    id: 'person',
    header: 'Person',
    meta: { cap: '16rem', hideBelow: 'sm' },
    cell: ({ row: { original } }) => (
      <span className="inline-flex min-w-0 items-center gap-1.5">
        <Avatar name={personOf(original)} picture={original.actor.photo} round className="size-4.5" />
        <span className="truncate">{personOf(original)}</span>
      </span>
    ),
  }),
  column.display({
    id: 'what',
    header: 'Revealed',
    meta: { cap: '20rem' },
    cell: ({ row: { original } }) => (
      <span className="flex min-w-0 flex-col">
        <span className="truncate">{original.name ?? capitalize(nounOf(original.resource_type))}</span>
        <span className="flex flex-wrap items-center gap-1.5 text-ink-3 text-xs">
          {original.name && capitalize(nounOf(original.resource_type))}
          {original.environment && ` in ${original.environment}`}
          {original.sandbox && <Badge tone="test">Test</Badge>}
          {original.outcome === 'failed' && <Badge tone="warn">Failed</Badge>}
        </span>
        {/* A phone has no room for the columns of people and reasons. */}
        <span className="truncate text-ink-2 text-xs sm:hidden">{personOf(original)}</span>
        {original.reason && (
          <span className="whitespace-normal text-ink-2 text-xs [overflow-wrap:anywhere] md:hidden">“{original.reason}”</span>
        )}
      </span>
    ),
  }),
  column.accessor('reason', {
    header: 'Reason',
    meta: { cap: '18rem', hideBelow: 'md' },
    cell: ({ getValue }) => {
      const reason = getValue();
      return reason ? <span title={reason}>{reason}</span> : <Missing />;
    },
  }),
  column.accessor('method', {
    header: 'Confirmed by',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => {
      const method = getValue();
      return method ? <span className="whitespace-nowrap">{METHODS[method]}</span> : <Missing />;
    },
  }),
  column.accessor('ip_address', {
    header: 'IP address',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => <span className="font-mono text-xs">{getValue() ?? '—'}</span>,
  }),
];

const personOf = ({ actor }: Entry) => actor.label ?? 'Former member';
/** Of each kind the menu offers so many. */
const OFFERED = 10;

/** Who saw which stored value, when and why, in Live and Test (interface rule 32 §7). */
export function RevealLog() {
  const trpc = useTRPC();
  const { slug } = useScope();
  const [search, setSearch] = useQueryStates(revealSearch);
  const list = useQuery({ ...trpc.reveals.list.queryOptions(revealListInput(search)), placeholderData: keepPreviousData });
  const people = useQuery(trpc.reveals.people.queryOptions({})).data?.people ?? [];
  const rows = list.data?.data;
  const set = (change: Partial<typeof search>) => void setSearch({ ...change, page: 1 });
  const clear = () => set({ q: '', person: null, type: null, resource: null });
  const chip = (id: 'person' | 'type' | 'resource', text: string): ActiveFilter => ({
    id,
    text,
    label: text,
    onRemove: () => set({ [id]: null }),
  });
  const resource = rows?.find(({ resource_id }) => resource_id === search.resource);
  const active = [
    ...(search.person ? [chip('person', `By ${people.find(({ id }) => id === search.person)?.label ?? search.person.slice(0, 8)}`)] : []),
    ...(search.type ? [chip('type', capitalize(nounOf(search.type)))] : []),
    ...(search.resource ? [chip('resource', resource?.name ?? `Resource ${search.resource.slice(0, 8)}`)] : []),
  ];
  const narrowed = active.length > 0 || search.q !== '';
  return (
    <Page>
      <PageHeader
        title="Reveal log"
        description="Every time someone saw a stored value, in Live and Test: who, what, when and why."
        actions={<ExportButton filters={revealFilters(search)} />}
      />
      <FilterBar
        query={search.q}
        onQuery={(q) => set({ q })}
        placeholder="Search by resource or person"
        filters={active}
        choices={[
          { heading: 'Person' },
          ...people.slice(0, OFFERED).map(({ id, label, count }) => ({
            label: label ?? id,
            detail: grouped(count),
            checked: search.person === id,
            onSelect: () => set({ person: id }),
          })),
        ]}
        onClear={clear}
      />
      {rows?.[0]?.details_redacted && (
        <Callout title="Reasons and names are withheld">
          This workspace withholds audit details. Open an entry in the audit log to reveal its details.
        </Callout>
      )}
      {list.isError ? (
        <QueryError query={list} what="The reveal log" />
      ) : rows?.length === 0 && narrowed ? (
        <NoResults
          noun="reveals"
          filters={[...(search.q ? [`name contains ${search.q}`] : []), ...active.map(({ text }) => text)]}
          onClear={clear}
        />
      ) : (
        <DataTable
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          rowName={(row) => `${personOf(row)}, ${row.name ?? nounOf(row.resource_type)}`}
          caption="Reveals, newest first"
          refreshing={list.isPlaceholderData}
          actions={(row) => {
            const page = row.resource_id && resourceOf(row.resource_type)?.path?.(row.resource_id);
            const space = row.sandbox ? 'test' : 'live';
            return [
              { label: 'Audit entry', href: `/${slug}/${space}/audit?peek=${row.id}` },
              ...(page ? [{ label: `Open ${nounOf(row.resource_type)}`, href: `/${slug}/${space}${page}` }] : []),
              'separator',
              ...(row.actor.id ? [{ label: 'Only this person', onSelect: () => set({ person: row.actor.id }) }] : []),
              ...(row.resource_id ? [{ label: 'Only this resource', onSelect: () => set({ resource: row.resource_id }) }] : []),
            ];
          }}
          empty={
            <EmptyState icon={<Eye />} title="Nothing revealed yet">
              Each reveal takes a passkey or an authenticator code and appears here, with its reason.
            </EmptyState>
          }
        />
      )}
      <Pagination
        noun="reveals"
        meta={list.data?.meta}
        onPage={(page) => void setSearch({ page })}
        onPerPage={(per_page) => void setSearch({ per_page, page: 1 })}
      />
      <RevealRules />
    </Page>
  );
}

function ExportButton({ filters }: { filters: Record<string, string> }) {
  const { busy, save } = useDownload();
  const forbidden = useForbidden('audit_log:export');
  const notInPlan = useFeatureReason('audit_export');
  return (
    <Button
      icon={<Download />}
      loading={busy}
      disabledReason={forbidden ?? notInPlan}
      onClick={() => void save(`/admin/reveals/export?${new URLSearchParams(filters).toString()}`)}
    >
      Export CSV
    </Button>
  );
}
