import {
  type Bucket,
  bucketAdmits,
  bucketAt,
  bucketVerdict,
  bucketWith,
  isKept,
  type Rule,
  type Standing,
  type Verdict,
  type Window,
  windowAdmits,
  windowAt,
  windowVerdict,
  windowWith,
} from './decision.ts';

/** `until` is when it no longer weighs on any decision. */
type Held<State> = State & { until: number };

export type MemoryCounters = {
  /** All rules or none are counted; one verdict per rule, in order. */
  take(rules: readonly Rule[], now: number, seeds?: Seeds): readonly Verdict[];
  readonly size: number;
  /** Drops what no longer weighs on any decision. */
  sweep(now: number): void;
  close(): void;
};

/** Of each rule what is remembered of its counter, if anything. */
export type Seeds = readonly (Standing | undefined)[];

/** Counters of this process alone: exact, and gone with it. Entries that no longer matter are dropped every minute. `onCounted` hears of what lasts long. */
export function memoryCounters(onCounted?: (rule: Rule, standing: Standing) => void): MemoryCounters {
  const windows = new Map<string, Held<Window>>();
  const buckets = new Map<string, Held<Bucket>>();
  const sweeper = setInterval(() => sweep(Date.now()), 60_000);
  sweeper.unref();

  const sweep = (now: number) => {
    for (const [key, held] of windows) if (held.until <= now) windows.delete(key);
    for (const [key, held] of buckets) if (held.until <= now) buckets.delete(key);
  };

  /** Kept and changed in place: two counters a call would otherwise be two objects a call. */
  const bucketOf = (rule: Rule, now: number, seed?: Standing) => {
    const held = buckets.get(rule.key);
    const { tokens, at } = bucketAt(rule, now, bucketWith(rule, now, held, seed));
    if (held) {
      held.tokens = tokens;
      held.at = at;
      return held;
    }
    const bucket = { tokens, at, until: 0 };
    buckets.set(rule.key, bucket);
    return bucket;
  };
  const windowOf = (rule: Rule, now: number, seed?: Standing) => {
    const held = windows.get(rule.key);
    const current = windowAt(rule, now, windowWith(rule, now, held, seed));
    if (held && current === held) return held;
    const window = { ...current, until: (current.index + 2) * rule.windowMs };
    windows.set(rule.key, window);
    return window;
  };

  const takeOne = (rule: Rule, now: number, seed?: Standing): Verdict => {
    if (rule.burst !== null) {
      const bucket = bucketOf(rule, now, seed);
      const admitted = bucketAdmits(bucket);
      return countBucket(rule, now, bucket, admitted, admitted);
    }
    const window = windowOf(rule, now, seed);
    const admitted = windowAdmits(rule, now, window);
    return countWindow(rule, now, window, admitted, admitted);
  };

  const countBucket = (rule: Rule, now: number, bucket: Held<Bucket>, counts: boolean, admitted: boolean) => {
    if (counts) bucket.tokens -= 1;
    if (counts && isKept(rule)) onCounted?.(rule, { windowMs: rule.windowMs, isBucket: true, a: bucket.tokens, b: 0, at: bucket.at });
    bucket.until = bucket.at + (((rule.burst ?? rule.limit) - bucket.tokens) * rule.windowMs) / rule.limit;
    return bucketVerdict(rule, now, bucket, admitted);
  };
  const countWindow = (rule: Rule, now: number, window: Held<Window>, counts: boolean, admitted: boolean) => {
    if (counts) window.current += 1;
    if (counts && isKept(rule))
      onCounted?.(rule, { windowMs: rule.windowMs, isBucket: false, a: window.previous, b: window.current, at: window.index });
    return windowVerdict(rule, now, window, admitted);
  };

  return {
    take(rules, now, seeds) {
      const only = rules[0];
      if (rules.length === 1 && only) return [takeOne(only, now, seeds?.[0])];
      const states = rules.map((rule, i) => {
        if (rule.burst !== null) {
          const bucket = bucketOf(rule, now, seeds?.[i]);
          return { rule, bucket, window: undefined, admitted: bucketAdmits(bucket) };
        }
        const window = windowOf(rule, now, seeds?.[i]);
        return { rule, bucket: undefined, window, admitted: windowAdmits(rule, now, window) };
      });
      const all = states.every((state) => state.admitted);
      return states.map(({ rule, bucket, window, admitted }) =>
        bucket ? countBucket(rule, now, bucket, all, admitted) : countWindow(rule, now, window, all, admitted),
      );
    },
    get size() {
      return windows.size + buckets.size;
    },
    sweep,
    close: () => clearInterval(sweeper),
  };
}
