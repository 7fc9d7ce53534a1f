/** Why a call is tried again. */
export type RetryReason = '429' | '5xx' | 'timeout';

/** How the calls of an agent are repeated and spread, every member within its bounds (interface rule 50 §5.4). Times in milliseconds. */
export type RoutingPolicy = {
  /** Attempts per candidate, the first included. */
  readonly max_attempts: number;
  readonly retry_on: readonly RetryReason[];
  readonly backoff_ms: number;
  readonly backoff_multiplier: number;
  readonly max_backoff_ms: number;
  readonly jitter: boolean;
  readonly respect_retry_after: boolean;
  readonly max_retry_after_ms: number;
  /** By the ID of a route; empty: the primary first. */
  readonly route_weights: Readonly<Record<string, number>>;
  readonly attempt_timeout_ms: number;
  /** When a route is left out for a while because it keeps failing; null: never. */
  readonly circuit: CircuitPolicy | null;
};

/** A circuit breaker (interface rule 50 §14.1): counts are of the last minute, and either rule opens it. */
export type CircuitPolicy = {
  /** Null: only the rate counts. */
  readonly failure_threshold: number | null;
  /** From 0 to 1; null: only the threshold counts. */
  readonly failure_rate: number | null;
  /** Fewer calls than these have no rate. */
  readonly min_requests: number;
  readonly cooldown_ms: number;
  /** Statuses that are failures; empty: every 5xx. A provider that can't be reached or says nothing in time always failed. */
  readonly failure_codes: readonly number[];
};

const BOUNDS = {
  max_attempts: { least: 1, most: 5, without: 1, whole: true },
  backoff_ms: { least: 0, most: 30_000, without: 250, whole: true },
  backoff_multiplier: { least: 1, most: 10, without: 2, whole: false },
  max_backoff_ms: { least: 0, most: 30_000, without: 8_000, whole: true },
  max_retry_after_ms: { least: 0, most: 60_000, without: 60_000, whole: true },
  attempt_timeout_ms: { least: 1_000, most: 600_000, without: 120_000, whole: true },
} as const;

const REASONS: readonly RetryReason[] = ['429', '5xx', 'timeout'];

type Bound = { least: number; most: number; without: number; whole: boolean };

/** The policy that a stored one stands for: it is kept as it was sent, so each reader clamps it. Never throws. */
export function routingPolicy(stored: unknown): RoutingPolicy {
  const sent = isObject(stored) ? stored : {};
  const number = (name: keyof typeof BOUNDS) => clamped(sent[name], BOUNDS[name]);
  const asked: readonly unknown[] = Array.isArray(sent.retry_on) ? sent.retry_on : [];
  const retry_on = REASONS.filter((reason) => asked.includes(reason));
  return {
    max_attempts: retry_on.length === 0 ? 1 : number('max_attempts'),
    retry_on,
    backoff_ms: number('backoff_ms'),
    backoff_multiplier: number('backoff_multiplier'),
    max_backoff_ms: number('max_backoff_ms'),
    jitter: sent.jitter !== false,
    respect_retry_after: sent.respect_retry_after !== false,
    max_retry_after_ms: number('max_retry_after_ms'),
    route_weights: weights(sent.route_weights),
    attempt_timeout_ms: number('attempt_timeout_ms'),
    circuit: circuitPolicy(sent.circuit),
  };
}

/** What was sent, each member as it counts: what management answers show. */
export function shownRoutingPolicy(stored: unknown): Partial<RoutingPolicy> {
  if (!isObject(stored)) return {};
  const policy = routingPolicy(stored);
  return Object.fromEntries(Object.entries(policy).filter(([name]) => Object.hasOwn(stored, name)));
}

const CIRCUIT = {
  failure_threshold: { least: 1, most: 1_000, without: 5, whole: true },
  failure_rate: { least: 0.01, most: 1, without: 0.5, whole: false },
  min_requests: { least: 1, most: 1_000, without: 10, whole: true },
  cooldown_ms: { least: 30_000, most: 3_600_000, without: 60_000, whole: true },
} as const;

function circuitPolicy(stored: unknown): CircuitPolicy | null {
  if (!isObject(stored)) return null;
  const number = (name: keyof typeof CIRCUIT) => clamped(stored[name], CIRCUIT[name]);
  const has = (name: string) => typeof stored[name] === 'number';
  const codes: readonly unknown[] = Array.isArray(stored.failure_codes) ? stored.failure_codes : [];
  return {
    // Without any rule of its own a circuit has the usual one.
    failure_threshold: has('failure_threshold') || !has('failure_rate') ? number('failure_threshold') : null,
    failure_rate: has('failure_rate') ? number('failure_rate') : null,
    min_requests: number('min_requests'),
    cooldown_ms: number('cooldown_ms'),
    failure_codes: [
      ...new Set(codes.filter((code): code is number => Number.isInteger(code) && Number(code) >= 400 && Number(code) < 600)),
    ],
  };
}

/** Whether what was counted in a minute opens the circuit. */
export const opensCircuit = (policy: CircuitPolicy, { requests, failures }: { requests: number; failures: number }): boolean =>
  (policy.failure_threshold !== null && failures >= policy.failure_threshold) ||
  (policy.failure_rate !== null && requests >= policy.min_requests && failures / requests >= policy.failure_rate);

/** Whether an answer with this status is a failure of its route. */
export const isCircuitFailure = ({ failure_codes }: CircuitPolicy, status: number): boolean =>
  failure_codes.length === 0 ? status >= 500 : failure_codes.includes(status);

function clamped(value: unknown, { least, most, without, whole }: Bound): number {
  if (typeof value !== 'number' || Number.isNaN(value)) return without;
  const within = Math.min(Math.max(value, least), most);
  return whole ? Math.round(within) : within;
}

const WEIGHT: Bound = { least: 1, most: 1_000, without: 1, whole: true };

function weights(stored: unknown): Readonly<Record<string, number>> {
  if (!isObject(stored)) return {};
  return Object.fromEntries(Object.entries(stored).map(([route, weight]) => [route, clamped(weight, WEIGHT)]));
}

/**
 * Milliseconds before attempt `n` (2 and later) at a candidate; null ends the retries there. `retryAfterMs` is what the upstream asked for: it can make a wait
 * longer, never shorter. `random` is between 0 and 1.
 */
export function delayBefore(policy: RoutingPolicy, n: number, retryAfterMs: number | null, random: number): number | null {
  const computed = Math.min(policy.max_backoff_ms, policy.backoff_ms * policy.backoff_multiplier ** (n - 2));
  const delay = policy.jitter ? computed * (0.5 + random / 2) : computed;
  if (retryAfterMs === null || !policy.respect_retry_after) return delay;
  return retryAfterMs > policy.max_retry_after_ms ? null : Math.max(delay, retryAfterMs);
}

/** All waits of one request together. */
export const MOST_WAITING_MS = 60_000;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
