import { isUtf8 } from 'node:buffer';
import { grouped } from '#server/kernel/numbers.ts';
import { atOnce, holdsAny, STRIDE, type Steps } from '#server/kernel/slices.ts';
import { type Refused, refused } from '../../core/refusal.ts';
import { scannable } from '../../templates/body-scan.ts';
import { isJson } from '../../templates/json-bytes.ts';
import { formDecodeSteps, formEncode, MOST_FIELDS, tooManyFields } from '../../templates/render.ts';
import { type Expression, type Keyword, MOST_EXPRESSIONS, type Part, parseExpressions } from './expressions.ts';
import { BRACES, nextWithBraces } from './json-strings.ts';

/** A value with expressions in it, and how it is written in its place. */
export type Slot = {
  readonly parts: readonly Part[];
  /** A JSON string: an expression that is all of it gives the value its own type. */
  readonly json: boolean;
  /** Written anew as a whole, because its text was decoded; else only what is put in is encoded. */
  readonly whole: boolean;
  /** What a part of the value's text is written as, without the quotes of a string. */
  readonly encode: (text: string) => string;
};
/** Text that stays byte for byte, and slots. */
export type Piece = string | Slot;
export type Scanned = {
  readonly query: readonly Piece[] | null;
  readonly body: readonly Piece[] | null;
  /** By the index of the header in the caller's head. */
  readonly headers: ReadonlyMap<number, Slot>;
  readonly expressions: readonly Expression[];
};

const ALL: ReadonlySet<Keyword> = new Set<Keyword>(['token', 'encrypted', 'secret', 'secret_id']);
const OF_HEADERS: ReadonlySet<Keyword> = new Set<Keyword>(['secret', 'secret_id']);

type Found = readonly Piece[] | null | Refused;
/** How many more expressions the call may have; nothing is read on beyond. */
type Count = { left: number };

/** Finds every expression of a call. Null when there are none: then everything leaves as it came. */
export function* scan(input: {
  query: string | null;
  body: Buffer | null;
  contentType: string;
  encoded: boolean;
  headers: readonly { index: number; name: string; value: string }[];
}): Steps<Scanned | null | Refused> {
  const count: Count = { left: MOST_EXPRESSIONS };
  const query = input.query === null ? null : atOnce(scanQuery(input.query, count));
  if (isRefused(query)) return query;
  const body = input.body === null || input.encoded ? null : yield* scanBody(input.body, input.contentType, count);
  if (isRefused(body)) return body;
  const headers = new Map<number, Slot>();
  for (const { index, name, value } of input.headers) {
    if (!value.includes('{{')) continue;
    const slot = yield* slotOf(value, OF_HEADERS, `header ${name}`, count, { encode: (text) => text });
    if (isRefused(slot)) return slot;
    if (slot) headers.set(index, slot);
  }
  const slots = [...(query ?? []), ...(body ?? []), ...headers.values()];
  const expressions = slots.flatMap((piece) => (typeof piece === 'string' ? [] : piece.parts.filter((part) => typeof part !== 'string')));
  if (expressions.length === 0) return null;
  return { query, body, headers, expressions };
}

/** Values of the query, written plainly or percent-encoded. A secret in a query would be in the upstream's logs. */
function* scanQuery(query: string, count: Count): Steps<Found> {
  const pieces: Piece[] = [];
  let held = '';
  for (const [i, pair] of (yield* splitPairs(query)).entries()) {
    const equals = pair.indexOf('=');
    const value = equals < 0 ? pair : pair.slice(equals + 1);
    held += (i === 0 ? '' : '&') + pair.slice(0, pair.length - value.length);
    const text = /\{\{|%7b/i.test(value) ? decoded(value) : '';
    const slot = text.includes('{{') ? yield* slotOf(text, ALL, 'query', count, { whole: true, encode: encodeURIComponent }) : null;
    if (isRefused(slot)) return slot;
    if (slot?.parts.some((part) => typeof part !== 'string' && part.kind === 'secret'))
      return invalid(
        'The query must not hold {{ secret: … }} placeholders: upstreams log their queries. Send the secret in a header or the body.',
      );
    if (slot) {
      pieces.push(held, slot);
      held = '';
    } else held += value;
  }
  if (pieces.length === 0) return null;
  return held === '' ? pieces : [...pieces, held];
}

/** An ampersand inside of a placeholder belongs to it. */
function* splitPairs(query: string): Steps<string[]> {
  const pairs: string[] = [];
  let from = 0;
  let depth = 0;
  for (let at = 0; at < query.length; at++) {
    if (at % STRIDE === 0) yield;
    const c = query[at];
    if (c === '{' && query[at + 1] === '{') depth = 1;
    else if (c === '}' && query[at + 1] === '}') depth = 0;
    else if (c === '&' && depth === 0) {
      pairs.push(query.slice(from, at));
      from = at + 1;
    }
  }
  pairs.push(query.slice(from));
  return pairs;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function* scanBody(body: Buffer, contentType: string, count: Count): Steps<Found> {
  const kind = scannable(contentType);
  if (kind === undefined || kind === 'multipart') return null;
  if (kind === 'json') return yield* scanJson(body, count);
  if (kind === 'form') return yield* scanForm(body, count);
  if (!(yield* holdsAny(body, ['{{']))) return null;
  // One character a byte: what is not ASCII around a placeholder stays as it is.
  const text = body.toString('latin1');
  const slot = yield* slotOf(text, ALL, 'body', count, { encode: kind === 'xml' ? (value) => bytesOf(xmlEncode(value)) : bytesOf });
  return slot === null || isRefused(slot) ? slot : [slot];
}

/** As for bodies of AI calls. */
const MOST_LEVELS = 200;
const MALFORMED = `The body is not valid JSON of at most ${MOST_LEVELS} levels. Send X-Svc-Proxy-Mode: transparent to forward it unread.`;

function* scanJson(body: Buffer, count: Count): Steps<Found> {
  if (!isUtf8(body) || !(yield* isJson(body, MOST_LEVELS))) return invalid(MALFORMED);
  const text = body.toString();
  if (!BRACES.test(text)) return null;
  yield;
  const pieces: Piece[] = [];
  const encode = (part: string) => bytesOf(JSON.stringify(part).slice(1, -1));
  let from = 0;
  let stop = STRIDE;
  for (let found = yield* nextWithBraces(text, 0); found; found = yield* nextWithBraces(text, found.to)) {
    if (found.to > stop) {
      yield;
      stop = found.to + STRIDE;
    }
    const slot = yield* slotOf(found.value, ALL, 'body', count, { json: true, whole: true, encode });
    if (isRefused(slot)) return slot;
    if (!slot) continue;
    pieces.push(bytesOf(text.slice(from, found.from)), slot);
    from = found.to;
  }
  return pieces.length === 0 ? null : [...pieces, bytesOf(text.slice(from))];
}

function* scanForm(body: Buffer, count: Count): Steps<Found> {
  if (!body.includes('{{') && !/%7b/i.test(body.toString('latin1'))) return null;
  if (tooManyFields(body)) return refused('invalid_body', `The form body must not have more than ${grouped(MOST_FIELDS)} fields.`);
  const pieces: Piece[] = [];
  let held = '';
  let read = 0;
  for (const [i, pair] of (yield* splitPairs(body.toString('latin1'))).entries()) {
    read += pair.length;
    if (read > STRIDE) {
      yield;
      read = 0;
    }
    const value = pair.slice(pair.indexOf('=') + 1);
    held += (i === 0 ? '' : '&') + pair.slice(0, pair.length - value.length);
    const text = BRACE.test(value) ? ((yield* formDecodeSteps(value)) ?? '') : '';
    const slot = text.includes('{{') ? yield* slotOf(text, ALL, 'body', count, { whole: true, encode: formEncode }) : null;
    if (isRefused(slot)) return slot;
    if (slot) {
      pieces.push(held, slot);
      held = '';
    } else held += value;
  }
  return pieces.length === 0 ? null : [...pieces, held];
}

const BRACE = /\{|%7b/i;

type Writing = Pick<Slot, 'encode'> & Partial<Pick<Slot, 'json' | 'whole'>>;

function* slotOf(
  text: string,
  keywords: ReadonlySet<Keyword>,
  place: string,
  count: Count,
  { encode, json = false, whole = false }: Writing,
): Steps<Slot | null | Refused> {
  const parsed = yield* parseExpressions(text, keywords, count.left);
  if (!parsed.ok && 'tooMany' in parsed) return invalid(`The call must not use more than ${MOST_EXPRESSIONS} placeholders.`);
  if (!parsed.ok) return invalid(`The ${place} ${parsed.message}.`);
  const found = parsed.parts.filter((part) => typeof part !== 'string').length;
  count.left -= found;
  return found > 0 ? { parts: parsed.parts, json, whole, encode } : null;
}

/** UTF-8 as one character a byte, as bodies are put together. */
export const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const xmlEncode = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const invalid = (message: string): Refused => refused('validation_error', message);
export const isRefused = (value: unknown): value is Refused => typeof value === 'object' && value !== null && 'code' in value;
