import { z } from 'zod';
import { isJsonText, type JsonText, jsonText, membersOf, textOfJson } from './json-text.ts';
import { columnJson, isExact, jsonOfColumn } from './lossless-json.ts';

/** Any JSON, as its author wrote it; for members that a row names in `body.source`. Procedures of the dashboard send a value, whose numbers are exact. */
export const anyJsonText = () =>
  z
    .unknown()
    .refine((value) => value !== undefined, 'is required')
    .transform((value): JsonText => (isJsonText(value) ? value : jsonText(JSON.stringify(value))))
    .meta({ description: 'Any JSON value.' });

/** The same for an object, whose names may not be repeated: readers disagree about which of them counts. */
export const objectText = () =>
  anyJsonText()
    .refine((json) => textOfJson(json).trimStart().startsWith('{'), 'must be an object')
    .refine(
      (json) => !textOfJson(json).trimStart().startsWith('{') || !hasRepeatedName(textOfJson(json)),
      'must not have the same member twice',
    )
    .meta({ description: undefined, type: 'object', additionalProperties: true });

/** Such a text in an answer. */
export const sameJsonText = () => z.custom<JsonText>(isJsonText).meta({ description: 'Any JSON value.' });
export const sameObjectText = () => z.custom<JsonText>(isJsonText).meta({ type: 'object', additionalProperties: true });

/** Any JSON object, as it is: a record would be a copy, in which names such as "2" come first. */
export const anyObject = () =>
  z
    .unknown()
    .refine((value) => typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value), {
      error: 'must be an object',
      abort: true,
    })
    .meta({ type: 'object', additionalProperties: true }) as unknown as z.ZodType<Record<string, unknown>>;

/** An input as its column of type `Json` holds it: `columnJson` of what the schema gives. What judges it before reads it by `jsonOfColumn`. */
export const storedJson = <T extends z.ZodType>(schema: T) => schema.transform((value) => columnJson(value));

/** An object in an answer, from such a column. */
export const columnObject = () => z.preprocess(jsonOfColumn, anyObject());

function hasRepeatedName(object: string): boolean {
  const names = new Set<string>();
  for (const { name } of membersOf(object)) {
    if (names.has(name)) return true;
    names.add(name);
  }
  return false;
}
