import { isUtf8 } from 'node:buffer';
import { lowerName } from '#server/platform/header-name.ts';
import type { Call } from '../../core/call.ts';
import { ALL_METHODS, isAccepted } from '../../core/methods.ts';
import { type Refused, refused } from '../../core/refusal.ts';

/** Steps 1 and 3: reads the head once, finds the route reference and the forward path, and refuses what no upstream should see. */
export function inspect(call: Call): Refused | undefined {
  readHeaders(call);
  if (!isAccepted(call.method))
    return refused('method_not_allowed', `The method ${call.method.slice(0, 32)} is not supported.`, { allow: ALL_METHODS });
  const mark = call.target.indexOf('?');
  const path = mark < 0 ? call.target : call.target.slice(0, mark);
  call.query = mark < 0 ? null : call.target.slice(mark + 1);
  return splitPath(call, path) ?? checkPath(call.forwardPath);
}

/** Forms A, B and C (interface rule 12 §3). A path that names no route leaves the reference null. */
function splitPath(call: Call, path: string): Refused | undefined {
  const underApi = path === '/api' || path.startsWith('/api/');
  if (call.routeHeader !== '') {
    call.reference = call.routeHeader;
    call.forwardPath = underApi ? path.slice(4) : path;
    return undefined;
  }
  if (underApi) {
    call.forwardPath = path.slice(4);
    return undefined;
  }
  const slash = path.indexOf('/', 1);
  const segment = slash < 0 ? path.slice(1) : path.slice(1, slash);
  call.forwardPath = slash < 0 ? '' : path.slice(slash);
  if (segment === '') return undefined;
  if (!segment.includes('%')) {
    call.reference = segment;
    return undefined;
  }
  try {
    call.reference = decodeURIComponent(segment);
  } catch {
    return refused('invalid_path', 'The first path segment is not valid percent-encoded UTF-8.');
  }
  return undefined;
}

// Servlet containers cut a segment at its semicolon before they look at it: to them `..;x` is `..`.
const SMUGGLED = /(?:^|[/\\])\.\.?(?:[/\\;]|$)|[\0\r\n]/;

/**
 * No segment may be `.` or `..`, however it is written, or the upstream could be led out of the target's base path. Everything else
 * (double slashes, %2F, a trailing slash) is kept byte for byte.
 */
function checkPath(path: string): Refused | undefined {
  if (!path.includes('.') && !path.includes('%')) return undefined;
  const decoded = path.includes('%')
    ? path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : path;
  return SMUGGLED.test(decoded) ? refused('invalid_path', 'The path must not contain . or .. segments, or control characters.') : undefined;
}

/** One pass over the raw headers; what later phases need is kept by name. */
function readHeaders(call: Call): void {
  const raw = call.req.rawHeaders;
  const names = new Array<string>(raw.length / 2);
  for (let i = 0; i < names.length; i++) {
    const name = lowerName(raw[i * 2] as string);
    names[i] = name;
    readHeader(call, name, raw[i * 2 + 1] as string);
  }
  call.names = names;
}

function readHeader(call: Call, name: string, value: string): void {
  switch (name) {
    case 'x-svc-route':
      call.routeHeader = asUtf8(value.trim());
      break;
    case 'x-svc-environment':
      call.environmentHeader = value.trim();
      break;
    case 'x-svc-key':
      call.presentedKey = value.trim() || null;
      break;
    case 'x-svc-agent-token':
      call.agentPair = true;
      break;
    case 'x-svc-client-origin':
      if (value.trim() === 'sdk-intercept') call.clientOrigin = 'sdk_intercept';
      break;
    case 'authorization':
      call.authorization = value;
      break;
    case 'x-api-key':
      call.apiKeyHeader = value;
      break;
    case 'connection':
      call.connection = call.connection === null ? value : `${call.connection}, ${value}`;
      break;
    case 'via':
      call.via = call.via === null ? value : `${call.via}, ${value}`;
      break;
    case 'content-type':
      call.contentType = value;
      break;
    case 'content-encoding':
      call.contentEncoding = value.trim().toLowerCase();
      break;
    case 'content-length':
      call.contentLength = Number(value);
      break;
    case 'transfer-encoding':
      call.contentLength = -1;
      break;
    case 'traceparent':
      call.traceparent = true;
      break;
    case 'idempotency-key':
      call.idempotencyKey = true;
      break;
    case 'user-agent':
      call.userAgent = value;
      break;
  }
}

/** Header bytes arrive as one character each; names of routes beyond ASCII are sent as UTF-8. */
function asUtf8(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : text;
}
