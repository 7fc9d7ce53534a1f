import { capabilityHmac, mintCapability } from '#server/crypto/capability-tokens.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import type { Workspace } from '#server/testing/workspace.ts';
import { type Answer, ask, type Running, served } from '../gateway.fixture.ts';

// Gateways, MCP servers and tokens of a workspace, as the control plane writes them, and requests as clients send them.

type Columns = Record<string, unknown>;
export type Space = 'live' | 'test';

export async function makeGateway(w: Workspace, columns: Columns = {}, space: Space = 'live') {
  const id = newId();
  return db().ai_gateways.create({
    data: { id, tenant_id: w.tenant.id, sandbox: space === 'test', name: 'Default', slug: `g-${id.slice(-6)}`, ...columns } as never,
  });
}

type Gateway = Awaited<ReturnType<typeof makeGateway>>;

export async function makeServer(w: Workspace, gateway: Gateway, slug: string, columns: Columns = {}) {
  return db().mcp_servers.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      sandbox: gateway.sandbox,
      gateway_id: gateway.id,
      name: slug,
      slug,
      transport: 'streamable_http',
      ...columns,
    } as never,
  });
}

type Server = Awaited<ReturnType<typeof makeServer>>;

export async function makeTool(server: Server, tool_name: string, columns: Columns = {}) {
  const { tenant_id, sandbox } = server;
  return db().mcp_tools.create({ data: { id: newId(), tenant_id, sandbox, mcp_server_id: server.id, tool_name, ...columns } as never });
}

/** A signed token: of kind tool, for the whole gateway, unless told otherwise. */
export async function makeToken(
  w: Workspace,
  gateway: Gateway,
  options: { kind?: 'tool' | 'agent'; agentId?: string; scope?: Columns; columns?: Columns } = {},
) {
  const { kind = 'tool', agentId = null, scope = {}, columns = {} } = options;
  const env = gateway.sandbox ? 'test' : 'live';
  const minted = mintCapability(env, kind);
  const expires_at = new Date(Date.now() + 3_600_000);
  const { key, version } = await keyring().activeTmk(w.tenant.id);
  const signed = {
    tenant_id: w.tenant.id,
    env,
    kind,
    gateway_id: gateway.id,
    agent_id: agentId,
    token_hash: minted.digest,
    dpop_jkt: null,
    expires_at,
    scope,
  } as const;
  const row = await db().ai_tokens.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      sandbox: gateway.sandbox,
      gateway_id: gateway.id,
      agent_id: agentId,
      name: 'test',
      token_hash: new Uint8Array(minted.digest),
      prefix: minted.prefix,
      kind,
      scope_jsonb: scope,
      expires_at,
      lifetime_seconds: 3_600,
      capability_hmac: capabilityHmac(key, signed),
      hmac_key_version: version,
      ...columns,
    } as never,
  });
  return { ...row, text: minted.token };
}

/** A token of an agent, which is none for tools. */
export async function makeAgentToken(w: Workspace, gateway: Gateway) {
  const id = newId();
  const agent = { id, tenant_id: w.tenant.id, sandbox: gateway.sandbox, gateway_id: gateway.id, name: 'Agent', slug: `a-${id.slice(-6)}` };
  await db().ai_agents.create({ data: agent as never });
  return makeToken(w, gateway, { kind: 'agent', agentId: id });
}

export type Rpc = Answer & {
  rpc: { id?: unknown; result?: Record<string, never>; error?: { code: number; message: string; data: Record<string, unknown> } };
};

/** A workspace's MCP plane as one client sees it. */
export function client(running: Pick<Running, 'port'>, host: string, path: string, token: string | null) {
  const auth: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  let ids = 0;
  let session: string | undefined;
  const send = async (message: unknown, headers: Record<string, string> = {}, method = 'POST'): Promise<Rpc> => {
    const answer = await ask(running.port, host, path, {
      method,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...auth,
        ...(session && { 'mcp-session-id': session }),
        ...headers,
      },
      ...(method === 'POST' && { body: typeof message === 'string' ? message : JSON.stringify(message) }),
    });
    let rpc: Rpc['rpc'] = {};
    try {
      rpc = JSON.parse(answer.body.startsWith('event:') ? (answer.body.split('data: ').at(-1) ?? '') : answer.body);
    } catch {
      // no body
    }
    return { ...answer, rpc };
  };
  const request = (method: string, params: object = {}, headers: Record<string, string> = {}) =>
    send({ jsonrpc: '2.0', id: ++ids, method, params }, headers);
  return {
    send,
    request,
    /** The handshake of a legacy client. */
    async begin(): Promise<Rpc> {
      const answer = await request('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      });
      session = answer.headers['mcp-session-id'];
      return answer;
    },
    get session() {
      return session;
    },
    set session(id: string | undefined) {
      session = id;
    },
    list: () => request('tools/list'),
    call: (name: string, args: object = {}) => request('tools/call', { name, arguments: args }),
    /** The same in the modern era, without a handshake. */
    modern(method: string, params: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
      const version = '2026-07-28';
      const meta = {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
      };
      const name: Record<string, string> = typeof params.name === 'string' ? { 'mcp-name': params.name } : {};
      return send(
        { jsonrpc: '2.0', id: ++ids, method, params: { ...params, _meta: meta } },
        { 'mcp-protocol-version': version, 'mcp-method': method, ...name, ...headers },
      );
    },
  };
}

/** A workspace with a gateway, a server of an upstream and a token; what was written is served afterwards. */
export async function makeMcp(running: Running, w: Workspace, upstreamUrl: string, columns: Columns = {}, scope: Columns = {}) {
  const gateway = await makeGateway(w);
  const server = await makeServer(w, gateway, 'vendor', { upstream_url: upstreamUrl, allowed_tools: ['echo', 'sum', 'fail'], ...columns });
  const token = await makeToken(w, gateway, { scope });
  await served(running, w);
  return { gateway, server, token, client: client(running, w.tenant.slug, '/v1/mcp/vendor', token.text) };
}

export const textOf = ({ rpc }: Rpc): string => ((rpc.result?.content as unknown as { text: string }[]) ?? [])[0]?.text ?? '';
