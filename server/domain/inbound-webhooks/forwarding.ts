import { allOf, reachOf, storedAuthority } from '#server/domain/authorities/service.ts';
import { type Ctx, own, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type OutboundHttp, openHttp } from '#server/platform/connect/http.ts';
import { askGateway } from '#server/platform/gateway-control.ts';
import { hyphenated } from '#server/platform/header-name.ts';
import { type FaultType, UpstreamFault } from '#server/platform/http-out/faults.ts';
import { VERIFIED_HEADER } from './formats.shared.ts';
import { type InboundOrder, RouteAnswer } from './order.schema.ts';
import type { InboundRow } from './store.ts';

/** A call as it arrived. */
export type Arrived = {
  headers: Headers;
  /** With its question mark, or empty. */
  query: string;
  ip: string | null;
  request_id: string;
  /** @throws Refusal payload_too_large, invalid_request */
  body(): Promise<Uint8Array>;
};

/** How the target took a verified call. `error` and `refusal` are set when it did not; `status` is the target's own. */
export type Forwarded = {
  answer: { status: number; content_type: string | null; body: Uint8Array } | null;
  error: string | null;
  refusal: Refusal | null;
  host: string | null;
  status: number | null;
  ms: number | null;
};

/** Senders wait for ten to thirty seconds, and call again after that. */
const PATIENCE_MS = 25_000;
const MOST_BYTES = 1024 * 1024;

/** Sends a verified call on. Null when there is no target. Never rejects for what a target does. */
export async function forward(ctx: Ctx, row: InboundRow, arrived: Arrived, body: Uint8Array): Promise<Forwarded | null> {
  const headers = forwardedHeaders(arrived.headers);
  const began = performance.now();
  const took = () => Math.round(performance.now() - began);
  if (row.forward_route_id !== null) return toRoute(ctx, row, row.forward_route_id, arrived, headers, body, took);
  if (row.forward_url === null) return null;
  const { host } = new URL(row.forward_url);
  try {
    const {
      status,
      headers: got,
      body: answer,
    } = await http().request({
      url: withQuery(row.forward_url, arrived.query),
      method: 'POST',
      headers: { ...Object.fromEntries(headers), [VERIFIED_HEADER]: 'true' },
      body: Buffer.from(body),
      tenant: ctx.tenant_id,
      space: spaceOf(ctx.sandbox),
      timeoutMs: PATIENCE_MS,
      maxBytes: MOST_BYTES,
    });
    const type = got['content-type'];
    return taken(status, typeof type === 'string' ? type : null, answer, host, took());
  } catch (error) {
    if (!(error instanceof UpstreamFault)) throw error;
    return failed(`target_${FAULTS[error.type] ?? 'unreachable'}`, host, null, took());
  }
}

const FAULTS: Partial<Record<FaultType, string>> = {
  upstream_timeout: 'timeout',
  upstream_tls_error: 'tls_error',
  upstream_not_allowed: 'not_allowed',
  upstream_response_too_large: 'response_too_large',
};

const held = processState('inbound-webhooks', (): { http?: OutboundHttp } => ({}));
const http = (): OutboundHttp => (held.http ??= openHttp({ connections: 32 }));

/** By the gateway, through everything that holds for calls of the route, for as long as who set it may call it. */
async function toRoute(
  ctx: Ctx,
  { id, name, authority }: InboundRow,
  route_id: string,
  { query, ip }: Arrived,
  headers: [string, string][],
  body: Uint8Array,
  took: () => number,
): Promise<Forwarded> {
  const reach = await reachOf(ctx, allOf(storedAuthority(authority)), route_id, new Date());
  if (reach.problem !== null) return failed('target_route_forbidden', null, null, took());
  const order: InboundOrder = {
    ...{ kind: 'forward', ...own(ctx), request_id: newId(), receiver_id: id, name, route_id, callers: reach.callers, query, headers },
    source_address: ip ?? '',
    body: Buffer.from(body).toString('base64'),
  };
  const answer = RouteAnswer.safeParse(await askGateway(order, '/inbound-calls').catch(() => null));
  if (!answer.success) return failed('target_unreachable', null, null, took());
  const { status, content_type, refused } = answer.data;
  if (status === null) return failed('target_timeout', null, null, took());
  if (refused !== null) return failed(`target_${refused}`, null, null, took());
  return taken(status, content_type, Buffer.from(answer.data.body, 'base64'), null, took());
}

/** A redirect is not followed, and not passed on to a sender either. */
function taken(status: number, content_type: string | null, body: Uint8Array, host: string | null, ms: number): Forwarded {
  if (status >= 300 && status < 400) return failed(`target_status_${status}`, host, status, ms);
  const error = status < 300 ? null : `target_status_${status}`;
  return { answer: { status, content_type, body }, error, refusal: null, host, status, ms };
}

function failed(error: string, host: string | null, status: number | null, ms: number): Forwarded {
  const refusal = new Refusal('dependency_unavailable', 'The target of this receiver did not take the call. Send it again later.');
  return { answer: null, error, refusal, host, status, ms };
}

/** Of one connection, of ours, or what only the front door may say. Signatures go along, so that a target can verify once more. */
const KEPT_BACK: ReadonlySet<string> = new Set([
  ...['host', 'content-length', 'expect', 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'accept-encoding'],
  ...['forwarded', 'via', 'x-real-ip', 'cookie', 'x-request-id'],
]);

/** By their names with hyphens: a target may read `X_Svc_Verified` as ours. */
export const forwardedHeaders = (headers: Headers): [string, string][] =>
  [...headers].filter(([name]) => {
    const meant = hyphenated(name.toLowerCase());
    return !KEPT_BACK.has(meant) && !/^(?:x-svc-|x-sallyport-|x-forwarded-|proxy-)/.test(meant);
  });

const withQuery = (url: string, query: string): string =>
  query.length <= 1 ? url : `${url}${url.includes('?') ? '&' : '?'}${query.slice(1)}`;
