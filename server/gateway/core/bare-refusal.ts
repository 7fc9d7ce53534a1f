import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { NEWEST } from '#server/kernel/versions.ts';
import { within } from './hosts.ts';

// Answers that no plane writes: one place says what each of them has (interface rule 01 §4, §6).

/** Headers of every answer of ours that has no other place to take them from. */
export const bareHeaders = (requestId: string) => ({
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'X-Request-Id': requestId,
});

export type BareRefusal = { text: string; headers: Record<string, string> };

/** Body and head of a refusal: the envelope alone. `target` is the path that was asked for, as far as it is known. */
export function bareRefusal(type: string, message: string, requestId: string, target = ''): BareRefusal {
  const text = JSON.stringify({ error: { type, message, request_id: requestId } });
  return { text, headers: bareHead(text, requestId, target) };
}

/** The head of such a body. */
export const bareHead = (text: string, requestId: string, target = ''): Record<string, string> => ({
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(text)),
  ...bareHeaders(requestId),
  ...(within('/v1', target) && { 'Service-Version': NEWEST }),
});

/** Answers on a connection for which node has no response, then hangs up. */
export function refuseSocket(socket: Duplex, status: number, { text, headers }: BareRefusal): void {
  const all = { ...(status === 503 && { 'Retry-After': '5' }), ...headers, Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.on('error', () => undefined);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${text}`);
  endReading(socket);
}

/** Closes for writing, and reads on for a moment so that what was written isn't lost in a reset. */
export function endReading(socket: Duplex): void {
  socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), 500).unref();
}

/** The request ID that another answer of ours has. */
export const requestIdIn = (headers: IncomingHttpHeaders): string | undefined => [headers['x-request-id'] ?? []].flat()[0];
