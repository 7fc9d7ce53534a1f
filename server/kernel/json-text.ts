import { stringEnd, unguessable } from './json-strings.ts';
import { LosslessNumber, parseExact } from './lossless-json.ts';

// JSON of customers as the text it was: a value can't keep the order of names such as "2", nor repeated names.

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

/** The JSON of a value, with each `JsonText` inside it as its own text, and a BigInt as its digits. */
export function stringifyAround(value: unknown): string {
  const texts: string[] = [];
  const mark = `json-text-${unguessable()}-`;
  const text = JSON.stringify(value, function (this: Record<string, unknown>, name, member: unknown) {
    const held = this[name];
    if (typeof held === 'bigint') return new LosslessNumber(String(held)).toJSON();
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

const [QUOTE, COLON, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, SPACE] = [34, 58, 44, 123, 125, 91, 93, 32] as const;
