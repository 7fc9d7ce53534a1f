import { STRIDE, type Steps } from '#server/kernel/slices.ts';

/** A string value of a JSON text: where its literal begins and ends, quotes included, and what it means. */
export type JsonString = { readonly from: number; readonly to: number; readonly value: string };

/** A brace may be written as an escape. */
export const BRACES = /\{\{|\\u007b/i;

/** The next string value of a valid JSON text in which `{{` stands, from a place that is in no string; names of members are not values. */
export function* nextWithBraces(text: string, start: number): Steps<JsonString | undefined> {
  let stop = start + STRIDE;
  for (let from = text.indexOf('"', start); from >= 0; ) {
    let to = from + 1;
    for (; text[to] !== '"' && to < text.length; to++) {
      if (text[to] === '\\') to++;
      if (to > stop) {
        yield;
        stop = to + STRIDE;
      }
    }
    to = Math.min(to + 1, text.length);
    const literal = text.slice(from, to);
    if (BRACES.test(literal) && !isName(text, to)) {
      const value = yield* meaningOf(literal);
      if (value.includes('{{')) return { from, to, value };
    }
    if (to > stop) {
      yield;
      stop = to + STRIDE;
    }
    from = text.indexOf('"', to);
  }
  return undefined;
}

/** The characters of a string, read in parts of whole escapes. */
function* meaningOf(literal: string): Steps<string> {
  if (literal.length <= STRIDE) return JSON.parse(literal) as string;
  const parts: string[] = [];
  let from = 1;
  for (let at = 1; at < literal.length - 1; at++) {
    if (at - from > STRIDE) {
      parts.push(JSON.parse(`"${literal.slice(from, at)}"`) as string);
      from = at;
      yield;
    }
    if (literal[at] === '\\') at += literal[at + 1] === 'u' ? 5 : 1;
  }
  return [...parts, JSON.parse(`"${literal.slice(from)}`) as string].join('');
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++;
  return text[at] === ':';
}
