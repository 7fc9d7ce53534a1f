import { shareOf } from '#components/ui/numbers.ts';
import { spanStart } from '#server/domain/request-logs/span.shared.ts';

/** The ranges of Home's figures, by the word in the address. */
export const RANGES = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000 } as const;
export type Range = keyof typeof RANGES;
export const rangeWords: Record<Range, string> = { '1h': 'in the last hour', '24h': 'in the last 24 hours', '7d': 'in the last 7 days' };

/**
 * The range that ends now and the one before it, as ISO times. Whole minutes, since the figures are kept by the minute: within a minute the
 * same query is asked again instead of a new one.
 */
export function periodsOf(range: Range, now: number): { current: { from: string; to: string }; before: { from: string; to: string } } {
  const [end, from, earlier] = [0, 1, 2].map((times) => spanStart(now, times * RANGES[range]).toISOString()) as [string, string, string];
  return { current: { from, to: end }, before: { from: earlier, to: from } };
}

/** A change against the period before, in words; undefined when there is nothing to compare with. */
export function changeOf(now: number | null, before: number | null, lowerIsBetter: boolean) {
  if (now === null || before === null || before === 0 || now === before) return undefined;
  const share = (now - before) / before;
  const direction = share > 0 ? ('up' as const) : ('down' as const);
  return {
    text: shareOf(Math.abs(now - before), before),
    direction,
    good: lowerIsBetter ? share < 0 : share > 0,
  };
}
