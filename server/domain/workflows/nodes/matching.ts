import { RE2JS } from 're2js';
import { linearPattern, UnsupportedPattern } from '#server/ai/patterns/linear-pattern.ts';
import { charge, type Meter, MOST_WORK, TooLarge } from '../expressions/meter.shared.ts';

/** A pattern that isn't accepted, or a text that is too long for one. */
export class LinearMismatch extends Error {
  override readonly name = 'LinearMismatch';
}

const LONGEST_PATTERN = 500;
const LONGEST_TEXT = 64 * 1024;
/** Units of work: compiling a character of a pattern, or of one that names Unicode classes, and a character of the text for each instruction of the pattern. */
const COSTS = { compile: 1_000, classes: 10_000, instruction: 10 } as const;
const UNICODE_CLASS = /\\[pP]/;

/** Whether a text has a match of a pattern, in time linear in both (RE2). The work is charged before it's done. @throws LinearMismatch, TooLarge */
export function matchesPattern(pattern: string, text: string, meter: Meter): boolean {
  if (pattern.length > LONGEST_PATTERN) throw new LinearMismatch(`a pattern can have at most ${LONGEST_PATTERN} characters`);
  if (text.length > LONGEST_TEXT) throw new LinearMismatch('a pattern can search at most 64 KiB of text');
  charge(meter, pattern.length * (UNICODE_CLASS.test(pattern) ? COSTS.classes : COSTS.compile));
  try {
    linearPattern(pattern); // refuses look-around, back-references and programs that are too large
    const engine = RE2JS.compile(pattern);
    const each = engine.programSize() * COSTS.instruction;
    const most = Math.floor(MOST_WORK / each);
    if (text.length > most && text.length * each > meter.left)
      throw new TooLarge(
        `this pattern can search at most ${most} characters of text: make the pattern shorter, or search a part of the text`,
      );
    charge(meter, text.length * each);
    return engine.test(text);
  } catch (error) {
    if (error instanceof UnsupportedPattern) throw new LinearMismatch(`the pattern ${error.message}`);
    throw error;
  }
}
