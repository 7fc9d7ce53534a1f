'use client';

import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useState } from 'react';
import type { z } from 'zod';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Badge, Status } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { EnvironmentDot } from '#components/ui/environment-dot.tsx';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import type { SecretDetail, SecretVersions } from '#server/domain/secrets/schema.ts';
import { useEnvironments } from './use-environments.ts';
import { type Asking, ConfirmValue } from './value-dialogs.tsx';

type Version = z.output<typeof SecretVersions>['versions'][number];
type Row = Version & { look: { display_name: string; color: string } };

const column = columnsFor<Row>();
const columns = [
  column.accessor('value_version', {
    header: 'Version',
    cell: ({ row: { original } }) => (
      <span className="inline-flex items-center gap-2">
        <span className="figures">v{original.value_version}</span>
        {original.current && <Badge tone="accent">Current</Badge>}
      </span>
    ),
  }),
  column.accessor('environment', {
    header: 'Environment',
    cell: ({ row: { original } }) => <EnvironmentDot name={original.look.display_name} color={original.look.color} />,
  }),
  column.accessor('written_at', {
    header: 'Updated',
    cell: ({ row: { original } }) => (
      <span className="flex flex-wrap gap-x-2">
        <Time value={original.written_at} />
        {original.how === 'restored' && <span className="text-ink-3 text-xs">Restored</span>}
      </span>
    ),
  }),
  column.accessor('written_by', {
    header: 'Updated by',
    meta: { hideBelow: 'sm', cap: '14rem' },
    cell: ({ getValue }) => getValue() ?? <span className="text-ink-3">—</span>,
  }),
  column.display({
    id: 'kept',
    header: 'Status',
    meta: { hideBelow: 'md' },
    cell: ({ row: { original } }) =>
      original.current ? (
        <Status state="ok">In use</Status>
      ) : original.restorable_until ? (
        <span>
          Restorable, deleted <Time value={original.restorable_until} />
        </span>
      ) : original.wiped_at ? (
        <span className="text-ink-3">
          Deleted <Time value={original.wiped_at} />
        </span>
      ) : (
        <span className="text-ink-3">Being deleted</span>
      ),
  }),
];

/** Every write of every value: when, by whom, and whether it can still be put back. */
export function SecretHistory({ secret }: { secret: z.output<typeof SecretDetail> }) {
  const trpc = useTRPC();
  const { role } = useScope();
  const environments = useEnvironments();
  const [asking, setAsking] = useState<Asking>();
  const query = useQuery(trpc.secrets.versions.queryOptions({ id: secret.id }));
  if (query.isError) return <QueryError query={query} what="History" />;
  const versions = query.data?.versions;
  // Only the value before the current one comes back: of each environment the newest that was replaced.
  const newest = new Map<string, number>();
  for (const one of versions ?? [])
    if (!one.current && one.restorable_until) newest.set(one.environment, Math.max(newest.get(one.environment) ?? 0, one.value_version));
  const rows = versions?.map((version) => {
    const known = environments?.find((one) => one.name === version.environment);
    return { ...version, look: known ?? { display_name: version.environment, color: '#6b7280' } };
  });
  const ask = (row: Row) => {
    const value = secret.environments.find((one) => one.environment_name === row.environment);
    if (value) setAsking({ what: 'restore', environment: { name: row.environment, display_name: row.look.display_name }, value });
  };
  return (
    <>
      <DataTable
        columns={columns}
        rows={rows}
        rowId={(row) => `${row.environment}/${row.value_version}`}
        rowName={(row) => `Version ${row.value_version} in ${row.look.display_name}`}
        caption={`Versions of ${secret.name}`}
        skeletonRows={3}
        actions={(row) => [
          {
            label: 'Restore…',
            disabledReason:
              role !== 'owner' && role !== 'admin'
                ? 'Only Owners and Admins can restore values'
                : row.current
                  ? 'This is the current version'
                  : newest.get(row.environment) === row.value_version
                    ? undefined
                    : 'Only the previous version can be restored, within 24 hours',
            onSelect: () => ask(row),
          },
        ]}
        empty={
          <EmptyState icon={<History />} title="No versions yet">
            Each new value is listed here with its author. Values are never shown.
          </EmptyState>
        }
      />
      {query.data?.more && <p className="text-ink-3 text-xs">Showing the latest 100 versions.</p>}
      <ConfirmValue asking={asking} secret={secret} onClose={() => setAsking(undefined)} />
    </>
  );
}
