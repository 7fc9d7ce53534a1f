import { RE2JS } from 're2js';

/** A pattern of a schema: it matches anywhere in a text, in time linear in the text whatever the pattern is (RE2 semantics). */
export type SchemaPattern = { test: (text: string) => boolean /** Instructions. */; size: number };

/** Instructions of a program once its repetitions are written out. */
const LARGEST = 1_000;
const LONGEST = 10_000;
/** By our own count, which may be three times what the compiler makes of it. */
const MOST_WRITTEN_OUT = 3 * LARGEST;
const TOO_LARGE = `is too large: it becomes more than ${LARGEST.toLocaleString('en')} instructions once its repetitions are written out. Use smaller counts or fewer alternatives`;
const TOO_LONG = `is longer than ${LONGEST.toLocaleString('en')} characters`;
const TOO_SLOW = 'takes too long to compile. Use fewer Unicode classes, and narrower ranges where case is ignored';

/** The pattern, compiled in some milliseconds at most, or in a sentence part why it can't be used. */
export function schemaPattern(pattern: string): SchemaPattern | string {
  // What a compiler writes out is counted before it does: 500 characters can stand for 200,000 instructions.
  if (pattern.length > LONGEST) return TOO_LONG;
  if (writtenOut(pattern) > MOST_WRITTEN_OUT) return TOO_LARGE;
  if (classWork(pattern) > MOST_CLASS_WORK) return TOO_SLOW;
  try {
    const re = RE2JS.compile(pattern);
    const size = re.programSize();
    return size > LARGEST ? TOO_LARGE : { test: (text) => re.test(text), size };
  } catch {
    return "can't be run in linear time (RE2 syntax: no look-around and no back-references)";
  }
}

/** Microseconds. */
const MOST_CLASS_WORK = 20_000;
const WORK_OF_UNICODE_CLASS = 300;
/** Where case is ignored the compiler looks at every character of a range. */
const WORK_OF_FOLDED = 0.07;
const RANGE = /(\\x\{[\da-f]{1,8}\}|.)-(\\x\{[\da-f]{1,8}\}|.)/giu;

/** How long character classes take the compiler at most, which the number of instructions doesn't tell. */
function classWork(pattern: string): number {
  let work = (pattern.match(/\\p/gi)?.length ?? 0) * WORK_OF_UNICODE_CLASS;
  if (/\(\?[a-z]*i/i.test(pattern))
    for (const [, least = '', most = ''] of pattern.matchAll(RANGE))
      work += Math.max(0, Math.min(codeOf(most), LAST_WITH_CASE) - codeOf(least)) * WORK_OF_FOLDED;
  return work;
}
const LAST_WITH_CASE = 0x1e943;

const codeOf = (one: string): number => (one.length > 2 ? Number.parseInt(one.slice(3), 16) : (one.codePointAt(0) ?? 0));

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
