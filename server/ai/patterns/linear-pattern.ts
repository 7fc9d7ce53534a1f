import { RE2JS, RE2JSException } from 're2js';
import { grouped } from '#server/kernel/numbers.ts';
import { processState } from '#server/kernel/process-state.ts';
import type { Budget } from './budget.ts';
import { longestMatch } from './longest-match.ts';

export type PatternFlags = { ignoreCase?: boolean; multiline?: boolean; dotAll?: boolean };

/** A pattern of a workspace, in the engine whose time is linear in the text whatever the pattern is (RE2 semantics; no look-around, no back-references). */
export type LinearPattern = {
  /** Characters of its longest match; Infinity when nothing bounds it. */
  longest: number;
  /** Matches that begin at `from` or later, left to right and without overlap, `most` of them. A match is at most {@link LONGEST_MATCH} characters long. */
  find: (text: string, from: number, budget: Budget, most?: number) => { start: number; end: number }[];
  /** Whether it matches the empty string, at which it would match everywhere. */
  matchesEmpty: boolean;
};

/** Where an unbounded match ends. */
export const LONGEST_MATCH = 4_096;

/** Says why a pattern isn't accepted, in a sentence part after the name of its field. */
export class UnsupportedPattern extends Error {
  override readonly name = 'UnsupportedPattern';
}

/**
 * Compiles a pattern. Compiled ones are kept, so that each is compiled once a process however many policies list it.
 * @throws UnsupportedPattern for syntax outside of RE2 and for programs too large to run in the budget
 */
export function linearPattern(source: string, flags: PatternFlags = {}): LinearPattern {
  const bits =
    (flags.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (flags.multiline ? RE2JS.MULTILINE : 0) | (flags.dotAll ? RE2JS.DOTALL : 0);
  const key = `${bits}:${source}`;
  const known = compiled.get(key);
  if (known) {
    compiled.delete(key);
    compiled.set(key, known);
    return known;
  }
  const pattern = compile(source, bits);
  compiled.set(key, pattern);
  if (compiled.size > MOST_COMPILED) compiled.delete(compiled.keys().next().value as string);
  return pattern;
}

function compile(source: string, bits: number): LinearPattern {
  if (LOOK_AROUND.test(withoutClasses(source))) throw new UnsupportedPattern('uses look-around, which has no linear-time match');
  if (BACK_REFERENCE.test(withoutClasses(source))) throw new UnsupportedPattern('uses a back-reference, which has no linear-time match');
  let engine: RE2JS;
  try {
    engine = RE2JS.compile(source, bits);
  } catch (error) {
    if (error instanceof RE2JSException && /repeat count/.test(error.message))
      throw new UnsupportedPattern(
        `repeats something more than ${grouped(MOST_REPEATED)} times; counts of repetitions within repetitions multiply. Use smaller counts`,
      );
    if (error instanceof RE2JSException || error instanceof RangeError || error instanceof SyntaxError)
      throw new UnsupportedPattern(`can't be compiled: ${error.message.slice(0, 120)}`);
    throw error;
  }
  const size = engine.programSize();
  if (size > LARGEST_PROGRAM)
    throw new UnsupportedPattern(
      `has ${grouped(size)} instructions once its repetitions are written out, and may have ${grouped(LARGEST_PROGRAM)}. Use smaller counts or fewer alternatives`,
    );
  const longest = longestMatch(source);
  return {
    longest,
    find: (text, from, budget, most = Number.POSITIVE_INFINITY) =>
      find(engine, Math.min(longest, LONGEST_MATCH), { text, from, budget, most }),
    matchesEmpty: engine.matches(''),
  };
}

type Search = { text: string; from: number; budget: Budget; most: number };

/**
 * Goes over the text in windows: the automaton says quickly which have a match at all, and only those are searched for where it is. A window goes on past its
 * end by the longest match, and one more character on both sides tells word boundaries and line ends.
 */
function find(engine: RE2JS, longest: number, { text, from, budget, most }: Search): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  const size = Math.max(WINDOW, longest);
  if (text.length - from > 2 * size && !engine.test(from === 0 ? text : text.slice(Math.max(0, from - 1)))) {
    budget.check();
    return found;
  }
  for (let window = from, next = from; window < text.length; window += size) {
    const base = Math.max(0, window - 1);
    const slice = text.slice(base, window + size + longest + 1);
    if (engine.test(slice)) {
      const matcher = engine.matcher(slice);
      for (let at = Math.max(window, next) - base; at <= slice.length && matcher.find(at); ) {
        const start = matcher.start() + base;
        const end = matcher.end() + base;
        if (start >= window + size) break;
        if (end > start && found.push({ start, end }) >= most) return found;
        next = Math.max(end, start + 1);
        at = next - base;
        budget.check();
      }
    }
    budget.check();
  }
  return found;
}

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

const WINDOW = 1_024;
/** Instructions. The most hostile pattern of this size takes some tens of milliseconds a window, after which the budget ends it. */
export const LARGEST_PROGRAM = 1_000;
/** Of RE2 itself. */
const MOST_REPEATED = 1_000;
const MOST_COMPILED = 5_000;
const compiled = processState('linear-patterns', () => new Map<string, LinearPattern>());
