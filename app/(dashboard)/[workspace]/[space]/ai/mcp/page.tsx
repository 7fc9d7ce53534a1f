import type { Metadata } from 'next';
import { Prefetch, type SpacePage } from '#app/prefetch.tsx';
import { ServerList } from '#components/mcp-servers/server-list.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'MCP servers' };

export default async function McpServersPage({ params }: SpacePage) {
  const { workspace, space } = await params;
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [trpc.mcpServers.overview.queryOptions({}), trpc.account.plan.queryOptions({})]}
    >
      <ServerList />
    </Prefetch>
  );
}
