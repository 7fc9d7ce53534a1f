import { assertJsonShape, stringEnd } from './bounded-text.ts';
import { newId } from './ids.ts';

// JSON of customers, which is stored, signed and sent as its author wrote it: 1299.10 keeps its last digit and 2^60 its value, where a double would change
// both. A value (`parseLossless`) keeps numbers and names; only a text (`JsonText`) also keeps the order of names such as "2" and repeated names.

/** A number that a double would write differently, as the text it was. `JSON.stringify` writes that text. */
export class LosslessNumber {
  readonly value: string;
  constructor(value: string) {
    this.value = value;
  }
  toString(): string {
    return this.value;
  }
  /** The nearest double. */
  valueOf(): number {
    return Number(this.value);
  }
  toJSON(): unknown {
    return rawJson(this.value);
  }
}

/** ES2025; the compiler's library doesn't know it yet. Browsers without it write the nearest double. */
const { rawJSON: rawJson = Number } = JSON as unknown as { rawJSON?: (text: string) => unknown };

/**
 * A JSON text as values; a number that a double would write differently is a `LosslessNumber`. Member names are data, `__proto__` too. Of a repeated name
 * the last value counts, as with `JSON.parse`. @throws SyntaxError, Refusal validation_error when it is nested deeper than `levels`, or has more than `values`
 */
export function parseLossless(text: string, levels: number, values = Number.POSITIVE_INFINITY): unknown {
  assertJsonShape(text, { levels, values });
  return parseExact(text);
}

/** The JSON of a value from `parseLossless`, every number as it was. */
export const stringifyLossless = (value: unknown): string => JSON.stringify(value);

/**
 * The same for a text whose shape its reader has bounded. One scan finds the numbers that a double would change; a text without any is parsed as it is. A
 * reviver would do the same in ten times the time. @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  const numbers: string[] = [];
  // Nobody can write this mark: it is another one at each call.
  const mark = `number-${newId()}-`;
  let marked = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(text, at + 1);
      if (end < 0) break; // the parser says what is wrong
      at = end;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text)?.[0];
      if (number === undefined) continue;
      if (String(Number(number)) !== number) {
        marked += `${text.slice(copied, at)}"${mark}${numbers.push(number) - 1}"`;
        copied = at + number.length;
      }
      at += number.length - 1;
    }
  }
  if (numbers.length === 0) return JSON.parse(text);
  return withNumbers(JSON.parse(marked + text.slice(copied)), mark, numbers);
}

/** RFC 8259 §6, and not the name of a member, which the parser refuses. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\s*:)/y;

function withNumbers(value: unknown, mark: string, numbers: readonly string[]): unknown {
  if (typeof value === 'string')
    return value.startsWith(mark) ? new LosslessNumber(numbers[Number(value.slice(mark.length))] as string) : value;
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    const member = members[name];
    // Assigning to an own member called `__proto__` changes that member.
    if (typeof member === 'string' || typeof member === 'object') members[name] = withNumbers(member, mark, numbers);
  }
  return value;
}

/**
 * What a column of type `Json` holds of a value: a value with exact numbers as its text, because the database client reads every number as a double.
 * `jsonOfColumn` reads it back. Only for columns whose value is an object or a list, which a text is not.
 */
export const columnJson = <T>(value: T): T => (hasExactNumber(value) ? (JSON.stringify(value) as T) : value);

/** The value of such a column. */
export const jsonOfColumn = (column: unknown): unknown => (typeof column === 'string' ? parseExact(column) : column);

export function hasExactNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof LosslessNumber || Object.values(value).some(hasExactNumber);
}

/**
 * A JSON value as the text that its author wrote: digits of numbers, order and repetition of member names, and names such as `__proto__` are kept. A row
 * names such members of its body (`body.source`); answers with one are written around its text.
 */
export type JsonText = { readonly [TEXT]: string; toJSON: () => unknown };

const TEXT = Symbol('json text');

/** `text` must be valid JSON. Where an answer isn't written around it, `toJSON` gives the value, whose numbers are exact. */
export const jsonText = (text: string): JsonText => ({ [TEXT]: text, toJSON: () => parseExact(text) }) as JsonText;

export const isJsonText = (value: unknown): value is JsonText => typeof value === 'object' && value !== null && Object.hasOwn(value, TEXT);

export const textOfJson = (value: JsonText): string => value[TEXT];

/** The JSON of a value, with each `JsonText` inside it as its own text. */
export function stringifyAround(value: unknown): string {
  const texts: string[] = [];
  const mark = `json-text-${newId()}-`;
  const text = JSON.stringify(value, function (this: Record<string, unknown>, name, member: unknown) {
    const held = this[name];
    return isJsonText(held) ? `${mark}${texts.push(textOfJson(held)) - 1}"` : member;
  });
  return texts.reduce((whole, one, i) => {
    const quoted = JSON.stringify(`${mark}${i}"`);
    const at = whole.indexOf(quoted);
    return whole.slice(0, at) + one + whole.slice(at + quoted.length);
  }, text);
}

/** The members of a JSON object in the order they are written, with the text of each; `object` must have passed JSON.parse. */
export function* membersOf(object: string): Generator<{ name: string; text: string }> {
  let depth = 0;
  let from = -1;
  let name = '';
  for (let at = 0; at < object.length; at++) {
    const code = object.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(object, at + 1);
      if (depth === 1 && from === -1) name = JSON.parse(object.slice(at, end + 1)) as string;
      at = end;
    } else if (code === COLON && depth === 1) from = at + 1;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY || code === COMMA) {
      if (code !== COMMA) depth--;
      if (depth > (code === COMMA ? 1 : 0)) continue;
      if (from !== -1) yield { name, text: object.slice(from, at).trim() };
      from = -1;
    }
  }
}

/** The text of a member of a JSON object, of the last one when the name is repeated; undefined without it. `object` must have passed JSON.parse. */
export function memberText(object: string, wanted: string): string | undefined {
  let found: string | undefined;
  for (const { name, text } of membersOf(object)) if (name === wanted) found = text;
  return found;
}

/** A JSON text without the whitespace between its parts; `text` must have passed JSON.parse. */
export function compactJson(text: string): string {
  let compact = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at + 1);
    else if (code <= SPACE) {
      compact += text.slice(copied, at);
      copied = at + 1;
    }
  }
  return compact + text.slice(copied);
}

/** A JSON object with members put behind its own; `object` must be the text of one. */
export function withMembers(object: string, more: Readonly<Record<string, unknown>>): string {
  const added = JSON.stringify(more).slice(1, -1);
  const own = object.trim().slice(1, -1);
  return `{${own}${own.trim() === '' || added === '' ? '' : ','}${added}}`;
}

const [QUOTE, COLON, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [34, 58, 44, 123, 125, 91, 93] as const;
const [SPACE, MINUS, ZERO, NINE] = [32, 45, 48, 57] as const;
