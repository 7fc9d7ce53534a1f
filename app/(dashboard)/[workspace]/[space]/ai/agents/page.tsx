import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { AgentsView } from '#components/ai-gateways/agents-view.tsx';
import { ALL_GATEWAYS } from '#components/ai-gateways/list-search.ts';

export const metadata: Metadata = { title: 'Agents' };

export default async function AgentsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space}
      queries={(trpc) => [trpc.aiGateways.list.queryOptions(ALL_GATEWAYS), trpc.account.plan.queryOptions({})]}
    >
      <AgentsView />
    </Prefetch>
  );
}
