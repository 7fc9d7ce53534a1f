import { minLength } from '#server/crypto/format-preserving.ts';

const MAX_LENGTH = 256;
type Alphabet = { alphabet: string | null };

export const alphabetOf = ({ alphabet }: Alphabet): string => {
  if (alphabet === null) throw new Error('a vault of format ff1 has an alphabet');
  return alphabet;
};

/** Why a text can't be transformed; undefined when it can. */
export function alphabetMismatch(vault: Alphabet, text: string): string | undefined {
  const alphabet = new Set(alphabetOf(vault));
  const characters = [...text];
  const shortest = minLength(alphabet.size);
  if (characters.length < shortest || characters.length > MAX_LENGTH)
    return `must have ${shortest} to ${MAX_LENGTH} characters: shorter values could be found by trying all of them`;
  return characters.every((character) => alphabet.has(character)) ? undefined : "must be made of the characters of the vault's alphabet";
}
