import { type Format, FormatMismatch, maskedBut } from './format.ts';
import { randomOfSameClasses } from './same-classes.ts';

/** International bank account numbers (ISO 13616). Tokens keep the country and the last four characters, and pass the mod-97 check. */
export const iban: Format = {
  normalise(value) {
    const text = value.replace(/ /g, '').toUpperCase();
    if (!/^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/.test(text)) throw new FormatMismatch('must be an IBAN of 15 to 34 letters and digits');
    if (mod97(text.slice(4) + text.slice(0, 4)) !== 1) throw new FormatMismatch('must be an IBAN whose check digits are right');
    return text;
  },
  token(text) {
    const country = text.slice(0, 2);
    const account = randomOfSameClasses(text.slice(4, -4)) + text.slice(-4);
    return `${country}${checkDigits(country, account)}${account}`;
  },
  last4: (token) => token.slice(-4),
  masked: (text) => `${text.slice(0, 4)}${maskedBut(text.slice(4), 4)}`,
};

/** The check digits of a country's account number: 98 less its remainder, two digits. */
export const checkDigits = (country: string, account: string): string => String(98 - mod97(`${account}${country}00`)).padStart(2, '0');

/** The remainder by 97 of the number that the text is with A as 10 to Z as 35. */
export function mod97(text: string): number {
  let rest = 0;
  for (const character of text) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
