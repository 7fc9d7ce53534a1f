import { randomDigits } from '#server/crypto/random.ts';
import { type Format, FormatMismatch, maskedBut, padded } from './format.ts';

/** Digits. Tokens are as many digits. */
export const numeric: Format = {
  normalise(value) {
    if (!/^[0-9]{1,64}$/.test(value)) throw new FormatMismatch('must be 1 to 64 digits');
    return value;
  },
  asSent: true,
  token: (digits) => randomDigits(digits.length),
  space: { size: (digits) => 10 ** digits.length, nth: (digits, n) => padded(n, digits.length) },
  masked: (digits) => (digits.length > 8 ? maskedBut(digits, 4) : '*'.repeat(digits.length)),
};
