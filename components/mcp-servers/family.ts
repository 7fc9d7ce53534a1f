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
      keywords: ['mcp', 'model context protocol', 'tools', 'claude code', 'cursor', 'openapi', 'toolset'],
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
      keywords: ['mcp', 'approve', 'tool call', 'human in the loop', 'passkey'],
      waiting: 'tool_calls',
      needs: 'ai_gateway:read',
      docs: 'mcp-servers',
    },
  ],
  resources: [{ type: 'mcp_server', noun: 'MCP server', plural: 'MCP servers', icon: Cable, path: (id) => `/ai/mcp/${id}` }],
};
