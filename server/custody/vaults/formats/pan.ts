import { randomDigits } from '#server/crypto/random.ts';
import { type Format, FormatMismatch, maskedBut, padded } from './format.ts';
import { passesLuhn, solveLuhn } from './luhn.ts';

/** Card numbers. Tokens keep the BIN and the last four digits, have the same length and pass the Luhn check. */
export const pan: Format = {
  normalise(value) {
    const digits = value.replace(/[ -]/g, '');
    if (!/^[0-9]{13,19}$/.test(digits))
      throw new FormatMismatch('must be a card number of 13 to 19 digits; spaces and hyphens are allowed');
    if (!passesLuhn(digits)) throw new FormatMismatch('must be a card number that passes the Luhn check');
    return digits;
  },
  token: (digits) => withMiddle(digits, randomDigits(freeDigits(digits))),
  space: { size: (digits) => 10 ** freeDigits(digits), nth: (digits, n) => withMiddle(digits, padded(n, freeDigits(digits))) },
  last4: (token) => token.slice(-4),
  masked: (digits) => maskedBut(digits, 4),
};

const LAST = 4;
/** The BIN; of 13 and 14 digits only the first stays, or there would be too few tokens. */
const keptInFront = (digits: string) => (digits.length >= 15 ? 6 : 1);
/** All digits between, but for the one that is solved. */
const freeDigits = (digits: string) => digits.length - keptInFront(digits) - LAST - 1;

function withMiddle(digits: string, middle: string): string {
  const front = digits.slice(0, keptInFront(digits));
  return solveLuhn(`${front}${middle}0${digits.slice(-LAST)}`, front.length + middle.length);
}
