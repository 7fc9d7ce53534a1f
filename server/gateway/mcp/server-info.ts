import type { ServerInfo } from '#server/mcp/results.ts';
import type { McpCall } from './mcp-call.ts';

/** Who answers: the server by its name, or the workspace for all of its servers. */
export const serverInfo = ({ state: { server }, snapshot }: McpCall): ServerInfo => ({
  name: server?.name ?? snapshot.tenant.slug,
  version: '1',
});
