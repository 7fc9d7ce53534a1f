import type { KeyObject } from 'node:crypto';
import { FF1 } from '@noble/ciphers/ff1.js';
import { invalid } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';

/** What FF1 turns into other text of the same alphabet and length. */
export type Format = {
  /** Every character that may occur, once, in the order of their values. */
  alphabet: string;
  /** Public; the same text has another ciphertext under another tweak. */
  tweak?: Uint8Array;
};

export type FormatPreserving = {
  /** @throws Refusal validation_error naming `field`, never showing the text */
  encrypt(text: string): string;
  /** The text that was encrypted. FF1 authenticates nothing: any text of the format decrypts to some text of it. */
  decrypt(text: string): string;
};

/**
 * Format-preserving encryption, FF1 of NIST SP 800-38G with AES. The key serves nothing else: derive it for the purpose. A text must have at least a
 * million others of its length, or its ciphertext could be found by trying (revision 1, §5.1).
 */
export function formatPreserving(key: KeyObject, { alphabet, tweak = NO_TWEAK }: Format, field = 'value'): FormatPreserving {
  const { characters, values } = readAlphabet(alphabet);
  const radix = characters.length;
  const shortest = minLength(radix);

  const run = (direction: 'encrypt' | 'decrypt', text: string): string => {
    const digits = Array.from(text, (character) => values.get(character) ?? -1);
    if (digits.includes(-1)) throw invalid(field, 'has a character that is not in the alphabet of its format');
    if (digits.length < shortest || digits.length > MAX_LENGTH)
      throw invalid(field, `must have ${shortest} to ${MAX_LENGTH} characters of an alphabet of ${radix}`);
    const bytes = key.export();
    try {
      return FF1(radix, bytes, tweak)
        [direction](digits)
        .map((digit) => characters[digit])
        .join('');
    } finally {
      bytes.fill(0);
    }
  };
  return { encrypt: (text) => run('encrypt', text), decrypt: (text) => run('decrypt', text) };
}

type Alphabet = { text: string; characters: readonly string[]; values: ReadonlyMap<string, number> };
/** The one that was used last: a bulk has one format. */
const last = processState('ff1-alphabet', (): { alphabet?: Alphabet } => ({}));

function readAlphabet(text: string): Alphabet {
  if (last.alphabet?.text === text) return last.alphabet;
  const characters = Array.from(text);
  const values = new Map(characters.map((character, value) => [character, value]));
  if (characters.length < 2 || characters.length > MAX_RADIX || values.size !== characters.length)
    throw new RangeError(`an alphabet has 2 to ${MAX_RADIX} different characters`);
  last.alphabet = { text, characters, values };
  return last.alphabet;
}

/** Characters that a text needs so that there are a million of its length. */
export function minLength(radix: number): number {
  let length = 0;
  for (let texts = 1; texts < MIN_DOMAIN; texts *= radix) length++;
  return Math.max(2, length);
}
const MIN_DOMAIN = 1_000_000;
/** What the library can encode. */
const MAX_RADIX = 65_535;
/** Its numbers grow with the length and its time with their square. */
const MAX_LENGTH = 1_024;
const NO_TWEAK = new Uint8Array(0);
