import { percentile } from '#server/domain/request-logs/service.ts';
import type { AlertType, Condition } from './conditions.shared.ts';

/** Calls of a stretch of time added up. `hits` are those a condition counts, where counts of all calls can't say it. */
export type Cell = {
  count: number;
  errors: number;
  limited: number;
  hits: number;
  latency: number[] | null /** The longest call in ms; 0 when unknown. */;
  longest: number;
};

export const emptyCell = (): Cell => ({ count: 0, errors: 0, limited: 0, hits: 0, latency: null, longest: 0 });

/** Adds `other` to `cell`, or takes it away, but for the longest call, which the caller must find again then. */
export function addCell(cell: Cell, other: Cell, sign: 1 | -1 = 1): void {
  cell.count += sign * other.count;
  cell.errors += sign * other.errors;
  cell.limited += sign * other.limited;
  cell.hits += sign * other.hits;
  cell.longest = Math.max(cell.longest, other.longest);
  if (!other.latency) return;
  cell.latency ??= new Array<number>(other.latency.length).fill(0);
  for (const [i, n] of other.latency.entries()) cell.latency[i] = (cell.latency[i] ?? 0) + sign * n;
}

/** A value, null when there was too little to say, and whether it is one to tell of. */
export type Measured = { value: number | null; holds: boolean };

/** What a window of calls is in the unit of the type, and whether the condition holds. */
export function measure(type: AlertType, c: Condition, cell: Cell): Measured {
  const { count, errors, limited, hits, latency, longest } = cell;
  const atLeast = (value: number, threshold: number | undefined): Measured => ({ value, holds: value >= (threshold ?? 1) });
  switch (type) {
    case 'rate_limit_exceeded':
      return atLeast(limited, c.threshold);
    case 'error_rate':
      return enough(count, c) ? atLeast(count === 0 ? 0 : (errors / count) * 100, c.percent) : NOTHING;
    case 'high_latency': {
      const value = enough(count, c) && latency ? percentile(latency, (c.percentile ?? 95) / 100, longest || undefined) : null;
      return value === null ? NOTHING : atLeast(value, c.threshold_ms);
    }
    case 'no_traffic':
      return { value: count, holds: count === 0 };
    default:
      return atLeast(hits, c.threshold);
  }
}

const NOTHING: Measured = { value: null, holds: false };
const enough = (count: number, { min_requests = 1 }: Condition) => count >= min_requests;

/**
 * Whether more of what is counted can only bring the condition nearer. Such types are looked at with the minute that is under way as well: a burst is noticed at
 * once. The others are looked at over whole minutes only.
 */
export const onlyGrows = (type: AlertType): boolean => !['error_rate', 'high_latency', 'no_traffic'].includes(type);
