/** A string value of a JSON text: where its literal begins and ends, quotes included, and what it means. */
export type JsonString = { readonly from: number; readonly to: number; readonly value: string };

/** A brace may be written as an escape. */
export const BRACES = /\{\{|\\u007b/i;

/** The string values of a valid JSON text in which `{{` stands, one after the other; names of members are not values. */
export function* stringsWithBraces(text: string): Generator<JsonString> {
  for (let from = text.indexOf('"'); from >= 0; ) {
    const to = endOfString(text, from);
    const literal = text.slice(from, to);
    if (BRACES.test(literal) && !isName(text, to)) {
      const value = JSON.parse(literal) as string;
      if (value.includes('{{')) yield { from, to, value };
    }
    from = text.indexOf('"', to);
  }
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const c = text[at];
    if (c === '\\') at++;
    else if (c === '"') return at + 1;
  }
  return text.length;
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++;
  return text[at] === ':';
}
