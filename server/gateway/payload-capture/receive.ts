import type { Pool } from 'pg';
import type { Keyring } from '#server/crypto/keyring.ts';
import { digest } from '#server/crypto/tokens.ts';
import { capturePlace, LONGEST_CAPTURED, type StoredCapture } from '#server/domain/routes/payload-capture/stored.shared.ts';
import { formFields, type Structure, structureOf } from '#server/domain/routes/payload-capture/structure.shared.ts';
import { parseBounded } from '#server/kernel/bounded-text.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import { log } from '#server/platform/log.ts';
import type { Call } from '../core/call.ts';
import { networkOf } from '../core/client-address.ts';
import { readHeadFields } from '../core/head-fields.ts';
import { acceptBody } from '../core/listener.ts';
import { isMaskedHeader } from '../core/masked-headers.ts';
import { ANSWERED, type Phase, type PhaseResult } from '../core/plane.ts';
import { type Refused, refused } from '../core/refusal.ts';
import { readBody } from '../core/request-body.ts';
import type { Runtime } from '../core/runtime.ts';

export type Captures = { pool: Pool; keyring: Keyring };
type Link = { id: string; tenant_id: string; sandbox: boolean };
type Kept = { content_type: string; bytes: number; structure: Structure };

const PER_MINUTE = 20;
const TOKEN = /^\/_capture\/([A-Za-z0-9_-]{43})(?:[/?]|$)/;

/** Takes one request for a link that waits, and answers it. Unknown, used and expired links are one answer. */
export const receiver =
  (captures: Captures): Phase =>
  (call, runtime) => {
    const limited = limitAddress(call, runtime);
    return limited ?? receive(call, runtime, captures);
  };

async function receive(call: Call, runtime: Runtime, captures: Captures): Promise<PhaseResult> {
  readHeadFields(call, () => {});
  const token = TOKEN.exec(call.target)?.[1];
  try {
    const link = token === undefined ? undefined : await waitingLink(captures, call, token);
    if (!link) return UNKNOWN;
    const body = await takeBody(call, runtime);
    if ('code' in body) return body;
    const parsed = parse(body.text, call.contentType);
    if ('code' in parsed) return parsed;
    const kept = { content_type: mediaType(call.contentType), bytes: body.bytes, structure: structureOf(parsed.value) };
    if (!(await keep(captures, link, kept, { method: call.method, headers: maskedHeaders(call), body: body.text }))) return UNKNOWN;
  } catch (error) {
    log.warn({ err: error, request_id: call.requestId }, 'a payload could not be captured');
    return refused('dependency_unavailable', "The request couldn't be stored. Try again shortly.", { cause: error });
  }
  const text = '{"captured":true}';
  call.status = 200;
  const fields = { 'Content-Type': 'application/json', 'Content-Length': text.length, 'Cache-Control': 'no-store' };
  call.res.writeHead(200, { ...fields, 'X-Request-Id': call.requestId }).end(call.method === 'HEAD' ? undefined : text);
  return ANSWERED;
}

const UNKNOWN = refused('capture_not_found', 'This capture link is unknown, used or expired. Start a new one in the dashboard.');

function limitAddress(call: Call, { failures }: Runtime): Refused | undefined {
  const rule = { key: `capture ${networkOf(call.sourceAddress)}`, limit: PER_MINUTE, windowMs: 60_000, burst: null };
  const verdict = failures.take([rule], call.receivedAt)[0];
  if (!verdict || verdict.admitted) return undefined;
  return refused('capture_throttled', `At most ${PER_MINUTE} requests a minute can be sent to capture links from one address.`, {
    retryAfter: verdict.retryAfter,
  });
}

async function waitingLink({ pool }: Captures, { snapshot }: Call, token: string): Promise<Link | undefined> {
  const { rows } = await pool.query<Link>({
    name: 'capture-link',
    text: `select id, tenant_id, sandbox from payload_captures
      where token_hash = $1 and tenant_id = $2 and sandbox = $3 and state = 'waiting' and expires_at > now()`,
    values: [digest(token), snapshot.tenant.id, snapshot.sandbox],
  });
  return rows[0];
}

async function takeBody(call: Call, runtime: Runtime): Promise<{ text: string; bytes: number } | Refused> {
  if (call.contentLength > LONGEST_CAPTURED) return TOO_LARGE;
  if (call.contentEncoding !== '' && call.contentEncoding !== 'identity')
    return refused('unsupported_media_type', 'A request to a capture link must not be compressed.');
  if (!isForm(call.contentType) && !isJson(call.contentType))
    return refused('unsupported_media_type', 'Send JSON or a form: Content-Type application/json or application/x-www-form-urlencoded.');
  acceptBody(call.req, call.res);
  const read = await readBody(call.req, LONGEST_CAPTURED, (bytes) => runtime.bodies.hold(call, bytes));
  if (read.state === 'longer') return TOO_LARGE;
  if (read.state === 'crowded')
    return refused('concurrency_limit_exceeded', 'Too many request bodies are held in memory. Try again shortly.');
  if (read.body === null) return refused('invalid_request', "The request body wasn't fully received.");
  return { text: read.body.toString('utf8'), bytes: read.body.length };
}

const TOO_LARGE = refused('payload_too_large', 'A request to a capture link must not exceed 1 MiB.');
const mediaType = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();
const isForm = (contentType: string): boolean => mediaType(contentType) === 'application/x-www-form-urlencoded';
const isJson = (contentType: string): boolean => /^application\/(?:json|[\w.-]+\+json)$/.test(mediaType(contentType));

function parse(text: string, contentType: string): { value: unknown } | Refused {
  if (isForm(contentType)) return { value: formFields(text) };
  try {
    return { value: parseBounded(text) };
  } catch (error) {
    return refused('invalid_body', error instanceof Refusal ? error.message : "The request body isn't valid JSON.");
  }
}

function maskedHeaders({ req: { rawHeaders } }: Call): StoredCapture['headers'] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, i) => {
    const name = rawHeaders[i * 2] as string;
    const value = rawHeaders[i * 2 + 1] as string;
    return { name, value: isMaskedHeader(hyphenated(name.toLowerCase())) ? '[redacted]' : value };
  });
}

/** False: the link was used or ended in the meantime. */
async function keep({ pool, keyring }: Captures, link: Link, kept: Kept, request: StoredCapture): Promise<boolean> {
  const plaintext = Buffer.from(JSON.stringify(request));
  const sealed = await keyring.sealValue(capturePlace(link), plaintext).finally(() => plaintext.fill(0));
  const { rowCount } = await pool.query({
    name: 'capture-keep',
    text: `update payload_captures set state = 'captured', captured_at = now(), content_type = $2, bytes = $3, structure = $4,
        value_ct = $5, cek_wrapped = $6, tmk_version = $7 where id = $1 and state = 'waiting' and expires_at > now()`,
    values: [
      link.id,
      kept.content_type,
      kept.bytes,
      JSON.stringify(kept.structure),
      Buffer.from(sealed.value_ct),
      Buffer.from(sealed.cek_wrapped),
      sealed.tmk_version,
    ],
  });
  return rowCount === 1;
}
