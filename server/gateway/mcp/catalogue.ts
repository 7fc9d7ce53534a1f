import { uuidV7 } from '#server/crypto/random.ts';
import { recordTools, type SeenTool } from '#server/custody/mcp/tools.ts';
import { columnJson } from '#server/kernel/lossless-json.ts';
import { isFault, type RpcFault } from '#server/mcp/errors.ts';
import type { HeaderParameter } from '#server/mcp/parameter-headers.ts';
import { type ReadTool, readTools } from '#server/mcp/tool-list.ts';
import type { Tool } from '#server/mcp/tools.ts';
import type { ClientInfo } from '#server/mcp/upstream/modern.ts';
import { log } from '#server/platform/log.ts';
import { raiseFromCall } from '../core/events.ts';
import type { Runtime } from '../core/runtime.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';
import { type Credentials, credentialsFor } from './credentials.ts';
import { faultOf } from './faults.ts';
import { keyOf, loseSession, reach, upstreamOf, upstreams } from './links.ts';
import type { McpCall } from './mcp-call.ts';
import { poisoningOf, toolScanner } from './poisoning.ts';
import { wireOf } from './wire.ts';

// What servers offer (interface rule 52 §5): an upstream's list is read once a minute for all callers of one grant, or for
// each caller whom the upstream is told of, and looked through before anybody sees it.

/** A tool as its server has it. */
export type Listed = {
  readonly tool: Tool;
  readonly hash: string;
  /** Rules of the firewall that its text matches: such a tool is hidden. */
  readonly poisoning: readonly string[];
  readonly parameters: readonly HeaderParameter[];
  /** Of its JSON. */
  readonly characters: number;
};
export type Catalogue = ReadonlyMap<string, Listed>;

const KEPT_MS = 60_000;
const MOST_KEPT = 2_000;
const MOST_KEPT_CHARACTERS = 64 * 1024 * 1024;
type Kept = { catalogue: Catalogue; until: number; scanner: object; characters: number };
const kept = new Map<string, Kept>();
let keptCharacters = 0;
const reading = new Map<string, Promise<Catalogue | RpcFault>>();

/** The tools of a server, or why they can't be read. */
export async function catalogueOf(call: McpCall, runtime: Runtime, server: McpServer, client: ClientInfo): Promise<Catalogue | RpcFault> {
  if (server.type === 'collection') return ofCollection(server);
  const credentials = await credentialsFor(call, runtime, server);
  if (isFault(credentials)) return credentials;
  const scanner = toolScanner(call, server);
  const key = cacheKey(server, credentials);
  const known = kept.get(key);
  if (known && known.until > Date.now() && known.scanner === scanner) return known.catalogue;
  const running = reading.get(key);
  if (running !== undefined) return running;
  const read = readUpstream(call, runtime, server, credentials, client)
    .then((catalogue) => {
      if (!isFault(catalogue)) keep(key, { catalogue, until: Date.now() + KEPT_MS, scanner, characters: charactersOf(catalogue) });
      return catalogue;
    })
    .finally(() => reading.delete(key));
  reading.set(key, read);
  return read;
}

/** The upstream says that its list has changed. */
export function forgetCatalogue(server: McpServer, credentials: Credentials): void {
  drop(cacheKey(server, credentials));
}

const cacheKey = (server: McpServer, { grantId, signedFor }: Credentials): string => JSON.stringify([keyOf(server), grantId, signedFor]);

/** The oldest go first, by their number and by what they hold together: one workspace's long lists must not fill the process. */
function keep(key: string, entry: Kept): void {
  drop(key);
  keptCharacters += entry.characters;
  kept.set(key, entry);
  while (kept.size > MOST_KEPT || (keptCharacters > MOST_KEPT_CHARACTERS && kept.size > 1)) drop(kept.keys().next().value as string);
}

function drop(key: string): void {
  keptCharacters -= kept.get(key)?.characters ?? 0;
  kept.delete(key);
}

const charactersOf = (catalogue: Catalogue): number => [...catalogue.values()].reduce((sum, { characters }) => sum + characters, 0);

async function readUpstream(
  call: McpCall,
  runtime: Runtime,
  server: McpServer,
  credentials: Credentials,
  client: ClientInfo,
): Promise<Catalogue | RpcFault> {
  const wire = wireOf(call, runtime, credentials);
  const upstream = upstreamOf(server, credentials);
  for (let attempt = 0; ; attempt++) {
    const reached = await reach(call, runtime, server, credentials, client);
    if ('kind' in reached) return faultOf(reached);
    const listed = await upstreams.listTools(wire, upstream, keyOf(server), reached.link, { id: uuidV7(), client });
    if (Array.isArray(listed)) return lookedThrough(call, server, listed);
    if (listed.kind !== 'session_lost' || !reached.pooled || attempt > 0) return faultOf(listed);
    await loseSession(call, server, credentials);
  }
}

/** Tools that can be shown, each with what is wrong with its text; what changed since the last time is noted for the people who decide about them. */
async function lookedThrough(call: McpCall, server: McpServer, values: readonly unknown[]): Promise<Catalogue | RpcFault> {
  const tools = await readTools(values);
  const poisoning = await poisoningOf(
    call,
    server,
    tools.map(({ text }) => text),
  );
  if (!Array.isArray(poisoning)) return poisoning;
  const catalogue = new Map(tools.map((one, i) => [one.tool.name, listedOf(one, poisoning[i] as string[])]));
  const known = [...catalogue.values()].filter(({ tool }) => server.tools.has(tool.name));
  void note(
    call,
    server,
    known.map(({ tool, hash, poisoning }) => ({ name: tool.name, definition: columnJson(tool), hash, poisoning })),
  );
  return catalogue;
}

const listedOf = ({ tool, hash, parameters, characters }: ReadTool, poisoning: readonly string[]): Listed => ({
  ...{ tool, hash, poisoning, parameters, characters },
});

/** Tools that are noted in one statement. */
const NOTED_AT_ONCE = 100;

/** Never in the way of a call: what can't be noted now is noted at the next reading. */
async function note({ snapshot }: McpCall, server: McpServer, seen: readonly SeenTool[]): Promise<void> {
  const space = { tenant_id: snapshot.tenant.id, sandbox: snapshot.sandbox };
  try {
    for (let from = 0; from < seen.length; from += NOTED_AT_ONCE)
      for (const { name, toolId, changed, poisoned } of await recordTools(space, server.id, seen.slice(from, from + NOTED_AT_ONCE))) {
        const data = { mcp_server_id: server.id, slug: server.slug, tool: name, tool_id: toolId };
        if (changed) raiseFromCall({ ...space, type: 'ai.mcp.tool_changed', source_id: server.id, data });
        if (poisoned) raiseFromCall({ ...space, type: 'ai.mcp.tool_poisoning', source_id: server.id, data });
      }
  } catch (error) {
    log.warn({ err: error, mcp_server_id: server.id }, 'changes of the tools of an MCP server were not noted');
  }
}

const ofRows = new WeakMap<McpServer, Promise<Catalogue>>();

/** The tools of a collection are its rows: a row without an operation is none. */
function ofCollection(server: McpServer): Promise<Catalogue> {
  let known = ofRows.get(server);
  if (known === undefined) {
    const rows = [...server.tools].filter(([, { operation }]) => operation !== null);
    const values = rows.map(([name, { description, inputSchema }]) => ({
      name,
      description: description ?? undefined,
      inputSchema: inputSchema ?? { type: 'object', properties: {} },
    }));
    known = readTools(values).then((tools) => new Map(tools.map((one) => [one.tool.name, listedOf(one, [])])));
    ofRows.set(server, known);
    // What failed is tried again.
    known.catch(() => ofRows.delete(server));
  }
  return known;
}
