import { randomDigits } from '#server/crypto/random.ts';
import { countryCodeLength } from './country-codes.ts';
import { type Format, FormatMismatch, maskedBut, padded } from './format.ts';

/**
 * Phone numbers (E.164). Tokens keep the country code and the last digits. Their national part begins with 0, which no number that can be dialed does, so
 * a token never reaches a stranger.
 */
export const phone: Format = {
  normalise(value) {
    const digits = value.replace(/[ .()-]/g, '');
    if (!/^\+[1-9][0-9]{7,14}$/.test(digits))
      throw new FormatMismatch('must be a phone number with + and 8 to 15 digits, such as +12025550143');
    if (countryCodeLength(digits.slice(1)) === 0) throw new FormatMismatch('must begin with a country code that exists');
    return digits;
  },
  token: (number) => withMiddle(number, randomDigits(freeDigits(number))),
  space: { size: (number) => 10 ** freeDigits(number), nth: (number, n) => withMiddle(number, padded(n, freeDigits(number))) },
  last4: (token) => token.slice(-keptAtEnd(token)),
  masked: (number) => `${number.slice(0, codeEnd(number))}${maskedBut(number.slice(codeEnd(number)), keptAtEnd(number))}`,
};

const codeEnd = (number: string) => 1 + countryCodeLength(number.slice(1));
const nationalDigits = (number: string) => number.length - codeEnd(number);
const keptAtEnd = (number: string) => (nationalDigits(number) < 6 ? 2 : 4);
const freeDigits = (number: string) => nationalDigits(number) - 1 - keptAtEnd(number);

const withMiddle = (number: string, middle: string) => `${number.slice(0, codeEnd(number))}0${middle}${number.slice(-keptAtEnd(number))}`;
