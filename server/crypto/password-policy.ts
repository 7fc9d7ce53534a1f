import { commonPasswords } from './common-passwords.ts';

export type PasswordProblem = 'too_short' | 'too_long' | 'contains_email' | 'common';

/** Bounds in Unicode code points after NFKC. */
export const passwordLength = { min: 12, max: 128 } as const;

/**
 * Why a new password is refused, or null. Besides the bundled list of breached passwords it refuses what such lists are made
 * of: a well-known word with digits and signs around it, a short piece repeated, and walks along the keyboard or alphabet.
 */
export function passwordProblem(password: string, email: string): PasswordProblem | null {
  const text = normalisePassword(password);
  // A code point is at most two UTF-16 units; a body of a megabyte need not be split to know that it is too long.
  if (text.length > passwordLength.max * 2) return 'too_long';
  const length = [...text].length;
  if (length < passwordLength.min) return 'too_short';
  if (length > passwordLength.max) return 'too_long';
  const folded = text.toLowerCase();
  const localPart = normalisePassword(email).toLowerCase().split('@')[0] ?? '';
  // A local part of one or two letters is in most passwords and guesses nothing.
  if (localPart.length >= 3 && folded.includes(localPart)) return 'contains_email';
  return isCommon(folded) ? 'common' : null;
}

/** NFKC, so that the same password typed on two keyboards is one password; applied before every hash. */
export function normalisePassword(password: string): string {
  return password.normalize('NFKC');
}

function isCommon(folded: string): boolean {
  const packed = folded.replace(/\s+/g, '');
  return commonPasswords.has(folded) || commonPasswords.has(packed) || isPaddedWord(packed) || isRepetition(packed) || isWalk(packed);
}

/** password12345, Welcome2026!!, p4ssw0rd!2026, adminadmin123: one or two well-known words inside digits and signs. */
function isPaddedWord(packed: string): boolean {
  const core = lettersWithin(packed);
  const spelled = [packed, core].flatMap((text) => [text, lettersWithin(unleet(text))]);
  return spelled.some((text) => wellKnown.test(text) || commonPasswords.has(text));
}

/** From the first letter to the last. */
const lettersWithin = (text: string): string => /[a-z](?:.*[a-z])?/s.exec(text)?.[0] ?? '';

const words =
  'password passwort passw passwd secret welcome admin administrator letmein login qwerty qwertz azerty qwertyuiop asdfgh asdfghjkl zxcvbn zxcvbnm ' +
  'abc abcd abcdef iloveyou monkey dragon sunshine princess football baseball basketball superman batman master shadow michael jennifer jordan ' +
  'hunter soccer harley ranger charlie andrew thomas daniel summer winter spring autumn january february march april june july august september ' +
  'october november december monday friday changeme default guest root user test testing trustno starwars whatever freedom computer internet ' +
  'server database company google facebook sallyport please hello hallo bonjour my the is it me you this new temp temporary';
const wellKnown = new RegExp(`^(?:(?:${words.split(' ').join('|')})[^a-z]*){1,4}$`);

function unleet(text: string): string {
  const letters: Record<string, string> = { '@': 'a', 4: 'a', 3: 'e', 1: 'i', '!': 'i', 0: 'o', $: 's', 5: 's', 7: 't' };
  return text.replace(/[@4310!$57]/g, (sign) => letters[sign] ?? sign);
}

/** abcabcabcabc, 121212121212, aaaaaaaaaaaa, also with the last piece cut off. */
function isRepetition(packed: string): boolean {
  for (let unit = 1; unit <= Math.min(6, packed.length / 2); unit++) {
    if (
      packed ===
      packed
        .slice(0, unit)
        .repeat(Math.ceil(packed.length / unit))
        .slice(0, packed.length)
    )
      return true;
  }
  return false;
}

const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiop',
  'qwertzuiop',
  'asdfghjkl',
  'zxcvbnm',
  'azertyuiop',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik',
];
const walks = rows.flatMap((row) => [row, [...row].reverse().join('')]);

/** qwertyuiop123!, abcdefgh12345678, asdfghjklzxcvbnm: at most four steps along a row, each of three or more, and two characters to spare. */
function isWalk(packed: string): boolean {
  let rest = packed;
  for (let steps = 0; rest.length > 2; steps++) {
    let taken = 0;
    for (const walk of walks) while (taken < rest.length && walk.includes(rest.slice(0, taken + 1))) taken++;
    if (steps === 4 || taken < 3) return false;
    rest = rest.slice(taken);
  }
  return true;
}
