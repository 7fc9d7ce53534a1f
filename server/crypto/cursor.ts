import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import { lengthPrefixed } from './length-prefixed.ts';

/** What a feed cursor is good for: one feed of one tenant and space, with one set of filters (interface rule 01 §6.2). */
export type CursorScope = { feed: string; tenant_id: string; space: 'live' | 'test'; filters: Record<string, unknown> };

/**
 * The cursor that resumes after row `seq` (decimal text or bigint): base64url JSON {v, seq, space, filter_hash}, a dot, and a
 * tag that also covers feed and tenant. It hides nothing; it cannot be forged or used elsewhere.
 */
export function encodeCursor(key: KeyObject, scope: CursorScope, seq: bigint | string): string {
  const content = { v: 1, seq: String(seq), space: scope.space, filter_hash: filterHash(scope.filters) };
  const body = Buffer.from(JSON.stringify(content), 'utf8').toString('base64url');
  return `${body}.${tag(key, scope, body).toString('base64url')}`;
}

/**
 * The row a cursor resumes after, or undefined when it is malformed, tampered with, or of another feed, tenant, space or
 * filter. All of these are one answer to the caller: start again without it. `keys`: of the current root key, and of the one
 * before while a rotation runs, so that a log shipper goes on where it stood.
 */
export function decodeCursor(keys: readonly KeyObject[], scope: CursorScope, cursor: string): bigint | undefined {
  const [, body, signature] = /^([A-Za-z0-9_-]{1,400})\.([A-Za-z0-9_-]{43})$/.exec(cursor) ?? [];
  if (!body || !signature) return undefined;
  const given = Buffer.from(signature, 'base64url');
  // A last character with stray low bits would decode to the same tag: one cursor, one spelling.
  if (given.toString('base64url') !== signature || !keys.some((key) => timingSafeEqual(given, tag(key, scope, body)))) return undefined;
  // Signed by us, so it is the JSON that encodeCursor wrote.
  const content: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
  return seqOf(content, scope);
}

function seqOf(content: unknown, scope: CursorScope): bigint | undefined {
  if (typeof content !== 'object' || content === null) return undefined;
  const { v, seq, space, filter_hash } = content as Record<string, unknown>;
  if (v !== 1 || space !== scope.space || filter_hash !== filterHash(scope.filters)) return undefined;
  return typeof seq === 'string' && /^\d{1,64}$/.test(seq) ? BigInt(seq) : undefined;
}

/** The first 16 bytes of SHA-256 over the canonical filters; members that are undefined do not count. */
function filterHash(filters: Record<string, unknown>): string {
  return hash('sha256', canonicalJson(filters), 'buffer').subarray(0, 16).toString('base64url');
}

function tag(key: KeyObject, scope: CursorScope, body: string): Buffer {
  return createHmac('sha256', key)
    .update(lengthPrefixed([scope.feed, scope.tenant_id, body]))
    .digest();
}
