import type { TokenFormat } from '../span.ts';

/** A part of a text by UTF-16 offsets. */
export type Range = { start: number; end: number };

/** Groups that the catalogue and the compliance packs choose by. */
export type EntityGroup = 'contact' | 'financial' | 'government' | 'health' | 'network' | 'credential';

/** A built-in detector. `find` reports matches that begin at `from` or later; what is before it is only context. */
export type Entity = {
  entity: string;
  title: string;
  group: EntityGroup;
  /** What is looked for and how it is verified, in a sentence for the catalogue. */
  about: string;
  /** A text in which it is found. Values are made up or published test values. */
  example: string;
  format: TokenFormat;
  confidence: number;
  /** A check digit or a parse decides besides the shape. */
  validated: boolean;
  /** One of them must be within 50 characters of a match; lower case. Undefined: the shape is enough. */
  context?: readonly string[];
  find: (text: string, from: number) => Range[];
};

type Matcher = {
  pattern: RegExp;
  /** A text without it has no match; cheaper than the pattern. */
  hint?: string;
  /** Judges a match. A range is the part of it that counts; false goes on one character later. */
  accepts?: (match: string, start: number, text: string) => boolean | Range;
};

/** A detector of a global pattern. The pattern ends and begins at boundaries of its own. */
export function byPattern({ pattern, hint, accepts }: Matcher): Entity['find'] {
  return (text, from) => {
    if (hint !== undefined && !text.includes(hint, from)) return [];
    const found: Range[] = [];
    pattern.lastIndex = from;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const verdict = accepts ? accepts(match[0], match.index, text) : true;
      if (verdict === false) {
        pattern.lastIndex = match.index + 1;
        continue;
      }
      const range = verdict === true ? { start: match.index, end: match.index + match[0].length } : verdict;
      found.push(range);
      pattern.lastIndex = Math.max(range.end, match.index + 1);
    }
    return found;
  };
}

/** How far from a match a word of its context may be, in characters. */
export const CONTEXT_REACH = 50;

/** Whether one of the words (lower case) is near the range. Short words count only whole, longer ones as the beginning of a word: `ssn` isn't in `lessn`. */
export function hasContext(text: string, { start, end }: Range, words: readonly string[]): boolean {
  const before = text.slice(Math.max(0, start - CONTEXT_REACH), start).toLowerCase();
  const after = text.slice(end, end + CONTEXT_REACH).toLowerCase();
  return words.some((word) => hasWord(before, word) || hasWord(after, word));
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (at > 0 && isLetter(text.charCodeAt(at - 1))) continue;
    if (word.length > 4 || !isLetter(text.charCodeAt(at + word.length))) return true;
  }
  return false;
}

/** ASCII letters, and whatever is above ASCII; NaN past the end is none. */
const isLetter = (code: number): boolean => (code > 96 && code < 123) || (code > 64 && code < 91) || code > 127;

/** What is left of a number when spaces, dashes and the like are taken out. */
export const digitsOf = (text: string): string => text.replace(/[^0-9]/g, '');
/** Letters in upper case and digits. */
export const alphanumericsOf = (text: string): string => text.replace(/[^0-9A-Za-z]/g, '').toUpperCase();
