import { randomOf } from '#server/crypto/random.ts';

const DIGITS = '0123456789';
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const LOWER = UPPER.toLowerCase();

/** Random text of the same shape: a digit for a digit, a letter for a letter of the same case, and everything else as it is. */
export const randomOfSameClasses = (text: string): string =>
  text.replace(/[0-9A-Za-z]/g, (character) => randomOf(alphabetOf(character), 1));

/** How many texts have this shape. */
export const sizeOfClasses = (text: string): number => [...text].reduce((size, character) => size * alphabetOf(character).length, 1);

/** The nth text of this shape. */
export function nthOfClasses(text: string, n: number): string {
  let left = n;
  return [...text]
    .reverse()
    .map((character) => {
      const alphabet = alphabetOf(character);
      const chosen = alphabet.charAt(left % alphabet.length);
      left = Math.floor(left / alphabet.length);
      return chosen;
    })
    .reverse()
    .join('');
}

const alphabetOf = (character: string): string =>
  character >= '0' && character <= '9'
    ? DIGITS
    : character >= 'A' && character <= 'Z'
      ? UPPER
      : character >= 'a' && character <= 'z'
        ? LOWER
        : character;
