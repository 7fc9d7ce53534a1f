import type { Refusal } from '#server/kernel/errors.ts';
import { stringifyAround } from '#server/kernel/json-text.ts';
import { type AnyOperation, statusOf } from '#server/kernel/operation.ts';
import { encoded, isCompressible } from './encoding.ts';
import { managementBody, managementFailure } from './envelope.ts';

/** An answer before it becomes a Response: what idempotency stores is exactly this. A download that is no text has `bytes` instead of a body. */
export type Wire = { status: number; body: string; headers: Record<string, string>; bytes?: Uint8Array<ArrayBuffer> };

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Wire => ({
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
});

/** Headers of every answer of every plane (interface rule 01 §4). */
const securityHeaders = (requestId: string): Record<string, string> => ({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-request-id': requestId,
});

/**
 * Headers of an answer with a plaintext secret, over those of every answer (interface rule 32 §5.5). `no-transform` keeps the framework and everybody on
 * the way from compressing it: beside text of an attacker's choice, a secret could be guessed by its size.
 */
export const REVEAL_HEADERS: Record<string, string> = { 'cache-control': 'no-store, private, no-transform', pragma: 'no-cache' };

/** What a refusal says in headers: its own, and whole seconds to wait. */
export const refusalHeaders = ({ headers, retryAfter }: Refusal): Record<string, string> => ({
  ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
  ...headers,
});

/** A successful answer of /v1. `output` already passed its schema; `result` still knows the page. */
export const success = (op: AnyOperation, output: unknown, result: unknown, requestId: string, warnings: readonly string[]): Wire =>
  answerOf(
    op,
    statusOf(op, output, result as Record<string, unknown>),
    managementBody(op, output, result, requestId, warnings),
    op.cache === undefined ? {} : { 'cache-control': op.cache },
  );

/** What came as its source leaves in the same way. Exact numbers write themselves. */
export function answerOf(
  { body: rule }: Pick<AnyOperation, 'body'>,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Wire {
  return rule?.source ? { ...json(status, null, headers), body: stringifyAround(body) } : json(status, body, headers);
}

/** A failed answer of /v1. */
export const failure = (refusal: Refusal, requestId: string): Wire =>
  json(refusal.status, managementFailure(refusal, requestId), refusalHeaders(refusal));

/** Who reads an answer: somebody who takes it compressed by Accept-Encoding, or uncompressed whatever they take; null reads the head alone. */
export type Reader = { accept: string | null } | 'uncompressed' | null;

/** An answer as it is sent: `x-sallyport-encoding` is Content-Encoding, which the front door puts back because the framework would drop it. */
export type Finished = { status: number; headers: Record<string, string>; body: string | Uint8Array<ArrayBuffer> | null };

/** Adds the headers that every answer carries and compresses the body. */
export async function finished(wire: Wire, requestId: string, reader: Reader): Promise<Finished> {
  const { status } = wire;
  const headers: Record<string, string> = {
    ...securityHeaders(requestId),
    ...(reader !== 'uncompressed' && isCompressible(wire.body) ? { vary: 'Accept-Encoding' } : {}),
    ...wire.headers,
  };
  if (status === 204 || status === 304) return { status, headers, body: null };
  if (wire.bytes)
    return { status, headers: { ...headers, 'content-length': String(wire.bytes.length) }, body: reader === null ? null : wire.bytes };
  const compressing = reader !== null && reader !== 'uncompressed';
  const { body, encoding } = compressing ? await encoded(wire.body, reader.accept) : { body: wire.body, encoding: null };
  if (encoding !== null) headers['x-sallyport-encoding'] = encoding;
  // The framework drops the length of a body and sends it chunked, so the gateway does as well.
  if (reader === null) headers['content-length'] = String(Buffer.byteLength(body));
  return { status, headers, body: reader === null ? null : body };
}

export async function respond(...wire: Parameters<typeof finished>): Promise<Response> {
  const { status, headers, body } = await finished(...wire);
  return new Response(body, { status, headers });
}

/** A JSON answer of the dashboard and session planes. */
export const respondJson = (status: number, body: unknown, requestId: string, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers: { ...securityHeaders(requestId), ...headers } });

/** A response that something else made, with the headers it lacks. */
export function secured(response: Response, requestId: string): Response {
  for (const [name, value] of Object.entries(securityHeaders(requestId)))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}
