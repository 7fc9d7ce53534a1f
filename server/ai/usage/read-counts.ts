import { isObject, numberAt } from '../json.ts';
import type { Side, Usage } from './usage.ts';

/**
 * The largest count of a call that is believed, of tokens, seconds, characters, images and searches alike. Sums of a day stay far below what the database
 * and a double hold.
 */
export const MOST_USED = 1_000_000_000;

/** A number as a count that can be kept: not negative, and at most {@link MOST_USED}; undefined for any other. */
export const countOf = (number: number | undefined): number | undefined =>
  number !== undefined && number >= 0 && number <= MOST_USED ? number : undefined;

export type CountReader = {
  /** A whole count; undefined where it is absent or null, and where it can't be true, which is noted for its side. */
  at: (side: Side, holder: unknown, member: string) => number | undefined;
  /** The usage with the sides that have to be estimated. */
  noted: (usage: Usage) => Usage;
};

/** Reads the counts that one usage object of a provider reports. */
export function readCounts(): CountReader {
  const unread = new Set<Side>();
  return {
    at(side, holder, member) {
      const given = isObject(holder) ? holder[member] : undefined;
      if (given === undefined || given === null) return undefined;
      const count = countOf(numberAt(holder, member));
      if (count === undefined) unread.add(side);
      return count === undefined ? undefined : Math.floor(count);
    },
    noted: (usage) => (unread.size === 0 ? usage : { ...usage, unread: [...unread] }),
  };
}
