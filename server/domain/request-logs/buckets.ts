/**
 * Latency histograms of the minute rollups: 40 buckets whose upper edges grow evenly in logarithm from 1 ms to 120 s (about 35 % a step), so
 * that rows of any minutes, routes and processes add up and percentiles of the sum stay true to a bucket.
 */
export const LATENCY_BUCKETS = 40;
const LONGEST_MS = 120_000;
const STEP = Math.log(LONGEST_MS) / (LATENCY_BUCKETS - 1);

/** The bucket of a duration in milliseconds; 0 holds up to 1 ms, the last one everything above its lower edge. */
export function bucketOf(ms: number): number {
  if (!(ms > 1)) return 0;
  // The subtraction keeps a duration that lies exactly on an edge in its bucket, whatever the logarithm rounds to.
  return Math.min(LATENCY_BUCKETS - 1, Math.ceil(Math.log(ms) / STEP - 1e-9));
}

/** Upper edge of a bucket in milliseconds. */
export const upperEdge = (bucket: number): number => Math.exp(STEP * bucket);

/** An empty histogram, as a rollup row starts with. */
export const emptyBuckets = (): number[] => new Array<number>(LATENCY_BUCKETS).fill(0);

/**
 * The p-quantile (0..1) in whole milliseconds, interpolated inside its bucket and never above `longest`, the longest duration counted, where that is
 * known; null when nothing was counted.
 */
export function percentile(buckets: readonly number[], p: number, longest?: number): number | null {
  const value = interpolated(buckets, p);
  // Rows of releases that recorded no maximum leave one that belongs to a lower bucket: it caps nothing.
  const known = longest !== undefined && bucketOf(longest) === buckets.findLastIndex((n) => n > 0);
  return value !== null && known ? Math.min(value, longest) : value;
}

function interpolated(buckets: readonly number[], p: number): number | null {
  const total = buckets.reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  const rank = Math.min(Math.max(p, 0), 1) * total;
  let below = 0;
  for (const [i, n] of buckets.entries()) {
    if (n > 0 && below + n >= rank) {
      const lower = i === 0 ? 0 : upperEdge(i - 1);
      return Math.round(lower + (upperEdge(i) - lower) * ((rank - below) / n));
    }
    below += n;
  }
  return Math.round(upperEdge(LATENCY_BUCKETS - 1));
}

/** The route of the rollup rows that count calls of no route: a key has no null. */
export const NO_ROUTE = '00000000-0000-0000-0000-000000000000';
