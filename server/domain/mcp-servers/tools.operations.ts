import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { wholeList } from '#server/kernel/page.ts';
import { McpServerRef } from './schema.ts';
import { importOpenApi } from './tool-import.ts';
import * as wire from './tools.schema.ts';
import { deleteTool, getTool, listTools, lockedTool, toolFromRoute, updateTool, upsertTool } from './tools.ts';

export const tools = operation({
  id: 'mcp_servers.tools.list',
  summary: 'List the tools of an MCP server',
  http: 'GET /ai-gateway/mcp-servers/{id}/tools',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: McpServerRef,
  output: z.array(wire.McpTool),
  list: 'whole',
  run: async (ctx, input) => wholeList(await listTools(ctx, input)),
});

export const tool_upsert = operation({
  id: 'mcp_servers.tools.upsert',
  summary: 'Create or replace the settings of a tool',
  http: 'POST /ai-gateway/mcp-servers/{id}/tools',
  kind: 'change',
  needs: ['ai_gateway:create'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'forbidden', 'role_denied', 'mfa_required', 'step_up_required'],
  input: wire.UpsertMcpTool,
  output: wire.McpTool,
  success: { among: [200, 201], of: (_, result) => (result?.created ? 201 : 200) },
  run: (ctx, input) => upsertTool(ctx, input),
});

const tool_get = operation({
  id: 'mcp_servers.tools.get',
  summary: 'Get a tool of an MCP server',
  http: 'GET /ai-gateway/mcp-servers/{id}/tools/{toolId}',
  kind: 'read',
  needs: ['ai_gateway:read'],
  refuses: ['not_found'],
  input: wire.McpToolRef,
  output: wire.McpTool,
  run: (ctx, input) => getTool(ctx, input),
});

export const tool_update = operation({
  id: 'mcp_servers.tools.update',
  summary: 'Update a tool',
  http: 'PATCH /ai-gateway/mcp-servers/{id}/tools/{toolId}',
  kind: 'change',
  needs: ['ai_gateway:update'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'forbidden', 'role_denied', 'conflict', 'mfa_required', 'step_up_required'],
  input: wire.UpdateMcpTool,
  output: wire.McpTool,
  edits: { row: (tx, ctx, { id, toolId }) => lockedTool(tx, ctx, id, toolId), shown_by: tool_get },
  run: (ctx, input) => updateTool(ctx, input),
});

export const tool_delete = operation({
  id: 'mcp_servers.tools.delete',
  summary: 'Delete a tool',
  http: 'DELETE /ai-gateway/mcp-servers/{id}/tools/{toolId}',
  kind: 'change',
  needs: ['ai_gateway:delete'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'mfa_required', 'step_up_required'],
  input: wire.McpToolRef,
  output: wire.DeletedMcpTool,
  run: (ctx, input) => deleteTool(ctx, input),
});

export const tool_from_route = operation({
  id: 'mcp_servers.tools.from_route',
  summary: 'Make a tool that calls a route',
  http: 'POST /ai-gateway/mcp-servers/{id}/tools/from-route',
  kind: 'change',
  needs: ['ai_gateway:create'],
  step_up: { by_verb: 'protection.loosen' },
  refuses: ['not_found', 'forbidden', 'role_denied', 'conflict', 'mfa_required', 'step_up_required'],
  input: wire.ToolFromRoute,
  output: wire.McpTool,
  success: 201,
  run: (ctx, input) => toolFromRoute(ctx, input),
});

export const import_openapi = operation({
  id: 'mcp_servers.tools.import_openapi',
  summary: 'Make tools from an OpenAPI description',
  http: 'POST /ai-gateway/mcp-servers/{id}/tools/import-openapi',
  kind: 'change',
  needs: ['ai_gateway:create'],
  refuses: ['not_found', 'forbidden', 'role_denied', 'rate_limited'],
  input: wire.ImportOpenApi,
  output: wire.ImportedTools,
  run: (ctx, input) => importOpenApi(ctx, input),
});

export { tool_get };
