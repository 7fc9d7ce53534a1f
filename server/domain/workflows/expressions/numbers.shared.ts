import { isExact, LosslessNumber } from '#server/kernel/lossless-json.ts';
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
export function compareNumbers(left: number | LosslessNumber, right: number | LosslessNumber): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [a, b] = [String(left), String(right)];
  if (a === b) return 0;
  const [x, y] = [decimalOf(a), decimalOf(b)];
  const sign = signOf(x) - signOf(y);
  if (sign !== 0 || x.digits === '') return sign;
  const size = x.exponent - y.exponent || (x.digits === y.digits ? 0 : x.digits < y.digits ? -1 : 1);
  return x.negative ? 0 - size : size;
}

/** The value 0.digits × 10^exponent, without zeros at either end; zero has no digits. */
type Decimal = { negative: boolean; digits: string; exponent: number };

/** Characters of a number that is compared or made from a text. */
export const LONGEST_NUMBER = 400;
const LARGEST_EXPONENT = 1e15;

function decimalOf(text: string): Decimal {
  if (text.length > LONGEST_NUMBER)
    throw new TooLarge(`a number has more than ${LONGEST_NUMBER} characters, which is too precise to compute with: pass it on as it is`);
  const [, minus, whole = '', fraction = '', power = '0'] = PARTS.exec(text) ?? [];
  const written = whole + fraction;
  const digits = written.replace(/^0+/, '');
  const exponent = whole.length - (written.length - digits.length) + Number(power);
  if (digits !== '' && Math.abs(exponent) > LARGEST_EXPONENT)
    throw new TooLarge('a number has an exponent of more than 15 digits, which is too large to compute with: pass it on as it is');
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return { negative: minus === '-', digits: digits.slice(0, end), exponent };
}
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const signOf = ({ negative, digits }: Decimal): number => (digits === '' ? 0 : negative ? -1 : 1);

/** The number that a text is, with its digits where no double has exactly its value; null for any other text. */
export function numberIn(text: string): number | LosslessNumber | null {
  const written = text.length <= LONGEST_NUMBER ? text.trim() : '';
  const number = written === '' ? Number.NaN : Number(written);
  if (Number.isNaN(number) || written.endsWith('Infinity')) return null;
  const decimal = DECIMAL.exec(written);
  // Hexadecimal, octal and binary ones are whole.
  const digits = decimal ? normal(decimal) : BigInt(written).toString();
  const exact = new LosslessNumber(digits);
  return Number.isFinite(number) && compareNumbers(exact, number) === 0 ? number : exact;
}
const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eE][+-]?\d+)?)$/;

/** `+007.` as JSON writes it. */
function normal([, sign, whole = '', fraction = '', power = '']: RegExpExecArray): string {
  return `${sign === '-' ? '-' : ''}${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}${power}`;
}
