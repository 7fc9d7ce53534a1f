import { uuidV7 } from '#server/crypto/random.ts';
import { dropSession, keepSession, keptSession } from '#server/custody/mcp/upstream-sessions.ts';
import { isObject } from '#server/mcp/messages.ts';
import { type Failed, type Link, UpstreamClient } from '#server/mcp/upstream/client.ts';
import { endSession } from '#server/mcp/upstream/legacy.ts';
import type { ClientInfo } from '#server/mcp/upstream/modern.ts';
import type { Upstream } from '#server/mcp/upstream/wire.ts';
import { LATEST_LEGACY, META } from '#server/mcp/versions.ts';
import type { Runtime } from '../core/runtime.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';
import type { Credentials } from './credentials.ts';
import type { McpCall } from './mcp-call.ts';
import { wireOf } from './wire.ts';

// How a call reaches its upstream. A client of the legacy era has an upstream session of its own; for clients that know no sessions there is one per token and grant.

export const upstreams = new UpstreamClient();

export const upstreamOf = (server: McpServer, { headers }: Credentials): Upstream => ({
  url: server.upstreamUrl ?? '',
  transport: server.transport ?? 'streamable_http',
  headers,
});

/** Another URL may be another server. */
export const keyOf = ({ id, upstreamUrl }: McpServer): string => `${id} ${upstreamUrl}`;

/** Who we say is calling: the client's own name where it gave one. */
export function clientOf(params: Readonly<Record<string, unknown>>): ClientInfo {
  const meta = isObject(params._meta) ? params._meta[META.clientInfo] : undefined;
  const given = isObject(params.clientInfo) ? params.clientInfo : isObject(meta) ? meta : {};
  const text = (value: unknown, otherwise: string) => (typeof value === 'string' && value !== '' ? value.slice(0, 100) : otherwise);
  return { name: text(given.name, 'sallyport'), version: text(given.version, '1') };
}

/** A new session for a client that begins one, or what the upstream has instead of sessions. */
export const openLink = (
  call: McpCall,
  runtime: Runtime,
  server: McpServer,
  credentials: Credentials,
  client: ClientInfo,
  version: string,
) => upstreams.open(wireOf(call, runtime, credentials), upstreamOf(server, credentials), keyOf(server), client, uuidV7(), version);

export type Reached = {
  readonly link: Link /** The session is shared: it may be opened again when the upstream has lost it. */;
  readonly pooled: boolean;
};

const IDLE_MS = 10 * 60_000;
const MOST_POOLED = 10_000;
type Pooled = { link: Link; until: number };
const pool = new Map<string, Pooled>();
const opening = new Map<string, Promise<Link | Failed>>();

/** The link that a call goes by. */
export async function reach(
  call: McpCall,
  runtime: Runtime,
  server: McpServer,
  credentials: Credentials,
  client: ClientInfo,
): Promise<Reached | Failed> {
  const { session, server: named } = call.state;
  // The session id was made for the server of the path; in an aggregate each server has sessions of its own.
  if (session?.p && named === server) return { link: { kind: 'legacy', session: { id: session.u, version: session.p } }, pooled: false };
  const key = poolKey(call, server, credentials);
  const known = pool.get(key);
  if (known && known.until > Date.now()) {
    known.until = Date.now() + IDLE_MS;
    return { link: known.link, pooled: true };
  }
  const running = opening.get(key) ?? openPooled(call, runtime, server, credentials, client, key);
  const link = await running;
  return 'session' in link || link.kind === 'modern' || link.kind === 'events' ? { link, pooled: true } : link;
}

/** The upstream has lost the session of a link: the next call opens another. */
export async function loseSession(call: McpCall, server: McpServer, credentials: Credentials): Promise<void> {
  pool.delete(poolKey(call, server, credentials));
  await dropSession(spaceOf(call), rowOf(call, server, credentials));
}

function openPooled(
  call: McpCall,
  runtime: Runtime,
  server: McpServer,
  credentials: Credentials,
  client: ClientInfo,
  key: string,
): Promise<Link | Failed> {
  const running = openOrFind(call, runtime, server, credentials, client)
    .then((link) => {
      if ('session' in link || link.kind === 'modern' || link.kind === 'events') remember(key, link);
      return link;
    })
    .finally(() => opening.delete(key));
  opening.set(key, running);
  return running;
}

/** A session that another gateway opened is used on. */
async function openOrFind(
  call: McpCall,
  runtime: Runtime,
  server: McpServer,
  credentials: Credentials,
  client: ClientInfo,
): Promise<Link | Failed> {
  const era = upstreams.eraOf(keyOf(server));
  const row = rowOf(call, server, credentials);
  if (era !== 'modern' && server.transport !== 'sse') {
    const kept = await keptSession(spaceOf(call), row, IDLE_MS);
    if (kept) return { kind: 'legacy', session: { id: kept.sessionId, version: kept.version } };
  }
  const link = await openLink(call, runtime, server, credentials, client, LATEST_LEGACY);
  if (link.kind === 'legacy' && link.session.id !== null)
    await keepSession(spaceOf(call), row, { sessionId: link.session.id, version: link.session.version });
  return link;
}

function remember(key: string, link: Link): void {
  if (pool.size >= MOST_POOLED) pool.delete(pool.keys().next().value as string);
  pool.set(key, { link, until: Date.now() + IDLE_MS });
}

/** Ends the upstream's side of a session that a client ends. */
export function endUpstreamSession(call: McpCall, runtime: Runtime, server: McpServer, credentials: Credentials): void {
  const { session } = call.state;
  if (session?.p && session.u !== null)
    endSession(wireOf(call, runtime, credentials), upstreamOf(server, credentials), { id: session.u, version: session.p });
}

const spaceOf = ({ snapshot }: McpCall) => ({ tenant_id: snapshot.tenant.id, sandbox: snapshot.sandbox });
const rowOf = ({ state }: McpCall, server: McpServer, { grantId }: Credentials) => ({
  serverId: server.id,
  tokenId: state.principal?.token.id ?? '',
  grantId,
});
const poolKey = (call: McpCall, server: McpServer, credentials: Credentials): string =>
  `${keyOf(server)} ${call.state.principal?.token.id} ${credentials.grantId ?? '-'}`;
