import type { z } from 'zod';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { columnJson, parseExact } from '#server/kernel/lossless-json.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { inSlices, type Steps } from '#server/kernel/slices.ts';
import type { Choice, Drafts, ToolDraft } from '#server/mcp/openapi/tools.ts';
import { openHttp } from '#server/platform/connect/http.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { onThread, WorkTooLarge, WorkTooSlow, work } from '#server/platform/threads/pool.ts';
import type { Drafted, DraftText } from './openapi.thread.ts';
import { checkAddress } from './rules.ts';
import { entryOf, lockedServer, readServer } from './store.ts';
import type { ImportOpenApi } from './tools.schema.ts';
import { checkTool, columnsOf, touch } from './tools.ts';

const MOST_BYTES = 2 * 1024 * 1024;
const MOST_TOOLS = 2_000;

/**
 * Tools for the operations of an API description (interface rule 52 §9). A dry run, which it is unless told otherwise, only shows them; imported ones start disabled.
 * @throws Refusal not_found, validation_error, rate_limited
 */
export async function importOpenApi(ctx: Ctx, input: z.output<typeof ImportOpenApi>) {
  const { id, route_id, dry_run } = input;
  await readServer(ctx, id, async (tx, server) => {
    if (server.server_type !== 'collection')
      throw new Refusal('validation_error', 'id: only servers of type collection have tools made from an API description');
    await checkTool(tx, ctx, server, { route_id });
  });
  const { tools, skipped } = await draftsOf(ctx, input);
  const names = tools.map(({ tool_name }) => tool_name);
  if (dry_run) {
    const existing = await readServer(ctx, id, async (tx, server) => existingTools(tx, ctx, server.id, names));
    return { dry_run, tools: tools.map((tool) => ({ ...tool, exists: existing.has(tool.tool_name) })), skipped };
  }
  return mutate(ctx, async (tx) => {
    const server = await lockedServer(tx, ctx, id);
    await checkTool(tx, ctx, server, { route_id });
    const existing = await existingTools(tx, ctx, server.id, names);
    const count = await tx.mcp_tools.count({ where: { ...own(ctx), mcp_server_id: server.id } });
    if (count + names.length - existing.size > MOST_TOOLS)
      throw new Refusal('validation_error', `document: a server has at most ${grouped(MOST_TOOLS)} tools`);
    for (const tool of tools) {
      const data = {
        ...columnsOf({
          ...tool,
          input_schema: columnJson(tool.input_schema),
          operation: { ...tool.operation, param_map: [...tool.operation.param_map] },
        }),
        route_id,
        updated_at: ctx.now,
      };
      const { tool_name, ...rest } = { ...data, tool_name: tool.tool_name };
      const known = existing.get(tool_name);
      // What a person decided about a tool of this name stays: whether it is on, its rules, its price.
      if (known) await tx.mcp_tools.update({ where: { id: known, ...own(ctx) }, data: rest, select: { id: true } });
      else
        await tx.mcp_tools.create({
          data: { ...own(ctx), ...rest, tool_name, id: newId(), mcp_server_id: server.id, enabled: false, created_at: ctx.now },
          select: { id: true },
        });
    }
    await touch(tx, ctx, server);
    const answer = { dry_run, tools: tools.map((tool) => ({ ...tool, exists: existing.has(tool.tool_name) })), skipped };
    const details = { change: 'tools.import', route_id, tools: tools.length, skipped: skipped.length };
    return audited(answer, entryOf('update', server, details));
  });
}

type Tx = Prisma.TransactionClient;
async function existingTools(tx: Tx, ctx: Ctx, serverId: string, names: string[]): Promise<Map<string, string>> {
  const rows = await tx.mcp_tools.findMany({
    where: { ...own(ctx), mcp_server_id: serverId, tool_name: { in: names } },
    select: { id: true, tool_name: true },
  });
  return new Map(rows.map((row) => [row.tool_name, row.id]));
}

const DRAFT = work<{ text: string; choice: Choice }, Drafted>('server/domain/mcp-servers/openapi.thread.ts');
const MS = 5_000;

/** Reads the description and makes the tools on a thread. @throws Refusal validation_error, what `onThread` throws when it's busy */
async function draftsOf(ctx: Ctx, { document, url, include, prefix }: z.output<typeof ImportOpenApi>): Promise<Drafts> {
  if ((document === undefined) === (url === undefined)) throw new Refusal('validation_error', 'document: send either document or url');
  const field = url === undefined ? 'document' : 'url';
  const given = url === undefined ? document : await fetched(ctx, url);
  // A thread would get objects in place of numbers with digits of their own.
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  try {
    const drafted = await onThread(DRAFT, { text, choice: { include, prefix } }, { owner: ctx.tenant_id, ms: MS });
    if ('problem' in drafted) throw new Refusal('validation_error', `${field}: ${drafted.problem}`);
    return { ...drafted.drafts, tools: await inSlices(reading(drafted.drafts.tools)) };
  } catch (error) {
    if (error instanceof WorkTooSlow || error instanceof WorkTooLarge)
      throw new Refusal('validation_error', `${field}: takes too long to read; send a smaller part of it`);
    throw error;
  }
}

function* reading(drafts: readonly DraftText[]): Steps<ToolDraft[]> {
  const tools: ToolDraft[] = [];
  for (const draft of drafts) {
    yield;
    tools.push({ ...draft, input_schema: parseExact(draft.input_schema) as ToolDraft['input_schema'] });
  }
  return tools;
}

/** Reads the description over the guarded way out; a redirect is not followed to where it could not have been asked for. @throws Refusal validation_error */
async function fetched(ctx: Ctx, url: string): Promise<string> {
  await checkAddress(ctx, 'url', url);
  const http = openHttp({ connections: 1, connectTimeoutMs: 5_000 });
  try {
    const { status, body } = await http.request({
      url,
      tenant: ctx.tenant_id,
      space: spaceOf(ctx.sandbox),
      headers: { accept: 'application/json, application/yaml;q=0.9, */*;q=0.1' },
      timeoutMs: 10_000,
      maxBytes: MOST_BYTES,
      redirects: 3,
    });
    if (status !== 200) throw new Refusal('validation_error', `url: answered with status ${status}`);
    return body.toString('utf8');
  } catch (error) {
    if (error instanceof UpstreamFault)
      throw new Refusal(
        'validation_error',
        `url: ${error.type === 'upstream_response_too_large' ? 'is larger than 2 MiB' : 'could not be read'}`,
      );
    throw error;
  } finally {
    await http.close();
  }
}
