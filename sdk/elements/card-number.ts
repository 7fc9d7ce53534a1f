// Card numbers and expiry dates as people type them.

export type Brand = { name: string; label: string; starts: readonly (number | readonly [number, number])[]; lengths: readonly number[] };

/** In the order in which they are asked; ranges of leading digits, both ends included. */
const BRANDS: readonly Brand[] = [
  { name: 'amex', label: 'American Express', starts: [34, 37], lengths: [15] },
  { name: 'diners', label: 'Diners Club', starts: [[300, 305], 36, [38, 39]], lengths: [14, 16, 19] },
  { name: 'jcb', label: 'JCB', starts: [[3528, 3589]], lengths: [16, 17, 18, 19] },
  {
    name: 'maestro',
    label: 'Maestro',
    starts: [5018, 5020, 5038, 5893, 6304, 6759, [6761, 6763]],
    lengths: [12, 13, 14, 15, 16, 17, 18, 19],
  },
  {
    name: 'mastercard',
    label: 'Mastercard',
    starts: [
      [51, 55],
      [2221, 2720],
    ],
    lengths: [16],
  },
  { name: 'discover', label: 'Discover', starts: [6011, [644, 649], 65], lengths: [16, 17, 18, 19] },
  { name: 'unionpay', label: 'UnionPay', starts: [62], lengths: [16, 17, 18, 19] },
  { name: 'visa', label: 'Visa', starts: [4], lengths: [13, 16, 19] },
];
const UNKNOWN: Brand = { name: 'unknown', label: 'Card', starts: [], lengths: [12, 13, 14, 15, 16, 17, 18, 19] };

export const digitsOf = (text: string): string => text.replace(/\D/g, '');

/** The brand that the leading digits belong to, as far as they have been typed. */
export const brandOf = (digits: string): Brand => BRANDS.find(({ starts }) => starts.some((start) => leads(digits, start))) ?? UNKNOWN;

function leads(digits: string, start: number | readonly [number, number]): boolean {
  const [from, to] = typeof start === 'number' ? [start, start] : start;
  const length = String(from).length;
  const head = Number(digits.slice(0, length));
  return digits.length >= length && head >= from && head <= to;
}

/** In the groups that are printed on the card. */
export function grouped(digits: string): string {
  const sizes = brandOf(digits).name === 'amex' ? [4, 6, 5] : [4, 4, 4, 4, 3];
  const groups: string[] = [];
  let at = 0;
  for (const size of sizes) {
    if (at >= digits.length) break;
    groups.push(digits.slice(at, at + size));
    at += size;
  }
  return groups.join(' ');
}

export const longest = (digits: string): number => Math.max(...brandOf(digits).lengths);

/** Luhn's check digit (ISO/IEC 7812-1 annex B). */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** What is wrong with a number, and what to do; null when nothing is. */
export function numberFault(digits: string): string | null {
  if (digits === '') return 'Enter the card number.';
  const { label, lengths } = brandOf(digits);
  if (digits.length < Math.min(...lengths)) return 'The card number is too short. Enter all of its digits.';
  if (!lengths.includes(digits.length))
    return `A number of ${label} has ${spoken(lengths)} digits, and this has ${digits.length}. Check it.`;
  return passesLuhn(digits) && !/^0+$/.test(digits) ? null : "This card number doesn't exist. Check its digits.";
}

const spoken = (lengths: readonly number[]): string =>
  lengths.length === 1 ? String(lengths[0]) : `${lengths.slice(0, -1).join(', ')} or ${lengths.at(-1)}`;

/** `1`, `12 /`, `12 / 3`: as it is typed, with the slash put in. */
export function groupedExpiry(text: string, typingForward: boolean): string {
  const padded = /^\s*[2-9]/.test(text) || /^\s*\d\s*\//.test(text) ? `0${text.trimStart()}` : text;
  const digits = digitsOf(padded).slice(0, padded.includes('/') && digitsOf(padded).length > 4 ? 6 : 4);
  if (digits.length < 2) return digits;
  if (digits.length === 2) return typingForward ? `${digits} / ` : digits;
  return `${digits.slice(0, 2)} / ${digits.slice(2)}`;
}

export type Expiry = { month: number; year: number };

/** Null when it names no month. Years of two digits are of this century. */
export function parsedExpiry(text: string): Expiry | null {
  const [, month, year] = /^\s*(\d{1,2})\s*[/-]?\s*(\d{2}|20\d{2})\s*$/.exec(text) ?? [];
  if (month === undefined || year === undefined || Number(month) < 1 || Number(month) > 12) return null;
  return { month: Number(month), year: (Number(year) % 100) + 2000 };
}

export function expiryFault(text: string, now: Date): string | null {
  if (text.trim() === '') return 'Enter the expiry date.';
  const expiry = parsedExpiry(text);
  if (!expiry) return 'Enter the expiry date as month and year, such as 04/29.';
  const months = (expiry.year - now.getFullYear()) * 12 + expiry.month - 1 - now.getMonth();
  if (months < 0) return 'This card has expired. Use another card.';
  return months > 12 * 20 ? 'This date is more than 20 years away. Check the year.' : null;
}

/** `MM/YY` */
export const writtenExpiry = ({ month, year }: Expiry): string =>
  `${String(month).padStart(2, '0')}/${String(year % 100).padStart(2, '0')}`;
