import { type Format, FormatMismatch } from './format.ts';
import { generic } from './generic.ts';
import { nthOfClasses, randomOfSameClasses, sizeOfClasses } from './same-classes.ts';

/** Letters, digits and separators. Tokens have the same shape: digit for digit, letter for letter of the same case, separators in place. */
export const alphanumeric: Format = {
  normalise(value) {
    if (!/^[A-Za-z0-9._/ -]{1,128}$/.test(value))
      throw new FormatMismatch('must be 1 to 128 letters, digits and separators (. _ - / and space)');
    if (!/[A-Za-z0-9]/.test(value)) throw new FormatMismatch('must have a letter or a digit');
    return value;
  },
  asSent: true,
  token: randomOfSameClasses,
  space: { size: sizeOfClasses, nth: nthOfClasses },
  masked: generic.masked,
};
