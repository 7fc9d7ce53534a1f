import { fault, isFault, type RpcFault } from '#server/mcp/errors.ts';
import { aggregateName, splitAggregateName } from '#server/mcp/names.ts';
import { advertised, mayUse, type Tool, type ToolPolicy } from '#server/mcp/tools.ts';
import type { ClientInfo } from '#server/mcp/upstream/modern.ts';
import type { Runtime } from '../core/runtime.ts';
import type { McpServer, McpTool } from '../snapshot/mcp-servers.ts';
import { type Catalogue, catalogueOf, type Listed } from './catalogue.ts';
import type { McpCall } from './mcp-call.ts';

/** A tool that the caller may know and call. */
export type Offer = {
  /** As the caller sees it; in an aggregate with the server's slug before it. */
  readonly name: string;
  readonly server: McpServer;
  /** With an administrator's words in place of the upstream's. */
  readonly tool: Tool;
  readonly listed: Listed;
  readonly row: McpTool | undefined;
};

export type Offers = {
  readonly offers: readonly Offer[] /** Slugs of servers that gave no list. */;
  readonly unavailable: readonly string[];
};

/** Everything that the path offers the caller, by name (interface rule 52 §5). A single server that gives no list is a fault; of several it is left out. */
export async function offersOf(call: McpCall, runtime: Runtime, client: ClientInfo): Promise<Offers | RpcFault> {
  const { server } = call.state;
  if (server !== null && server.type !== 'toolset') {
    const catalogue = await catalogueOf(call, runtime, server, client);
    return isFault(catalogue) ? catalogue : { offers: ofServer(call, server, catalogue, (name) => name), unavailable: [] };
  }
  const offers: Offer[] = [];
  const unavailable: string[] = [];
  const members = membersOf(call);
  await Promise.all(
    members.map(async (member) => {
      const catalogue = member.status === 'active' ? await catalogueOf(call, runtime, member, client) : null;
      if (catalogue === null || isFault(catalogue)) unavailable.push(member.slug);
      else offers.push(...ofServer(call, member, catalogue, nameIn(call, member)));
    }),
  );
  return { offers: offers.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)), unavailable: unavailable.sort() };
}

/** The tool of a name. Not allowed and not there are one answer. */
export async function findOffer(call: McpCall, runtime: Runtime, name: string, client: ClientInfo): Promise<Offer | RpcFault> {
  for (const [server, tool] of candidates(call, name)) {
    if (server.status !== 'active') continue;
    if (
      tool !== null &&
      !mayUse(
        tool,
        rulesOf(call, server, () => name),
      )
    )
      continue;
    const catalogue = await catalogueOf(call, runtime, server, client);
    if (isFault(catalogue)) return catalogue;
    const shown = call.state.server === server ? (own: string) => own : nameIn(call, server);
    const offer = ofServer(call, server, catalogue, shown).find((one) => one.name === name);
    if (offer) return offer;
  }
  return NOT_ALLOWED;
}

const NOT_ALLOWED = fault('tool_not_allowed', 'This tool is not available to you.');

/** Which servers a name may be of, with the tool's own name where that is known. */
function candidates(call: McpCall, name: string): [McpServer, string | null][] {
  const { server } = call.state;
  if (server !== null && server.type !== 'toolset') return [[server, name]];
  const members = membersOf(call);
  if (server !== null) {
    const known = server.members.flatMap((member) =>
      members.filter(({ id }) => id === member.serverId).map((one) => [one, member.tool] as const),
    );
    return known.filter(([member, tool]) => nameIn(call, member)(tool) === name).map(([member, tool]) => [member, tool]);
  }
  const split = splitAggregateName(name);
  return members.filter(({ slug }) => slug === split?.serverSlug).map((member) => [member, null]);
}

/** The servers behind an aggregate or a toolset: of the token's gateway, and open to the page that calls. */
function membersOf({ snapshot, state: { server, principal, origin } }: McpCall): McpServer[] {
  const named = server === null ? null : new Set(server.members.map(({ serverId }) => serverId));
  const gatewayId = principal?.token.gatewayId || null;
  return [...snapshot.mcp.serversById.values()].filter(
    (one) =>
      one.type !== 'toolset' &&
      (named === null || named.has(one.id)) &&
      (gatewayId === null || one.gatewayId === gatewayId) &&
      (origin === null || one.allowedOrigins.has(origin)),
  );
}

/** How tools of a member are called: in a toolset by their own name where no other member's tool has it. */
function nameIn({ state: { server } }: McpCall, member: McpServer): (tool: string) => string {
  if (server === null) return (tool) => aggregateName(member.slug, tool);
  return (tool) => (server.members.filter((one) => one.tool === tool).length > 1 ? aggregateName(member.slug, tool) : tool);
}

function ofServer(call: McpCall, server: McpServer, catalogue: Catalogue, shown: (tool: string) => string): Offer[] {
  const rules = rulesOf(call, server, shown, catalogue);
  const safe = [...catalogue.values()].filter(({ poisoning }) => poisoning.length === 0).map(({ tool }) => tool);
  return advertised(safe, rules).map((tool) => ({
    name: shown(tool.name),
    server,
    tool,
    listed: catalogue.get(tool.name) as Listed,
    row: server.tools.get(tool.name),
  }));
}

function rulesOf({ state }: McpCall, server: McpServer, shown: (tool: string) => string, catalogue?: Catalogue) {
  const scope = state.principal?.token.scope.tools;
  const { server: named } = state;
  const picked = named?.type === 'toolset' ? named.members.filter(({ serverId }) => serverId === server.id).map(({ tool }) => tool) : null;
  const allowed = picked === null ? server.allowedTools : new Set(picked.filter((tool) => server.allowedTools.has(tool)));
  return {
    allowed,
    // A scope may name tools by their own names, or as the aggregate shows them.
    scope: scope === undefined ? null : new Set([...allowed].filter((tool) => scope.includes(tool) || scope.includes(shown(tool)))),
    policy: (name: string) => policyOf(server.tools.get(name), catalogue?.get(name)),
  };
}

function policyOf(row: McpTool | undefined, listed: Listed | undefined): ToolPolicy | undefined {
  if (!row) return undefined;
  const quarantined = row.pinnedHash !== null && listed !== undefined && listed.hash !== row.pinnedHash;
  return { enabled: row.enabled, quarantined, description: row.description, inputSchema: row.inputSchema };
}
