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
      <DataTable
        columns={columns}
        rows={usage?.references.map((reference) => ({
          ...reference,
          href: reference.kind.startsWith('route') ? path(`/routes/${reference.id}`) : undefined,
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
