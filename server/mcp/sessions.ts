import { isObject } from './messages.ts';
import { isLegacyVersion } from './versions.ts';

/** What a session id says when it is opened (interface rule 52 §3.2). Short names: the sealed text must stay below 512 characters. */
export type SessionClaims = {
  /** The server, or the gateway for the aggregate of its servers. */
  readonly s: string;
  /** The token. */
  readonly t: string;
  /** The upstream's own session id. */
  readonly u: string | null;
  /** The version that the upstream agreed to. */
  readonly p: string | null;
  /** The version that was agreed with the client. */
  readonly v: string;
  /** When it began, epoch seconds. */
  readonly i: number;
};

export const SESSION_SECONDS = 24 * 3_600;
/** Longer ids of upstreams would make ours longer than clients accept. */
export const LONGEST_UPSTREAM_SESSION = 128;
const LONGEST_SESSION = 512;

/** Whether a header value can be a session id at all. */
export const looksLikeSession = (text: string): boolean => text.length <= LONGEST_SESSION && /^[A-Za-z0-9_-]+$/.test(text);

export const writeSession = (claims: SessionClaims): Buffer => Buffer.from(JSON.stringify(claims));

/** The claims, when they are for this server and token and not too old. */
export function readSession(bytes: Uint8Array, server: string, token: string, nowMs: number): SessionClaims | undefined {
  const claims: unknown = JSON.parse(Buffer.from(bytes).toString('utf8')); // it was sealed by us
  if (!isObject(claims)) return undefined;
  const { s, t, u, p, v, i } = claims;
  if (s !== server || t !== token || typeof i !== 'number' || !isLegacyVersion(v)) return undefined;
  const age = nowMs / 1000 - i;
  if (age > SESSION_SECONDS || age < -60) return undefined;
  return { s, t, u: typeof u === 'string' ? u : null, p: typeof p === 'string' ? p : null, v, i };
}

/** Where a page of `tools/list` goes on: behind this name. */
export type ListCursor = { readonly s: string; readonly t: string; readonly after: string };
export const PAGE_SIZE = 200;
export const writeCursor = (cursor: ListCursor): Buffer => Buffer.from(JSON.stringify(cursor));
export function readCursor(bytes: Uint8Array, server: string, token: string): string | undefined {
  const cursor: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  return isObject(cursor) && cursor.s === server && cursor.t === token && typeof cursor.after === 'string' ? cursor.after : undefined;
}
