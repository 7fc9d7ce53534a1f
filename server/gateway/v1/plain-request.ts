import type { IncomingMessage } from 'node:http';
import { classifyCredential } from '#server/crypto/tokens.ts';

export type PlainRequest = {
  /** Bytes of the body, as announced. */
  length: number;
  /** Path below /v1, without its query. */
  path: string;
  /** The text of the one credential. */
  text: string;
  kind: 'key' | 'token';
};

/**
 * Path and credential of a request that is as plain as the requests of ordinary clients; undefined for any other, which web answers. Nothing is refused here:
 * when in doubt, a request is not plain.
 */
export function plainRequest(req: IncomingMessage, target: string): PlainRequest | undefined {
  const [, path] = PLAIN_TARGET.exec(target) ?? [];
  if (path === undefined || isOdd(req, Number.POSITIVE_INFINITY)) return undefined;
  const text = onlyCredential(req);
  if (text === undefined) return undefined;
  const { kind } = classifyCredential(text);
  const length = Number(req.headers['content-length'] ?? 0);
  if (kind === 'oauth_token') return { path, text, kind: 'token', length };
  return kind === 'api_key' || kind === 'access_key' ? { path, text, kind: 'key', length } : undefined;
}

/**
 * Characters that every URL parser and the framework leave as they are: the path here is the path there. Names may have dots and spaces in them
 * (interface rule 40 §1.1), but no segment begins with a dot.
 */
const PLAIN_TARGET = /^\/v1((?:\/(?:[A-Za-z0-9_-]|%20)(?:[A-Za-z0-9_.-]|%20)*)+)(?:\?[A-Za-z0-9=&_.,:%+~-]*)?$/;

/** Headers that ask the framework, a proxy or this service for something else than the plain answer. */
const ODD = [
  'idempotency-key',
  'x-idempotency-key',
  'expect',
  'upgrade',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
  'content-encoding',
  'trailer',
  'dpop',
  'x-tenant-id',
] as const;

/** Larger bodies go to web as they come, instead of being held here; an operation that says how large its bodies may be is served with such. */
export const MAX_BODY = 64 * 1024;

/** Whether a request asks for more than a plain answer, or has a body where none belongs, or one of unknown length or above `limit`. */
export function isOdd({ headers, method }: IncomingMessage, limit = MAX_BODY): boolean {
  for (const name of ODD) if (headers[name] !== undefined) return true;
  // Any other token nominates a header that must not be passed on (RFC 9110 §7.6.1).
  const { connection = 'keep-alive' } = headers;
  if (!/^(?:keep-alive|close)$/i.test(connection)) return true;
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = Number(headers['content-length'] ?? 0);
  return method === 'POST' ? !(length > 0 && length <= limit) : length !== 0;
}

/** The text of the one credential; undefined when there is none, or more than one header that could carry one. */
function onlyCredential({ headers }: IncomingMessage): string | undefined {
  const { authorization } = headers;
  const named = headers['x-api-key'];
  if (authorization !== undefined) return named === undefined ? /^Bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
  return typeof named === 'string' ? named : undefined;
}
