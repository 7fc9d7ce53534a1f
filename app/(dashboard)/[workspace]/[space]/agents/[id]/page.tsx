import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { AgentView } from '#components/agents/agent-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Agent' };

export default async function AgentPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  return (
    <Prefetch workspace={workspace} space={space as Space} queries={(trpc) => [trpc.agents.get.queryOptions({ id })]}>
      <AgentView id={id} />
    </Prefetch>
  );
}
