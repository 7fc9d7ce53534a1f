import { isDashboardCookie } from '#server/kernel/dashboard-cookies.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import type { HeaderList } from '#server/platform/http-out/response-parser.ts';
import type { Call } from './call.ts';
import type { ResponseHead } from './gateway-response.ts';
import { blockLines } from './response-block.ts';
import { isHopByHop, nominatedBy, PSEUDONYM } from './upstream-headers.ts';

// Turns the upstream's head into ours (interface rules 12 §11, §13).

const BUFFERED_RESPONSE = 1024 * 1024;
const EVENT_STREAM = 'text/event-stream';
const ALWAYS_STREAMED = [EVENT_STREAM, 'application/x-ndjson', 'multipart/x-mixed-replace'];

/** The upstream's headers without those of its connection and of our namespace, then the block. The call's figures must be in it. */
export function responseHead(call: Call, headers: HeaderList): ResponseHead {
  const fields: string[] = [];
  let lines = '';
  const nominated = nominatedBy(fieldOf(headers, 'connection'));
  let requestId = false;
  let rateLimit = false;
  let nonce = false;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    if (isHopByHop(name) || isReserved(name) || nominated?.has(name)) continue;
    if (GUARDED.has(name) && isHarmful(name, value, call)) continue;
    if (name === 'x-request-id') requestId = true;
    else if (name === 'x-ratelimit-limit' || name === 'x-ratelimit-remaining' || name === 'x-ratelimit-reset') rateLimit = true;
    else if (name === 'dpop-nonce') nonce = true;
    if (name === 'content-length' || name === 'date') fields.push(name, value);
    else lines += `${name}: ${value}\r\n`;
  }
  const via = call.planeName === 'proxy' ? '' : `Via: 1.1 ${PSEUDONYM}\r\n`;
  return { lines: `${lines}${via}${blockLines(call, null, { requestId, rateLimit, nonce })}`, fields };
}

/** Our namespace, `_` for `-` included. */
const isReserved = (name: string): boolean => name.startsWith('x') && hyphenated(name).startsWith('x-svc-');

const GUARDED = new Set(['set-cookie', 'clear-site-data', 'content-length', 'service-version']);

/** What reaches further than this workspace's host, or is read by some as the beginning of a body that does not come. */
function isHarmful(name: string, value: string, { upstreamStatus, host, res }: Call): boolean {
  // RFC 9110 §8.6.
  if (name === 'content-length') return upstreamStatus === 204;
  // On a path under /v1 it is ours, as our namespace is everywhere.
  if (name === 'service-version') return res.serviceVersion !== null;
  // It counts for the whole site: the other workspaces' hosts, and the dashboard beside them.
  if (name === 'clear-site-data') return /"(?:cookies|\*)"/i.test(value);
  // Nor may an upstream sign the person's browser in or out of the dashboard on the same host.
  if (isDashboardCookie(value)) return true;
  const own = host.replace(/:\d+$/, '').toLowerCase();
  for (const [, domain = ''] of value.matchAll(/;\s*domain\s*=\s*\.?([^;]*)/gi))
    if (own.endsWith(`.${domain.trim().toLowerCase()}`)) return true;
  return false;
}

/** The length of an answer that is awaited whole before its first byte goes on, so that its block can tell the complete time; -1: it streams. */
export function bufferedLength(method: string, status: number, headers: HeaderList): number {
  if (method === 'HEAD' || status === 204 || status === 304) return 0;
  if (isAlwaysStreamed(headers)) return -1;
  const length = lengthOf(headers);
  return length <= BUFFERED_RESPONSE ? length : -1;
}

/** What is announced, in bytes; NaN for nothing. */
export const lengthOf = (headers: HeaderList): number => Number(fieldOf(headers, 'content-length') ?? Number.NaN);

/** Whether its bytes are awaited as they come, whatever length is announced. */
export const isAlwaysStreamed = (headers: HeaderList): boolean => ALWAYS_STREAMED.includes(mediaType(headers));

/** Such a stream may be silent for longer. */
export const isEventStream = (headers: HeaderList): boolean => mediaType(headers) === EVENT_STREAM;

export function mediaType(headers: HeaderList): string {
  const value = fieldOf(headers, 'content-type') ?? '';
  const end = value.indexOf(';');
  return (end < 0 ? value : value.slice(0, end)).trim().toLowerCase();
}

/** A name that came more than once has its values joined. */
export function fieldOf(headers: HeaderList, name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i] === name) found = found === undefined ? headers[i + 1] : `${found}, ${headers[i + 1]}`;
  return found;
}

/** Fields that say something of the upstream's body, and nothing of one that was changed here. */
export const OF_THE_BODY = new Set(['content-length', 'etag', 'content-md5', 'digest', 'content-digest', 'repr-digest', 'accept-ranges']);

/** More names than this are of no use in the log. */
const MOST_NAMES = 200;

/** The names of the first fields, each once. */
export function namesOf(headers: HeaderList): string[] {
  const names: string[] = [];
  for (let i = 0; i < headers.length && i < MOST_NAMES * 2; i += 2) {
    const name = headers[i] as string;
    if (!names.includes(name)) names.push(name);
  }
  return names;
}
