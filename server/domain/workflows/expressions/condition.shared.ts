import { isExact, isNumber, type LosslessNumber } from '#server/kernel/lossless-number.ts';
import { isRecord } from '../definition.shared.ts';
import { asNumber, keysOf } from './filters.shared.ts';
import { COST, charge, costOfMembers, type Meter } from './meter.shared.ts';
import { compareNumbers, isTruthy } from './numbers.shared.ts';
import { Cursor, expected, type Reference, readLiteral, readReference, resolve, type Scope, SyntaxProblem } from './reference.shared.ts';

// Expressions of conditions: literals, references without braces, === !== < > <= >= && || !, parentheses, and includes, startsWith and endsWith of a
// value. Read by a parser of our own into a tree that only these can be in: there is nothing to escape from.

export type Condition =
  | { kind: 'literal'; value: unknown }
  | { kind: 'reference'; reference: Reference }
  | { kind: 'not'; of: Condition }
  | { kind: 'and' | 'or'; left: Condition; right: Condition }
  | { kind: 'compare'; operator: Comparison; left: Condition; right: Condition }
  | { kind: 'call'; method: Method; on: Condition; argument: Condition };
type Comparison = (typeof COMPARISONS)[number];
type Method = (typeof METHODS)[number];

const COMPARISONS = ['===', '!==', '<=', '>=', '<', '>'] as const;
const METHODS = ['includes', 'startsWith', 'endsWith'] as const;
const LONGEST = 1_000;
const DEEPEST = 20;

/** @throws SyntaxProblem */
export function parseCondition(text: string): Condition {
  if (text.length > LONGEST) throw new SyntaxProblem(`an expression can have at most ${LONGEST} characters`);
  const cursor = new Cursor(text);
  const condition = either(cursor, 0);
  cursor.skipSpace();
  if (cursor.rest) throw expected('an operator or the end', cursor);
  return condition;
}

function either(cursor: Cursor, depth: number): Condition {
  let left = both(cursor, depth);
  while (next(cursor, '||')) left = { kind: 'or', left, right: both(cursor, depth) };
  return left;
}

function both(cursor: Cursor, depth: number): Condition {
  let left = comparison(cursor, depth);
  while (next(cursor, '&&')) left = { kind: 'and', left, right: comparison(cursor, depth) };
  return left;
}

function comparison(cursor: Cursor, depth: number): Condition {
  const left = unary(cursor, depth);
  cursor.skipSpace();
  const operator = '=!<>'.includes(cursor.peek() || ' ') ? COMPARISONS.find((one) => cursor.take(one)) : undefined;
  if (!operator) {
    if (cursor.peek() === '=' || (cursor.peek() === '!' && cursor.peek(1) === '=')) throw expected('=== or !==', cursor);
    return left;
  }
  if (cursor.peek() === '=') throw expected('=== or !==', cursor);
  return { kind: 'compare', operator, left, right: unary(cursor, depth) };
}

function unary(cursor: Cursor, depth: number): Condition {
  if (depth > DEEPEST) throw new SyntaxProblem(`an expression can be at most ${DEEPEST} levels deep`);
  cursor.skipSpace();
  if (cursor.peek() === '!' && cursor.peek(1) !== '=') {
    cursor.at++;
    return { kind: 'not', of: unary(cursor, depth + 1) };
  }
  if (cursor.take('(')) {
    const inner = either(cursor, depth + 1);
    cursor.skipSpace();
    if (!cursor.take(')')) throw expected(')', cursor);
    return withCalls(cursor, inner, depth);
  }
  const literal = readLiteral(cursor);
  if (literal) return withCalls(cursor, { kind: 'literal', value: literal.value }, depth);
  const reference = readReference(cursor);
  const method = METHODS.find((one) => one === reference.path.at(-1));
  if (method && cursor.peek() === '(') {
    const on: Condition = { kind: 'reference', reference: { ...reference, path: reference.path.slice(0, -1) } };
    return { kind: 'call', method, on, argument: argument(cursor, depth) };
  }
  return { kind: 'reference', reference };
}

/** `'a,b'.includes(x)`. */
function withCalls(cursor: Cursor, on: Condition, depth: number): Condition {
  if (cursor.peek() !== '.') return on;
  cursor.at++;
  const name = cursor.run((char) => /[A-Za-z]/.test(char));
  const method = METHODS.find((one) => one === name);
  if (!method) throw expected(`${METHODS.join(', ')}`, cursor);
  return { kind: 'call', method, on, argument: argument(cursor, depth) };
}

function argument(cursor: Cursor, depth: number): Condition {
  if (!cursor.take('(')) throw expected('(', cursor);
  const inner = either(cursor, depth + 1);
  cursor.skipSpace();
  if (!cursor.take(')')) throw expected(')', cursor);
  return inner;
}

function next(cursor: Cursor, operator: string): boolean {
  cursor.skipSpace();
  return cursor.take(operator);
}

/** The references of a condition. */
export function referencesOf(condition: Condition): Reference[] {
  const found: Reference[] = [];
  const open: Condition[] = [condition];
  for (let one = open.pop(); one; one = open.pop()) {
    if (one.kind === 'reference') found.push(one.reference);
    else if (one.kind === 'not') open.push(one.of);
    else if (one.kind === 'call') open.push(one.argument, one.on);
    else if (one.kind !== 'literal') open.push(one.right, one.left);
  }
  return found;
}

/** @throws TooLarge */
export const holds = (condition: Condition, scope: Scope, meter: Meter): boolean => isTruthy(evaluate(condition, { scope, meter }));

type Within = { scope: Scope; meter: Meter };

function evaluate(condition: Condition, within: Within): unknown {
  charge(within.meter, COST.step);
  switch (condition.kind) {
    case 'literal':
      return condition.value;
    case 'reference':
      return resolve(condition.reference, within.scope) ?? null;
    case 'not':
      return !isTruthy(evaluate(condition.of, within));
    case 'and':
    case 'or': {
      const left = evaluate(condition.left, within);
      return isTruthy(left) === (condition.kind === 'and') ? evaluate(condition.right, within) : left;
    }
    case 'call':
      return called(condition.method, evaluate(condition.on, within), evaluate(condition.argument, within), within.meter);
    case 'compare':
      return compared(condition.operator, evaluate(condition.left, within), evaluate(condition.right, within), within.meter);
  }
}

function called(method: Method, value: unknown, argument: unknown, meter: Meter): boolean {
  if (method === 'includes') return contains(value, argument, meter);
  if (typeof value !== 'string' || typeof argument !== 'string') return false;
  charge(meter, argument.length);
  return method === 'startsWith' ? value.startsWith(argument) : value.endsWith(argument);
}

function compared(operator: Comparison, left: unknown, right: unknown, meter: Meter): boolean {
  if (operator === '===') return sameJson(left, right, meter);
  if (operator === '!==') return !sameJson(left, right, meter);
  const order = ordered(left, right, meter);
  if (order === null) return false;
  return operator === '<' ? order < 0 : operator === '<=' ? order <= 0 : operator === '>' ? order > 0 : order >= 0;
}

/** A text in a text, an item of a list (by JSON), a member's name of an object. */
export function contains(value: unknown, searched: unknown, meter: Meter): boolean {
  if (typeof value === 'string') {
    if (typeof searched === 'object' && searched !== null && !isExact(searched)) return false;
    charge(meter, value.length);
    return value.includes(String(searched));
  }
  if (Array.isArray(value)) return value.some((item) => sameJson(item, searched, meter));
  return isRecord(value) && typeof searched === 'string' && Object.hasOwn(value, searched);
}

/** Negative, zero or positive; null when the two have no order. Two texts are compared as texts, anything else as numbers. @throws TooLarge */
export function ordered(left: unknown, right: unknown, meter: Meter): number | null {
  charge(meter, typeof left === 'string' ? left.length : COST.step);
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0;
  if (!isNumeric(left) || !isNumeric(right)) return null;
  const [a, b] = [asNumber(left), asNumber(right)];
  return a === null || b === null ? null : inOrder(a, b, meter);
}

/** Numbers with their digits, which are charged. */
function inOrder(left: number | LosslessNumber, right: number | LosslessNumber, meter: Meter): number {
  if (isExact(left)) charge(meter, String(left).length + COST.exact);
  if (isExact(right)) charge(meter, String(right).length + COST.exact);
  return compareNumbers(left, right);
}
const isNumeric = (value: unknown) => isNumber(value) || typeof value === 'string';

/** Equality of JSON values: the order of members doesn't matter. */
export function sameJson(left: unknown, right: unknown, meter: Meter, depth = 0): boolean {
  charge(meter, COST.step + (typeof left === 'string' ? left.length : 0));
  if (left === right) return true;
  if (isExact(left) || isExact(right)) return isNumber(left) && isNumber(right) && inOrder(left, right, meter) === 0;
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object' || depth > 100) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, i) => sameJson(item, right[i], meter, depth + 1));
  }
  if (keysOf(left, meter).length !== keysOf(right, meter).length) return false;
  const [a, b] = [Object.entries(left), right as Record<string, unknown>];
  charge(meter, costOfMembers(a.length));
  return a.every(([name, value]) => Object.hasOwn(b, name) && sameJson(value, b[name], meter, depth + 1));
}
