import { parseBounded } from '#server/kernel/bounded-text.ts';
import { decodeBase64url } from './base64.ts';

/** A signed token taken apart, and nothing of it verified. */
export type CompactJws = { header: Readonly<Record<string, unknown>>; payload: Buffer; signature: Buffer; signed: Buffer };

/**
 * Takes a JWS in compact serialization apart (RFC 7515 §7.1), or undefined. Each part must be the one spelling of its bytes: libraries skip spaces and
 * padding, and a token with many spellings walks around whatever remembers tokens by their text.
 */
export function parseCompactJws(token: string): CompactJws | undefined {
  if (!isCompactJws(token)) return undefined;
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const parsed = jsonObject(Buffer.from(header, 'base64url'));
  if (!parsed) return undefined;
  return {
    header: parsed,
    payload: Buffer.from(payload, 'base64url'),
    signature: Buffer.from(signature, 'base64url'),
    signed: Buffer.from(token.slice(0, token.length - signature.length - 1), 'latin1'),
  };
}

/** Whether a text is three parts of base64url, each in its one spelling. Only the signature may be empty, which is for the algorithm to refuse. */
export const isCompactJws = (token: string): boolean =>
  /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/.test(token) && token.split('.').every((part) => decodeBase64url(part) !== undefined);

/** The object that UTF-8 bytes are the JSON of, or undefined. */
export function jsonObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value = parseBounded(utf8.decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What a JWS signs: header and claims, an object or its JSON, joined by a dot (RFC 7515 §5.1). */
export const signingInput = (header: object, claims: object | string): Buffer =>
  Buffer.from(`${base64urlJson(header)}.${base64urlJson(claims)}`, 'latin1');

/** The token in compact serialization. */
export const compactJws = (signed: Buffer, signature: Buffer): string => `${signed.toString('latin1')}.${signature.toString('base64url')}`;

const base64urlJson = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value), 'utf8').toString('base64url');
