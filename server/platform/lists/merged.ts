/** One of several lists in the same order. `beyond`: only what comes after that key. */
export type SortedList<K> = (window: { beyond: K | undefined; offset: number; limit: number }) => Promise<K[]>;

/** So few keys are read and dropped rather than asked past. */
const DIRECT = 500;

/**
 * A page of several sorted lists as if they were one, without the keys before it: each list is asked for the key at its share of what is left to pass
 * over, and of the one whose key comes first all until there is passed. Ten rounds lead past 100,000 keys.
 */
export async function mergedKeys<K>(
  lists: readonly SortedList<K>[],
  { skip, take }: { skip: number; take: number },
  compare: (a: K, b: K) => number,
): Promise<K[]> {
  if (take === 0) return [];
  const beyond = lists.map((): K | undefined => undefined);
  let left = skip;
  while (left > DIRECT) {
    const share = Math.floor(left / lists.length);
    let first: { key: K; list: number } | undefined;
    for (const [list, keys] of lists.entries()) {
      const [key] = await keys({ beyond: beyond[list], offset: share - 1, limit: 1 });
      if (key !== undefined && (first === undefined || compare(key, first.key) < 0)) first = { key, list };
    }
    if (!first) return []; // all of them together are shorter
    beyond[first.list] = first.key;
    left -= share;
  }
  const found: K[] = [];
  for (const [list, keys] of lists.entries()) found.push(...(await keys({ beyond: beyond[list], offset: 0, limit: left + take })));
  return found.sort(compare).slice(left, left + take);
}
