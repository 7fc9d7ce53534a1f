import type { Call } from './call.ts';
import type { ResponseHead } from './gateway-response.ts';
import { isoInstant } from './iso-instant.ts';
import { type Refused, statusOf, typeOf } from './refusal.ts';

// The response block (interface rule 12 §13.1, §13.2): headers on every answer of a plane, and the `service` object on refusals.

/** What the upstream's own headers already say. */
export type UpstreamSays = { requestId: boolean; rateLimit: boolean; nonce: boolean };
const NOTHING_SAID: UpstreamSays = { requestId: false, rateLimit: false, nonce: false };

/** The block as whole header lines, for `ResponseHead.lines`. Sets call.latencyMs when it is not known yet. */
export function blockLines(call: Call, code: string | null, says: UpstreamSays = NOTHING_SAID): string {
  if (call.latencyMs < 0) call.latencyMs = Math.round(performance.now() - call.began);
  const { requestId, upstreamStatus, latencyMs, upstreamMs } = call;
  let status = upstreamStatus > 0 ? `X-Svc-Upstream-Status: ${upstreamStatus}\r\n` : '';
  if (call.planeName === 'proxy') status += proxyLines(call);
  const error = code === null ? '' : `X-Svc-Error: ${code}\r\n`;
  const nonce = call.nonce === null || says.nonce ? '' : `DPoP-Nonce: ${call.nonce}\r\n`;
  const sandbox = call.snapshot.sandbox ? 'X-Svc-Sandbox: true\r\n' : '';
  let measured = '';
  let timing = `service;dur=${latencyMs}`;
  if (upstreamMs >= 0) {
    const overhead = Math.max(0, latencyMs - upstreamMs);
    measured = `X-Svc-Upstream-Ms: ${upstreamMs}\r\nX-Svc-Overhead-Ms: ${overhead}\r\n`;
    timing = `service;dur=${overhead}, service_upstream;dur=${upstreamMs}`;
  }
  return (
    `X-Svc-Request-Id: ${requestId}\r\nX-Svc-Origin: ${call.origin}\r\n${status}${error}X-Svc-Plane: ${call.planeName}\r\n${sandbox}` +
    `X-Svc-Latency-Ms: ${latencyMs}\r\nX-Svc-Latency-Phase: ${call.phase}\r\n${measured}${limitLines(call, says.rateLimit)}` +
    `Server-Timing: ${timing}\r\n${says.requestId ? '' : `X-Request-Id: ${requestId}\r\n`}${nonce}`
  );
}

/** What only answers of a host that the caller names say (interface rule 33 §5.2): refusals of ours say none of it. */
function proxyLines({ upstreamStatus, promotedRoute }: Call): string {
  if (upstreamStatus <= 0) return '';
  const destination = `X-Svc-Destination-Status: ${upstreamStatus}\r\n`;
  return promotedRoute === null ? destination : `${destination}X-Svc-Promoted-Route: ${promotedRoute}\r\n`;
}

function limitLines({ routeVerdict: route, tenantVerdict: tenant, monthly }: Call, upstreamHasTriple: boolean): string {
  let lines = '';
  if (route) {
    lines += `X-Svc-RateLimit-Route: ${tier(route)}\r\n`;
    if (!upstreamHasTriple) lines += triple('X-RateLimit', route);
  }
  if (tenant) lines += `X-Svc-RateLimit-Tenant: ${tier(tenant)}\r\n${triple('X-RateLimit-Tenant', tenant)}`;
  if (monthly) {
    const { limit, remaining } = monthly;
    lines +=
      `X-Svc-RateLimit-Monthly: limit=${limit}, remaining=${remaining}\r\nX-API-Usage-Limit: ${limit}\r\n` +
      `X-API-Usage-Used: ${limit - remaining}\r\nX-API-Usage-Remaining: ${remaining}\r\n`;
  }
  return lines;
}

type Tier = { limit: number; remaining: number; resetAt: number };

const tier = ({ limit, remaining, resetAt }: Tier): string => `limit=${limit}, remaining=${remaining}, reset=${isoInstant(resetAt)}`;

const triple = (name: string, { limit, remaining, resetAt }: Tier): string =>
  `${name}-Limit: ${limit}\r\n${name}-Remaining: ${remaining}\r\n${name}-Reset: ${Math.ceil(resetAt / 1000)}\r\n`;

/** Head and body of a refusal. The body is '' for HEAD. */
export function refusalAnswer(call: Call, refusal: Refused): { status: number; head: ResponseHead; body: string } {
  call.origin = 'service';
  call.phase = 'complete';
  // The one refusal that tells what the upstream said: its answer is whole, and may have had an effect.
  if (refusal.code !== 'response_action_failed') call.upstreamStatus = 0;
  call.latencyMs = Math.round(performance.now() - call.began);
  const status = statusOf(refusal.code);
  const body = JSON.stringify({
    error: { type: typeOf(refusal.code), message: refusal.message, request_id: call.requestId },
    service: {
      request_id: call.requestId,
      origin: 'service',
      plane: call.planeName,
      latency_ms: call.latencyMs,
      latency_phase: 'complete',
      code: refusal.code,
      message: refusal.message,
      rate_limit: rateLimits(call),
    },
  });
  const fields = [
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
  ];
  if (status === 401) fields.push('WWW-Authenticate', refusal.challenge ?? 'Bearer');
  if (refusal.allow !== undefined) fields.push('Allow', refusal.allow);
  if (refusal.retryAfter !== undefined) fields.push('Retry-After', String(refusal.retryAfter));
  const head = { lines: blockLines(call, refusal.code), fields };
  return { status, head, body: call.method === 'HEAD' ? '' : body };
}

function rateLimits(call: Call): Record<string, object> | undefined {
  const { routeVerdict, tenantVerdict, monthly } = call;
  if (!routeVerdict && !tenantVerdict && !monthly) return undefined;
  const tier = ({ limit, remaining, resetAt }: Tier) => ({ limit, remaining, reset: isoInstant(resetAt) });
  return {
    ...(routeVerdict && { route: tier(routeVerdict) }),
    ...(tenantVerdict && { tenant: tier(tenantVerdict) }),
    ...(monthly && { monthly: { limit: monthly.limit, remaining: monthly.remaining } }),
  };
}
