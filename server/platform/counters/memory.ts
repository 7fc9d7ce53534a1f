import {
  type Bucket,
  bucketAdmits,
  bucketAt,
  bucketVerdict,
  type Rule,
  type Verdict,
  type Window,
  windowAdmits,
  windowAt,
  windowVerdict,
} from './decision.ts';

export type MemoryCounters = {
  /** All rules or none are counted; one verdict per rule, in order. */
  take(rules: readonly Rule[], now: number): readonly Verdict[];
  readonly size: number;
  /** Drops what no longer weighs on any decision. */
  sweep(now: number): void;
  close(): void;
};

/** Counters of this process alone: exact, and gone with it. Entries that no longer matter are dropped every minute. */
export function memoryCounters(): MemoryCounters {
  const windows = new Map<string, Window & { until: number }>();
  const buckets = new Map<string, Bucket & { until: number }>();
  const sweeper = setInterval(() => sweep(Date.now()), 60_000);
  sweeper.unref();

  const sweep = (now: number) => {
    for (const [key, held] of windows) if (held.until <= now) windows.delete(key);
    for (const [key, held] of buckets) if (held.until <= now) buckets.delete(key);
  };

  const takeOne = (rule: Rule, now: number): Verdict => {
    if (rule.burst !== null) {
      const bucket = bucketAt(rule, now, buckets.get(rule.key));
      const admitted = bucketAdmits(bucket);
      if (admitted) bucket.tokens -= 1;
      keepBucket(rule, bucket);
      return bucketVerdict(rule, now, bucket, admitted);
    }
    const window = { ...windowAt(rule, now, windows.get(rule.key)) };
    const admitted = windowAdmits(rule, now, window);
    if (admitted) window.current += 1;
    keepWindow(rule, window);
    return windowVerdict(rule, now, window, admitted);
  };

  const keepBucket = (rule: Rule, bucket: Bucket) => {
    const fullAt = bucket.at + (((rule.burst ?? rule.limit) - bucket.tokens) * rule.windowMs) / rule.limit;
    buckets.set(rule.key, { ...bucket, until: fullAt });
  };
  const keepWindow = (rule: Rule, window: Window) => {
    windows.set(rule.key, { ...window, until: (window.index + 2) * rule.windowMs });
  };

  return {
    take(rules, now) {
      const only = rules[0];
      if (rules.length === 1 && only) return [takeOne(only, now)];
      const states = rules.map((rule) => {
        if (rule.burst !== null) {
          const bucket = bucketAt(rule, now, buckets.get(rule.key));
          return { rule, bucket, window: undefined, admitted: bucketAdmits(bucket) };
        }
        const window = { ...windowAt(rule, now, windows.get(rule.key)) };
        return { rule, bucket: undefined, window, admitted: windowAdmits(rule, now, window) };
      });
      const all = states.every((state) => state.admitted);
      return states.map(({ rule, bucket, window, admitted }) => {
        if (bucket) {
          if (all) bucket.tokens -= 1;
          keepBucket(rule, bucket);
          return bucketVerdict(rule, now, bucket, admitted);
        }
        if (all) window.current += 1;
        keepWindow(rule, window);
        return windowVerdict(rule, now, window, admitted);
      });
    },
    get size() {
      return windows.size + buckets.size;
    },
    sweep,
    close: () => clearInterval(sweeper),
  };
}
