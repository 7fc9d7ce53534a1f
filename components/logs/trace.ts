import type { z } from 'zod';
import type { Phase } from '#components/ui/phase-bar.tsx';
import type { LogDetail } from '#server/domain/request-logs/browse.schema.ts';

export type Detail = z.output<typeof LogDetail>;

type Limit = { limit: number; remaining: number };
export type Trace = {
  phases_ms: Record<string, number>;
  request_headers: string[];
  response_headers: string[];
  limits: { route?: Limit; tenant?: Limit; monthly?: Limit };
};

const numbers = (value: unknown): Record<string, number> =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number'))
    : {};
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? [...new Set(value.filter((one): one is string => typeof one === 'string'))] : [];
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const limit = (value: unknown): Limit | undefined =>
  isObject(value) && typeof value.limit === 'number' && typeof value.remaining === 'number'
    ? { limit: value.limit, remaining: value.remaining }
    : undefined;

/** What the gateway noted besides the columns. Rows of another release may lack any part of it. */
export function traceOf(value: unknown): Trace {
  const trace = isObject(value) ? value : {};
  const limits = isObject(trace.limits) ? trace.limits : {};
  const [route, tenant, monthly] = [limit(limits.route), limit(limits.tenant), limit(limits.monthly)];
  return {
    phases_ms: numbers(trace.phases_ms),
    request_headers: texts(trace.request_headers),
    response_headers: texts(trace.response_headers),
    limits: { ...(route ? { route } : {}), ...(tenant ? { tenant } : {}), ...(monthly ? { monthly } : {}) },
  };
}

/** The phases of all planes, in an order that is right for each of them. */
const NAMES: Record<string, string> = {
  start: 'Receive message',
  describe: 'Describe server',
  inspect: 'Parse request',
  authenticate: 'Authenticate',
  guard: 'Check access',
  find_route: 'Find route',
  match_client: 'Match client',
  admit: 'Authorize caller',
  restrict: 'Check restrictions',
  detect_loop: 'Detect loops',
  verify_signature: 'Verify signature',
  limit: 'Apply rate limits',
  rewrite: 'Inject and rewrite',
  change_fields: 'Apply field actions',
  sign_upstream: 'Sign for upstream',
  find_agent: 'Find agent',
  authorize: 'Authorize token',
  open_host: 'Find target',
  address: 'Find target',
  read_body: 'Read body',
  find_credential: 'Find credential',
  resolve_host: 'Resolve host',
  open: 'Decrypt secrets',
  send: 'Send request',
  own_objects: 'Check stored objects',
  choose_model: 'Choose model',
  judge_stream: 'Check streaming',
  filter_tools: 'Filter tools',
  clamp: 'Limit output tokens',
  control: 'Apply AI controls',
  serve: 'Prepare call',
};

/** The phases in their order, then the wait for the upstream, then what is left of our own time. A refused call stopped in its last phase. */
export function phasesOf(
  log: Pick<Detail['log'], 'latency_ms' | 'upstream_ms' | 'origin' | 'error'>,
  trace: Trace,
): { phases: Phase[]; stoppedAt?: string } {
  // jsonb keeps keys in an order of its own: the order of the pipeline is that of NAMES.
  const place = (name: string) => (name in NAMES ? Object.keys(NAMES).indexOf(name) : Number.MAX_SAFE_INTEGER);
  const inside: Phase[] = Object.entries(trace.phases_ms)
    .sort(([a], [b]) => place(a) - place(b))
    .map(([name, ms]) => ({ name: NAMES[name] ?? name, ms, where: 'inside' }));
  const upstream = log.upstream_ms;
  const spent = inside.reduce((sum, phase) => sum + phase.ms, 0) + (upstream ?? 0);
  const left = Math.max(0, (log.latency_ms ?? 0) - spent);
  const phases: Phase[] = [
    ...inside,
    ...(upstream === null ? [] : [{ name: 'Upstream', ms: upstream, where: 'upstream' as const }]),
    ...(left >= 0.5 || inside.length === 0
      ? [{ name: upstream === null ? 'Other' : 'Send response', ms: left, where: 'inside' as const }]
      : []),
  ];
  const last = inside.at(-1)?.name;
  return { phases, ...(log.origin === 'service' && log.error && upstream === null && last ? { stoppedAt: last } : {}) };
}

/** The headers of ours that the caller got (interface rule 12 §13.1), as far as the row tells. */
export function blockOf(log: Detail['log'], { limits }: Trace): [name: string, value: string][] {
  const pair = (name: string, value: string | number | null | undefined): [string, string][] =>
    value === null || value === undefined ? [] : [[name, String(value)]];
  const tier = (name: string, of: Limit | undefined) => pair(name, of && `limit=${of.limit}, remaining=${of.remaining}`);
  return [
    ...pair('X-Svc-Request-Id', log.request_id),
    ...pair('X-Svc-Origin', log.origin),
    ...pair('X-Svc-Upstream-Status', log.upstream_status),
    ...pair('X-Svc-Error', log.origin === 'service' ? log.error : null),
    ...pair('X-Svc-Sandbox', log.sandbox ? 'true' : null),
    ...pair('X-Svc-Latency-Ms', log.latency_ms),
    ...pair('X-Svc-Upstream-Ms', log.upstream_ms),
    ...pair(
      'X-Svc-Overhead-Ms',
      log.upstream_ms === null || log.latency_ms === null ? null : Math.max(0, log.latency_ms - log.upstream_ms),
    ),
    ...tier('X-Svc-RateLimit-Route', limits.route),
    ...tier('X-Svc-RateLimit-Tenant', limits.tenant),
    ...tier('X-Svc-RateLimit-Monthly', limits.monthly),
  ];
}
