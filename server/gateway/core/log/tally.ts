import { bucketOf, emptyBuckets, NO_ROUTE } from '#server/domain/request-logs/buckets.ts';
import { METHODS, OTHER_METHOD } from '#server/domain/request-logs/rollups.ts';
import type { LogRow } from './row.ts';
import { sameNames } from './same-names.ts';
import { cameToLimits } from './trace.ts';

/** Calls that are alike in everything anybody counts by, added up. */
export type Tally = ReturnType<typeof newTally>;

export type Tallies = { add(row: LogRow): void; all(): Tally[] };

/**
 * What rows add up to: every count of calls is then summed from these few instead of from the rows. Neighbours are mostly alike, so a row
 * is first held against the tally of the row before it, and a key is only made when it differs.
 */
export function newTallies(): Tallies {
  const tallies = new Map<string, Tally>();
  let last: Tally | undefined;
  return {
    add(row) {
      if (!last || !alike(last, row)) last = tallyOf(tallies, row);
      add(last, row);
    },
    all: () => [...tallies.values()],
  };
}

function alike(tally: Tally, row: LogRow): boolean {
  return (
    tally.route_id === (row.route_id ?? NO_ROUTE) &&
    tally.test === isTest(row) &&
    tally.api_key_id === row.api_key_id &&
    tally.client_id === row.matched_client_id &&
    tally.tenant_id === row.tenant_id &&
    tally.sandbox === row.sandbox &&
    tally.status_class === classOf(row) &&
    tally.environment === environmentOf(row) &&
    tally.method === methodOf(row) &&
    tally.error === (row.error ?? '') &&
    tally.origin === (row.origin ?? '') &&
    tally.plane === (row.proxy_mode ?? '') &&
    row.ts.startsWith(tally.minute) &&
    sameNames(tally.secrets, row.secrets_used)
  );
}

function tallyOf(tallies: Map<string, Tally>, row: LogRow): Tally {
  const parts = [
    row.tenant_id,
    row.sandbox,
    row.ts.slice(0, 16),
    row.route_id,
    environmentOf(row),
    classOf(row),
    methodOf(row),
    row.origin,
    row.proxy_mode,
    row.error,
    row.api_key_id,
  ];
  const key = [...parts, row.matched_client_id, ...row.secrets_used].join('\n');
  const known = tallies.get(key) ?? newTally(row);
  tallies.set(key, known);
  return known;
}

function newTally(row: LogRow) {
  return {
    tenant_id: row.tenant_id,
    sandbox: row.sandbox,
    /** `YYYY-MM-DDTHH:MM`, UTC. */
    minute: row.ts.slice(0, 16),
    route_id: row.route_id ?? NO_ROUTE,
    environment: environmentOf(row),
    status_class: classOf(row),
    method: methodOf(row),
    origin: row.origin ?? '',
    plane: row.proxy_mode ?? '',
    error: row.error ?? '',
    api_key_id: row.api_key_id,
    client_id: row.matched_client_id,
    secrets: row.secrets_used,
    /** Of the Test tab: their secrets were used, but they say nothing of how the routes do, and are in no other count. */
    test: isTest(row),
    count: 0,
    errors: 0,
    rate_limited: 0,
    /** Those the plan's counter took. */
    counted: 0,
    /** The same calls by status code and method, of which a tally has few. */
    kinds: [] as { status_code: number; method: string; count: number }[],
    bytes_in: 0,
    bytes_out: 0,
    latency_sum: 0,
    overhead_sum: 0,
    latency: emptyBuckets(),
    upstream: emptyBuckets(),
    overhead: emptyBuckets(),
    latency_max: 0,
    upstream_max: 0,
    overhead_max: 0,
    last_at: '',
  };
}

function add(tally: Tally, row: LogRow): void {
  tally.count += 1;
  if (row.error !== null || (row.status_code ?? 0) >= 500) tally.errors += 1;
  if (row.rate_limited) tally.rate_limited += 1;
  if (countedByPlan(row)) tally.counted += 1;
  // A row that waited on the disk may lack what a row always has.
  addKind(tally.kinds, row.status_code ?? 0, row.method ?? '');
  tally.bytes_in += row.request_bytes;
  tally.bytes_out += row.response_bytes;
  observe(tally.latency, row.latency_ms);
  observe(tally.upstream, row.upstream_ms);
  tally.latency_sum += row.latency_ms ?? 0;
  if (row.latency_ms !== null && row.upstream_ms !== null) addOverhead(tally, Math.max(0, row.latency_ms - row.upstream_ms));
  tally.latency_max = Math.max(tally.latency_max, row.latency_ms ?? 0);
  tally.upstream_max = Math.max(tally.upstream_max, row.upstream_ms ?? 0);
  if (row.ts > tally.last_at) tally.last_at = row.ts;
}

/** Latency without the upstream's share, of a call that reached one. */
function addOverhead(tally: Tally, ms: number): void {
  tally.overhead_sum += ms;
  tally.overhead_max = Math.max(tally.overhead_max, ms);
  observe(tally.overhead, ms);
}

function addKind(kinds: Tally['kinds'], status_code: number, method: string): void {
  for (const kind of kinds)
    if (kind.status_code === status_code && kind.method === method) {
      kind.count += 1;
      return;
    }
  kinds.push({ status_code, method, count: 1 });
}

function observe(buckets: number[], ms: number | null): void {
  if (ms === null) return;
  const bucket = bucketOf(ms);
  buckets[bucket] = (buckets[bucket] ?? 0) + 1;
}

/** Names that callers make up are counted as none: each would be a row of its own. */
const environmentOf = (row: LogRow): string => (row.error === 'environment_not_configured' ? '' : (row.environment ?? ''));

const TOLD_APART = new Set(METHODS);
const methodOf = ({ method }: LogRow): string => (!method || TOLD_APART.has(method) ? (method ?? '') : OTHER_METHOD);

const isTest = (row: LogRow): boolean => row.proxy_mode === 'test';

/** 2 to 5; 0 for calls whose caller went away. */
const classOf = (row: LogRow): number => Math.floor((row.status_code ?? 0) / 100);

const REFUSED_BY_LIMIT = new Set(['plan_limit', 'concurrency_limit_exceeded', 'route_rate_limit_exceeded', 'client_rate_limit_exceeded']);

/** Whether the plan's counter took the call: it came past the limits, and was no test request (interface rules 20 §2, 10 §15.2). */
function countedByPlan({ trace, error, proxy_mode }: LogRow): boolean {
  if (proxy_mode === 'test') return false;
  if (error !== null && REFUSED_BY_LIMIT.has(error)) return false;
  return cameToLimits(trace);
}
