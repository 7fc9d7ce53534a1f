import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { countApprovals, decideApproval, getApproval, listApprovals } from './approvals.ts';
import { connectPage, finishConsent, startConsent } from './consents.ts';
import * as wire from './grants.schema.ts';
import { listGrants, revokeGrant, revokeGrants } from './grants.ts';
import { McpServerRef } from './schema.ts';

export const grants = operation({
  id: 'mcp_servers.grants.list',
  summary: "List people's connected accounts",
  http: 'GET /ai-gateway/mcp-servers/{id}/grants',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: wire.ListMcpGrants,
  output: z.array(wire.McpGrant),
  list: 'paged',
  run: (ctx, input) => listGrants(ctx, input),
});

export const grants_revoke = operation({
  id: 'mcp_servers.grants.revoke_all',
  summary: 'Revoke every connected account',
  http: 'DELETE /ai-gateway/mcp-servers/{id}/grants',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  refuses: ['not_found'],
  input: McpServerRef,
  output: wire.RevokedMcpGrants,
  run: (ctx, input) => revokeGrants(ctx, input),
});

export const grant_revoke = operation({
  id: 'mcp_servers.grants.revoke',
  summary: 'Revoke a connected account',
  http: 'DELETE /ai-gateway/mcp-servers/{id}/grants/{grantId}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  refuses: ['not_found'],
  input: wire.McpGrantRef,
  output: wire.RevokedMcpGrant,
  run: (ctx, input) => revokeGrant(ctx, input),
});

export const connect = operation({
  id: 'mcp_servers.connect',
  summary: 'Connect your own account at the upstream',
  http: 'POST /admin/ai-gateway/mcp-servers/{id}/connect',
  kind: 'change',
  needs: ['ai_gateway:list'],
  refuses: ['not_found', 'forbidden', 'dependency_unavailable'],
  input: wire.ConnectMcp,
  output: wire.McpConsent,
  run: (ctx, input) => startConsent(ctx, input),
});

export const connect_page = operation({
  id: 'mcp_servers.connect_page',
  summary: 'Open the page where a person connects their account',
  http: 'GET /admin/ai-gateway/mcp-servers/{id}/connect',
  kind: 'read',
  needs: 'session',
  vouched: 'workspace',
  redirects: true,
  refuses: [],
  input: wire.ConnectMcp,
  output: wire.McpConsent,
  run: (ctx, input) => connectPage(ctx, input),
});

export const callback = operation({
  id: 'mcp_servers.callback',
  summary: 'Come back from the authorization server of an MCP server',
  http: 'GET /admin/ai-gateway/mcp/callback',
  kind: 'change',
  needs: 'session',
  vouched: 'workspace',
  redirects: true,
  refuses: [],
  input: wire.McpCallback,
  output: wire.McpConsent,
  run: (ctx, input) => finishConsent(ctx, input),
});

export const approvals = operation({
  id: 'mcp_servers.approvals.list',
  summary: 'List tool calls that wait for a person, and what was decided',
  http: 'GET /admin/mcp-approvals',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: wire.ListMcpApprovals,
  output: z.array(wire.McpApproval),
  list: 'paged',
  run: (ctx, input) => listApprovals(ctx, input),
});

export const approvals_pending = operation({
  id: 'mcp_servers.approvals.count',
  summary: 'Count the tool calls that wait for a person',
  http: 'GET /admin/mcp-approvals/count',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: z.object({}),
  output: wire.McpApprovalCount,
  run: (ctx) => countApprovals(ctx),
});

export const approval = operation({
  id: 'mcp_servers.approvals.get',
  summary: 'Show a tool call that waits for a person, with its whole arguments',
  http: 'GET /admin/mcp-approvals/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: wire.McpApprovalRef,
  output: wire.McpApproval,
  run: (ctx, input) => getApproval(ctx, input),
});

export const approve = operation({
  id: 'mcp_servers.approvals.approve',
  summary: 'Approve a tool call',
  http: 'POST /admin/mcp-approvals/{id}/approve',
  kind: 'change',
  needs: ['ai_gateway:update'],
  step_up: 'mcp.approve',
  refuses: ['not_found', 'conflict', 'forbidden'],
  input: wire.DecideMcpApproval,
  output: wire.McpApproval,
  run: (ctx, input) => decideApproval(ctx, input, 'approved'),
});

export const deny = operation({
  id: 'mcp_servers.approvals.deny',
  summary: 'Deny a tool call',
  http: 'POST /admin/mcp-approvals/{id}/deny',
  kind: 'change',
  needs: ['ai_gateway:update'],
  refuses: ['not_found', 'conflict', 'forbidden'],
  input: wire.DecideMcpApproval,
  output: wire.McpApproval,
  run: (ctx, input) => decideApproval(ctx, input, 'denied'),
});
