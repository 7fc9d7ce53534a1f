import type { Call } from './call.ts';
import { isoInstant } from './instant.ts';
import { type Refused, statusOf, typeOf } from './refusal.ts';

// The response block of the route plane (interface rule 12 §13.1, §13.2): headers on every answer, and the `service` object on refusals.

/** What the upstream's own headers already say. */
export type UpstreamSays = { requestId: boolean; rateLimit: boolean };
const NOTHING_SAID: UpstreamSays = { requestId: false, rateLimit: false };

/** Appends the block to a flat header list. Sets call.latencyMs when it is not known yet. */
export function pushBlock(call: Call, out: string[], code: string | null, says: UpstreamSays = NOTHING_SAID): void {
  if (call.latencyMs < 0) call.latencyMs = Math.round(performance.now() - call.began);
  const latency = call.latencyMs;
  out.push('X-Svc-Request-Id', call.requestId, 'X-Svc-Origin', call.origin);
  if (call.upstreamStatus > 0) out.push('X-Svc-Upstream-Status', String(call.upstreamStatus));
  if (code !== null) out.push('X-Svc-Error', code);
  out.push('X-Svc-Plane', 'route');
  if (call.snapshot.sandbox) out.push('X-Svc-Sandbox', 'true');
  out.push('X-Svc-Latency-Ms', String(latency), 'X-Svc-Latency-Phase', call.phase);
  let timing: string;
  if (call.upstreamMs >= 0) {
    const overhead = Math.max(0, latency - call.upstreamMs);
    out.push('X-Svc-Upstream-Ms', String(call.upstreamMs), 'X-Svc-Overhead-Ms', String(overhead));
    timing = `service;dur=${overhead}, service_upstream;dur=${call.upstreamMs}`;
  } else timing = `service;dur=${latency}`;
  pushLimits(call, out, says.rateLimit);
  out.push('Server-Timing', timing);
  if (!says.requestId) out.push('X-Request-Id', call.requestId);
}

function pushLimits(call: Call, out: string[], upstreamHasTriple: boolean): void {
  const { routeVerdict: route, tenantVerdict: tenant, monthly } = call;
  if (route) {
    out.push('X-Svc-RateLimit-Route', `limit=${route.limit}, remaining=${route.remaining}, reset=${isoInstant(route.resetAt)}`);
    if (!upstreamHasTriple) pushTriple(out, 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', route);
  }
  if (tenant) {
    out.push('X-Svc-RateLimit-Tenant', `limit=${tenant.limit}, remaining=${tenant.remaining}, reset=${isoInstant(tenant.resetAt)}`);
    pushTriple(out, 'X-RateLimit-Tenant-Limit', 'X-RateLimit-Tenant-Remaining', 'X-RateLimit-Tenant-Reset', tenant);
  }
  if (monthly) {
    out.push('X-Svc-RateLimit-Monthly', `limit=${monthly.limit}, remaining=${monthly.remaining}`);
    const used = String(monthly.limit - monthly.remaining);
    out.push('X-API-Usage-Limit', String(monthly.limit), 'X-API-Usage-Used', used, 'X-API-Usage-Remaining', String(monthly.remaining));
  }
}

function pushTriple(
  out: string[],
  limit: string,
  remaining: string,
  reset: string,
  tier: { limit: number; remaining: number; resetAt: number },
): void {
  out.push(limit, String(tier.limit), remaining, String(tier.remaining), reset, String(Math.ceil(tier.resetAt / 1000)));
}

/** Head and body of a refusal. The body is '' for HEAD. */
export function refusalAnswer(call: Call, refusal: Refused): { status: number; headers: string[]; body: string } {
  call.origin = 'service';
  call.phase = 'complete';
  call.upstreamStatus = 0;
  call.latencyMs = Math.round(performance.now() - call.began);
  const status = statusOf(refusal.code);
  const body = JSON.stringify({
    error: { type: typeOf(refusal.code), message: refusal.message, request_id: call.requestId },
    service: {
      request_id: call.requestId,
      origin: 'service',
      plane: 'route',
      latency_ms: call.latencyMs,
      latency_phase: 'complete',
      code: refusal.code,
      message: refusal.message,
      rate_limit: rateLimits(call),
    },
  });
  const headers = [
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
  ];
  if (status === 401) headers.push('WWW-Authenticate', 'Bearer');
  if (refusal.allow !== undefined) headers.push('Allow', refusal.allow);
  if (refusal.retryAfter !== undefined) headers.push('Retry-After', String(refusal.retryAfter));
  pushBlock(call, headers, refusal.code);
  return { status, headers, body: call.method === 'HEAD' ? '' : body };
}

function rateLimits(call: Call): Record<string, object> | undefined {
  const { routeVerdict, tenantVerdict, monthly } = call;
  if (!routeVerdict && !tenantVerdict && !monthly) return undefined;
  const tier = (v: { limit: number; remaining: number; resetAt: number }) => ({
    limit: v.limit,
    remaining: v.remaining,
    reset: isoInstant(v.resetAt),
  });
  return {
    ...(routeVerdict && { route: tier(routeVerdict) }),
    ...(tenantVerdict && { tenant: tier(tenantVerdict) }),
    ...(monthly && { monthly: { limit: monthly.limit, remaining: monthly.remaining } }),
  };
}
