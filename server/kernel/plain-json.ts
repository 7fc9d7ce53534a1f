import { isExact } from './lossless-number.ts';
import { isOrderOfEngine } from './name-order.ts';

// Apart from the reader of exact JSON, for pages that only ask whether they need it.

/** Whether a value has no number with digits of its own, no member `__proto__` and no name out of order, which others that carry JSON change, lose or refuse. */
export const isPlainJson = (value: unknown): boolean => everyObject(value, isOrderOfEngine);

/** Whether a value is of plain JSON, with names that are in order. */
export function everyObject(value: unknown, areInOrder: (names: readonly string[]) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (isExact(value) || Object.hasOwn(value, '__proto__')) return false;
  if (!Array.isArray(value) && !areInOrder(Object.keys(value))) return false;
  return Object.values(value).every((member) => everyObject(member, areInOrder));
}
