'use client';

import { Activity } from '#components/audit/activity-tab.ts';
import { AgentCalls } from './agent-calls.tsx';
import type { Agent } from './ai-labels.ts';

/** Calls as they happen, and who changed the agent. */
export function ActivityTab({ agent }: { agent: Agent }) {
  return (
    <>
      <AgentCalls agent={agent} />
      <h2 className="font-semibold text-base">Changes</h2>
      <Activity resource_type="ai_agent" resource_id={agent.id} />
    </>
  );
}
