import { setImmediate } from 'node:timers/promises';
import { compilePattern, type Engine, searchWork, UnsupportedPattern } from '#server/ai/patterns/compile.ts';
import { isExact, isSameNumber, type LosslessNumber } from '#server/kernel/lossless-json.ts';

/**
 * Rules for the arguments of a tool (interface rule 52 §10): every one must hold, for every value that its path finds. A path that finds nothing is no violation,
 * since whether a member is required is the schema's business.
 *
 * - `matches`: each value is a text, and the whole of it matches the pattern.
 * - `in`: each value equals one of the list.
 * - `max`: each value is a number of at most this.
 * - `forbid`: without a value nothing may be there at all; with a list no value equals one of it; with a pattern no text has a match anywhere.
 */
export type ArgumentRule = { path: string; op: 'matches' | 'in' | 'max' | 'forbid'; value?: Scalar | readonly Scalar[] | undefined };
type Scalar = string | number | boolean | null;

/** Which rule a call breaks; nothing of the arguments is repeated. */
export type Violation = { path: string; op: ArgumentRule['op'] };
export type CompiledRules = readonly { readonly path: string; readonly op: ArgumentRule['op']; holds(args: unknown): boolean }[];

export const MAX_RULES = 20;
export const MAX_PATTERN = 500;

/** The first rule that the arguments break, or null. Time is linear in the arguments, whatever the patterns. */
export function violated(rules: CompiledRules, args: unknown): Violation | null {
  const broken = rules.find((rule) => !rule.holds(args));
  return broken ? { path: broken.path, op: broken.op } : null;
}

/** @throws RuleProblem for a rule that makes no sense; a stored one was judged when it was written. */
export const compileRules = (rules: readonly ArgumentRule[]): CompiledRules => rules.map(compileRule);

/** Compiles them one a turn of the loop, to judge them. @throws RuleProblem */
export async function assertRules(rules: readonly ArgumentRule[]): Promise<void> {
  for (const [index, rule] of rules.entries()) {
    if (index > 0) await setImmediate();
    compileRule(rule, index);
  }
}

function compileRule(rule: ArgumentRule, index: number): CompiledRules[number] {
  const path = parsedPath(rule.path);
  if (!path) throw new RuleProblem(index, 'path', 'must be a path such as $.to, $.items[*].price or $["a name"]');
  const fits = judgeOf(rule, index);
  return { path: rule.path, op: rule.op, holds: (args) => everyAt(args, path, 0, fits) };
}

export class RuleProblem extends Error {
  override readonly name = 'RuleProblem';
  /** Which rule of the list, and which member of it. */
  readonly index: number;
  readonly member: 'path' | 'value';
  constructor(index: number, member: RuleProblem['member'], message: string) {
    super(message);
    this.index = index;
    this.member = member;
  }
}

type Judge = (value: unknown) => boolean;

function judgeOf({ op, value }: ArgumentRule, index: number): Judge {
  const problem = (message: string) => new RuleProblem(index, 'value', message);
  switch (op) {
    case 'matches': {
      if (typeof value !== 'string') throw problem('must be a pattern');
      const pattern = patternOf(value, problem);
      return (found) => typeof found === 'string' && pattern.matches(found);
    }
    case 'in': {
      if (!Array.isArray(value) || value.length === 0) throw problem('must be a list of allowed values');
      return (found) =>
        value.includes(found as Scalar) || (isExact(found) && value.some((one) => typeof one === 'number' && isSameNumber(found, one)));
    }
    case 'max': {
      if (typeof value !== 'number') throw problem('must be a number');
      // Of a number that rounds to the bound only the same one is surely not above it.
      return (found) =>
        isExact(found) ? Number(found) < value || isSameNumber(found, value) : typeof found === 'number' && found <= value;
    }
    case 'forbid': {
      if (value === undefined || value === null) return () => false;
      // Who reads numbers as doubles would read the forbidden one.
      if (Array.isArray(value)) return (found) => isScalar(found) && !value.includes(isExact(found) ? Number(found) : found);
      if (typeof value !== 'string') throw problem('must be a pattern, a list of values, or left out');
      const pattern = patternOf(value, problem);
      // An object or a list where a text was expected could hold the forbidden text.
      const has = (text: string) => pattern.matcher(text).find();
      return (found) => isScalar(found) && !has(String(found)) && !(isExact(found) && has(String(Number(found))));
    }
  }
}

const isScalar = (value: unknown): value is Scalar | LosslessNumber => value === null || typeof value !== 'object' || isExact(value);

/** Microseconds that the patterns of the rules take at most, when the arguments have so many characters as JSON. */
export const patternWork = (rules: readonly ArgumentRule[], characters: number): number =>
  rules.reduce((sum, { op, value }) => sum + (isPattern(op, value) ? searchWork(value, characters) : 0), 0);

const isPattern = (op: ArgumentRule['op'], value: ArgumentRule['value']): value is string =>
  (op === 'matches' || op === 'forbid') && typeof value === 'string';

function patternOf(text: string, problem: (message: string) => RuleProblem): Engine {
  if (text.length > MAX_PATTERN) throw problem(`must have at most ${MAX_PATTERN} characters`);
  try {
    return compilePattern(text);
  } catch (error) {
    if (error instanceof UnsupportedPattern) throw problem(error.message);
    throw error;
  }
}

type Step = { key: string | number } | 'each';

const MAX_STEPS = 8;
const STEP = /^(?:\.([A-Za-z_][A-Za-z0-9_-]{0,127})|\[(\d{1,6})\]|\["((?:[^"\\]|\\["\\]){1,128})"\]|(\[\*\]|\.\*))/;

/** The steps of a path, or undefined. */
function parsedPath(path: string): Step[] | undefined {
  if (!path.startsWith('$') || path.length > 500) return undefined;
  const steps: Step[] = [];
  for (let rest = path.slice(1); rest !== ''; ) {
    const [whole, name, index, quoted, each] = STEP.exec(rest) ?? [];
    if (whole === undefined || steps.length === MAX_STEPS) return undefined;
    steps.push(each ? 'each' : { key: index === undefined ? (name ?? (quoted as string).replace(/\\(["\\])/g, '$1')) : Number(index) });
    rest = rest.slice(whole.length);
  }
  return steps;
}

function everyAt(value: unknown, path: readonly Step[], at: number, fits: Judge): boolean {
  const step = path[at];
  if (step === undefined) return fits(value);
  if (typeof value !== 'object' || value === null || isExact(value)) return true;
  if (step === 'each') return Object.values(value).every((item) => everyAt(item, path, at + 1, fits));
  if (Array.isArray(value) !== (typeof step.key === 'number') || !Object.hasOwn(value, step.key)) return true;
  return everyAt((value as Record<string | number, unknown>)[step.key], path, at + 1, fits);
}
