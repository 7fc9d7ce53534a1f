import type { OutboundHttp } from '#server/platform/connect/http.ts';
import { type FaultType, UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { OutboundResponse } from '#server/platform/http-out/request-out.ts';
import type { Attempt, Channel, Outcome } from './channel.ts';

/** What is sent for one attempt. */
export type HttpDelivery = {
  url: string;
  method: 'POST' | 'PUT' | 'PATCH' | 'GET';
  headers: Readonly<Record<string, string>>;
  body?: string;
  timeoutMs: number;
};

const READ_BYTES = 64 * 1024;

/**
 * Delivers over guarded HTTP. `render` builds the request afresh for each attempt, because signatures and timestamps are those of the attempt; null when
 * the destination is gone. Redirects are never followed (spec 60 §5.1). Open `http` with as many connections as a workspace may have attempts in flight:
 * several of its destinations may share a host.
 */
export function httpChannel(http: OutboundHttp, render: (attempt: Attempt) => Promise<HttpDelivery | null>): Channel {
  return {
    async deliver(attempt, signal) {
      const request = await render(attempt);
      if (!request) return { result: 'dropped' };
      const { tenant_id: tenant, sandbox } = attempt;
      try {
        const limits = { maxBytes: READ_BYTES, overflow: 'truncate' as const, signal };
        return outcomeOfResponse(await http.request({ ...request, ...limits, tenant, space: sandbox ? 'test' : 'live' }));
      } catch (error) {
        if (!(error instanceof UpstreamFault) || signal.aborted) throw error;
        return outcomeOfFault(error);
      }
    },
  };
}

/** A refused address is refused every time; everything else may pass. A name that nobody knows is a fault of its own. */
export function outcomeOfFault({ type, message }: UpstreamFault): Extract<Outcome, { result: 'failed' }> {
  const unknown = type === 'upstream_unreachable' && UNRESOLVED.test(message);
  return { result: 'failed', error: unknown ? 'dns_error' : CODES[type], final: type === 'upstream_not_allowed' };
}

const UNRESOLVED = /could not be resolved\.$/;

/** Total, so that a new fault doesn't count as the receiver's without saying so. */
const CODES: Readonly<Record<FaultType, string>> = {
  upstream_unreachable: 'connect_error',
  upstream_protocol_error: 'connect_error',
  upstream_timeout: 'timeout',
  upstream_tls_error: 'tls_error',
  upstream_not_allowed: 'blocked_address',
  upstream_response_too_large: 'response_too_large',
  // Ours: a webhook isn't blamed for them.
  concurrency_limit_exceeded: 'internal_error',
  route_misconfigured: 'internal_error',
  aborted: 'internal_error',
  internal_error: 'internal_error',
};

/** Success is any 2xx. 410 Gone ends the delivery; 429 and 503 may say how long to wait. */
export function outcomeOfResponse({
  status,
  headers,
}: Pick<OutboundResponse, 'status' | 'headers'>): Exclude<Outcome, { result: 'dropped' }> {
  if (status >= 200 && status < 300) return { result: 'delivered', status };
  const retryAfterMs = status === 429 || status === 503 ? retryAfter(headers['retry-after']) : undefined;
  return { result: 'failed', error: 'http_status', status, final: status === 410, ...(retryAfterMs ? { retryAfterMs } : {}) };
}

/** RFC 9110 §10.2.3: seconds or a date. */
function retryAfter(value: string | string[] | undefined): number | undefined {
  if (typeof value !== 'string') return undefined;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return ms > 0 ? ms : undefined;
}
