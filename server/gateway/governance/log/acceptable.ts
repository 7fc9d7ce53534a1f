import { MOST_NANO } from '#server/ai/prices/cost.ts';
import { MOST_USED } from '#server/ai/usage/read-counts.ts';
import type { Entry } from './entry.ts';

/**
 * What to try with a call that the database refuses: the call itself, then with every text and number as any column takes it, and at last without its spend,
 * which a counter that is full can't take.
 */
export function acceptable(entry: Entry): Entry[] {
  const plain = plainValue(entry) as Entry;
  return [entry, plain, { ...plain, spend: [] }];
}

/** Of the entry, which is three levels deep and holds what we wrote. */
function plainValue(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return name === 'cost_nano' ? plainNano(value) : plainText(value);
  if (typeof value === 'number') return Number.isNaN(value) ? 0 : Math.min(Math.max(Math.round(value), -MOST_USED), MOST_USED);
  if (Array.isArray(value)) return value.map((one) => plainValue(one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [plainText(key), plainValue(one, key)]));
}

const plainText = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

const plainNano = (text: string): string => {
  const nano = BigInt(text);
  return String(nano > MOST_NANO ? MOST_NANO : nano < -MOST_NANO ? -MOST_NANO : nano);
};
