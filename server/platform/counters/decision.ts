// The arithmetic of rate limits (interface rule 12 §12), pure: every store keeps the numbers its own way and asks here what they mean.

/** `burst` null: sliding window of `limit` calls per `windowMs`. Else a bucket of `burst` tokens refilled at limit / windowMs. */
export type Rule = { readonly key: string; readonly limit: number; readonly windowMs: number; readonly burst: number | null };

export type Verdict = {
  readonly admitted: boolean;
  readonly limit: number;
  /** After this call when it was counted. */
  readonly remaining: number;
  /** Epoch milliseconds. */
  readonly resetAt: number;
  /** Whole seconds for Retry-After; 0 when admitted. */
  readonly retryAfter: number;
};

/** Calls of window `index` (now / windowMs, floored) and of the one before it. */
export type Window = { index: number; previous: number; current: number };
export type Bucket = { tokens: number; at: number };

/** From here on what was counted outlives the store: a restart may open a limit of a minute, and not one of a day. */
const KEPT_FROM_MS = 3_600_000;
export const isKept = (rule: Pick<Rule, 'windowMs'>): boolean => rule.windowMs >= KEPT_FROM_MS;

/** What a counter stood at: of a bucket `a` tokens at `at` (epoch milliseconds), else `a` calls of the window before and `b` of window `at`. */
export type Standing = { windowMs: number; isBucket: boolean; a: number; b: number; at: number };

/** The window, or what is remembered of it where the store has lost that: a store only ever counts up. */
export function windowWith(rule: Rule, now: number, held: Window | undefined, seed: Standing | undefined): Window | undefined {
  if (seed === undefined || seed.isBucket || seed.windowMs !== rule.windowMs) return held;
  if (Math.abs(Math.floor(now / rule.windowMs) - seed.at) > 1) return held; // long over, or of a clock that was wrong
  if (held === undefined || held.index < seed.at) return { index: seed.at, previous: seed.a, current: seed.b };
  if (held.index > seed.at + 1 || (held.previous >= previousOf(seed, held) && held.current >= currentOf(seed, held))) return held;
  return {
    index: held.index,
    previous: Math.max(held.previous, previousOf(seed, held)),
    current: Math.max(held.current, currentOf(seed, held)),
  };
}

const previousOf = (seed: Standing, { index }: Window): number => (seed.at === index ? seed.a : seed.b);
const currentOf = (seed: Standing, { index }: Window): number => (seed.at === index ? seed.b : 0);

/** The same of a bucket: the one that is emptier at `now`. */
export function bucketWith(rule: Rule, now: number, held: Bucket | undefined, seed: Standing | undefined): Bucket | undefined {
  if (seed === undefined || !seed.isBucket || seed.windowMs !== rule.windowMs || seed.at - now > SET_BACK_MS) return held;
  const remembered = { tokens: seed.a, at: seed.at };
  if (held === undefined) return remembered;
  return bucketAt(rule, now, remembered).tokens < bucketAt(rule, now, held).tokens ? remembered : held;
}

/** The window as it stands at `now`, without counting. */
export function windowAt(rule: Rule, now: number, held: Window | undefined): Window {
  const index = Math.floor(now / rule.windowMs);
  // Numbers that lie apart are of windows of another length, or of a clock that was wrong: counted on, they would close the limit until they come true.
  if (held === undefined || Math.abs(index - held.index) > 1) return { index, previous: 0, current: 0 };
  if (index === held.index + 1) return { index, previous: held.current, current: 0 };
  // A clock that was set back by a moment must not open a fresh window.
  return held;
}

/** What the previous window still weighs plus what the current one holds. */
const weight = (rule: Rule, now: number, { index, previous, current }: Window): number => {
  const elapsed = Math.min(Math.max(now - index * rule.windowMs, 0), rule.windowMs);
  return Math.floor((previous * (rule.windowMs - elapsed)) / rule.windowMs) + current;
};

export const windowAdmits = (rule: Rule, now: number, window: Window): boolean => weight(rule, now, window) < rule.limit;

/** `window` holds this call already when it was admitted and counted. */
export function windowVerdict(rule: Rule, now: number, window: Window, admitted: boolean): Verdict {
  const remaining = Math.max(0, rule.limit - weight(rule, now, window));
  return {
    admitted,
    limit: rule.limit,
    remaining,
    resetAt: (window.index + 1) * rule.windowMs,
    retryAfter: admitted ? 0 : secondsUntilAdmitted(rule, now, window),
  };
}

/** The smallest whole number of seconds after which the same test admits, found by bisection: without further calls the weight only falls. */
function secondsUntilAdmitted(rule: Rule, now: number, window: Window): number {
  const admitsAfter = (seconds: number) => {
    const then = now + seconds * 1000;
    return windowAdmits(rule, then, windowAt(rule, then, window));
  };
  let low = 1;
  let high = Math.max(1, Math.ceil((rule.windowMs * 2) / 1000) + 1);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (admitsAfter(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Calls of one moment may be counted in another order than they came; a clock that is off by more was set right. */
const SET_BACK_MS = 1_000;

export function bucketAt(rule: Rule, now: number, held: Bucket | undefined): Bucket {
  const capacity = rule.burst ?? rule.limit;
  if (held === undefined) return { tokens: capacity, at: now };
  // What was spent by a clock that was ahead stays spent, and comes back from now on.
  const at = held.at - now > SET_BACK_MS ? now : Math.max(now, held.at);
  return { tokens: Math.min(capacity, held.tokens + Math.max(0, at - held.at) * (rule.limit / rule.windowMs)), at };
}

/** Refilling in parts must not lose the token that arithmetic leaves a hair short of whole. */
const EPSILON = 1e-9;
export const bucketAdmits = (bucket: Bucket): boolean => bucket.tokens >= 1 - EPSILON;

export function bucketVerdict(rule: Rule, now: number, bucket: Bucket, admitted: boolean): Verdict {
  const capacity = rule.burst ?? rule.limit;
  const perMs = rule.limit / rule.windowMs;
  const tokens = Math.max(0, bucket.tokens);
  return {
    admitted,
    limit: rule.limit,
    remaining: Math.floor(tokens + EPSILON),
    resetAt: Math.ceil(now + (capacity - tokens) / perMs),
    retryAfter: admitted ? 0 : Math.max(1, Math.ceil((1 - tokens) / perMs / 1000 - EPSILON)),
  };
}
