import { AI_CODES, AI_RETRY_AFTER, type AiCode, isAiCode, isAuthenticationCode } from '#server/ai/codes.ts';
import type { Call } from '../core/call.ts';
import type { RefusalAnswer } from '../core/plane.ts';
import type { Refused } from '../core/refusal.ts';
import { blockLines } from '../core/response-block.ts';

// How the AI planes refuse (interface rule 51 §4): `error` and `code` are equal, and there is no `reason`.

export type AiRefused = Refused<AiCode> & {
  /** Only where the code has several. */
  readonly status?: number | undefined;
  /** Further members of the body, such as `utilization_pct`. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
  /** Shown on a refusal that came after an upstream's answer. */
  readonly upstreamStatus?: number | undefined;
};

type More = {
  status?: number;
  extra?: Readonly<Record<string, unknown>>;
  retryAfter?: number | undefined;
  challenge?: string;
  cause?: unknown;
  upstreamStatus?: number;
};

/** A refusal of an AI plane, with the wait that belongs to its code unless another is given. `description` is public. */
export function aiRefusal(code: AiCode, description: string, more: More = {}): AiRefused {
  const { status, extra, retryAfter = AI_RETRY_AFTER[code], challenge, cause, upstreamStatus } = more;
  return { code, message: description, status, extra, retryAfter, challenge, cause, upstreamStatus };
}

export const aiStatus = (refusal: AiRefused): number => refusal.status ?? AI_CODES[refusal.code];

/** What the core refuses by, in the words of these planes. */
const OF_CORE: Readonly<Record<string, AiCode>> = {
  invalid_request: 'invalid_request_body',
  headers_too_large: 'invalid_request_body',
  expectation_failed: 'invalid_request_body',
  uri_too_long: 'invalid_path',
  method_not_allowed: 'unsupported_operation',
  concurrency_limit_exceeded: 'concurrency_limited',
  tenant_rate_limit_exceeded: 'rate_limited',
  plan_limit: 'monthly_limit_exceeded',
  tenant_sealed: 'tenant_key_missing',
};

/** A refusal of the core or of these planes as one of these planes. */
export function asAiRefusal(refusal: Refused<string>): AiRefused {
  if (isAiCode(refusal.code)) return refusal as AiRefused;
  const code = OF_CORE[refusal.code] ?? 'internal_error';
  // Their callers back off by themselves where no wait is known (interface rule 51 §4.1).
  const retryAfter = code === 'concurrency_limited' ? undefined : refusal.retryAfter;
  const extra = code === 'rate_limited' ? { limit: 'tenant' } : undefined;
  const status = refusal.code === 'expectation_failed' ? 417 : undefined;
  return { code, status, message: refusal.message, retryAfter, extra, cause: refusal.cause };
}

/** The body of a refusal; `service` is the response block of every plane (interface rule 12 §13). */
export const envelope = (refusal: AiRefused, requestId: string, plane: string, latencyMs: number): string =>
  JSON.stringify({
    error: refusal.code,
    error_description: refusal.message,
    code: refusal.code,
    ...refusal.extra,
    request_id: requestId,
    service: {
      request_id: requestId,
      origin: 'service',
      plane,
      latency_ms: latencyMs,
      latency_phase: 'complete',
      code: refusal.code,
      message: refusal.message,
    },
  });

/** Fields of a refusal's head that don't depend on a call. */
export function refusalFields(refusal: AiRefused, body: string): string[] {
  const fields = ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body)), 'Cache-Control', 'no-store'];
  if (isAuthenticationCode(refusal.code)) fields.push('X-Auth-Failure', refusal.code);
  if (refusal.challenge !== undefined) fields.push('WWW-Authenticate', refusal.challenge);
  if (refusal.retryAfter !== undefined) fields.push('Retry-After', String(Math.max(1, Math.ceil(refusal.retryAfter))));
  return fields;
}

/** Head and body of a refusal; `lines` are further header lines of the plane. The body is '' for HEAD. */
export function aiRefusalAnswer(call: Call, refused: Refused<string>, lines = ''): RefusalAnswer {
  const refusal = asAiRefusal(refused);
  call.origin = 'service';
  call.phase = 'complete';
  call.upstreamStatus = refusal.upstreamStatus ?? 0;
  call.latencyMs = Math.round(performance.now() - call.began);
  const body = envelope(refusal, call.requestId, call.planeName, call.latencyMs);
  return {
    status: aiStatus(refusal),
    head: { lines: lines + blockLines(call, refusal.code), fields: refusalFields(refusal, body) },
    body: call.method === 'HEAD' ? '' : body,
  };
}
