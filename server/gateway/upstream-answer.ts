import type { Call } from './call.ts';
import { PSEUDONYM } from './phases/detect-loop.ts';
import { pushBlock } from './response-block.ts';
import { isHopByHop, nominatedBy } from './upstream-headers.ts';

// What an upstream's head means for ours (interface rules 12 §11, §13).

/** Names are lower-case; a name that came more than once has a list. */
export type UpstreamHeaders = Record<string, string | string[] | undefined>;

const BUFFERED_RESPONSE = 1024 * 1024;
const EVENT_STREAM = 'text/event-stream';
const ALWAYS_STREAMED = [EVENT_STREAM, 'application/x-ndjson', 'multipart/x-mixed-replace'];

/** The upstream's headers without those of its connection and of our namespace, then the block. The call's figures must be in it. */
export function answerHeaders(call: Call, headers: UpstreamHeaders): string[] {
  const out: string[] = [];
  const nominated = nominatedBy(one(headers.connection));
  let requestId = false;
  let rateLimit = false;
  for (const name in headers) {
    if (isHopByHop(name) || name.startsWith('x-svc-') || nominated?.includes(name)) continue;
    if (name === 'x-request-id') requestId = true;
    else if (name === 'x-ratelimit-limit' || name === 'x-ratelimit-remaining' || name === 'x-ratelimit-reset') rateLimit = true;
    const value = headers[name];
    if (typeof value === 'string') out.push(name, value);
    else if (value) for (const item of value) out.push(name, item);
  }
  out.push('Via', `1.1 ${PSEUDONYM}`);
  pushBlock(call, out, null, { requestId, rateLimit });
  return out;
}

/** Whether the whole answer is awaited before the first byte goes on, so that its block can tell the complete time. */
export function fitsInMemory(method: string, status: number, headers: UpstreamHeaders): boolean {
  if (method === 'HEAD' || status === 204 || status === 304) return true;
  if (ALWAYS_STREAMED.includes(mediaType(headers))) return false;
  const length = one(headers['content-length']);
  return length !== undefined && Number(length) <= BUFFERED_RESPONSE;
}

/** No coding but chunked was asked for and none is undone here: its bytes would reach the caller without the header that names it. */
export const hasForeignCoding = (headers: UpstreamHeaders): boolean =>
  headers['transfer-encoding'] !== undefined && one(headers['transfer-encoding'])?.trim().toLowerCase() !== 'chunked';

/** Such a stream may be silent for longer. */
export const isEventStream = (headers: UpstreamHeaders): boolean => mediaType(headers) === EVENT_STREAM;

function mediaType(headers: UpstreamHeaders): string {
  const value = one(headers['content-type']) ?? '';
  const end = value.indexOf(';');
  return (end < 0 ? value : value.slice(0, end)).trim().toLowerCase();
}

const one = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value.join(', ') : value);
