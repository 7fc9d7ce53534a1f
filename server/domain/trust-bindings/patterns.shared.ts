// The pattern language of trust bindings (interface rule 21 §5): a text, or one with wildcards. `*` stands for any run of characters except `:` and `/`,
// `**` for any run of any character. The whole text must match, case counts, and nothing escapes a wildcard. Not regular expressions, on purpose: matching
// takes at most length of pattern times length of text, whoever wrote either.

export const LONGEST_PATTERN = 255;
/** A longer text matches nothing. */
export const LONGEST_TEXT = 1024;

export const hasWildcard = (pattern: string): boolean => pattern.includes('*');

/** The text before the first wildcard. */
export const literalPrefix = (pattern: string): string => (hasWildcard(pattern) ? pattern.slice(0, pattern.indexOf('*')) : pattern);

/** Whether the whole text is what the pattern says. */
export function matchesPattern(pattern: string, text: string): boolean {
  if (text.length > LONGEST_TEXT || pattern.length > LONGEST_PATTERN) return false;
  if (!hasWildcard(pattern)) return pattern === text;
  const { literals, loops } = compile(pattern);
  const last = literals.length;
  // reached[i]: the first i literal characters, and any wildcards between them, account for the text so far.
  const reached = new Uint8Array(last + 1);
  reached[0] = 1;
  for (const char of units(text)) {
    // Downwards, so that reached[i - 1] is still that of the character before.
    for (let i = last; i >= 0; i--) {
      const stays = reached[i] === 1 && (loops[i] === ANY || (loops[i] === WITHIN && char !== ':' && char !== '/'));
      const steps = i > 0 && reached[i - 1] === 1 && literals[i - 1] === char;
      reached[i] = stays || steps ? 1 : 0;
    }
  }
  return reached[last] === 1;
}

const NONE = 0;
const WITHIN = 1;
const ANY = 2;

/** `loops[i]` is the wildcard that stands before the literal character i, or at the end. */
function compile(pattern: string): { literals: string[]; loops: Uint8Array } {
  const literals: string[] = [];
  const loops = new Uint8Array(pattern.length + 1);
  let stars = 0;
  for (const char of units(pattern)) {
    if (char === '*') {
      stars++;
      loops[literals.length] = stars > 1 ? ANY : WITHIN;
    } else {
      stars = NONE;
      literals.push(char);
    }
  }
  return { literals, loops };
}

/** UTF-16 code units: what `===` compares. */
const units = (text: string): string[] => text.split('');

/** Why a pattern can't be saved, or null. Completes the name of its field. */
export function patternProblem(pattern: string): string | null {
  if (pattern === '') return 'must not be empty';
  if (pattern.length > LONGEST_PATTERN) return `must have at most ${LONGEST_PATTERN} characters`;
  if (/[\u0000-\u001f\u007f]/.test(pattern)) return 'must not contain control characters';
  if (!/[^*:/\s]/.test(pattern)) return 'must not consist of wildcards only';
  return null;
}
