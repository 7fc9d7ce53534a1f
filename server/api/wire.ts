import type { Refusal } from '#server/kernel/errors.ts';
import { type AnyOperation, type Feed, statusOf } from '#server/kernel/operation.ts';
import type { Page } from '#server/kernel/page.ts';
import { encoded, isCompressible } from './encoding.ts';

/** An answer before it becomes a Response: what idempotency stores is exactly this. */
export type Wire = { status: number; body: string; headers: Record<string, string> };

const JSON_TYPE = 'application/json; charset=utf-8';

/** The success envelope of interface rule 01 §3. `output` already passed its schema; `result` still knows the page. */
export function success(op: AnyOperation, output: unknown, result: unknown, requestId: string, warnings: readonly string[]): Wire {
  const extra = warnings.length > 0 ? { warnings } : {};
  return json(statusOf(op, output, result as Record<string, unknown>), {
    data: output,
    meta: { ...listMeta(op, result), ...extra, request_id: requestId },
  });
}

function listMeta(op: AnyOperation, result: unknown): Record<string, unknown> {
  if (op.list === 'feed') return (result as Feed<unknown>).meta;
  if (!op.list) return {};
  const { total, page, per_page, total_pages } = result as Page<unknown>;
  return { total, page, per_page, total_pages };
}

/** The failure envelope: exactly three members, no data, no meta. */
export function failure(refusal: Refusal, requestId: string): Wire {
  const wire = json(refusal.status, { error: { type: refusal.type, message: refusal.message, request_id: requestId } });
  if (refusal.retryAfter !== undefined) wire.headers['retry-after'] = String(Math.max(1, Math.ceil(refusal.retryAfter)));
  return { ...wire, headers: { ...wire.headers, ...refusal.headers } };
}

export function json(status: number, body: unknown): Wire {
  return { status, body: JSON.stringify(body), headers: { 'content-type': JSON_TYPE } };
}

/** An answer as it is sent: `x-sallyport-encoding` is Content-Encoding, which the front door puts back because the framework would drop it. */
export type Finished = { status: number; headers: Record<string, string>; body: string | Uint8Array<ArrayBuffer> | null };

/** Adds the headers that every answer of the API planes carries (interface rule 01 §4) and compresses the body as `reader` takes it; null reads the head alone. */
export async function finished(wire: Wire, requestId: string, reader: { accept: string | null } | null): Promise<Finished> {
  const { status } = wire;
  const headers: Record<string, string> = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-request-id': requestId,
    ...(isCompressible(wire.body) ? { vary: 'Accept-Encoding' } : {}),
    ...wire.headers,
  };
  if (status === 204) return { status, headers, body: null };
  const { body, encoding } = reader ? await encoded(wire.body, reader.accept) : { body: wire.body, encoding: null };
  if (encoding !== null) headers['x-sallyport-encoding'] = encoding;
  headers['content-length'] = String(Buffer.byteLength(body));
  return { status, headers, body: reader ? body : null };
}

export async function respond(...wire: Parameters<typeof finished>): Promise<Response> {
  const { status, headers, body } = await finished(...wire);
  return new Response(body, { status, headers });
}
