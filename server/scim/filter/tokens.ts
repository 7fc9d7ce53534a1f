import { badRequest, type ScimProblem } from '../problem.ts';

/** `spaced`: a space stands before it. A quoted text is its value, decoded as JSON. */
export type Token = { at: number; spaced: boolean } & (
  | { kind: 'word'; text: string }
  | { kind: 'text'; text: string }
  | { kind: '(' | ')' | '[' | ']' }
);

export const invalidFilter = (detail: string): ScimProblem => badRequest('invalidFilter', detail);

/** The words, texts and brackets of a filter, in one pass. @throws ScimProblem invalidFilter */
export function tokensOf(filter: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < filter.length; ) {
    const character = filter[at] as string;
    const spaced = filter[at - 1] === ' ';
    if (character === ' ') at++;
    else if (character === '(' || character === ')' || character === '[' || character === ']')
      tokens.push({ kind: character, at: at++, spaced });
    else if (character === '"') {
      const end = endOfText(filter, at);
      tokens.push({ kind: 'text', text: decoded(filter.slice(at, end), at), at, spaced });
      at = end;
    } else {
      const end = endOfWord(filter, at);
      if (end === at) throw invalidFilter(`Unexpected character at position ${at + 1}.`);
      tokens.push({ kind: 'word', text: filter.slice(at, end), at, spaced });
      at = end;
    }
  }
  return tokens;
}

/** The position after the closing quote. */
function endOfText(filter: string, start: number): number {
  for (let at = start + 1; at < filter.length; at++) {
    if (filter[at] === '\\') at++;
    else if (filter[at] === '"') return at + 1;
  }
  throw invalidFilter(`The text that begins at position ${start + 1} has no closing quote.`);
}

function decoded(json: string, at: number): string {
  let text: unknown;
  try {
    text = JSON.parse(json);
  } catch {
    // Falls through: not a text of JSON.
  }
  // The database holds neither NUL nor half of a surrogate pair, so no value could ever match.
  if (typeof text !== 'string' || text.includes('\0') || !text.isWellFormed())
    throw invalidFilter(`The text at position ${at + 1} isn't a valid JSON string.`);
  return text;
}

/** Names, operators, numbers and literals: letters, digits and `$ + - . : _`. */
function endOfWord(filter: string, start: number): number {
  let at = start;
  while (at < filter.length && isWordCharacter(filter.charCodeAt(at))) at++;
  return at;
}

const isWordCharacter = (code: number) =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  '$+-.:_'.includes(String.fromCharCode(code));
