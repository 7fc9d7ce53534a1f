'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { History } from 'lucide-react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { Page, PageHeader, SectionCard } from '#components/ui/layout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

type Versions = inferRouterOutputs<AppRouter>['apiKeys']['versions'];
type Version = Versions['versions'][number];
type Seen = Versions['seen'][number];

const version = columnsFor<Version>();
const versionColumns = [
  version.accessor('version', {
    header: 'Version',
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap items-center gap-2">
        <span className="font-mono text-xs">{original.version}</span> {original.newest && <Badge tone="accent">Newest</Badge>}
      </span>
    ),
  }),
  version.accessor('released_at', { header: 'Released', cell: ({ getValue }) => <Time value={`${getValue()}T00:00:00Z`} format="date" /> }),
  version.display({ id: 'standing', header: 'Status', cell: () => <Status state="ok">Supported</Status> }),
  version.accessor('summary', { header: 'Changes', meta: { hideBelow: 'md' } }),
];

const seen = columnsFor<Seen>();
const seenColumns = [
  seen.accessor('name', {
    header: 'API key',
    meta: { width: '34%' },
    cell: ({ row: { original: row } }) => (
      <span className="flex flex-col">
        <span className="flex flex-wrap items-center gap-2">
          <span className="[overflow-wrap:anywhere]">{row.name ?? 'Deleted key'}</span>
          <Badge tone={row.space === 'test' ? 'test' : 'neutral'}>{row.space === 'test' ? 'Test' : 'Live'}</Badge>
          {!row.active && <Badge>Revoked</Badge>}
        </span>
        {row.key_id && <span className="truncate font-mono text-ink-3 text-xs">{row.key_id}</span>}
      </span>
    ),
  }),
  seen.accessor('version', {
    header: 'Version',
    cell: ({ row: { original: row } }) =>
      row.named ? (
        <span className="whitespace-nowrap font-mono text-xs">{row.version}</span>
      ) : (
        <span className="flex flex-col">
          <span className="whitespace-nowrap font-mono text-xs">{row.version}</span>
          <span className="text-ink-3 text-xs">
            Not set<span className="max-sm:hidden"> (newest)</span>
          </span>
        </span>
      ),
  }),
  seen.accessor('calls', {
    header: 'Calls',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
  seen.accessor('last_at', { header: 'Last call', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** The versions of the API and who still asks for which: before one goes away, this says whom it concerns (interface rule 64 §7). */
export function VersionsView() {
  const trpc = useTRPC();
  const { slug } = useScope();
  const query = useQuery(trpc.apiKeys.versions.queryOptions({}));
  return (
    <Page className="max-w-4xl">
      <PageHeader
        title="API versions"
        description={
          <>
            Set the <code className="font-mono text-xs">Service-Version</code> header to pin a version. Without it, calls use the newest.
            Versions are supported for at least 12 months after notice.
          </>
        }
      />
      {query.isError && !query.data ? (
        <QueryError query={query} what="API versions" />
      ) : (
        <>
          <DataTable
            caption="Versions of the Management API"
            columns={versionColumns}
            rows={query.data?.versions}
            rowId={(row) => row.version}
            rowName={(row) => row.version}
            skeletonRows={1}
          />
          <SectionCard flush title="Seen in the last 30 days" description="Management API calls by key. Counts can lag by a few seconds.">
            <DataTable
              className="rounded-t-none border-0"
              caption="Versions by API key"
              columns={seenColumns}
              rows={query.data?.seen}
              rowId={(row) => `${row.api_key_id} ${row.version} ${row.named}`}
              rowName={(row) => row.name ?? row.api_key_id}
              skeletonRows={3}
              empty={
                <EmptyState
                  className="border-0"
                  icon={<History />}
                  title="No calls yet"
                  action={<LinkButton href={`/${slug}/test/quickstart`}>Make a call</LinkButton>}
                >
                  Once an API key calls the Management API, the version it uses appears here.
                </EmptyState>
              }
            />
          </SectionCard>
        </>
      )}
    </Page>
  );
}
