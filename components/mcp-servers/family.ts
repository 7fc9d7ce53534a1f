import { Cable, ShieldQuestion } from 'lucide-react';
import type { PageFamily } from '#components/shell/page-family.ts';

export const mcpServers: PageFamily = {
  name: 'mcp-servers',
  pages: [
    {
      id: 'mcp',
      label: 'MCP servers',
      icon: Cable,
      scope: 'space',
      path: '/ai/mcp',
      group: 'ai',
      order: 40,
      needs: 'ai_gateway:read',
      docs: 'mcp-servers',
    },
    {
      id: 'mcp-approvals',
      label: 'Approvals',
      icon: ShieldQuestion,
      scope: 'space',
      path: '/ai/approvals',
      group: 'ai',
      order: 50,
      waiting: 'tool_calls',
      needs: 'ai_gateway:read',
      docs: 'mcp-servers',
    },
  ],
  resources: [{ type: 'mcp_server', noun: 'MCP server', plural: 'MCP servers', icon: Cable, path: (id) => `/ai/mcp/${id}` }],
};
