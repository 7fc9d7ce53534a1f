'use client';

import { useQuery } from '@tanstack/react-query';
import { Waypoints } from 'lucide-react';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge } from '#components/ui/badge.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { EnvironmentName } from '#components/ui/environment-name.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { Stat } from '#components/ui/stat.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { NameById } from './name-by-id.tsx';

type Reference = {
  kind: string;
  id: string;
  name: string | null;
  environment: string | null;
  field: string;
  by: 'id' | 'name';
  href: string | undefined;
};
const column = columnsFor<Reference>();
const columns = [
  column.accessor('name', {
    header: 'Used in',
    cell: ({ row }) => {
      const { name, id, href } = row.original;
      return href ? (
        <Link className={textLink} href={href}>
          {name ?? id}
        </Link>
      ) : (
        (name ?? id)
      );
    },
  }),
  column.accessor('kind', { header: 'Type', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => getValue().replaceAll('_', ' ') }),
  column.accessor('environment', { header: 'Environment', cell: ({ getValue }) => <EnvironmentName name={getValue()} none="All" /> }),
  column.accessor('field', {
    header: 'Field',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span>,
  }),
  column.accessor('by', {
    header: 'Referenced by',
    meta: { hideBelow: 'md' },
    cell: ({ getValue }) => (getValue() === 'id' ? <Badge>ID</Badge> : <Badge tone="warn">Name (breaks on rename)</Badge>),
  }),
];

type SharedCalls = { share_id: string; recipient: string; day: string; host: string; calls: number; last_at: string };
const shared = columnsFor<SharedCalls>();
const sharedColumns = [
  shared.accessor('recipient', { header: 'Used by', cell: ({ getValue }) => getValue() }),
  shared.accessor('host', {
    header: 'Host',
    cell: ({ getValue }) => <span className="font-mono text-xs">{getValue() === '*' ? 'Other hosts' : getValue()}</span>,
  }),
  shared.accessor('day', { header: 'Day', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => getValue() }),
  shared.accessor('calls', { header: 'Calls', cell: ({ getValue }) => grouped(getValue()) }),
  shared.accessor('last_at', { header: 'Last used', meta: { hideBelow: 'md' }, cell: ({ getValue }) => <Time value={getValue()} /> }),
];

/** The page of what refers to the secret, as far as it has one. */
function pageOf({ kind, id }: { kind: string; id: string }, path: (to: string) => string): string | undefined {
  if (kind.startsWith('route')) return path(`/routes/${id}`);
  const page = PAGES[kind];
  return page && path(page(id));
}
const PAGES: Readonly<Record<string, (id: string) => string>> = {
  ai_agent: (id) => `/ai/agents/${id}`,
  mcp_server: (id) => `/ai/mcp/${id}`,
  oauth2_secret: (id) => `/secrets/${id}`,
  webhook: (id) => `/webhooks/${id}`,
  workflow: (id) => `/workflows/${id}`,
  wrap_token: () => '/wrap',
};

/** Where a secret is referred to and how much it is used: what one wants to know before changing or deleting it. */
export function SecretUsageTab({ id }: { id: string }) {
  const trpc = useTRPC();
  const path = usePath();
  const query = useQuery(trpc.secrets.usage.queryOptions({ id }));
  if (query.isError) return <QueryError query={query} what="Usage" />;
  const usage = query.data;
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-3">
        <Stat label="Calls (30 days)" value={usage ? grouped(usage.calls_30d) : '…'} />
        <Stat label="Last used" value={usage ? <Time value={usage.last_used_at} empty="Never" /> : '…'} />
        <Stat label="References" value={usage ? grouped(usage.references.length) : '…'} />
      </div>
      {usage?.references.some((one) => one.by === 'name') && (
        <Callout tone="warn" title="Some routes reference this secret by name and break if you rename it">
          <NameById secret={{ id }} references={usage.references} />
        </Callout>
      )}
      {usage && usage.shared_calls.length > 0 && (
        <DataTable
          columns={sharedColumns}
          rows={usage.shared_calls}
          rowId={(row) => `${row.share_id}/${row.day}/${row.host}`}
          rowName={(row) => `${row.recipient}, ${row.day}`}
          caption="Calls of workspaces this secret is shared with"
          empty={null}
        />
      )}
      <DataTable
        columns={columns}
        rows={usage?.references.map((reference) => ({
          ...reference,
          href: pageOf(reference, path),
        }))}
        rowId={(row) => `${row.kind}/${row.id}/${row.environment}/${row.field}`}
        rowName={(row) => row.name ?? row.id}
        caption="References to this secret"
        skeletonRows={3}
        empty={
          <EmptyState icon={<Waypoints />} title="No references">
            Add its placeholder to a header, query parameter or body in a route.
          </EmptyState>
        }
      />
    </>
  );
}
