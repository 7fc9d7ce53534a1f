/** Text as a comparison regardless of case sees it: NFC, then Unicode simple case folding. `scim_fold` does it in the database. */
export const fold = (text: string): string =>
  isAscii(text) ? text.toLowerCase() : Array.from(text.normalize('NFC'), foldCharacter).join('');

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);

/** To upper and back to lower case, by the mappings that give one character: what CaseFolding.txt lists in its classes C and S. */
function foldCharacter(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code === 0x131) return character; // dotless i: its capital is I, yet it is another letter than i
  if (code === 0xfb05) return '\ufb06'; // two ligatures of s and t, which have no capital
  if (isCherokee(code)) return oneCharacter(character, 'toUpperCase'); // the one script that folds to capitals
  return oneCharacter(oneCharacter(character, 'toUpperCase'), 'toLowerCase');
}

function oneCharacter(character: string, change: 'toUpperCase' | 'toLowerCase'): string {
  const changed = character[change]();
  return [...changed].length === 1 ? changed : character;
}

const isCherokee = (code: number) => (code >= 0x13a0 && code <= 0x13fd) || (code >= 0xab70 && code <= 0xabbf);
