import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { ApprovalsView } from '#components/mcp-servers/approvals-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'Approvals' };

export default async function ApprovalsPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [trpc.mcpServers.approvals.queryOptions({ status: 'pending', per_page: 50 })]}
    >
      <ApprovalsView />
    </Prefetch>
  );
}
