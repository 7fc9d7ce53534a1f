import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import { pruneApprovals } from './approvals.ts';
import { descriptions } from './descriptions.ts';
import { grantsEnd } from './grants.ts';
import * as operations from './operations.ts';

export const mcpServers = family({
  name: 'mcp-servers',
  namespace: 'mcp_servers',
  router: 'mcpServers',
  tag: 'MCP servers',
  descriptions,
  operations,
  resources: [{ type: 'mcp_server', limit: 'mcp_servers', search: { needs: 'ai_gateway:list', page: (id) => `/ai/mcp/${id}` } }],
  tables: [
    { name: 'mcp_servers', reset: 'delete', before: ['ai_gateways', 'ai_pii_policies', 'ai_firewall_policies'] },
    { name: 'mcp_tools', reset: 'cascade' },
    { name: 'mcp_grants', reset: 'cascade' },
    { name: 'mcp_registrations', reset: 'cascade' },
    { name: 'mcp_consents', reset: 'cascade' },
    { name: 'mcp_sessions', reset: 'cascade' },
    { name: 'mcp_approvals', reset: 'cascade' },
  ],
  actions: [{ id: 'register-mcp-server', title: 'Register MCP server', path: '/ai/mcp?open=new', needs: 'ai_gateway:create' }],
  membershipEnds: grantsEnd,
  jobs: { prune_mcp_approvals: { cron: '20 3 * * *', run: ({ now }) => pruneApprovals(db(), now) } },
});
