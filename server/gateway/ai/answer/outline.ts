import type { JsonObject } from '#server/ai/json.ts';
import { STRIDE, type Steps } from '#server/kernel/slices.ts';
import { blanks, isJson, planOf, valueEnd } from '../../templates/json-bytes.ts';

/** Bytes of members that an outline has as they are, each and together; what answers say of usage and status is far shorter. */
const SHORT = 16 * 1024;
const MOST_PARSED = 64 * 1024;
/** As deep as JSON is read that goes on as its bytes. */
const DEEPEST = 10_000;
/** So many elements of a long list are counted. */
const MOST_COUNTED = 100;
const [QUOTE, COMMA, BRACE, BRACKET, BRACKET_END] = [0x22, 0x2c, 0x7b, 0x5b, 0x5d] as const;

/**
 * An answer as its short members, with nothing in its long ones: text and objects are empty, and lists have as many nulls as elements. That is all that its
 * usage and status are read from, without building values of megabytes. Undefined for bytes that aren't JSON.
 */
export function* outlineSteps(bytes: Buffer): Steps<JsonObject | undefined> {
  const plan = yield* planOf(bytes);
  // Not an object, or one that nobody would write: nothing of it is read, and its bytes may go on.
  if (!plan) return (yield* isJson(bytes, DEEPEST)) ? {} : undefined;
  const outline: JsonObject = Object.create(null);
  let [parsed, read] = [0, 0];
  for (const [name, { from, to }] of plan.members) {
    const length = to - from;
    if (length <= SHORT && parsed + length <= MOST_PARSED) {
      outline[name] = JSON.parse(bytes.toString('utf8', from, to));
      parsed += length;
    } else if (length > SHORT) outline[name] = yield* emptied(bytes, from);
    read += name.length + 100;
    if (read < STRIDE) continue;
    read = 0;
    yield;
  }
  return outline;
}

function* emptied(bytes: Buffer, from: number): Steps<unknown> {
  if (bytes[from] === QUOTE) return '';
  if (bytes[from] === BRACE) return {};
  if (bytes[from] !== BRACKET) return 0;
  const elements: null[] = [];
  for (let at = blanks(bytes, from + 1); bytes[at] !== BRACKET_END && elements.length < MOST_COUNTED; ) {
    elements.push(null);
    at = blanks(bytes, yield* valueEnd(bytes, at));
    if (bytes[at] === COMMA) at = blanks(bytes, at + 1);
  }
  return elements;
}
