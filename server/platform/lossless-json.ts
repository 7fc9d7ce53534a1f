import { LosslessNumber, parse } from 'lossless-json';
import { Refusal } from '#server/kernel/errors.ts';

// JSON whose numbers mean what their author wrote: 1299.10 keeps its last digit and 2^60 its value, where a double would change both.

/**
 * A JSON text as values; a number that a double would write differently is a `LosslessNumber`. Member names are data, `__proto__` too. Of a repeated name
 * the last value counts, as with `JSON.parse`. @throws SyntaxError, Refusal validation_error when it is nested deeper than `levels`
 */
export function parseLossless(text: string, levels: number): unknown {
  assertDepth(text, levels);
  return parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** The JSON of values from `parseLossless`, every number as it was. By class: data that looks like a number of the library stays data. */
export const stringifyLossless = (value: unknown): string =>
  JSON.stringify(value, (_, member) => (member instanceof LosslessNumber ? rawJson(member.toString()) : member));

/** ES2025; the compiler's library doesn't know it yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

export const tooDeep = (levels: number) =>
  new Refusal('validation_error', `The request body must not be nested deeper than ${levels} levels.`);

const parseNumber = (text: string): number | LosslessNumber => {
  const value = Number(text);
  return String(value) === text ? value : new LosslessNumber(text);
};

/** Before anything recurses over the text: a megabyte of brackets would exhaust the stack. */
function assertDepth(text: string, levels: number): void {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) quoted = false;
    } else if (code === QUOTE) quoted = true;
    else if (code === BRACE || code === BRACKET) {
      if (++depth > levels) throw tooDeep(levels);
    } else if (code === BRACE_END || code === BRACKET_END) depth--;
  }
}

const [QUOTE, BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END] = ['"', '\\', '{', '}', '[', ']'].map((c) => c.charCodeAt(0));
