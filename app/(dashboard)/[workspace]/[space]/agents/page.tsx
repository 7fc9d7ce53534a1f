import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { AgentList } from '#components/agents/agent-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'On-host agents' };

export default async function AgentsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [trpc.agents.browse.queryOptions({}), trpc.account.plan.queryOptions({})]}
    >
      <AgentList />
    </Prefetch>
  );
}
