import type { IncomingMessage } from 'node:http';
import { members } from '#server/kernel/list-header.ts';
import { lowerName } from '#server/platform/header-name.ts';

// What node:http lets through although two readers could understand it differently. Everything here is judged before a host is
// looked at, so no plane ever sees such a request.

export type HeadRefusal = {
  ok: false;
  status: 400 | 414 | 417 | 431;
  type: 'invalid_request' | 'uri_too_long' | 'headers_too_large' | 'expectation_failed';
  message: string;
};
export type Head = {
  ok: true;
  /** Origin form: path and query byte for byte, beginning with one or more slashes. */
  target: string;
  /** The Host header as sent. */
  host: string;
  /** Bytes of all header lines. */
  headerBytes: number;
};

const MAX_TARGET = 16 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;
const MAX_FIELDS = 200;

/** Headers of which two values would let the caller say one thing to us and another to whoever reads the other one. X-Svc-* are added. */
const SINGLE = new Set([
  'host',
  'authorization',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'expect',
  'x-api-key',
  'idempotency-key',
  'x-idempotency-key',
  'x-tenant-id',
  'x-csrf-token',
  'upgrade',
  'sec-websocket-key',
  'sec-websocket-version',
]);

/** Judges request line and header block (interface rules 12 §1, §6; RFC 9112 §3, §6.1). Pure; costs one pass over the raw headers. */
export function inspectHead(req: IncomingMessage): Head | HeadRefusal {
  const raw = req.rawHeaders;
  const url = req.url ?? '';
  // node's parser takes "HTTP/2.0" on a plain connection for a request line like any other.
  if (req.httpVersionMajor !== 1) return malformed('Only HTTP/1.1 is supported.');
  if (url.length > MAX_TARGET)
    return { ok: false, status: 414, type: 'uri_too_long', message: 'The request target must not exceed 16 KiB.' };
  if (raw.length > MAX_FIELDS * 2) return tooLarge('The request must not have more than 200 headers.');

  let bytes = 0;
  let host: string | undefined;
  let transfer: string | undefined;
  let expect: string | undefined;
  let seen = '\n';
  for (let i = 0; i < raw.length; i += 2) {
    const value = raw[i + 1] as string;
    const name = lowerName(raw[i] as string);
    bytes += name.length + value.length + 4;
    if (!SINGLE.has(name) && !name.startsWith('x-svc-')) continue;
    if (seen.includes(`\n${name}\n`)) return malformed(`The header ${name} must be sent only once.`);
    seen += `${name}\n`;
    if (name === 'host') host = value;
    else if (name === 'transfer-encoding') transfer = value;
    else if (name === 'expect') expect = value;
  }
  if (bytes > MAX_HEADER_BYTES) return tooLarge('The request headers must not exceed 32 KiB.');
  if (!host && !isProbe(req)) return malformed('The Host header is missing.');
  host ??= '';
  if (transfer !== undefined) {
    if (req.httpVersionMinor === 0) return malformed('Transfer-Encoding is not allowed in HTTP/1.0.');
    if (transfer.trim().toLowerCase() !== 'chunked') return malformed('The only supported transfer coding is chunked.');
  }
  // HTTP/1.0 knows no expectations (RFC 9110 §10.1.1).
  if (expect !== undefined && req.httpVersionMinor > 0 && !members(expect.toLowerCase()).includes('100-continue'))
    return {
      ok: false,
      status: 417,
      type: 'expectation_failed',
      message: 'The only supported Expect header is 100-continue. Leave it out.',
    };
  if (/[^\x21-\x7e]/.test(url)) return malformed('The request target must be ASCII, without spaces or control characters.');
  if (url.includes('#')) return malformed('The request target must not contain a fragment.');
  const target = originForm(url, host);
  return target === undefined
    ? malformed('The request target must be a path, or an absolute URL on this host.')
    : { ok: true, target, host, headerBytes: bytes };
}

/** A load balancer's check, which HAProxy for one sends as HTTP/1.0 without Host (RFC 9112 §3.2 demands one of HTTP/1.1 alone). */
function isProbe({ httpVersionMinor, method, url }: IncomingMessage): boolean {
  return httpVersionMinor === 0 && (method === 'GET' || method === 'HEAD') && PROBES.has(url ?? '');
}

const PROBES = new Set(['/healthz', '/readyz', '/readyz?only=calls']);

/** Absolute form is legal towards an origin server (RFC 9112 §3.2.2) as long as it names the same authority as Host. */
function originForm(url: string, host: string): string | undefined {
  if (url.startsWith('/')) return url;
  const [, authority, rest = ''] = /^https?:\/\/([^/?]*)(.*)$/is.exec(url) ?? [];
  if (authority === undefined || authority.toLowerCase() !== host.toLowerCase()) return undefined;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function malformed(message: string): HeadRefusal {
  return { ok: false, status: 400, type: 'invalid_request', message };
}

function tooLarge(message: string): HeadRefusal {
  return { ok: false, status: 431, type: 'headers_too_large', message };
}
