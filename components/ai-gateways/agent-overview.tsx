'use client';

import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard, Split } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { Time } from '#components/ui/time.tsx';
import { AgentCalls } from './agent-calls.tsx';
import { type Agent, type Gateway, openaiBase } from './ai-labels.ts';
import { CircuitsCard } from './circuits-card.tsx';
import { SpendBars } from './spend-bars.tsx';

const TestCallDialog = lazyOverlay(() => import('./test-call-dialog.tsx').then((module) => module.TestCallDialog), whenOpen);

/** What an agent spends now, its last calls, and a call to try it. */
export function AgentOverview({ agent, gateway }: { agent: Agent; gateway: Gateway | undefined }) {
  const readOnly = useForbidden('ai_gateway:update');
  const [testing, setTesting] = useState(false);
  const stopped = agent.status !== 'active' ? `The agent is ${agent.status}` : undefined;
  return (
    <Split
      side={
        <SectionCard title="Details">
          <KeyValueList
            items={[
              { label: 'ID', value: agent.id, copy: agent.id },
              { label: 'Gateway', value: gateway?.name },
              { label: 'OpenAI base URL', value: openaiBase(agent), copy: openaiBase(agent) },
              { label: 'Default model', value: agent.default_model },
              { label: 'Allowed models', value: agent.model_allowlist.length === 0 ? 'Any' : agent.model_allowlist.join(', ') },
              { label: 'Prompts', value: agent.pii_request_mode === 'off' ? 'Sent as they are' : 'Personal data tokenized' },
              { label: 'Cache', value: agent.cache_mode === 'off' ? 'Off' : agent.cache_mode },
              { label: 'Created', value: <Time value={agent.created_at} /> },
            ]}
          />
        </SectionCard>
      }
    >
      <SectionCard
        title="Spend"
        actions={
          <>
            <Button size="sm" icon={<FlaskConical />} disabledReason={readOnly ?? stopped} onClick={() => setTesting(true)}>
              Test call
            </Button>
            <LinkButton size="sm" href="?tab=budget">
              Change budget
            </LinkButton>
          </>
        }
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <SpendBars of="agent" id={agent.id} />
        </div>
      </SectionCard>
      <CircuitsCard agent={agent} />
      <AgentCalls agent={agent} few />
      <TestCallDialog open={testing} onClose={() => setTesting(false)} agentId={agent.id} />
    </Split>
  );
}
