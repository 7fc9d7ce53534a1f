'use client';

import { useQuery } from '@tanstack/react-query';
import { Radio } from 'lucide-react';
import { ForbiddenNote } from '#components/roles/forbidden-note.tsx';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { DataTable } from '#components/ui/data-table.tsx';
import { EmptyState } from '#components/ui/empty-states.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import type { Agent } from './ai-labels.ts';
import { callColumns, fewCallColumns } from './call-columns.tsx';

/** How often a page that shows calls asks for new ones. */
const LIVE_MS = 2_000;

/** The last calls of an agent as they come in. */
export function AgentCalls({ agent, few = false }: { agent: Agent; few?: boolean }) {
  const trpc = useTRPC();
  const path = usePath();
  const forbidden = useForbidden('ai_gateway:read_usage');
  const calls = useQuery(
    trpc.aiSpend.listRequests.queryOptions({ agent_id: agent.id, limit: few ? 5 : 50 }, { enabled: !forbidden, refetchInterval: LIVE_MS }),
  );
  if (forbidden) return <ForbiddenNote capability="ai_gateway:read_usage" what="calls" />;
  if (calls.isError && !calls.data) return <QueryError query={calls} what="Calls" />;
  const rows = calls.data?.data;
  if (rows?.length === 0)
    return (
      <EmptyState
        icon={<Radio />}
        title="Waiting for the first call"
        action={
          <LinkButton variant="primary" href="?tab=connect">
            Connect a tool
          </LinkButton>
        }
      >
        Calls appear here a moment after they are made, with their cost.
      </EmptyState>
    );
  return (
    <SectionCard
      flush
      title={few ? 'Last calls' : 'Live calls'}
      actions={
        <LinkButton size="sm" href={few ? '?tab=activity' : path(`/ai/calls?agent_id=${agent.id}`)}>
          {few ? 'Live calls' : 'All calls'}
        </LinkButton>
      }
    >
      <DataTable
        caption="Calls"
        columns={few ? fewCallColumns : callColumns}
        rows={rows}
        rowId={(row) => row.request_id}
        rowName={(row) => row.request_id}
        rowHref={(row) => path(`/ai/calls/${row.request_id}`)}
        skeletonRows={3}
      />
    </SectionCard>
  );
}
