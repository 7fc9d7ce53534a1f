import type { HotCtx } from '#server/kernel/context.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';

type Space = Pick<HotCtx, 'tenant_id' | 'sandbox'>;

/** A tool as an upstream has just described it. */
export type SeenTool = {
  name: string;
  /** As its column holds it (`columnJson`). */
  definition: Readonly<Record<string, unknown>>;
  /** `toolHash` of the definition. */
  hash: string;
  /** Names of the firewall's rules that its text matches; empty for none. */
  poisoning: readonly string[];
};
/** What is news about a tool: its definition is no longer the approved one, or its text began to look like an attack. */
export type ToolNews = { name: string; toolId: string; changed: boolean; poisoned: boolean };

/**
 * Keeps what an upstream says of tools that have a row, and tells what is news: each change is told once, whichever gateway sees it first. Rows are made by the probe
 * alone, which the workspace starts.
 */
export function recordTools(space: Space, serverId: string, tools: readonly SeenTool[]): Promise<ToolNews[]> {
  if (tools.length === 0) return Promise.resolve([]);
  const seen = tools.map(({ name, definition, hash, poisoning }) => ({
    name,
    definition,
    hash,
    poisoning: poisoning.length > 0 ? poisoning : null,
  }));
  return inOwnTransaction(space, async (client) => {
    const { rows } = await client.query<{ name: string; tool_id: string; changed: boolean; poisoned: boolean }>(RECORD, [
      serverId,
      JSON.stringify(seen),
    ]);
    return rows
      .filter(({ changed, poisoned }) => changed || poisoned)
      .map(({ name, tool_id, changed, poisoned }) => ({ name, toolId: tool_id, changed, poisoned }));
  });
}

const RECORD = `with seen as (select * from jsonb_to_recordset($2::jsonb) as s (name text, definition jsonb, hash text, poisoning jsonb)),
  before as (select t.id, t.upstream_hash, t.pinned_hash, t.poisoning, s.definition, s.hash, s.poisoning as found
    from mcp_tools t join seen s on s.name = t.tool_name where t.mcp_server_id = $1
      and (t.upstream_hash is distinct from s.hash or (t.poisoning is null) <> (s.poisoning is null)) order by t.id for update of t)
  update mcp_tools t set upstream_tool = b.definition, upstream_hash = b.hash, poisoning = b.found,
    changed_at = case when b.upstream_hash is distinct from b.hash then now() else t.changed_at end
  from before b where t.id = b.id
  returning t.tool_name as name, t.id as tool_id,
    (b.pinned_hash is not null and b.hash <> b.pinned_hash and b.upstream_hash is distinct from b.hash) as changed,
    (b.found is not null and b.poisoning is null) as poisoned`;

/** Notes that a tool was called, at most once a minute. */
export async function noteToolCalled(space: Space, toolId: string): Promise<void> {
  await inOwnTransaction(space, (client) =>
    client.query(
      `update mcp_tools set last_called_at = now() where id = $1 and (last_called_at is null or last_called_at < now() - interval '1 minute')`,
      [toolId],
    ),
  );
}
