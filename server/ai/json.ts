import { assertJsonShape, type JsonShape, parseExactWithin } from '#server/kernel/bounded-text.ts';
import { isExact, isNumber } from '#server/kernel/lossless-json.ts';

/**
 * Of a request or an answer. Deeper ones would end the process of whoever walks them, and JSON.parse takes up to 20 ms for so many. Long lists are those of
 * tokens to embed; a conversation of 1,000 turns with tools has about 25 members and containers a turn.
 */
export const MESSAGE_SHAPE: JsonShape = { levels: 200, values: 300_000, members: 50_000 };
/** Of a whole answer that is short: its length bounds how many members it has. */
export const ANSWER_SHAPE: JsonShape = { levels: MESSAGE_SHAPE.levels, values: Number.POSITIVE_INFINITY };

/** Numbers with digits of their own in one of them, which are read in 15 ms, and written in as many. */
export const MOST_EXACT = 50_000;

/** A JSON object of a provider or a caller: nothing about its members is known. */
export type JsonObject = { [member: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExact(value);

/** The object itself, or an empty one that nothing else holds. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The list itself, or an empty one that nothing else holds. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The objects of a list; whatever else it holds is passed over. */
export const objectsOf = (value: unknown): JsonObject[] => listOf(value).filter(isObject);

/** The member when it is a string. */
export function textAt(value: unknown, member: string): string | undefined {
  const found = isObject(value) ? value[member] : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** The member when it is a number: the nearest double, for what we compute with. */
export function numberAt(value: unknown, member: string): number | undefined {
  const found = isObject(value) ? value[member] : undefined;
  return isNumber(found) ? Number(found) : undefined;
}

/** A count that a provider reports: whole, not negative, and small enough to be true; anything else is undefined. */
export function countAt(value: unknown, member: string): number | undefined {
  const found = numberAt(value, member);
  return found !== undefined && Number.isFinite(found) && found >= 0 && found <= LARGEST_COUNT ? Math.floor(found) : undefined;
}

const LARGEST_COUNT = 1e12;

/** JSON as a value whose numbers keep their digits; undefined when the text isn't JSON, or is more than a message may be. */
export function parsedJson(text: string): unknown {
  try {
    assertJsonShape(text, MESSAGE_SHAPE);
    return parseExactWithin(text, MOST_EXACT);
  } catch {
    return undefined;
  }
}

/** A table that is looked up by words of others: unlike an object, it has no `constructor`. */
export const table = <Row>(rows: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> => new Map(Object.entries(rows));
