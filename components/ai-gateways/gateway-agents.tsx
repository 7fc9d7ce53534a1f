'use client';

import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { usePanel } from '#components/ui/panel.ts';
import { AgentTable } from './agent-table.tsx';
import type { Gateway } from './ai-labels.ts';
import { agentsOf } from './list-search.ts';
import { SpendBars } from './spend-bars.tsx';

const AgentWizard = lazyOverlay(() => import('./agent-wizard.tsx').then((module) => module.AgentWizard), whenOpen);

/** What a gateway spends now, and its agents. */
export function GatewayAgents({ gateway }: { gateway: Gateway }) {
  const trpc = useTRPC();
  const forbidden = useForbidden('ai_gateway:create');
  const panel = usePanel('open');
  const agents = useQuery(trpc.aiGateways.listAgents.queryOptions(agentsOf(gateway.id)));
  return (
    <>
      <SectionCard title="Spend">
        <div className="grid gap-4 sm:grid-cols-2">
          <SpendBars of="gateway" id={gateway.id} />
        </div>
      </SectionCard>
      <div className="flex flex-wrap justify-end gap-2">
        <Button
          variant="primary"
          icon={<Plus />}
          disabledReason={forbidden ?? (gateway.status === 'archived' ? 'The gateway is archived' : undefined)}
          onClick={() => void panel.open('agent')}
        >
          New agent
        </Button>
      </div>
      {agents.isError ? <QueryError query={agents} what="Agents" /> : <AgentTable agents={agents.data?.data} />}
      <AgentWizard open={panel.id === 'agent' && !forbidden} gatewayId={gateway.id} onClose={() => void panel.close()} />
    </>
  );
}
