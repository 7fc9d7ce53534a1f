'use client';

import { useQuery } from '@tanstack/react-query';
import { type AgentRow, connectivityLabel } from '#components/agents/labels.ts';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Status } from '#components/ui/badge.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import { columnsFor } from '#components/ui/table-columns.ts';
import { Time } from '#components/ui/time.tsx';

const column = columnsFor<AgentRow>();
const columns = [
  column.accessor('name', { header: 'Agent', meta: { cap: '16rem' } }),
  column.accessor('connectivity', {
    header: 'Connection',
    cell: ({ getValue }) => {
      const { state, label } = connectivityLabel(getValue());
      return <Status state={state}>{label}</Status>;
    },
  }),
  column.accessor('requests_24h', {
    header: 'Calls (24 h)',
    meta: { align: 'right', hideBelow: 'sm' },
    cell: ({ getValue }) => <span className="figures">{grouped(getValue())}</span>,
  }),
  column.accessor('last_seen_at', { header: 'Last heartbeat', cell: ({ getValue }) => <Time value={getValue()} empty="Never" /> }),
];

/** On-host agents, which report by themselves whether they can reach us. Nothing where there is none, or for who may not see them. */
export function AgentHealth() {
  const trpc = useTRPC();
  const path = usePath();
  const forbidden = useForbidden('agent:list');
  const agents = useQuery(trpc.agents.browse.queryOptions({}, { enabled: !forbidden, refetchInterval: 15_000 }));
  if (!agents.data?.data.length) return null;
  return (
    <SectionCard title="Agents" description="On-host agents tell by a heartbeat that they reach Sallyport." flush>
      <DataTable
        caption="Agents by connection"
        columns={columns}
        rows={agents.data.data}
        rowId={(row) => row.id}
        rowName={(row) => row.name}
        rowHref={(row) => path(`/agents/${row.id}`)}
        className="rounded-none border-0"
      />
    </SectionCard>
  );
}
