import { isGrpc } from '../grpc/media-type.ts';

// Heads of HTTP/2 as heads of HTTP/1.1 and back (RFC 9113 §8.2, §8.3): what one says in pseudo-headers, the other says in lines.

export type Http1Head = { method: string; path: string; headers: string[] };

/**
 * The head of a request, from names and values in turn as they came. It is judged by whoever judges those of HTTP/1.1: two hosts that differ become two Host
 * lines, and none becomes none. `ends`: nothing follows it.
 */
export function http1Head(raw: readonly string[], ends: boolean): Http1Head {
  let method = '';
  let path = '';
  let authority: string | undefined;
  let cookie = '';
  let framed = false;
  const hosts: string[] = [];
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const value = raw[i + 1] as string;
    if (name === ':method') method = value;
    else if (name === ':path') path = value;
    else if (name === ':authority') authority = value;
    else if (name.startsWith(':')) continue;
    else if (name === 'host') hosts.push(value);
    // RFC 9113 §8.2.3: crumbs of one field.
    else if (name === 'cookie') cookie += cookie === '' ? value : `; ${value}`;
    else {
      if (name === 'content-length') framed = true;
      headers.push(name, value);
    }
  }
  // A body whose length is told can have trailers in HTTP/2 alone; they go no further.
  if (framed) withoutField(headers, 'trailer');
  if (cookie !== '') headers.push('cookie', cookie);
  if (!ends && !framed) headers.push('transfer-encoding', 'chunked');
  // Else it would be said to have a body, of no chunks, which some upstreams refuse.
  if (ends && !framed && EXPECT_A_BODY.has(method)) headers.push('content-length', '0');
  if (authority !== undefined && !(hosts.length === 1 && hosts[0]?.toLowerCase() === authority.toLowerCase())) hosts.unshift(authority);
  return { method, path, headers: [...hosts.flatMap((host) => ['host', host]), ...headers] };
}

function withoutField(headers: string[], name: string): void {
  for (let at = headers.indexOf(name); at >= 0; at = headers.indexOf(name, at)) {
    if (at % 2 === 0) headers.splice(at, 2);
    else at++;
  }
}

const EXPECT_A_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** Of the connection that HTTP/2 doesn't have (RFC 9113 §8.2.2). */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
  'trailer',
]);

/** The head of an answer, names and values in turn, `:status` first. `bodyless`: it is the whole answer. */
export function http2Head(status: number, raw: readonly string[]): { headers: string[]; bodyless: boolean } {
  const headers = [':status', String(status)];
  let bodyless = status === 204 || status === 304;
  let grpc = false;
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const value = raw[i + 1] as string;
    if (OF_THE_CONNECTION.has(name)) continue;
    if (name === 'content-length' && value === '0') bodyless = true;
    if (name === 'content-type' && isGrpc(value)) grpc = true;
    headers.push(name, value);
  }
  if (!grpc || !bodyless) return { headers, bodyless };
  // An answer of trailers only says nothing of a body.
  const at = headers.indexOf('content-length');
  if (at > 0) headers.splice(at, 2);
  return { headers, bodyless };
}
