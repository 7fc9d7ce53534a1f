import type { Metadata } from 'next';
import { Prefetch } from '#app/prefetch.tsx';
import { ServerView } from '#components/mcp-servers/server-view.tsx';
import type { Space } from '#components/ui/test-band.tsx';

export const metadata: Metadata = { title: 'MCP server' };

export default async function McpServerPage({ params }: { params: Promise<{ workspace: string; space: string; id: string }> }) {
  const { workspace, space, id } = await params;
  const ref = decodeURIComponent(id);
  return (
    <Prefetch
      workspace={workspace}
      space={space as Space}
      queries={(trpc) => [trpc.mcpServers.get.queryOptions({ id: ref }), trpc.mcpServers.tools.queryOptions({ id: ref })]}
    >
      <ServerView id={ref} />
    </Prefetch>
  );
}
