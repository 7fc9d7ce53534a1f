import { lowerName } from '../header-name.ts';
import { UpstreamFault } from './faults.ts';
import type { UpstreamRequest } from './upstream-call.ts';

const METHOD = /^[A-Z]+$/;
const TARGET = /^[\x21-\x7e\x80-\xff]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Methods whose missing body is told to the upstream as an empty one (RFC 9110 §8.6). */
const EXPECT_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** Whether the request has a body that some upstreams pass over, and read on behind its head as if the next request began there. */
export const hasOddBody = ({ method, body }: UpstreamRequest): boolean => Boolean(body) && body?.length !== 0 && !EXPECT_BODY.has(method);

/**
 * The head of a request as it goes over the wire (RFC 9112 §3, §5), one latin-1 character a byte. The last line of defence against a value
 * that would become a header or a request of its own: throws UpstreamFault `internal_error`.
 */
export function requestHead({ method, path, headers, body, upgrade }: UpstreamRequest): string {
  if (!METHOD.test(method) || !TARGET.test(path)) throw unfit();
  let head = `${method} ${path} HTTP/1.1\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    if (lowerName(name) === '' || !VALUE.test(value)) throw unfit();
    head += `${name}: ${value}\r\n`;
  }
  if (upgrade !== undefined) head += `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`;
  const length = body ? body.length : 0;
  if (length === null) head += 'Transfer-Encoding: chunked\r\n';
  else if (length > 0 || EXPECT_BODY.has(method)) head += `Content-Length: ${length}\r\n`;
  return `${head}\r\n`;
}

/**
 * The same head for HTTP/2 (RFC 9113 §8.3.1): names and values in turn, pseudo-headers first. The last line of defence here too.
 */
export function http2Head({ method, path, headers, body }: UpstreamRequest, scheme: string): string[] {
  if (!METHOD.test(method) || !TARGET.test(path)) throw unfit();
  const out = [':method', method, ':scheme', scheme, ':path', path];
  for (let i = 0; i < headers.length; i += 2) {
    const name = lowerName(headers[i] as string);
    const value = headers[i + 1] as string;
    if (name === '' || !VALUE.test(value)) throw unfit();
    if (name === 'host') out.splice(6, 0, ':authority', value);
    else out.push(name, value);
  }
  const length = body ? body.length : 0;
  if (length !== null && (length > 0 || EXPECT_BODY.has(method))) out.push('content-length', String(length));
  return out;
}

const unfit = () => new UpstreamFault('internal_error', 'The upstream request could not be built.');
