import { randomInteger } from '#server/crypto/random.ts';
import { type Format, FormatMismatch, padded } from './format.ts';

/**
 * US Social Security numbers. Tokens keep the last four digits and have an area of 900 to 999, which is never a Social Security number. Their group is
 * none that ITINs, ATINs or numbers of the IRS have.
 */
export const ssn: Format = {
  normalise(value) {
    if (!/^(?:[0-9]{9}|[0-9]{3}-[0-9]{2}-[0-9]{4})$/.test(value.trim()))
      throw new FormatMismatch('must be 9 digits, or written as NNN-NN-NNNN');
    return value.replace(/[^0-9]/g, '');
  },
  token: (digits) => nth(digits, randomInteger(TOKENS)),
  space: { size: () => TOKENS, nth },
  last4: (token) => token.slice(-4),
  masked: (digits) => `***-**-${digits.slice(-4)}`,
};

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const GROUPS = [0, ...range(11, 16), ...range(20, 27), ...range(30, 36), ...range(40, 49), ...range(66, 69), 89].map((n) => padded(n, 2));
const TOKENS = 100 * GROUPS.length;

function nth(digits: string, n: number): string {
  return `${900 + Math.floor(n / GROUPS.length)}-${GROUPS[n % GROUPS.length]}-${digits.slice(-4)}`;
}
