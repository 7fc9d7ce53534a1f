import { type AnyNumber, compareNumbers as compareValues, jsonDecimal, LONGEST_NUMBER, NumberTooLong } from '#server/kernel/decimals.ts';
import { isExact, LosslessNumber } from '#server/kernel/lossless-number.ts';
import { TooLarge } from './meter.shared.ts';

// What numbers that keep their digits are worth. Nothing is rounded: what can't be compared or made exactly is an error.

/** The double of exactly this value, for settings and times; undefined when there is none, or the value is no number. @throws TooLarge */
export function doubleOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (!isExact(value)) return undefined;
  const number = Number(String(value));
  return Number.isFinite(number) && compareNumbers(value, number) === 0 ? number : undefined;
}

/** Whether a number counts as true: zero doesn't, however it is written. */
export const isTruthy = (value: unknown): boolean => (isExact(value) ? /^[^eE]*[1-9]/.test(String(value)) : Boolean(value));

/** Negative, zero or positive, by the values and not by their doubles. @throws TooLarge for a number that is too long for that */
export function compareNumbers(left: AnyNumber, right: AnyNumber): number {
  try {
    return compareValues(left, right);
  } catch (error) {
    if (error instanceof NumberTooLong) throw new TooLarge(`${error.message}: pass it on as it is`);
    throw error;
  }
}

/** The number that a text is, with its digits where no double has exactly its value; null for any other text. */
export function numberIn(text: string): number | LosslessNumber | null {
  const written = text.length <= LONGEST_NUMBER ? text.trim() : '';
  const number = written === '' ? Number.NaN : Number(written);
  if (Number.isNaN(number) || written.endsWith('Infinity')) return null;
  // Hexadecimal, octal and binary ones are whole.
  const exact = new LosslessNumber(jsonDecimal(written) ?? BigInt(written).toString());
  return Number.isFinite(number) && compareNumbers(exact, number) === 0 ? number : exact;
}
