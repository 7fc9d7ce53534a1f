'use client';

import { useQuery } from '@tanstack/react-query';
import { Database, Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState, NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { counted, grouped } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { ENGINE_LABELS } from '#server/domain/dyn-db/engines.shared.ts';
import { addressOf, type Connection, lightOf, MODES } from './labels.ts';
import { connectionSearch } from './list-search.ts';

const CreateConnectionSheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateConnectionSheet), whenOpen);

const column = columnsFor<Connection>();
const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '18rem' },
    cell: ({ row: { original } }) => (
      <span className="inline-flex min-w-0 max-w-full items-center gap-2">
        <span className="truncate">{original.name}</span>
        {original.errored_leases > 0 && <Badge tone="bad">{counted(original.errored_leases, 'errored lease')}</Badge>}
      </span>
    ),
  }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ row: { original } }) => {
      const { state, label } = lightOf(original);
      return <Status state={state}>{label}</Status>;
    },
  }),
  column.accessor('engine', { header: 'Engine', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => ENGINE_LABELS[getValue()] }),
  column.accessor('host', {
    header: 'Host',
    meta: { hideBelow: 'md', cap: '18rem' },
    cell: ({ row: { original } }) => <span className="block truncate font-mono text-xs">{addressOf(original)}</span>,
  }),
  column.accessor('execution_mode', { header: 'Mode', meta: { hideBelow: 'lg' }, cell: ({ getValue }) => MODES[getValue()].title }),
  column.accessor('role_count', {
    header: 'Roles',
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
  column.accessor('live_leases', {
    header: 'Live leases',
    meta: { align: 'right' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
];

/** The database connections of the space. The list isn't paged: it is narrowed here. */
export function ConnectionList() {
  const trpc = useTRPC();
  const { api_url } = useScope();
  const path = usePath();
  const router = useRouter();
  const [search, setSearch] = useQueryStates(connectionSearch);
  const list = useQuery(trpc.dynDb.list.queryOptions({}, { refetchInterval: 15_000 }));
  const limit = useLimit('dyn_db_connections', 'connections');
  const readOnly = useForbidden('dyn_db_cred:create');
  const form = usePanel('open');
  useHotkeys([{ keys: 'c', label: 'New database connection', group: 'List', run: () => !readOnly && void form.open('new') }]);
  const words = search.q.toLowerCase();
  const rows = list.data?.data.filter(({ name, host, engine }) => `${name} ${host} ${ENGINE_LABELS[engine]}`.toLowerCase().includes(words));
  const clear = () => void setSearch({ q: null });
  const add = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('new')}>
      New connection
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Database credentials"
        description="Give applications database users of their own that end by themselves, instead of one shared password."
        usage={limit}
        actions={add}
      />
      {list.isError && !list.data ? (
        <QueryError query={list} what="Database connections" />
      ) : list.data?.data.length === 0 ? (
        <EmptyState
          icon={<Database />}
          title="No database connections yet"
          action={add}
          command={[
            {
              id: 'curl',
              label: 'cURL',
              language: 'bash',
              code: `curl -X POST ${api_url}/dyn-db-credentials/orders/creds/readonly \\\n  -H "Authorization: Bearer $SALLYPORT_KEY"`,
            },
          ]}
        >
          Connect a database and add a role. Then one call creates a user for an hour, and the service removes it again.
        </EmptyState>
      ) : (
        <>
          <FilterBar
            query={search.q}
            onQuery={(q) => void setSearch({ q: q || null })}
            placeholder="Filter by name, host or engine"
            filters={[]}
            onClear={clear}
          />
          {rows?.length === 0 ? (
            <NoResults noun="database connections" filters={[search.q]} onClear={clear} />
          ) : (
            <DataTable
              caption="Database connections"
              columns={columns}
              rows={rows}
              rowId={(row) => row.id}
              rowName={(row) => row.name}
              rowHref={(row) => path(`/database-credentials/${row.name}`)}
            />
          )}
        </>
      )}
      <CreateConnectionSheet
        open={form.id === 'new' && !readOnly}
        onClose={form.close}
        onDone={(name) => router.replace(path(`/database-credentials/${name}?tab=roles`))}
      />
    </Page>
  );
}
