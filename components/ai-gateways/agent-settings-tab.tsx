'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { usePath, useTRPC } from '#components/trpc/provider.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { lazyTab } from '#components/ui/lazy.tsx';
import { Link } from '#components/ui/link.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { AGENT_SETTINGS, type SettingsTab } from './agent-settings.ts';
import type { Agent } from './ai-labels.ts';
import { SettingsCard } from './settings-card.tsx';
import type { Setting } from './settings-fields.ts';
import { useAgentOptions } from './use-agent-options.ts';

const ArchiveAgent = lazyTab(() => import('./archive-agent.tsx').then((module) => module.ArchiveAgent));
const PurgeCache = lazyTab(() => import('./purge-cache.tsx').then((module) => module.PurgeCache));

type Group = { title: string; description?: string; settings: readonly Setting[] };

/** One tab of an agent's settings, a card for each group. */
export function AgentSettings({ agent, tab }: { agent: Agent; tab: SettingsTab }) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const path = usePath();
  const options = useAgentOptions(agent);
  const [warning, setWarning] = useState<string>();
  const update = useMutation(
    trpc.aiGateways.updateAgent.mutationOptions({
      onSuccess: (answer) => {
        setWarning('warning' in answer && typeof answer.warning === 'string' ? answer.warning : undefined);
        notifyDone('Agent saved');
        return cache.invalidateQueries(trpc.aiGateways.pathFilter());
      },
    }),
  );
  const groups: readonly Group[] = AGENT_SETTINGS[tab];
  // The route of a provider came with the agent and stays; a route of one's own says itself where it leads.
  const fixed = agent.provider !== null && tab === 'upstream';
  return (
    <>
      {warning && <Callout tone="warn" title={warning} />}
      {fixed && (
        <Callout title="Calls go through a route that was created with this agent">
          {agent.primary_route_id && (
            <Link className={textLink} href={path(`/routes/${agent.primary_route_id}`)}>
              Open the route
            </Link>
          )}
        </Callout>
      )}
      {groups.map(({ title, description, settings }) => (
        <SettingsCard
          key={title}
          title={title}
          {...(description === undefined ? {} : { description })}
          settings={settings.filter(({ name }) => name !== (agent.provider === null ? 'upstream' : 'primary_route_id'))}
          row={agent}
          of="agent"
          options={options}
          busy={update.isPending}
          save={(changes) => update.mutateAsync({ id: agent.id, ...changes })}
        />
      ))}
      {tab === 'cache' && <PurgeCache agent={agent} />}
      {tab === 'general' && <ArchiveAgent agent={agent} />}
    </>
  );
}
