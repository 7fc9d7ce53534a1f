import { signDelivery } from '#server/crypto/transit/webhook-formats.ts';
import { SecretUnusable } from '#server/custody/mcp/secrets.ts';
import { type Attempt, type Outcome, outcomeOfFault, outcomeOfResponse } from '#server/domain/deliveries/service.ts';
import { spaceOf } from '#server/kernel/context.ts';
import { batching } from '#server/platform/batching.ts';
import type { OutboundHttp } from '#server/platform/connect/http.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { isOpenPort } from '#server/platform/http-out/open-port.ts';
import type { OutboundResponse } from '#server/platform/http-out/request-out.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { type EnvelopeOptions, envelopeOf } from './envelope.ts';
import type { AuthType, ErrorCode, HmacFormat } from './options.shared.ts';
import { presentedHeaders } from './presenting.ts';
import { openPresented, type Presented } from './sealing.ts';
import { type SecretRow, SigningKeyUnavailable, signingKeys } from './signing-keys.ts';
import { maskedUrl } from './target.ts';

/** One request to a receiver and how it ended; `Kept` is what the log keeps sealed of it. */
export type Sent = {
  executed_at: Date;
  http_method: string;
  target_url: string;
  response_status: number | null;
  response_time_ms: number | null;
  error_code: ErrorCode | null;
  error_message: string | null;
  outcome: Exclude<Outcome, { result: 'dropped' }>;
  kept: Kept;
};
export type Kept = {
  envelope: EnvelopeOptions & { timestamp: string; bare: boolean };
  request_headers: Record<string, string>;
  response: { headers: Record<string, string>; body: string; truncated: boolean } | null;
};

/** Bytes of the answer that are read, and how many of them the log keeps. */
const READ_BYTES = 64 * 1_024;
const KEPT_BYTES = 4 * 1_024;
const LONGEST_URL = 8 * 1_024;

/** Makes one attempt, signed and rendered afresh. Null when the webhook is gone. @throws what `signal` aborts with, and faults of ours */
export async function send(
  http: OutboundHttp,
  attempt: Attempt,
  { signal, mostMs = 60_000 }: { signal?: AbortSignal; mostMs?: number } = {},
): Promise<Sent | null> {
  const found = await loaded(`${attempt.tenant_id} ${attempt.sandbox}`, attempt);
  if (!found) return null;
  const { webhook } = found;
  const executed_at = new Date();
  const options: EnvelopeOptions = { ...webhook, webhook_id: webhook.id, webhook_name: webhook.name, sandbox: attempt.sandbox };
  const sent = (
    body: Built | null,
    answer: OutboundResponse | null,
    ms: number | null,
    outcome: Sent['outcome'],
    message: string | null,
  ): Sent => ({
    executed_at,
    http_method: webhook.method,
    target_url: maskedUrl(webhook.url),
    response_status: answer?.status ?? null,
    response_time_ms: ms,
    error_code: outcome.result === 'failed' ? (outcome.error as ErrorCode) : null,
    error_message: message,
    outcome,
    kept: {
      envelope: { ...pick(options), timestamp: executed_at.toISOString(), bare: body?.bare ?? false },
      request_headers: body?.shown ?? {},
      response: answer && keptOf(answer),
    },
  });
  const failed = (error: ErrorCode, message: string, final = false) => sent(null, null, null, { result: 'failed', error, final }, message);

  let built: Built;
  try {
    built = await build(attempt, found, options, executed_at);
  } catch (error) {
    if (error instanceof SigningKeyUnavailable) return failed('signing_key_unavailable', error.message);
    if (error instanceof SecretUnusable) return failed('secret_unresolved', error.message);
    throw error;
  }
  const { protocol, port, hostname } = new URL(webhook.url);
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  if (!isOpenPort(protocol.slice(0, -1), number))
    return failed('blocked_address', `The port ${number} of ${hostname} can't be used.`, true);

  const began = performance.now();
  const took = () => Math.round(performance.now() - began);
  const { url, method, headers, body } = built;
  try {
    const answer = await http.request({
      ...{ url, method, headers, body, signal },
      tenant: attempt.tenant_id,
      space: spaceOf(attempt.sandbox),
      timeoutMs: Math.min(webhook.timeout_seconds * 1_000, mostMs),
      maxBytes: READ_BYTES,
      overflow: 'truncate',
    });
    const outcome = outcomeOfResponse(answer);
    return sent(built, answer, took(), outcome, outcome.result === 'failed' ? `The receiver answered with status ${answer.status}.` : null);
  } catch (error) {
    if (!(error instanceof UpstreamFault) || signal?.aborted) throw error;
    const outcome = outcomeOfFault(error);
    return sent(built, null, took(), outcome, error.type === 'upstream_timeout' ? 'Request timeout' : error.message);
  }
}

type Webhook = {
  id: string;
  name: string;
  url: string;
  method: 'POST' | 'PUT' | 'PATCH' | 'GET';
  auth_type: AuthType;
  include_request_body: boolean;
  include_response_body: boolean;
  include_headers: boolean;
  timeout_seconds: number;
  hmac_key_id: string | null;
  hmac_format: HmacFormat;
  hmac_header_name: string | null;
  auth_id: string | null;
  value_ct: Buffer | null;
  cek_wrapped: Buffer | null;
  tmk_version: number | null;
};

type Loaded = { webhook: Webhook; secrets: readonly SecretRow[] };

/** Attempts that begin together are read together; what is read is never older than the attempt. */
const loaded = batching<Attempt, Loaded | undefined>('webhooks to send', {
  most: 100,
  run: async (attempts) => {
    const space = attempts[0] as Attempt;
    const ids = [...new Set(attempts.map(({ destination_id }) => destination_id))];
    const [webhooks, secrets] = await Promise.all([ownRows<Webhook>(space, WEBHOOKS, ids), ownRows<SecretRow>(space, SECRETS, ids)]);
    return attempts.map(({ destination_id }) => {
      const webhook = webhooks.find(({ id }) => id === destination_id);
      return webhook && { webhook, secrets };
    });
  },
});

const WEBHOOKS = ownQuery(
  'webhooks-to-send',
  `select w.id, w.name, w.url, w.method, w.auth_type, w.include_request_body, w.include_response_body, w.include_headers, w.timeout_seconds,
     w.hmac_key_id, w.hmac_format, w.hmac_header_name, a.id as auth_id, a.value_ct, a.cek_wrapped, a.tmk_version
   from webhooks w left join webhook_auths a on a.webhook_id = w.id where w.id = any($3::uuid[]) and w.tenant_id = $1 and w.sandbox = $2`,
);

const SECRETS = ownQuery(
  'webhook-secrets',
  `select id, webhook_id, value_ct, cek_wrapped, tmk_version, expires_at from webhook_secrets
   where tenant_id = $1 and sandbox = $2 and webhook_id = any($3::uuid[]) order by created_at desc`,
);

type Built = {
  url: string;
  method: Webhook['method'];
  headers: Record<string, string>;
  body: string | undefined;
  bare: boolean;
  /** The headers as the log keeps them: without credentials. */
  shown: Record<string, string>;
};

/** The request of an attempt. @throws SigningKeyUnavailable, SecretUnusable */
async function build(attempt: Attempt, { webhook, secrets }: Loaded, options: EnvelopeOptions, at: Date): Promise<Built> {
  const { event } = attempt;
  const isGet = webhook.method === 'GET';
  let bare = false;
  let text = envelopeOf(event, options, at);
  let url = isGet ? withQuery(webhook.url, event, text) : webhook.url;
  if (url.length > LONGEST_URL) {
    bare = true;
    text = envelopeOf(event, options, at, true);
    url = withQuery(webhook.url, event, text);
  }
  const seconds = Math.floor(at.getTime() / 1_000);
  const keys = await signingKeys(attempt, webhook, secrets, at);
  const signature = signDelivery(
    { format: webhook.hmac_format, header: webhook.hmac_header_name, id: event.id, ...keys },
    Buffer.from(text),
    seconds,
  );
  const plain = {
    ...(isGet ? {} : { 'content-type': 'application/json; charset=utf-8' }),
    'user-agent': 'svc-webhooks/1',
    ...signature,
    'x-webhook-event': event.type,
    'x-webhook-id': event.id,
    'x-webhook-delivery': attempt.delivery_id,
    'x-webhook-attempt': String(attempt.number),
    'x-webhook-timestamp': String(seconds),
    traceparent: event.trace ?? traceOf(event.id, attempt.delivery_id),
  };
  const presented = await presentedHeaders(attempt, webhook.auth_type, await presentedOf(attempt, webhook), webhook.url, at);
  const hidden = Object.fromEntries(Object.keys(presented).map((name) => [name.toLowerCase(), '[redacted]']));
  return {
    url,
    method: webhook.method,
    headers: { ...plain, ...presented },
    body: isGet ? undefined : text,
    bare,
    shown: { ...plain, ...hidden },
  };
}

async function presentedOf(attempt: Attempt, { auth_id, value_ct, cek_wrapped, tmk_version }: Webhook): Promise<Presented> {
  if (!auth_id || !value_ct || !cek_wrapped || tmk_version === null) return { auth_config: {}, request_headers: {} };
  return openPresented(attempt, { id: auth_id, value_ct, cek_wrapped, tmk_version });
}

/** A receiver that takes GET has the envelope in its query (interface rule 60 §3.2). */
function withQuery(url: string, { id, type }: Attempt['event'], text: string): string {
  const query = new URLSearchParams({ event: type, id, payload: Buffer.from(text).toString('base64url') });
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}

/** For an event that no call caused: one trace for all attempts of all deliveries of it. */
const traceOf = (eventId: string, deliveryId: string): string =>
  `00-${eventId.replaceAll('-', '')}-${deliveryId.replaceAll('-', '').slice(-16)}-01`;

const pick = ({
  webhook_id,
  webhook_name,
  sandbox,
  include_request_body,
  include_response_body,
  include_headers,
}: EnvelopeOptions): EnvelopeOptions => ({
  ...{ webhook_id, webhook_name, sandbox, include_request_body, include_response_body, include_headers },
});

function keptOf({ headers, body, truncated }: OutboundResponse): Kept['response'] {
  const kept = Object.entries(headers).map(([name, value]) => [
    name,
    (Array.isArray(value) ? value.join(', ') : (value ?? '')).slice(0, 1_024),
  ]);
  const text = body.subarray(0, KEPT_BYTES).toString('utf8').replaceAll('\0', '');
  return { headers: Object.fromEntries(kept.slice(0, 50)), body: text, truncated: truncated || body.length > KEPT_BYTES };
}
