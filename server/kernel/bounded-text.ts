import { invalid, Refusal } from './errors.ts';
import { newId } from './ids.ts';
import { isEscaped } from './json-strings.ts';
import { membersOf } from './json-text.ts';
import { isExact, parseExactSteps } from './lossless-json.ts';
import { grouped } from './numbers.ts';
import { atOnce, STRIDE, type Steps } from './slices.ts';

// What a body may be made of before a parser makes values of it: a megabyte of brackets or of names costs many times its size, in time and in memory.

/**
 * `values` counts members, entries and containers; `members` those of them that cost ten times as much to parse, where a list may be longer: containers,
 * and names that were not there before.
 */
export type JsonShape = { levels: number; values: number; members?: number };
/**
 * Of every JSON body. Every member, entry and container counts as a value; the longest list that an operation takes has a tenth of these. The deepest values
 * that operations take have 64 levels, and stand within others in the body.
 */
export const BODY_SHAPE: JsonShape = { levels: 72, values: 50_000 };
const MOST_FORM_FIELDS = 200;

/** JSON.parse of a text that somebody else wrote. @throws Refusal validation_error when it is over its shape, SyntaxError */
export function parseBounded(text: string, shape = BODY_SHAPE): unknown {
  assertJsonShape(text, shape);
  return JSON.parse(text) as unknown;
}

/** `parseExact` of a text that somebody else wrote. @throws SyntaxError, Refusal validation_error when it is nested deeper than `levels`, or has more than `values` */
export function parseLossless(text: string, levels: number, values = Number.POSITIVE_INFINITY): unknown {
  assertJsonShape(text, { levels, values });
  return parseExactWithin(text, values);
}

/**
 * `parseLossless` of a document that is kept: one in which no object has a name twice, since readers disagree about which of the two counts. Members of the
 * document that are kept as `texts` may.
 * @throws SyntaxError, Refusal validation_error
 */
export function parseKept(text: string, { levels, values }: JsonShape, texts: readonly string[] = []): unknown {
  const names = assertJsonShape(text, { levels, values });
  const value = parseExactWithin(text, values);
  if (namesIn(value) !== names) assertNoRepeats(text, values, texts);
  return value;
}

/** Names of all members, at any depth. */
function namesIn(value: unknown): number {
  let names = 0;
  const open = [value];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const members = Array.isArray(part) ? part : Object.values(part as object);
    if (!Array.isArray(part)) names += members.length;
    for (const member of members) if (typeof member === 'object' && member !== null && !isExact(member)) open.push(member);
  }
  return names;
}

function assertNoRepeats(body: string, values: number, texts: readonly string[]): void {
  const names = new Set<string>();
  for (const { name, text } of membersOf(body))
    if (names.size === names.add(name).size || (!texts.includes(name) && hasRepeatedName(text, values)))
      throw invalid(FIELD_NAME.test(name) ? name : 'body', 'must not have the same member twice');
}

/** A name may be anything a caller sent, a key or a password too: only what looks like a field is repeated. */
const FIELD_NAME = /^[a-z_]{1,64}$/;

/** Whether an object in a valid JSON text has a name twice. */
const hasRepeatedName = (json: string, values: number): boolean =>
  /^[[{]/.test(json) && namesIn(JSON.parse(json)) !== assertJsonShape(json, { levels: BODY_SHAPE.levels, values });

/** `parseExact` of a text with at most so many numbers that a double would change, and as many moved names as it reads. @throws SyntaxError, Refusal validation_error */
export const parseExactWithin = (text: string, most: number): unknown => atOnce(parseExactWithinSteps(text, most));

/** The same in steps, for a text of megabytes. */
export function* parseExactWithinSteps(text: string, most: number): Steps<unknown> {
  try {
    return yield* parseExactSteps(text, most);
  } catch (error) {
    throw error instanceof RangeError ? tooManyExact(error) : error;
  }
}

const tooManyExact = (cause: RangeError) =>
  new Refusal(
    'validation_error',
    'Too many numbers are written with more digits than a double has, or in another form, such as 1.10, or too many names that are whole numbers stand out of order: send them in parts, numbers as 1.1 and names in ascending order.',
    { cause },
  );

/** One pass over the text, which need not be JSON. Returns how many names of members it has. @throws Refusal validation_error with what is over */
export const assertJsonShape = (text: string, shape: JsonShape): number => atOnce(jsonShapeSteps(text, shape));

/** The same in steps, for a text of megabytes. */
export function* jsonShapeSteps(text: string, { levels, values, members = values }: JsonShape): Steps<number> {
  let [depth, count, dear, names, from, to] = [0, 0, 0, 0, 0, 0];
  let quoted = false;
  const isNew = text.length > SHORT && members < values ? newNames(text) : undefined;
  let stop = STRIDE;
  for (let at = 0; at < text.length; at++) {
    if (at > stop) {
      yield;
      stop = at + STRIDE;
    }
    if (quoted) {
      const last = at + STRIDE;
      while (text.charCodeAt(at) === BACKSLASH && at < last) at += 2;
      const quote = text.indexOf('"', at);
      if (quote < 0) return names; // a parser will say what is wrong
      if (isEscaped(text, at, quote)) at = quote;
      else {
        quoted = false;
        at = to = quote;
      }
      continue;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      quoted = true;
      from = at + 1;
    } else if (code === COMMA || code === BRACE || code === BRACKET) {
      if (++count > values) throw tooMany(values);
      if (code !== COMMA && ++dear > members) throw tooMany(members);
      if (code !== COMMA && ++depth > levels) throw tooDeep(levels);
    } else if (code === COLON) {
      names++;
      if (isNew?.(from, to) !== false && ++dear > members) throw tooMany(members);
    } else if (code === BRACE_END || code === BRACKET_END) depth--;
  }
  return names;
}

/** A text so short has few names. */
const SHORT = 64 * 1024;
/** Longer names are few. */
const LONG_NAME = 1_024;
/** Of the sums that names are told apart by: nobody can make names of one sum who doesn't know it. */
const FACTOR = Number.parseInt(newId().slice(-7), 16) * 2 + 1;
const SEEN = 8_192;

/** Whether the name between two places was not among the last ones, told by its sum. */
function newNames(text: string): (from: number, to: number) => boolean {
  const seen = new Int32Array(SEEN);
  return (from, to) => {
    if (to - from > LONG_NAME) return true;
    let sum = 1;
    for (let at = from; at < to; at++) sum = (Math.imul(sum, FACTOR) + text.charCodeAt(at)) | 0;
    const place = (sum ^ (sum >>> 16)) & (SEEN - 1);
    if (seen[place] === sum) return false;
    seen[place] = sum;
    return true;
  };
}

/** The fields of an application/x-www-form-urlencoded body. @throws Refusal validation_error when there are more than any form has */
export function formFields(text: string): URLSearchParams {
  let fields = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1))
    if (++fields > MOST_FORM_FIELDS) throw new Refusal('validation_error', `The form must not have more than ${MOST_FORM_FIELDS} fields.`);
  return new URLSearchParams(text);
}

export const tooDeep = (levels: number) =>
  new Refusal('validation_error', `The request body must not be nested deeper than ${levels} levels.`);
const tooMany = (values: number) =>
  new Refusal(
    'validation_error',
    `The request body must not have more than ${grouped(values)} members and list entries. Send it in parts.`,
  );

const [QUOTE, BACKSLASH, COMMA, COLON, BRACE, BRACE_END, BRACKET, BRACKET_END] = [34, 92, 44, 58, 123, 125, 91, 93] as const;
