import { handle } from '#server/api/handle.ts';
import { MCP_PATH, serveManagementMcp } from '#server/api/mcp/serve.ts';

export const dynamic = 'force-dynamic';

const mount = (req: Request) => (new URL(req.url).pathname === MCP_PATH ? serveManagementMcp(req) : handle(req));

export { mount as DELETE, mount as GET, mount as HEAD, mount as OPTIONS, mount as PATCH, mount as POST, mount as PUT };
