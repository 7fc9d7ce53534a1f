import { processState } from '#server/kernel/process-state.ts';
import type { Budget } from './budget.ts';
import { compilePattern, type Engine, FLAGS } from './compile.ts';
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

/**
 * Compiles a pattern. Compiled ones are kept, so that each is compiled once a process however many policies list it.
 * @throws UnsupportedPattern for syntax outside of RE2 and for programs too large to compile, or to run in the budget
 */
export function linearPattern(source: string, flags: PatternFlags = {}): LinearPattern {
  const bits = (flags.ignoreCase ? FLAGS.ignoreCase : 0) | (flags.multiline ? FLAGS.multiline : 0) | (flags.dotAll ? FLAGS.dotAll : 0);
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

function compile(source: string, flags: number): LinearPattern {
  const engine = compilePattern(source, flags);
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
function find(engine: Engine, longest: number, { text, from, budget, most }: Search): { start: number; end: number }[] {
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

const WINDOW = 1_024;
const MOST_COMPILED = 5_000;
const compiled = processState('linear-patterns', () => new Map<string, LinearPattern>());
