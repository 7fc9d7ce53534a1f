import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import * as grantsWire from './grants.schema.ts';
import { gatewayChoices, overviewOfServers } from './overview.ts';
import { refreshServer } from './probing.ts';
import * as wire from './schema.ts';
import { archiveServer, createServer, getServer, listServers, lockedServer, updateServer } from './service.ts';
import * as toolsWire from './tools.schema.ts';

export * from './grants.operations.ts';
export * from './tools.operations.ts';

export const list = operation({
  id: 'mcp_servers.list',
  summary: 'List MCP servers',
  http: 'GET /ai-gateway/gateways/{id}/mcp-servers',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: wire.ListMcpServers,
  output: z.array(wire.McpServer),
  list: 'paged',
  run: (ctx, input) => listServers(ctx, input),
});

export const create = operation({
  id: 'mcp_servers.create',
  summary: 'Register an MCP server',
  http: 'POST /ai-gateway/gateways/{id}/mcp-servers',
  kind: 'change',
  needs: ['ai_gateway:create'],
  advises: true,
  refuses: ['not_found', 'forbidden', 'role_denied', 'plan_limit', 'conflict'],
  input: wire.CreateMcpServer,
  output: wire.McpServer,
  success: 201,
  run: (ctx, input) => createServer(ctx, input),
});

export const get = operation({
  id: 'mcp_servers.get',
  summary: 'Get an MCP server',
  http: 'GET /ai-gateway/mcp-servers/{id}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: wire.McpServerRef,
  output: wire.McpServer,
  run: (ctx, input) => getServer(ctx, input),
});

export const update = operation({
  id: 'mcp_servers.update',
  summary: 'Update an MCP server',
  http: 'PATCH /ai-gateway/mcp-servers/{id}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'forbidden', 'role_denied', 'mfa_required', 'step_up_required'],
  input: wire.UpdateMcpServer,
  output: wire.McpServer,
  edits: { row: (tx, ctx, { id }) => lockedServer(tx, ctx, id), shown_by: get },
  run: (ctx, input) => updateServer(ctx, input),
});

const remove = operation({
  id: 'mcp_servers.delete',
  summary: 'Archive an MCP server',
  http: 'DELETE /ai-gateway/mcp-servers/{id}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  refuses: ['not_found'],
  input: wire.McpServerRef,
  output: wire.ArchivedMcpServer,
  run: (ctx, input) => archiveServer(ctx, input),
});

export const refresh = operation({
  id: 'mcp_servers.refresh',
  summary: 'Probe an MCP server now',
  http: 'POST /ai-gateway/mcp-servers/{id}/refresh',
  kind: 'change',
  needs: ['ai_gateway:update'],
  refuses: ['not_found'],
  input: toolsWire.RefreshMcpServer,
  output: grantsWire.ProbedMcp,
  run: (ctx, input) => refreshServer(ctx, input),
});

export const overview = operation({
  id: 'mcp_servers.overview',
  summary: 'Show the MCP servers of the space and what happened there',
  http: 'GET /admin/mcp-servers',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: wire.SearchMcpServers,
  output: z.array(wire.McpServerOverview),
  list: 'whole',
  run: async (ctx, input) => wholeList(await overviewOfServers(ctx, input)),
});

export const gateways = operation({
  id: 'mcp_servers.gateways',
  summary: 'List the gateways that an MCP server can belong to',
  http: 'GET /admin/mcp-servers/gateways',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: [],
  input: z.object({}),
  output: z.array(wire.McpGatewayChoice),
  list: 'whole',
  run: async (ctx) => wholeList(await gatewayChoices(ctx)),
});

export { remove as delete };
