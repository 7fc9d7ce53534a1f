import { newId } from './ids.ts';

/**
 * A JSON value as the text that its author wrote: digits of numbers, order and repetition of member names, and names such as `__proto__` are kept, which
 * no parsed value keeps. A row names such members of its body (`body.source`); answers with one are written around its text.
 */
export type JsonText = { readonly [TEXT]: string; toJSON: () => unknown };

const TEXT = Symbol('json text');

/** `text` must be valid JSON. Where an answer isn't written around it, `toJSON` gives the plain value. */
export const jsonText = (text: string): JsonText => ({ [TEXT]: text, toJSON: () => JSON.parse(text) as unknown }) as JsonText;

export const isJsonText = (value: unknown): value is JsonText => typeof value === 'object' && value !== null && Object.hasOwn(value, TEXT);

export const textOfJson = (value: JsonText): string => value[TEXT];

/** The JSON of a value, with each `JsonText` inside it as its own text. */
export function stringifyAround(value: unknown): string {
  const texts: string[] = [];
  // No caller can write this mark: it is another one at each call.
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

/** The text of a member of a JSON object, of the last one when the name is repeated; undefined without it. `object` must have passed JSON.parse. */
export function memberText(object: string, name: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  let from = -1;
  let key: string | undefined;
  for (let at = 0; at < object.length; at++) {
    const code = object.charCodeAt(at);
    if (code === QUOTE) {
      const begin = at;
      for (at++; object.charCodeAt(at) !== QUOTE; at++) if (object.charCodeAt(at) === BACKSLASH) at++;
      if (depth === 1 && from === -1) key = JSON.parse(object.slice(begin, at + 1)) as string;
    } else if (code === COLON && depth === 1) from = at + 1;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++;
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY || code === COMMA) {
      if (code !== COMMA) depth--;
      if (depth > (code === COMMA ? 1 : 0)) continue;
      if (key === name && from !== -1) found = object.slice(from, at).trim();
      from = -1;
    }
  }
  return found;
}

const [QUOTE, BACKSLASH, COLON, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [34, 92, 58, 44, 123, 125, 91, 93] as const;
