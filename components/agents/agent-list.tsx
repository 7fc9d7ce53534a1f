'use client';

import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Badge, Status } from '#components/ui/badge.tsx';
import { Button } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { NoResults } from '#components/ui/empty-states.tsx';
import { FilterBar } from '#components/ui/filter-bar.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { usePanel } from '#components/ui/panel.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';
import { MODES as MODE_NAMES } from '#server/domain/agents/modes.shared.ts';
import { type AgentRow, buildLabel, connectivityLabel, hostText, MODES } from './labels.ts';
import { ModeChooser } from './mode-chooser.tsx';

const CreateAgentSheet = lazyOverlay(() => import('./create-sheet.tsx').then((module) => module.CreateAgentSheet), whenOpen);

const column = columnsFor<AgentRow>();
const columns = [
  column.accessor('name', {
    header: 'Name',
    meta: { cap: '16rem' },
    cell: ({ row: { original } }) => (
      <span className="inline-flex min-w-0 max-w-full items-center gap-2">
        <span className="truncate">{original.name}</span>
        {original.has_tamper_events && <Badge tone="warn">Tamper events</Badge>}
      </span>
    ),
  }),
  column.accessor('mode', { header: 'Mode', meta: { hideBelow: 'sm' }, cell: ({ getValue }) => MODES[getValue()].title }),
  column.accessor('connectivity', {
    header: 'Connection',
    cell: ({ row: { original } }) => {
      const { state, label } = connectivityLabel(original.connectivity);
      return (
        <span className="flex flex-col">
          <Status state={state}>{label}</Status>
          {original.last_seen_at && (
            <span className="text-ink-3 text-xs">
              <Time value={original.last_seen_at} />
            </span>
          )}
        </span>
      );
    },
  }),
  column.accessor('version', {
    header: 'Version',
    meta: { hideBelow: 'lg' },
    cell: ({ row: { original } }) => (
      <span className="inline-flex items-center gap-1.5">
        <span className="figures">{original.version ?? '—'}</span>
        {original.outdated && <Badge tone="warn">Outdated</Badge>}
      </span>
    ),
  }),
  column.display({
    id: 'host',
    header: 'Host',
    meta: { hideBelow: 'md', cap: '18rem' },
    cell: ({ row: { original } }) => <span className="block truncate">{hostText(original) ?? '—'}</span>,
  }),
  column.accessor('build_verified', {
    header: 'Build',
    meta: { hideBelow: 'lg' },
    cell: ({ getValue }) => {
      const { state, label } = buildLabel(getValue());
      return <Status state={state}>{label}</Status>;
    },
  }),
  column.accessor('routes', {
    header: 'Routes',
    meta: { align: 'right', hideBelow: 'md' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
  column.accessor('requests_24h', {
    header: 'Calls, 24 h',
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
];

/** The agents of the space. The list isn't paged: it is narrowed here. */
export function AgentList() {
  const trpc = useTRPC();
  const path = usePath();
  const router = useRouter();
  const [search, setSearch] = useQueryStates({ q: parseAsString.withDefault(''), mode: parseAsStringLiteral(MODE_NAMES) });
  const list = useQuery(trpc.agents.browse.queryOptions({}, { refetchInterval: 15_000 }));
  const limit = useLimit('agents', 'agents');
  const readOnly = useForbidden('agent:create');
  const form = usePanel('open');
  useHotkeys([{ keys: 'c', label: 'New agent', group: 'List', run: () => !readOnly && void form.open('new') }]);
  const words = search.q.toLowerCase();
  const rows = list.data?.data.filter(({ name, hostname }) => `${name} ${hostname ?? ''}`.toLowerCase().includes(words));
  const clear = () => void setSearch({ q: null });
  const add = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={readOnly} onClick={() => void form.open('new')}>
      New agent
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="On-host agents"
        description="Programs on your own hosts that carry calls to routes, scan for credentials, or serve routes."
        usage={limit}
        actions={add}
      />
      {list.isError && !list.data ? (
        <QueryError query={list} what="Agents" />
      ) : list.data?.data.length === 0 ? (
        <ModeChooser
          path={path}
          disabledReason={readOnly}
          onChoose={(mode) => {
            void setSearch({ mode });
            void form.open('new');
          }}
          Choose={({ mode, disabledReason, onClick }) => (
            <Button size="sm" disabledReason={disabledReason} onClick={onClick}>
              {`Create ${mode === 'intercept' ? 'an' : 'a'} ${mode} agent`}
            </Button>
          )}
        />
      ) : (
        <>
          <FilterBar
            query={search.q}
            onQuery={(q) => void setSearch({ q: q || null })}
            placeholder="Filter by name or host"
            filters={[]}
            onClear={clear}
          />
          {rows?.length === 0 ? (
            <NoResults noun="agents" filters={[search.q]} onClear={clear} />
          ) : (
            <DataTable
              caption="Agents"
              columns={columns}
              rows={rows}
              rowId={(row) => row.id}
              rowName={(row) => row.name}
              rowHref={(row) => path(`/agents/${row.id}`)}
            />
          )}
        </>
      )}
      <CreateAgentSheet
        open={form.id === 'new' && !readOnly}
        mode={search.mode ?? 'intercept'}
        onClose={() => {
          void form.close();
          void setSearch({ mode: null });
        }}
        onDone={(id) => router.replace(path(`/agents/${id}?tab=install`))}
      />
    </Page>
  );
}
