import { isExact, isSameNumber, mapNumbers, valueText } from './lossless-json.ts';

// What values with exact numbers are compared by: equal numbers are made equal doubles where a double has their value.

/** The value with doubles for the numbers that a double has exactly, such as 1.0. What stays exact is equal to no double. */
export const asSameDoubles = <T>(value: T): T =>
  mapNumbers(value, (exact) => (isShort(exact.value) || isSameNumber(exact, Number(exact)) ? Number(exact) : exact)) as T;

/** Up to 15 digits come back from a double as they were, but for zeros at their ends. */
const isShort = (number: string): boolean => number.length <= 15 && !/[eE]/.test(number);

/** Whether two scalars of JSON are equal, numbers by their values. Both have passed `asSameDoubles`. */
export const isSameScalar = (a: unknown, b: unknown): boolean => (isExact(a) && isExact(b) ? valueText(a) === valueText(b) : a === b);
