'use client';

import { useQueries, useQuery } from '@tanstack/react-query';
import { Plus, Search } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useLimit } from '#components/trpc/plan.tsx';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { NoResults } from '#components/ui/empty-states.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { Input } from '#components/ui/input.tsx';
import { Page, PageHeader } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { AgentTable } from './agent-table.tsx';
import { ALL_GATEWAYS, agentSearch, agentsOf } from './list-search.ts';

const AgentWizard = lazyOverlay(() => import('./agent-wizard.tsx').then((module) => module.AgentWizard), whenOpen);

/** The agents of all gateways. */
export function AgentsView() {
  const trpc = useTRPC();
  const forbidden = useForbidden('ai_gateway:create');
  const limit = useLimit('ai_agents', 'agents');
  const [{ q }, setSearch] = useQueryStates(agentSearch);
  const panel = usePanel('open');
  const gateways = useQuery(trpc.aiGateways.list.queryOptions(ALL_GATEWAYS));
  const lists = useQueries({ queries: (gateways.data?.data ?? []).map(({ id }) => trpc.aiGateways.listAgents.queryOptions(agentsOf(id))) });
  const failed = lists.find((list) => list.isError);
  const loading = !gateways.data || lists.some((list) => list.isPending);
  const agents = gateways.data?.data.flatMap((gateway, at) =>
    (lists[at]?.data?.data ?? []).map((agent) => ({ ...agent, gateway: gateway.name })),
  );
  const words = q.toLowerCase();
  const rows = agents?.filter(({ name, slug, provider }) => `${name} ${slug} ${provider ?? ''}`.toLowerCase().includes(words));
  useHotkeys([{ keys: 'c', label: 'New agent', group: 'List', run: () => !forbidden && void panel.open('new') }]);
  const create = (
    <Button variant="primary" icon={<Plus />} keys="c" disabledReason={forbidden} onClick={() => void panel.open('new')}>
      New agent
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Agents"
        description="Each is a governed endpoint for one provider, with its own URL and tokens."
        usage={limit}
        actions={create}
      />
      <Input
        icon={<Search />}
        aria-label="Search by name or provider"
        placeholder="Search by name or provider"
        className="w-full sm:w-72"
        value={q}
        onChange={(event) => void setSearch({ q: event.target.value || null })}
      />
      {gateways.isError ? (
        <QueryError query={gateways} what="Agents" />
      ) : failed ? (
        <QueryError query={failed} what="Agents" />
      ) : rows?.length === 0 && words !== '' && !loading ? (
        <NoResults noun="agents" filters={[q]} onClear={() => void setSearch({ q: null })} />
      ) : (
        <AgentTable agents={loading ? undefined : rows} create={create} />
      )}
      <AgentWizard open={panel.id === 'new' && !forbidden} onClose={() => void panel.close()} />
    </Page>
  );
}
