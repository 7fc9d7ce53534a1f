import { RE2JS, RE2JSException } from 're2js';
import { grouped } from '#server/kernel/numbers.ts';

// The one door to the engine: whatever pattern others chose is compiled here, after its work was counted.

/** A compiled pattern: its time is linear in the text whatever the pattern is (RE2 semantics; no look-around, no back-references). */
export type Engine = RE2JS;
export const FLAGS = { ignoreCase: RE2JS.CASE_INSENSITIVE, multiline: RE2JS.MULTILINE, dotAll: RE2JS.DOTALL } as const;

/** Says why a pattern isn't accepted, in a sentence part after the name of its field. */
export class UnsupportedPattern extends Error {
  override readonly name = 'UnsupportedPattern';
}

const LONGEST = 10_000;
/** Instructions of a program once its repetitions are written out. */
export const LARGEST = 1_000;
/** By our own count, which may be three times what the compiler makes of it. */
const MOST_WRITTEN_OUT = 3 * LARGEST;

/**
 * Compiles in some 25 milliseconds at most: what a compiler writes out is counted before it does, since 500 characters can stand for 200,000 instructions.
 * `flags` are those of {@link FLAGS}. @throws UnsupportedPattern
 */
export function compilePattern(source: string, flags = 0): Engine {
  if (source.length > LONGEST) throw new UnsupportedPattern(`is longer than ${grouped(LONGEST)} characters`);
  const bare = withoutClasses(source);
  if (LOOK_AROUND.test(bare)) throw new UnsupportedPattern('uses look-around, which has no linear-time match');
  if (BACK_REFERENCE.test(bare)) throw new UnsupportedPattern('uses a back-reference, which has no linear-time match');
  if (writtenOut(source) > MOST_WRITTEN_OUT) throw tooLarge();
  if (classWork(source, flags) > MOST_CLASS_WORK)
    throw new UnsupportedPattern('takes too long to compile. Use fewer Unicode classes, and narrower ranges where case is ignored');
  let engine: RE2JS;
  try {
    engine = RE2JS.compile(source, flags);
  } catch (error) {
    if (error instanceof RE2JSException && /repeat count/.test(error.message))
      throw new UnsupportedPattern(
        'repeats something more than 1,000 times, the counts of repetitions within it multiplied. Use smaller counts',
      );
    if (error instanceof RE2JSException || error instanceof RangeError || error instanceof SyntaxError)
      throw new UnsupportedPattern(`can't be compiled (RE2 syntax): ${error.message.slice(0, 120)}`);
    throw error;
  }
  if (engine.programSize() > LARGEST) throw tooLarge();
  return engine;
}

const tooLarge = () =>
  new UnsupportedPattern(
    `is too large: it becomes more than ${grouped(LARGEST)} instructions once its repetitions are written out. Use smaller counts or fewer alternatives`,
  );

/** Microseconds that compiling a pattern and searching so many characters take at most, told from the pattern alone. */
export function searchWork(source: string, characters: number, flags = 0): number {
  const size = writtenOut(source);
  const each = size <= SMALL_PROGRAM ? WORK.small : Math.max(WORK.states, size * WORK.instruction);
  return WORK.compile + (size + source.length) * WORK.written + classWork(source, flags) + characters * each;
}
const SMALL_PROGRAM = 16;
/** Of compiling: to begin, and an instruction. Of a character: in a small program; where every state of the automaton is new; for each instruction of a large one. */
const WORK = { compile: 100, written: 3, small: 0.2, states: 6, instruction: 0.03 } as const;

const MOST_CLASS_WORK = 20_000;
const WORK_OF_UNICODE_CLASS = 300;
/** Where case is ignored the compiler looks at every character of a range. */
const WORK_OF_FOLDED = 0.07;
const RANGE = /(\\x\{[\da-f]+\}|.)-(\\x\{[\da-f]+\}|.)/giu;

/** Microseconds that character classes take the compiler at most, which the number of instructions doesn't tell. */
function classWork(source: string, flags: number): number {
  let work = (source.match(/\\p/gi)?.length ?? 0) * WORK_OF_UNICODE_CLASS;
  if ((flags & FLAGS.ignoreCase) !== 0 || /\(\?[a-z]*i/i.test(source))
    for (const [, least = '', most = ''] of source.matchAll(RANGE))
      work += Math.max(0, Math.min(codeOf(most), LAST_WITH_CASE) - codeOf(least)) * WORK_OF_FOLDED;
  return work;
}
const LAST_WITH_CASE = 0x1e943;

const codeOf = (one: string): number => (one.length > 2 ? Number.parseInt(one.slice(3), 16) : (one.codePointAt(0) ?? 0));

/** The text of a pattern without its character classes and ordinary escapes, so that what is left in parentheses is a group. */
function withoutClasses(source: string): string {
  let rest = '';
  let inClass = false;
  for (let i = 0; i < source.length; i++) {
    const character = source[i] as string;
    if (character === '\\') {
      if (!inClass && /[1-9k]/.test(source[i + 1] ?? '')) rest += source.slice(i, i + 2);
      i++;
    } else if (inClass) inClass = character !== ']';
    else if (character === '[') {
      inClass = true;
      // A bracket that comes first is a member.
      if (source[i + 1] === '^') i++;
      if (source[i + 1] === ']') i++;
    } else rest += character;
  }
  return rest;
}
const LOOK_AROUND = /\(\?(?:[=!]|<[=!])/;
const BACK_REFERENCE = /\\[1-9k]/;

/** About how many instructions a pattern becomes, counted without compiling it. */
function writtenOut(pattern: string): number {
  const open: { before: number; last: number }[] = [];
  let before = 0;
  let last = 0;
  const atom = (size: number) => {
    before += last;
    last = size;
  };
  for (let at = 0; at < pattern.length; at++) {
    const c = pattern[at];
    if (c === '(') {
      open.push({ before: before + last, last: 0 });
      [before, last] = [0, 0];
    } else if (c === ')') {
      const inside = before + last + 2;
      before = open.pop()?.before ?? 0;
      last = inside;
    } else if (c === '[') {
      at = classEnd(pattern, at);
      atom(1);
    } else if (c === '{') {
      const [whole, least, most] = /^\{(\d{1,4})(?:,(\d{0,4}))?\}/.exec(pattern.slice(at, at + 12)) ?? [];
      if (whole === undefined) {
        atom(1);
        continue;
      }
      // A repetition of something optional is written as so many choices.
      last = (last + 1) * Math.max(1, Number(least), Number(most || 0));
      at += whole.length - 1;
    } else if (c === '*' || c === '+' || c === '?') last++;
    else {
      if (c === '\\') at = escapeEnd(pattern, at);
      atom(1);
    }
  }
  return open.reduce((sum, one) => sum + one.before, before + last);
}

function classEnd(pattern: string, from: number): number {
  let at = from + 1;
  if (pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1;
  return at;
}

/** `\p{Name}` is one character class. */
function escapeEnd(pattern: string, from: number): number {
  if (!/[pP]/.test(pattern[from + 1] ?? '') || pattern[from + 2] !== '{') return from + 1;
  const end = pattern.indexOf('}', from);
  return end < 0 ? pattern.length : end;
}
