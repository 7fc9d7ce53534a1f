import type { LosslessNumber } from './lossless-number.ts';

// What numbers are worth that keep their digits. Nothing is rounded: a number that is too long to be judged exactly is an error.

export type AnyNumber = number | LosslessNumber;

/** Characters of a number that is compared. */
export const LONGEST_NUMBER = 400;
const LARGEST_EXPONENT = 1e15;

/** A number that can't be compared; the message is a part of a sentence. */
export class NumberTooLong extends Error {
  override readonly name = 'NumberTooLong';
}

/** Negative, zero or positive, by the values and not by their doubles. @throws NumberTooLong */
export function compareNumbers(left: AnyNumber, right: AnyNumber): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [a, b] = [String(left), String(right)];
  if (a === b) return 0;
  const [x, y] = [decimalOf(a), decimalOf(b)];
  const sign = signOf(x) - signOf(y);
  if (sign !== 0 || x.digits === '') return sign;
  const size = x.exponent - y.exponent || (x.digits === y.digits ? 0 : x.digits < y.digits ? -1 : 1);
  return x.negative ? 0 - size : size;
}

/** Whether the functions here can judge a number. */
export function isComparable(value: AnyNumber): boolean {
  try {
    decimalOf(String(value));
    return true;
  } catch {
    return false;
  }
}

/** Whether a number has no fraction. @throws NumberTooLong */
export function isWhole(value: AnyNumber): boolean {
  if (typeof value === 'number') return Number.isInteger(value);
  const { digits, exponent } = decimalOf(String(value));
  return digits === '' || digits.length <= exponent;
}

/** Whether `value` is a multiple of `of`, which is above 0, as the decimals that they are written as: 0.3 is one of 0.1. @throws NumberTooLong */
export function isMultipleOf(value: AnyNumber, of: AnyNumber): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(of)) return (value as number) % (of as number) === 0;
  const [x, y] = [decimalOf(String(value)), decimalOf(String(of))];
  if (x.digits === '') return true;
  // Both are an integer that doesn't end in 0, times a power of ten.
  const [dividend, divisor] = [BigInt(x.digits), BigInt(y.digits)];
  const power = x.exponent - x.digits.length - (y.exponent - y.digits.length);
  return power >= 0 && (dividend * powerOfTen(BigInt(power), divisor)) % divisor === 0n;
}

/** A decimal as JSON writes it: `+007.` is 7, `.50` is 0.50. Undefined for any other text. */
export function jsonDecimal(written: string): string | undefined {
  const [text, sign, whole = '', fraction = '', power = ''] = DECIMAL.exec(written) ?? [];
  if (text === undefined || whole + fraction === '') return undefined;
  return `${sign === '-' ? '-' : ''}${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}${power}`;
}
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eE][+-]?\d+)?)$/;

/** 10^power modulo a number. */
function powerOfTen(power: bigint, modulus: bigint): bigint {
  let [left, result, square] = [power, 1n % modulus, 10n % modulus];
  for (; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** The value 0.digits × 10^exponent, without zeros at either end; zero has no digits. */
type Decimal = { negative: boolean; digits: string; exponent: number };

function decimalOf(text: string): Decimal {
  if (text.length > LONGEST_NUMBER)
    throw new NumberTooLong(`a number has more than ${LONGEST_NUMBER} characters, which is too precise to compute with`);
  const [, minus, whole = '', fraction = '', power = '0'] = PARTS.exec(text) ?? [];
  const written = whole + fraction;
  const digits = written.replace(/^0+/, '');
  const exponent = whole.length - (written.length - digits.length) + Number(power);
  if (digits !== '' && Math.abs(exponent) > LARGEST_EXPONENT)
    throw new NumberTooLong('a number has an exponent of more than 15 digits, which is too large to compute with');
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return { negative: minus === '-', digits: digits.slice(0, end), exponent };
}
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const signOf = ({ negative, digits }: Decimal): number => (digits === '' ? 0 : negative ? -1 : 1);
