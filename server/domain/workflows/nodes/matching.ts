import { RE2JS } from 're2js';
import { linearPattern, UnsupportedPattern } from '#server/ai/patterns/linear-pattern.ts';

/** A pattern that isn't accepted, or a text that is too long for one. */
export class LinearMismatch extends Error {
  override readonly name = 'LinearMismatch';
}

const LONGEST_PATTERN = 500;
/** What keeps a match within a tenth of a second, whatever the pattern. */
const LONGEST_TEXT = 64 * 1024;

/** Whether a text has a match of a pattern, in time linear in both (RE2). @throws LinearMismatch */
export function matchesPattern(pattern: string, text: string): boolean {
  if (pattern.length > LONGEST_PATTERN) throw new LinearMismatch(`a pattern can have at most ${LONGEST_PATTERN} characters`);
  if (text.length > LONGEST_TEXT) throw new LinearMismatch('a pattern can search at most 64 KiB of text');
  try {
    linearPattern(pattern); // refuses look-around, back-references and programs that are too large
    return RE2JS.compile(pattern).test(text);
  } catch (error) {
    if (error instanceof UnsupportedPattern) throw new LinearMismatch(`the pattern ${error.message}`);
    throw error;
  }
}
