import type { z } from 'zod';
import { assertSchemaShape, InvalidSchema } from '#server/ai/schema/shape.ts';
import { assertMayCall } from '#server/domain/authorities/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { loosened } from '#server/kernel/loosening.ts';
import { jsonOfColumn } from '#server/kernel/lossless-json.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { assertRules, RuleProblem } from '#server/mcp/argument-rules.ts';
import { parameterHeaderProblem, templateProblem } from '#server/mcp/tool-operation.ts';
import { env } from '#server/platform/env.ts';
import { pinStateOf } from './pin-state.shared.ts';
import { MCP_SERVER_PROTECTIONS, MCP_TOOL_PROTECTIONS } from './protections.ts';
import { entryOf, lockedServer, readServer, type ServerRow } from './store.ts';
import type { ToolFromRoute, ToolOperation, UpdateMcpTool, UpsertMcpTool } from './tools.schema.ts';

// Tools of a server: what is decided about each. What a server advertises is `allowed_tools`; a row can only take away from that.

type Stored = Prisma.mcp_toolsGetPayload<object>;
type Operation = z.output<typeof ToolOperation>;

export const listTools = (ctx: Ctx, { id }: { id: string }) =>
  readServer(ctx, id, async (tx, server) => {
    const rows = await tx.mcp_tools.findMany({ where: { ...own(ctx), mcp_server_id: server.id }, orderBy: { tool_name: 'asc' } });
    return rows.map((row) => toolOf(server, row));
  });

/** @throws Refusal not_found */
export const getTool = (ctx: Ctx, { id, toolId }: { id: string; toolId: string }) =>
  readServer(ctx, id, async (tx, server) => toolOf(server, await toolById(tx, ctx, server, toolId)));

/** The row of a tool, held with its server until the transaction ends. @throws Refusal not_found */
export const lockedTool = async (tx: Tx, ctx: Ctx, id: string, toolId: string) =>
  toolById(tx, ctx, await lockedServer(tx, ctx, id), toolId);

/** A tool as the wire has it. */
export function toolOf({ allowed_tools }: Pick<ServerRow, 'allowed_tools'>, row: Stored) {
  return {
    ...row,
    input_schema: row.input_schema as Record<string, unknown> | null,
    operation: row.operation as Record<string, unknown> | null,
    upstream_tool: row.upstream_tool as Record<string, unknown> | null,
    pinned_tool: row.pinned_tool as Record<string, unknown> | null,
    poisoning: (row.poisoning as string[] | null) ?? [],
    approval: row.approval as 'none' | 'required',
    argument_rules: row.argument_rules as [],
    price_per_call_usd: row.price_per_call_usd?.toString() ?? null,
    allowed: allowed_tools.includes(row.tool_name),
    pin_state: pinStateOf(row),
  };
}

const MOST_TOOLS = 2_000;

/** @returns the tool, and whether it is new. @throws Refusal not_found, validation_error */
export function upsertTool(ctx: Ctx, { id, tool_name, ...input }: z.output<typeof UpsertMcpTool>) {
  return mutate(ctx, async (tx) => {
    const server = await lockedServer(tx, ctx, id);
    const before = await tx.mcp_tools.findFirst({ where: { ...own(ctx), mcp_server_id: server.id, tool_name } });
    await checkTool(tx, ctx, server, input, before?.route_id);
    if (!before && (await tx.mcp_tools.count({ where: { ...own(ctx), mcp_server_id: server.id } })) >= MOST_TOOLS)
      throw new Refusal('validation_error', `tool_name: a server has at most ${grouped(MOST_TOOLS)} tools`);
    if (!before && server.server_type === 'collection' && !input.operation)
      throw new Refusal('validation_error', 'operation: is required: a tool of a collection is a call of a route');
    if (before) await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(toolOf(server, before), input, MCP_TOOL_PROTECTIONS));
    const data = { ...columnsOf(input), updated_at: ctx.now };
    const row = before
      ? await tx.mcp_tools.update({ where: { id: before.id, ...own(ctx) }, data })
      : await tx.mcp_tools.create({
          data: { ...own(ctx), ...data, id: newId(), mcp_server_id: server.id, tool_name, created_at: ctx.now },
        });
    await touch(tx, ctx, server);
    return audited(
      { ...toolOf(server, row), created: !before },
      {
        ...entryOf('update', server, { change: before ? 'tool.update' : 'tool.create', tool: tool_name }),
        ...(before ? { changes: changesOf(toolOf(server, before), toolOf(server, row), Object.keys(input)) } : {}),
      },
    );
  });
}

/**
 * `pinned_hash` approves the definition that was looked at: it must be what the upstream says now. @throws Refusal not_found, validation_error, conflict when the
 * definition is another by now
 */
export function updateTool(ctx: Ctx, { id, toolId, pinned_hash, allowed, ...input }: z.output<typeof UpdateMcpTool>) {
  return mutate(ctx, async (tx) => {
    const server = await lockedServer(tx, ctx, id);
    const before = await toolById(tx, ctx, server, toolId);
    const operation = input.operation ?? (input.route_id ? (before.operation as Operation | null) : undefined);
    await checkTool(tx, ctx, server, { ...input, operation }, before.route_id);
    await confirmLoosening(
      tx,
      ctx,
      env.PUBLIC_ADMIN_URL,
      loosened(toolOf(server, before), { ...input, allowed, pinned_hash }, MCP_TOOL_PROTECTIONS),
    );
    const row = await tx.mcp_tools.update({
      where: { id: before.id, ...own(ctx) },
      data: { ...columnsOf(input), ...pinOf(before, pinned_hash), updated_at: ctx.now },
    });
    const allowedBefore = server.allowed_tools.includes(row.tool_name);
    const after = allowed === undefined || allowed === allowedBefore ? server : await allow(tx, ctx, server, row.tool_name, allowed);
    await touch(tx, ctx, server);
    const fields = [
      ...Object.keys(input),
      ...(pinned_hash === undefined ? [] : ['pinned_hash']),
      ...(allowed === undefined ? [] : ['allowed']),
    ];
    const changes = changesOf(toolOf(server, before), toolOf(after, row), fields);
    if (changes.length === 0) return unchanged(toolOf(after, row));
    return audited(toolOf(after, row), { ...entryOf('update', server, { change: 'tool.update', tool: row.tool_name }), changes });
  });
}

function pinOf(row: Stored, pinned_hash: string | null | undefined) {
  if (pinned_hash === undefined) return {};
  if (pinned_hash === null) return { pinned_hash: null, pinned_tool: Prisma.DbNull };
  if (row.upstream_hash === null)
    throw new Refusal('validation_error', 'pinned_hash: the upstream has not described this tool yet. Refresh the server first.');
  if (row.upstream_hash !== pinned_hash)
    throw new Refusal('conflict', 'The upstream describes this tool differently by now. Look at the new definition before you approve it.');
  return { pinned_hash, pinned_tool: row.upstream_tool as Prisma.InputJsonObject };
}

const MOST_ALLOWED = 500;

async function allow(tx: Tx, ctx: Ctx, server: ServerRow, name: string, allowed: boolean): Promise<ServerRow> {
  const others = server.allowed_tools.filter((one) => one !== name);
  if (allowed && others.length >= MOST_ALLOWED)
    throw new Refusal('validation_error', `allowed: a server allows at most ${MOST_ALLOWED} tools`);
  const allowed_tools = allowed ? [...others, name] : others;
  await tx.mcp_servers.update({ where: { id: server.id, ...own(ctx) }, data: { allowed_tools }, select: { id: true } });
  return { ...server, allowed_tools };
}

/** The row goes; a tool that the upstream still has comes back with the next probe, without its settings. @throws Refusal not_found, step_up_required */
export function deleteTool(ctx: Ctx, { id, toolId }: { id: string; toolId: string }) {
  return mutate(ctx, async (tx) => {
    const server = await lockedServer(tx, ctx, id);
    const row = await toolById(tx, ctx, server, toolId);
    // Made again, it would have neither an approval nor rules.
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(toolOf(server, row), UNGUARDED, MCP_TOOL_PROTECTIONS));
    await tx.mcp_tools.delete({ where: { id: row.id, ...own(ctx) } });
    // Without its row a collection has no such tool; an upstream's would lose its limits, so it is no longer allowed either.
    if (server.allowed_tools.includes(row.tool_name)) await allow(tx, ctx, server, row.tool_name, false);
    await touch(tx, ctx, server);
    return audited({ deleted: true as const, id: row.id }, entryOf('update', server, { change: 'tool.delete', tool: row.tool_name }));
  });
}

const UNGUARDED = { approval: 'none' as const, argument_rules: [] };

/**
 * A tool of a collection that calls a route in one way. It begins enabled and allowed: somebody made it by hand.
 * @throws Refusal not_found, validation_error, conflict, step_up_required
 */
export function toolFromRoute(ctx: Ctx, { id, route_id, method, path, name, description }: z.output<typeof ToolFromRoute>) {
  return mutate(ctx, async (tx) => {
    const server = await lockedServer(tx, ctx, id);
    const params = [...path.matchAll(/\{([^{}/]{1,128})\}/g)].map(([, param]) => param as string);
    const withBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    const operation: Operation = {
      method,
      path_template: path,
      param_map: [
        ...[...new Set(params)].map((param) => ({ arg: param, in: 'path' as const, name: param })),
        ...(withBody ? [{ arg: 'body', in: 'body' as const, name: '' }] : []),
      ],
      body_mode: withBody ? 'json' : 'none',
      result: 'json',
      timeout_ms: 30_000,
    };
    await checkTool(tx, ctx, server, { route_id, operation });
    if (await tx.mcp_tools.findFirst({ where: { ...own(ctx), mcp_server_id: server.id, tool_name: name }, select: { id: true } }))
      throw new Refusal('conflict', 'This server already has a tool of this name.');
    const allowed_tools = [...server.allowed_tools, name];
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosened(server, { allowed_tools }, MCP_SERVER_PROTECTIONS));
    const route = await tx.routes.findFirstOrThrow({ where: { ...own(ctx), id: route_id }, select: { name: true } });
    const row = await tx.mcp_tools.create({
      data: {
        ...own(ctx),
        ...columnsOf({
          route_id,
          operation,
          description: description ?? `${method} ${path} of ${route.name}`,
          input_schema: schemaOf(params, withBody),
        }),
        id: newId(),
        mcp_server_id: server.id,
        tool_name: name,
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    });
    const after = await allow(tx, ctx, server, name, true);
    await touch(tx, ctx, server);
    return audited(toolOf(after, row), entryOf('update', server, { change: 'tool.create', tool: name, route_id }));
  });
}

const schemaOf = (params: readonly string[], withBody: boolean) => ({
  type: 'object',
  properties: Object.fromEntries([
    ...params.map((name) => [name, { type: 'string' }]),
    ...(withBody ? [['body', { type: 'object' }]] : []),
  ]),
  ...(params.length > 0 ? { required: [...new Set(params)] } : {}),
  additionalProperties: false,
});

type Decisions = Partial<Omit<z.output<typeof UpdateMcpTool>, 'id' | 'toolId' | 'pinned_hash' | 'allowed'>>;

/** `before` is the route that the tool called until now. @throws Refusal validation_error, forbidden or role_denied to call the route */
export async function checkTool(
  tx: Tx,
  ctx: Ctx,
  server: ServerRow,
  { argument_rules, input_schema, operation, route_id }: Decisions,
  before: string | null = null,
): Promise<void> {
  try {
    await assertRules(argument_rules ?? []);
  } catch (error) {
    if (error instanceof RuleProblem)
      throw new Refusal('validation_error', `argument_rules.${error.index}.${error.member}: ${error.message}`);
    throw error;
  }
  checkInputSchema(input_schema);
  if ((operation || route_id) && server.server_type !== 'collection')
    throw new Refusal('validation_error', `${operation ? 'operation' : 'route_id'}: is only for tools of a collection`);
  if (operation) checkOperation(operation);
  const called = route_id === undefined ? before : route_id;
  if (!(operation || route_id) || called === null) return;
  const route = await tx.routes.findFirst({ where: { ...own(ctx), id: called }, select: { id: true, name: true } });
  if (!route) throw new Refusal('validation_error', "foreign_reference: route_id names a route that doesn't exist in this space");
  // Callers of the tool call its route, so whoever decides what it calls must be able to call that route.
  await assertMayCall(ctx, [route], 'a tool');
}

/** Arguments are held against it; patterns that can't be run in linear time are left to whom the tool calls. @throws Refusal validation_error */
function checkInputSchema(schema: Decisions['input_schema']): void {
  if (!schema) return;
  try {
    assertSchemaShape(jsonOfColumn(schema));
  } catch (error) {
    if (error instanceof InvalidSchema)
      throw new Refusal('validation_error', `input_schema: must be a JSON Schema (2020-12): ${error.message}`);
    throw error;
  }
}

export function checkOperation({ path_template, param_map, body_mode }: Operation): void {
  const names = param_map.filter((one) => one.in === 'path').map(({ name }) => name);
  const problem = templateProblem(path_template, [...new Set(names)]);
  if (problem) throw new Refusal('validation_error', `operation.path_template: ${problem}`);
  for (const [index, { in: place, name }] of param_map.entries()) {
    const header = place === 'header' ? parameterHeaderProblem(name) : undefined;
    if (header) throw new Refusal('validation_error', `operation.param_map.${index}.name: the header ${header}`);
    if (place === 'query' && name === '') throw new Refusal('validation_error', `operation.param_map.${index}.name: must not be empty`);
    if (place === 'body' && body_mode === 'none')
      throw new Refusal('validation_error', `operation.param_map.${index}.in: body needs a body_mode of json or form`);
  }
}

/** JSON columns as Prisma takes them: null clears. */
export const columnsOf = ({ input_schema, operation, argument_rules, ...rest }: Decisions) => ({
  ...rest,
  ...(input_schema === undefined ? {} : { input_schema: input_schema === null ? Prisma.DbNull : (input_schema as Prisma.InputJsonObject) }),
  ...(operation === undefined ? {} : { operation: operation === null ? Prisma.DbNull : operation }),
  ...(argument_rules === undefined ? {} : { argument_rules: argument_rules as Prisma.InputJsonArray }),
});

/** @throws Refusal not_found */
export async function toolById(tx: Tx, ctx: Ctx, server: ServerRow, id: string): Promise<Stored> {
  const row = isUuid(id) ? await tx.mcp_tools.findFirst({ where: { ...own(ctx), id, mcp_server_id: server.id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** Whoever edits the server at the same time must see that something of it changed. */
export const touch = (tx: Tx, ctx: Ctx, server: ServerRow) =>
  tx.mcp_servers.update({ where: { id: server.id, ...own(ctx) }, data: { updated_at: ctx.now }, select: { id: true } });
