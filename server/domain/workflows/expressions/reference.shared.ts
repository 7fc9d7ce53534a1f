import type { LosslessNumber } from '#server/kernel/lossless-json.ts';
import { isRecord } from '../definition.shared.ts';
import { numberIn } from './numbers.shared.ts';

/** `{{orders.body.items[0]["a b"]}}`: the output of a node and the way into it (interface rule 62 §3.2). */
export type Reference = { node: string; path: (string | number)[] };

/** What references resolve in: the output of a node as the one who asks sees it, undefined when it has none. */
export type Scope = (node: string) => unknown;

/** A place in a text that is read from left to right: every parser here takes each character once. */
export class Cursor {
  readonly text: string;
  at: number;
  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }
  get rest(): boolean {
    return this.at < this.text.length;
  }
  peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? '';
  }
  /** Takes exactly this, if it is next. */
  take(expected: string): boolean {
    if (!this.text.startsWith(expected, this.at)) return false;
    this.at += expected.length;
    return true;
  }
  skipSpace(): void {
    while (isSpace(this.peek())) this.at++;
  }
  /** The characters that are next and of this kind. */
  run(holds: (char: string) => boolean): string {
    const from = this.at;
    while (this.at < this.text.length && holds(this.text[this.at] as string)) this.at++;
    return this.text.slice(from, this.at);
  }
}

/** What a parser throws, for its caller to turn into a problem. */
export class SyntaxProblem extends Error {
  override readonly name = 'SyntaxProblem';
}
export const expected = (what: string, cursor: Cursor): SyntaxProblem =>
  new SyntaxProblem(`${what} expected at character ${cursor.at + 1} of "${shortened(cursor.text)}"`);
export const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}…` : text);

const MOST_STEPS = 40;

/** @throws SyntaxProblem */
export function readReference(cursor: Cursor): Reference {
  const first = cursor.peek();
  const node = isLetter(first) || first === '_' ? cursor.run(isNodeChar) : '';
  if (node === '') throw expected('the id of a node', cursor);
  const path: (string | number)[] = [];
  for (;;) {
    if (path.length > MOST_STEPS) throw new SyntaxProblem(`a reference can have at most ${MOST_STEPS} steps`);
    if (cursor.take('.')) {
      const name = cursor.run(isNameChar);
      if (name === '') throw expected('a name', cursor);
      path.push(name);
    } else if (cursor.take('[')) {
      const quote = cursor.peek();
      if (quote === '"' || quote === "'") path.push(readString(cursor));
      else path.push(readIndex(cursor));
      if (!cursor.take(']')) throw expected(']', cursor);
    } else return { node, path };
  }
}

function readIndex(cursor: Cursor): number {
  const digits = cursor.run(isDigit);
  if (digits === '' || digits.length > 9) throw expected('a number or a quoted name', cursor);
  return Number(digits);
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

/** A quoted text; a backslash keeps the next character, and n, t and r are what they are elsewhere. @throws SyntaxProblem */
export function readString(cursor: Cursor): string {
  const quote = cursor.peek();
  cursor.at++;
  let text = '';
  for (; cursor.rest; cursor.at++) {
    const char = cursor.peek();
    if (char === quote) {
      cursor.at++;
      return text;
    }
    if (char === '\\') {
      cursor.at++;
      text += ESCAPES[cursor.peek()] ?? cursor.peek();
    } else text += char;
  }
  throw expected(`the closing ${quote}`, cursor);
}

/** A number, a quoted text, true, false or null; undefined when something else is next. @throws SyntaxProblem */
export function readLiteral(cursor: Cursor): { value: string | number | boolean | null | LosslessNumber } | undefined {
  const char = cursor.peek();
  if (char === '"' || char === "'") return { value: readString(cursor) };
  if (isDigit(char) || (char === '-' && isDigit(cursor.peek(1)))) {
    const sign = cursor.take('-') ? '-' : '';
    const whole = cursor.run(isDigit);
    const fraction = cursor.peek() === '.' && isDigit(cursor.peek(1)) && cursor.take('.') ? `.${cursor.run(isDigit)}` : '';
    const value = numberIn(sign + whole + fraction);
    if (value === null) throw expected('a number of at most 400 characters', cursor);
    return { value };
  }
  if (!isLetter(char)) return undefined;
  for (const [word, value] of WORDS)
    if (
      cursor.text.startsWith(word, cursor.at) &&
      !isNodeChar(cursor.peek(word.length)) &&
      !'.['.includes(cursor.peek(word.length) || ' ')
    ) {
      cursor.at += word.length;
      return { value };
    }
  return undefined;
}
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', null],
] as const;

/** The trigger's own id may be written as `trigger`. */
export const nodeOf = (name: string): string => (name === 'trigger' ? 'trigger-node' : name);

/**
 * What a reference leads to. Own members of objects, items of lists and the length of texts and lists: nothing that a value merely inherits.
 * undefined for what isn't there.
 */
export function resolve({ node, path }: Reference, scope: Scope): unknown {
  let value = scope(nodeOf(node));
  for (const step of path) value = member(value, step);
  return value;
}

export function member(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) {
    if (step === 'length') return value.length;
    const index = typeof step === 'number' ? step : /^\d{1,9}$/.test(step) ? Number(step) : -1;
    return value[index];
  }
  if (typeof value === 'string') return step === 'length' ? value.length : undefined;
  return isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

export const isDigit = (char: string): boolean => char >= '0' && char <= '9';
export const isSpace = (char: string): boolean => char === ' ' || char === '\t' || char === '\n' || char === '\r';
const isLetter = (char: string): boolean => (char >= 'a' && char <= 'z') || (char >= 'A' && char <= 'Z');
const isNodeChar = (char: string): boolean => isLetter(char) || isDigit(char) || char === '_' || char === '-';
const isNameChar = (char: string): boolean => isNodeChar(char) || char === '$';
