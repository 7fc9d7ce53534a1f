import { BUILT_IN_FIREWALL } from '#server/ai/firewall/policy.ts';
import { scanEachText } from '#server/custody/ai/detectors/firewall.ts';
import { type DomainEvent, raise } from '#server/domain/events/service.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { columnJson, jsonOfColumn } from '#server/kernel/lossless-json.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { ReadTool } from '#server/mcp/tool-list.ts';
import type { Tool } from '#server/mcp/tools.ts';
import { inBackground } from '#server/platform/background.ts';
import { log } from '#server/platform/log.ts';
import { pinStateOf } from './pin-state.shared.ts';
import type { McpProtocol } from './schema.ts';
import { lockedServer, type ServerRow, serverById } from './store.ts';
import { type Probed, probeUpstream } from './upstream.ts';

/** Looks at a server after it was written; what it finds is on the server's page a moment later, and a failure fails nothing. */
export function probeSoon(
  ctx: Ctx,
  {
    id,
    server_type,
    upstream_url,
    transport,
    auth,
    signed_identity,
  }: Pick<ServerRow, 'id' | 'server_type' | 'upstream_url' | 'transport' | 'auth' | 'signed_identity'>,
): void {
  if (server_type !== 'upstream' || upstream_url === null) return;
  const { tx: _, expects: __, step_up: ___, ...later } = ctx;
  inBackground('mcp-probe', async () => {
    const now = new Date();
    const target = { id, upstream_url, transport: transport as 'sse' | null, auth, signed_identity };
    const found = await judged({ ...later, now }, await probeUpstream({ ...later, now }, target));
    for (let attempt = 0; attempt < 10; attempt++) {
      const stored = await inTransaction({ ...later, warnings: [] }, async (tx) => {
        const row = await tx.mcp_servers.findFirst({ where: { ...own(ctx), id, status: { not: 'archived' } } });
        // The answer to the write may still be on its way to its commit; and the address may have changed since.
        if (!row) return false;
        if (row.upstream_url === upstream_url) await storeProbe(tx, { ...later, now }, row as unknown as ServerRow, found);
        return true;
      });
      if (stored) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
}

/** Probes now. With `pin`, every allowed tool that isn't pinned is approved as it is. @throws Refusal not_found, validation_error for a server without upstream */
export async function refreshServer(ctx: Ctx, { id, pin }: { id: string; pin: boolean }) {
  const server = await inTransaction(ctx, (tx) => serverById(tx, ctx, id));
  if (server.upstream_url === null)
    throw new Refusal('validation_error', `id: a server of type ${server.server_type} has no upstream to ask`);
  const { upstream_url, transport, auth, signed_identity } = server;
  const target = { id: server.id, upstream_url, transport: transport as 'sse' | null, auth, signed_identity };
  const found = await judged(ctx, await probeUpstream(ctx, target));
  return mutate(ctx, async (tx) => {
    const row = await lockedServer(tx, ctx, id);
    const counts = await storeProbe(tx, ctx, row, found);
    const pinned = pin ? await pinAllowed(tx, ctx, row) : 0;
    const tools = await tx.mcp_tools.findMany({
      where: { ...own(ctx), mcp_server_id: row.id, discovered: true },
      orderBy: { tool_name: 'asc' },
    });
    const answer = {
      protocol: found.protocol,
      tools: tools.map((tool) => {
        const seen = (jsonOfColumn(tool.upstream_tool) ?? {}) as Partial<Tool>;
        return {
          name: tool.tool_name,
          description: seen.description ?? null,
          input_schema: { ...seen.inputSchema },
          allowed: row.allowed_tools.includes(tool.tool_name),
          enabled: tool.enabled,
          pin_state: pinStateOf(tool),
        };
      }),
    };
    const details = {
      change: 'refresh',
      tools: counts.found,
      changed: counts.changed,
      ...(pinned > 0 ? { pinned } : {}),
      ...(found.protocol.error ? { failed: true } : {}),
    };
    return audited(answer, { action: 'update', resource_type: 'mcp_server', resource_id: row.id, name: row.name, details });
  });
}

/** A statement with a long list of tools would hold the process while it is written. */
const TOOLS_AT_ONCE = 50;

/** Keeps what a probe found, and raises what is news about approved tools. A probe that failed leaves the tools as they were. */
async function storeProbe(tx: Tx, ctx: Ctx, row: ServerRow, { protocol, tools }: Judged): Promise<{ found: number; changed: number }> {
  await tx.mcp_servers.update({
    where: { id: row.id, ...own(ctx) },
    data: { protocol: merged(row.protocol, protocol) },
    select: { id: true },
  });
  if (tools === null) return { found: 0, changed: 0 };
  const before = new Map(
    (await tx.mcp_tools.findMany({ where: { ...own(ctx), mcp_server_id: row.id } })).map((tool) => [tool.tool_name, tool]),
  );
  const seen = new Set<string>();
  const news: DomainEvent[] = [];
  const created: Prisma.mcp_toolsCreateManyInput[] = [];
  const updated: SeenAgain[] = [];
  let changed = 0;
  for (const { tool, hash, poison } of tools) {
    seen.add(tool.name);
    const known = before.get(tool.name);
    const definition = {
      upstream_tool: columnJson(tool) as unknown as Prisma.InputJsonObject,
      upstream_hash: hash,
      poisoning: poison.length > 0 ? poison : Prisma.DbNull,
    };
    if (!known) {
      created.push({
        ...own(ctx),
        ...definition,
        id: newId(),
        mcp_server_id: row.id,
        tool_name: tool.name,
        discovered: true,
        created_at: ctx.now,
        updated_at: ctx.now,
      });
      if (poison.length > 0) news.push(eventOf('ai.mcp.tool_poisoning', row, tool.name, { rules: poison }));
      continue;
    }
    const differs = known.upstream_hash !== definition.upstream_hash;
    if (!differs && known.discovered) continue;
    updated.push({
      id: known.id,
      tool: columnJson(tool),
      hash,
      poison: poison.length > 0 ? poison : null,
      changed: differs && known.upstream_hash !== null,
    });
    if (differs && known.pinned_hash !== null && known.pinned_hash !== definition.upstream_hash) {
      changed++;
      news.push(eventOf('ai.mcp.tool_changed', row, tool.name, { pinned_hash: known.pinned_hash, hash: definition.upstream_hash }));
    }
    if (poison.length > 0 && differs) news.push(eventOf('ai.mcp.tool_poisoning', row, tool.name, { rules: poison }));
  }
  for (let from = 0; from < created.length; from += TOOLS_AT_ONCE)
    await tx.mcp_tools.createMany({ data: created.slice(from, from + TOOLS_AT_ONCE) });
  for (let from = 0; from < updated.length; from += TOOLS_AT_ONCE) await update(tx, ctx, updated.slice(from, from + TOOLS_AT_ONCE));
  await tx.mcp_tools.updateMany({
    where: { ...own(ctx), mcp_server_id: row.id, discovered: true, tool_name: { notIn: [...seen] } },
    data: { discovered: false },
  });
  await raise(tx, ctx, news);
  return { found: seen.size, changed };
}

/** A tool that has a row and was found anew, or with another definition, as its column holds it. */
type SeenAgain = { id: string; tool: Tool; hash: string; poison: string[] | null; changed: boolean };

const update = (tx: Tx, ctx: Ctx, tools: readonly SeenAgain[]): Promise<number> =>
  tx.$executeRaw`update mcp_tools t set upstream_tool = s.tool, upstream_hash = s.hash, poisoning = s.poison, discovered = true, updated_at = ${ctx.now},
      changed_at = case when s.changed then ${ctx.now} else t.changed_at end
    from jsonb_to_recordset(${JSON.stringify(tools)}::jsonb) as s (id uuid, tool jsonb, hash text, poison jsonb, changed boolean)
    where t.id = s.id and t.tenant_id = ${ctx.tenant_id}::uuid and t.sandbox = ${ctx.sandbox}`;

/** What is known stays known when the upstream is away. */
const merged = (before: Partial<McpProtocol>, now: McpProtocol) =>
  (now.error === undefined
    ? now
    : {
        ...now,
        era: before.era ?? 'unknown',
        versions: before.versions ?? [],
        server_name: before.server_name ?? '',
      }) as Prisma.InputJsonObject;

const eventOf = (
  type: 'ai.mcp.tool_changed' | 'ai.mcp.tool_poisoning',
  { id, slug }: ServerRow,
  tool: string,
  more: object,
): DomainEvent => ({
  type,
  source_id: id,
  data: { mcp_server_id: id, server: slug, tool, ...more },
});

const UNJUDGED = 'The tools of the MCP server could not be checked by the prompt firewall, so they stay as they were. Refresh in a minute.';

type Judged = { protocol: McpProtocol; tools: (Pick<ReadTool, 'tool' | 'hash'> & { poison: string[] })[] | null };

/**
 * What a probe found, with the rules of the firewall that a tool's text matches: it may try to steer the model. A text that can't be judged in time counts as one;
 * when none can be judged, such as while too much waits, the probe has failed. It takes its time, so it comes before any transaction.
 */
async function judged({ tenant_id }: Ctx, { protocol, tools }: Probed): Promise<Judged> {
  if (tools === null) return { protocol, tools };
  try {
    const texts = tools.map(({ text }) => ({ text, source: 'data' as const }));
    const hits = await scanEachText(BUILT_IN_FIREWALL, texts, tenant_id);
    const poisonOf = (found: (typeof hits)[number]) =>
      found === null ? ['too_long_to_judge'] : [...new Set(found.map(({ rule }) => rule))];
    return { protocol, tools: tools.map(({ tool, hash }, i) => ({ tool, hash, poison: poisonOf(hits[i] as (typeof hits)[number]) })) };
  } catch (error) {
    log.warn({ err: error }, 'the texts of tools could not be judged');
    return { protocol: { ...protocol, error: UNJUDGED }, tools: null };
  }
}

const pinAllowed = (tx: Tx, ctx: Ctx, row: ServerRow): Promise<number> =>
  tx.$executeRaw`update mcp_tools set pinned_hash = upstream_hash, pinned_tool = upstream_tool, updated_at = ${ctx.now}
    where mcp_server_id = ${row.id}::uuid and tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and discovered and pinned_hash is null
      and upstream_hash is not null and poisoning is null and tool_name = any(${row.allowed_tools})`;
