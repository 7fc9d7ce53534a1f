import type { Verdict } from '#server/platform/counters.ts';
import type { Call } from '../call.ts';

/** In the pipeline's order. */
const PHASES = ['inspect', 'authenticate', 'find_route', 'match_client', 'admit', 'restrict', 'detect_loop', 'limit', 'rewrite'] as const;
type Phase = (typeof PHASES)[number];

/** What the inspector shows of a call besides its row (interface rule 13 §2). */
export type Trace = {
  /** In the pipeline's order; a phase the call never came to is undefined, which JSON leaves out. */
  phases_ms: Partial<Record<Phase, number>>;
  latency_phase: Call['phase'];
  request_headers: string[];
  response_headers: string[];
  limits: Partial<Record<'route' | 'tenant' | 'monthly', { limit: number; remaining: number }>>;
};

/** What the call's own figures say, with names cut to what tells them apart. */
export function traceOf(call: Call): Trace {
  const { laps, tenantVerdict, routeVerdict, monthly } = call;
  return {
    phases_ms: {
      inspect: lap(laps, 0),
      authenticate: lap(laps, 1),
      find_route: lap(laps, 2),
      match_client: lap(laps, 3),
      admit: lap(laps, 4),
      restrict: lap(laps, 5),
      detect_loop: lap(laps, 6),
      limit: lap(laps, 7),
      rewrite: lap(laps, 8),
    },
    latency_phase: call.phase,
    request_headers: call.names.map(shortened),
    response_headers: call.responseHeaders?.map(shortened) ?? [],
    limits: { route: left(routeVerdict), tenant: left(tenantVerdict), monthly: monthly ?? undefined },
  };
}

/** Milliseconds the phase took, to the microsecond. */
const lap = (laps: readonly number[], phase: number): number | undefined =>
  phase < laps.length ? Math.round(((laps[phase] ?? 0) - (laps[phase - 1] ?? 0)) * 1000) / 1000 : undefined;

const left = (verdict: Verdict | null) => (verdict ? { limit: verdict.limit, remaining: verdict.remaining } : undefined);

/** Of a header's name as much as tells it from the others. */
const MAX_NAME = 128;
const shortened = (name: string): string => (name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name);

/** The trace as JSON, at a third of what `JSON.stringify` costs: every name in it is a token (RFC 9110 §5.6.2), in which nothing needs escaping. */
export function traceText(trace: Trace): string {
  const { phases_ms, latency_phase, request_headers, response_headers, limits } = trace;
  // A row that waited on the disk may be of an earlier release, and must not hold back its neighbours.
  if (!phases_ms || !request_headers || !response_headers || !limits) return JSON.stringify(trace);
  let phases = '';
  for (const phase of PHASES) {
    const ms = phases_ms[phase];
    if (ms === undefined) continue;
    phases += `${phases === '' ? '' : ','}"${phase}":${text(ms)}`;
  }
  return (
    `{"phases_ms":{${phases}},"latency_phase":"${latency_phase}","request_headers":${list(request_headers)},` +
    `"response_headers":${list(response_headers)},"limits":{${limitsText(limits)}}}`
  );
}

function limitsText({ route, tenant, monthly }: Trace['limits']): string {
  let limits = '';
  if (route) limits = `"route":${leftText(route)}`;
  if (tenant) limits += `${limits === '' ? '' : ','}"tenant":${leftText(tenant)}`;
  if (monthly) limits += `${limits === '' ? '' : ','}"monthly":${leftText(monthly)}`;
  return limits;
}
const leftText = ({ limit, remaining }: { limit: number; remaining: number }) => `{"limit":${limit},"remaining":${remaining}}`;

/** A list of tokens. */
const list = (names: readonly string[]): string => (names.length === 0 ? '[]' : `["${names.join('","')}"]`);

/** Up to a millisecond every number of microseconds, written: the engine finds the shortest digits of each fraction anew. */
const MICROSECONDS = Array.from({ length: 1_000 }, (_, us) => String(us / 1_000));
const text = (ms: number): string => MICROSECONDS[Math.round(ms * 1_000)] ?? String(ms);
