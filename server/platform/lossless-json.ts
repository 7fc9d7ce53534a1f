import { LosslessNumber, parse } from 'lossless-json';
import { assertJsonShape } from '#server/kernel/bounded-text.ts';

// JSON whose numbers mean what their author wrote: 1299.10 keeps its last digit and 2^60 its value, where a double would change both.

/**
 * A JSON text as values; a number that a double would write differently is a `LosslessNumber`. Member names are data, `__proto__` too. Of a repeated name
 * the last value counts, as with `JSON.parse`. @throws SyntaxError, Refusal validation_error when it is nested deeper than `levels`, or has more than `values`
 */
export function parseLossless(text: string, levels: number, values = Number.POSITIVE_INFINITY): unknown {
  assertJsonShape(text, { levels, values });
  return parse(text, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** The JSON of values from `parseLossless`, every number as it was. By class: data that looks like a number of the library stays data. */
export const stringifyLossless = (value: unknown): string =>
  JSON.stringify(value, (_, member) => (member instanceof LosslessNumber ? rawJson(member.toString()) : member));

/** ES2025; the compiler's library doesn't know it yet. */
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };

const parseNumber = (text: string): number | LosslessNumber => {
  const value = Number(text);
  return String(value) === text ? value : new LosslessNumber(text);
};
