import { newId } from '#server/kernel/ids.ts';
import { atOnce, STRIDE, type Steps } from '#server/kernel/slices.ts';
import { ExactNumber, isExact, JSON_NUMBER } from './expressions/exact.shared.ts';

// JSON of definitions and runs, in which every number keeps its digits.

/** A JSON text as its value; a number that a double would write differently is an `ExactNumber`. @throws SyntaxError */
export const parseExact = (text: string): unknown => atOnce(parseExactSteps(text));

/** The same in steps, for a text of megabytes. A reviver takes ten times as long. */
export function* parseExactSteps(text: string): Steps<unknown> {
  // Nobody can write this mark: it is another one at each call.
  const mark = `number-${newId()}-`;
  const marked = yield* markSteps(text, mark);
  const value: unknown = JSON.parse(marked);
  return marked === text ? value : yield* unmarkSteps(value, mark);
}

/** The text with each number that a double would change as a text that begins with the mark. */
function* markSteps(text: string, mark: string): Steps<string> {
  const pieces: string[] = [];
  let [from, stop, quoted] = [0, STRIDE, false];
  for (let at = 0; at < text.length; at++) {
    if (at > stop) {
      yield;
      stop = at + STRIDE;
    }
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) quoted = false;
    } else if (code === QUOTE) quoted = true;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      const number = text.slice(at, end);
      if (isHostile(number) && !isName(text, end)) {
        pieces.push(text.slice(from, at), `"${mark}${number}"`);
        from = end;
      }
      at = end - 1;
    }
  }
  return from === 0 ? text : pieces.join('') + text.slice(from);
}
const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39] as const;

function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && '0123456789.eE+-'.includes(text[at] as string)) at++;
  return at;
}

/** Whether a double would write it differently. Whole numbers of fewer than 16 digits need no look. */
function isHostile(number: string): boolean {
  if (number.length < 16 && number[0] !== '-' && !/[.eE]/.test(number)) return false;
  return String(Number(number)) !== number && JSON_NUMBER.test(number);
}

/** A number is no name of a member: the parser says so. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}

function* unmarkSteps(value: unknown, mark: string): Steps<unknown> {
  const root = { value };
  const open: object[] = [root];
  let count = 0;
  for (let part = open.pop(); part; part = open.pop())
    for (const [name, member] of Object.entries(part)) {
      if (++count % STRIDE === 0) yield;
      if (typeof member === 'object' && member !== null) open.push(member);
      // Assigning to an own member called `__proto__` changes that member.
      else if (typeof member === 'string' && member.startsWith(mark))
        (part as Record<string, unknown>)[name] = new ExactNumber(member.slice(mark.length));
    }
  return root.value;
}

/** The value with `ExactNumber` for numbers that a body has in a class of its own: these write themselves everywhere. */
export function exactly(value: unknown): unknown {
  if (isExact(value)) return value instanceof ExactNumber ? value : new ExactNumber(String(value));
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(exactly);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, exactly(member)]));
}

/**
 * A definition as a column of type `Json` keeps it: as its text where it holds what the database client would change, since that reads numbers as doubles
 * and takes `__proto__` for no member. `openedJson` reads it back.
 */
export const storedJson = (definition: unknown): unknown => (isKeptAsText(definition) ? JSON.stringify(definition) : definition);

/** The value of such a column. */
export const openedJson = (column: unknown): unknown => (typeof column === 'string' ? parseExact(column) : column);

function isKeptAsText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return isExact(value) || Object.hasOwn(value, '__proto__') || Object.values(value).some(isKeptAsText);
}
