// The words of analytics, which pages offer and the wire takes (interface rule 70 §6).

export const METRICS = [
  'requests',
  'errors',
  'error_rate',
  'latency_avg',
  'p50',
  'p95',
  'p99',
  'overhead_avg',
  'overhead_p95',
  'rate_limited',
  'bytes',
  'unique_clients',
] as const;
export type Metric = (typeof METRICS)[number];

/** What figures are told apart by. */
export const DIMENSIONS = ['route', 'environment', 'client', 'api_key', 'status_class', 'method', 'origin', 'plane', 'error'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Seconds between two points, by the word in a query. */
export const INTERVALS = { '1m': 60, '5m': 300, '15m': 900, '1h': 3_600, '6h': 21_600, '1d': 86_400 } as const;
export type Interval = keyof typeof INTERVALS;

/** In all series together. */
export const MOST_POINTS = 2_000;
/** More lines than that nobody tells apart. */
export const MOST_SERIES = 12;
/** Newest calls that figures which no rollup knows are counted from. */
export const MOST_ROWS = 100_000;
