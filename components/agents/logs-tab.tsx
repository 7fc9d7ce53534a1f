'use client';

import { usePath } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { KeyValueList } from '#components/ui/key-value.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { grouped } from '#components/ui/numbers.ts';
import type { Detail } from './labels.ts';

/** What the agent counted since its last heartbeat, and the way to the calls that went through the service. */
export function LogsTab({ agent }: { agent: Detail }) {
  const path = usePath();
  const counters = agent.health?.counters;
  return (
    <div className="flex flex-col gap-4">
      <SectionCard
        title="Calls through the service"
        description="Each call of an agent is a row of the request log like any other. Bodies that the agent let pass stay on the host."
      >
        <div>
          <LinkButton href={path(`/logs?q=${encodeURIComponent(agent.agent_id)}`)}>Open the request log</LinkButton>
        </div>
      </SectionCard>
      <SectionCard title="Last heartbeat">
        {counters ? (
          <KeyValueList
            items={[
              { label: 'Calls', value: grouped(counters.requests) },
              { label: 'Sent to routes', value: grouped(counters.intercepted) },
              { label: 'Passed on', value: grouped(counters.passed) },
              { label: 'Errors', value: grouped(counters.errors) },
            ]}
          />
        ) : (
          <p className="text-ink-3">No heartbeat yet.</p>
        )}
        {agent.health?.last_error && (
          <Callout tone="warn" title="Last error">
            {agent.health.last_error}
          </Callout>
        )}
      </SectionCard>
    </div>
  );
}
