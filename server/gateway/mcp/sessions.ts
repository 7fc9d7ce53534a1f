import { openFromClient, sealForClient } from '#server/crypto/mcp-sealing.ts';
import { looksLikeSession, readCursor, readSession, type SessionClaims, writeCursor, writeSession } from '#server/mcp/sessions.ts';
import type { Runtime } from '../core/runtime.ts';
import { lru } from '../credentials/lru.ts';
import type { McpCall } from './mcp-call.ts';

// Sessions of legacy clients, and cursors of lists (interface rule 52 §3.2): sealed texts that the client keeps, good for one server and one token.

/** Binds the text to what the path names: a server, or for the aggregate the gateway of the token. A person's token has no gateway; then the workspace. */
const subjectOf = ({ state: { server, principal }, snapshot }: McpCall): string =>
  server?.id ?? (principal?.token.gatewayId || snapshot.tenant.id);

const placeOf = (call: McpCall) =>
  ({ tenant_id: call.snapshot.tenant.id, space: call.snapshot.space, purpose: 'mcp_session', row_id: subjectOf(call) }) as const;

const tokenOf = ({ state }: McpCall): string => state.principal?.token.id ?? '';

/** A new session id. */
export function mintSession(call: McpCall, runtime: Runtime, { u, p, v }: Pick<SessionClaims, 'u' | 'p' | 'v'>): Promise<string> {
  const claims = { s: subjectOf(call), t: tokenOf(call), u, p, v, i: Math.floor(call.receivedAt / 1000) };
  return sealForClient(runtime.keyring, placeOf(call), writeSession(claims));
}

/** What a session id says; undefined when it is unknown, too old, or another token's or server's. */
export async function openSession(call: McpCall, runtime: Runtime, id: string): Promise<SessionClaims | undefined> {
  if (!looksLikeSession(id) || ended.get(id)) return undefined;
  const bytes = await openFromClient(runtime.keyring, placeOf(call), id);
  return bytes && readSession(bytes, subjectOf(call), tokenOf(call), call.receivedAt);
}

/**
 * Sessions that their clients have ended, as far as this process heard of it. Another gateway may still take one: it opens nothing that the token alone
 * doesn't open, and the upstream's own session is over.
 */
const ended = lru<true>(20_000);
export const forgetSession = (id: string): void => ended.set(id, true);

/** Where the next page of a list begins: behind a name. */
export const mintCursor = (call: McpCall, runtime: Runtime, after: string): Promise<string> =>
  sealForClient(runtime.keyring, placeOf(call), writeCursor({ s: subjectOf(call), t: tokenOf(call), after }));

export async function openCursor(call: McpCall, runtime: Runtime, cursor: unknown): Promise<string | undefined> {
  if (typeof cursor !== 'string' || !looksLikeSession(cursor)) return undefined;
  const bytes = await openFromClient(runtime.keyring, placeOf(call), cursor);
  return bytes && readCursor(bytes, subjectOf(call), tokenOf(call));
}
