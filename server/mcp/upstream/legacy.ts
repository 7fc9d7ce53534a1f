import { isObject, type Params, type RpcId } from '../messages.ts';
import { isLegacyVersion, LATEST_LEGACY } from '../versions.ts';
import { type Exchanged, exchange, message, post, SHORT_TIMING, type Timing } from './message-exchange.ts';
import type { ClientInfo } from './modern.ts';
import { type Reply, upstreamFault } from './reply.ts';
import { MOST_BYTES, type Upstream, type Wire } from './wire.ts';

// Upstreams that begin with a handshake: up to 2025-11-25, over Streamable HTTP.

/** A session with an upstream. Without an id the upstream keeps none. */
export type UpstreamSession = { readonly id: string | null; readonly version: string };

export type Initialized = { readonly session: UpstreamSession; readonly serverName: string; readonly instructions: string | null };

/** What we can do for an upstream: nothing. Its requests would otherwise reach the caller's model. */
const CAPABILITIES = {};

/** What every request of an upstream's is answered with. */
export const REFUSAL = { code: -32601, message: 'This client accepts no requests.' };

/** The handshake. Answers with the session, or why there is none. */
export async function initialize(
  wire: Wire,
  upstream: Upstream,
  client: ClientInfo,
  id: RpcId,
  version: string = LATEST_LEGACY,
): Promise<Initialized | Exclude<Reply, { kind: 'result' }>> {
  const params = { protocolVersion: version, capabilities: CAPABILITIES, clientInfo: client };
  const silent = { onNotification: () => undefined, onRequest: () => undefined };
  const { reply, head } = await exchange(wire, upstream, [], { id, method: 'initialize', params }, silent, SHORT_TIMING);
  if (reply.kind !== 'result') return reply;
  const found = initializedOf(reply.result, head?.header('mcp-session-id') ?? null);
  if ('kind' in found) return found;
  await post(wire, upstream, sessionHeaders(found.session), message('notifications/initialized', {}));
  return found;
}

/** Reads the answer to `initialize`. */
export function initializedOf(result: Params, sessionId: string | null): Initialized | Exclude<Reply, { kind: 'result' }> {
  const { protocolVersion: version, serverInfo, instructions } = result;
  // 2024-11-05 over Streamable HTTP differs in nothing that tools need.
  if (typeof version !== 'string' || !(isLegacyVersion(version) || version === '2024-11-05'))
    return upstreamFault('upstream_invalid_response', 'The MCP server speaks no version of the protocol that is supported.') as Exclude<
      Reply,
      { kind: 'result' }
    >;
  if (sessionId !== null && !/^[\x21-\x7e]{1,1024}$/.test(sessionId))
    return upstreamFault('upstream_invalid_response', 'The MCP server sent an invalid session id.') as Exclude<Reply, { kind: 'result' }>;
  const name = isObject(serverInfo) && typeof serverInfo.name === 'string' ? serverInfo.name.slice(0, 200) : '';
  return {
    session: { id: sessionId, version },
    serverName: name,
    instructions: typeof instructions === 'string' ? instructions.slice(0, 4_000) : null,
  };
}

export const sessionHeaders = ({ id, version }: UpstreamSession): string[] => [
  'MCP-Protocol-Version',
  version,
  ...(id === null ? [] : ['Mcp-Session-Id', id]),
];

/** One request within a session. The upstream's own requests are refused; a caller who gives up is told to the upstream. */
export async function legacyExchange(
  wire: Wire,
  upstream: Upstream,
  session: UpstreamSession,
  outgoing: { id: RpcId; method: string; params: Params },
  onNotification: (method: string, params: Params) => void,
  timing: Timing,
  signal?: AbortSignal,
): Promise<Exchanged> {
  const headers = sessionHeaders(session);
  const refuse = (id: RpcId) => void post(wire, upstream, headers, Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error: REFUSAL })));
  const exchanged = await exchange(wire, upstream, headers, outgoing, { onNotification, onRequest: refuse }, timing, signal);
  const { reply, head } = exchanged;
  if (reply.kind === 'canceled' || (reply.kind === 'fault' && reply.code === 'upstream_timeout'))
    void post(wire, upstream, headers, message('notifications/cancelled', { requestId: outgoing.id, reason: 'The caller gave up.' }));
  return session.id !== null && head?.status === 404 ? { ...exchanged, reply: { kind: 'session_lost' } } : exchanged;
}

/** Tells the upstream that a session is over. It may not care. */
export function endSession(wire: Wire, upstream: Upstream, session: UpstreamSession): void {
  if (session.id === null) return;
  const sent = wire(
    { url: upstream.url, method: 'DELETE', headers: [...sessionHeaders(session), ...upstream.headers], maxBytes: MOST_BYTES },
    { onEvent: () => sent.abort() },
  );
  const timer = setTimeout(() => sent.abort(), SHORT_TIMING.answerMs);
  void sent.ended.catch(() => undefined).finally(() => clearTimeout(timer));
}
