import { STRIDE, type Steps } from '#server/kernel/slices.ts';

/** A JSON object as its bytes: where its members stand, found in one pass that builds none of their values (RFC 8259). */
export type ObjectPlan = {
  /** By name; the value lies in [from, to). */
  members: ReadonlyMap<string, { from: number; to: number }>;
  /** The closing brace. */
  close: number;
};

/** More members than this at one place, or a longer name, are no request that anybody wrote. */
export const MOST_MEMBERS = 100_000;
export const LONGEST_NAME = 64 * 1024;
export const DEEPEST = 10_000;

/** The plan of the object in [from, to), with nothing but blanks around it. Undefined for any other text, and when a name stands twice. */
export function* planOf(bytes: Uint8Array, from = 0, to = bytes.length): Steps<ObjectPlan | undefined> {
  const members = new Map<string, { from: number; to: number }>();
  let at = blanks(bytes, from);
  if (bytes[at] !== OPEN_BRACE) return undefined;
  at = blanks(bytes, at + 1);
  let stop = at + STRIDE;
  if (bytes[at] !== CLOSE_BRACE) {
    for (;;) {
      const name = at;
      at = yield* stringSteps(bytes, at);
      if (at < 0 || at - name > LONGEST_NAME) return undefined;
      if (at > stop) {
        yield;
        stop = at + STRIDE;
      }
      const text = nameOf(bytes, name, at);
      at = blanks(bytes, at);
      if (bytes[at] !== COLON) return undefined;
      const value = blanks(bytes, at + 1);
      at = yield* valueEnd(bytes, value);
      if (at < 0 || members.has(text) || members.size === MOST_MEMBERS) return undefined;
      members.set(text, { from: value, to: at });
      at = blanks(bytes, at);
      if (bytes[at] === CLOSE_BRACE) break;
      if (bytes[at] !== COMMA) return undefined;
      at = blanks(bytes, at + 1);
    }
  }
  return blanks(bytes, at + 1) === to ? { members, close: at } : undefined;
}

/** The text of a name in quotes. */
function nameOf(bytes: Uint8Array, from: number, to: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8');
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;

export function blanks(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let c = bytes[at]; c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09; c = bytes[at]) at++;
  return at;
}

/**
 * Whether the bytes are one JSON value (RFC 8259) nested at most `levels` deep, with nothing but blanks around it. Builds nothing of it: a body of brackets or
 * of numbers costs many times its size as values.
 */
export function* isJson(bytes: Uint8Array, levels: number): Steps<boolean> {
  const end = yield* valueEnd(bytes, blanks(bytes, 0), levels);
  return end >= 0 && blanks(bytes, end) === bytes.length;
}

/** Behind the value that begins here, -1 when there is none. What is open is kept on a stack of our own: no text can exhaust the real one. */
export function* valueEnd(bytes: Uint8Array, from: number, deepest = DEEPEST): Steps<number> {
  const open: number[] = [];
  let inside = 0;
  let at = from;
  let stop = at + STRIDE;
  for (;;) {
    if (at > stop) {
      yield;
      stop = at + STRIDE;
    }
    const c = bytes[at] as number;
    if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      if (open.length === deepest) return -1;
      const first = blanks(bytes, at + 1);
      const empty = bytes[first] === c + 2; // a closing bracket stands two behind its opening one
      open.push(inside);
      inside = c;
      at = first;
      if (!empty && c === OPEN_BRACE) {
        const end = stringEnd(bytes, at);
        at = afterColon(bytes, end === UNENDED ? yield* stringSteps(bytes, at) : end);
      }
      if (at < 0) return -1;
      if (!empty) continue;
    } else {
      const end = c === QUOTE ? stringEnd(bytes, at) : c >= ONE && c <= NINE ? numberEnd(bytes, at) : scalarEnd(bytes, at);
      at = end === UNENDED ? yield* stringSteps(bytes, at) : end;
      if (at < 0) return -1;
    }
    for (;;) {
      if (inside === 0) return at;
      // A body of ten million values is read in one turn of the loop: blanks are looked for only where one is.
      if ((bytes[at] as number) <= SPACE) at = blanks(bytes, at);
      if (bytes[at] === inside + 2) {
        inside = open.pop() ?? 0;
        at++;
        continue;
      }
      if (bytes[at] !== COMMA) return -1;
      at++;
      if ((bytes[at] as number) <= SPACE) at = blanks(bytes, at);
      if (inside === OPEN_BRACE) {
        const end = stringEnd(bytes, at);
        at = afterColon(bytes, end === UNENDED ? yield* stringSteps(bytes, at) : end);
      }
      if (at < 0) return -1;
      break;
    }
  }
}

/** From the end of a member's name to its value, -1 when there is none. */
function afterColon(bytes: Uint8Array, end: number): number {
  if (end < 0) return -1;
  const colon = blanks(bytes, end);
  return bytes[colon] === COLON ? blanks(bytes, colon + 1) : -1;
}

/** The string goes on beyond what is read at once. */
export const UNENDED = -2;

/** Behind the string that begins here, -1 when there is none, UNENDED when it is longer than a stride. */
export function stringEnd(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== QUOTE) return -1;
  const end = restEnd(bytes, from + 1);
  return end < -1 ? UNENDED : end;
}

/** Behind a string of any length. */
export function* stringSteps(bytes: Uint8Array, from: number): Steps<number> {
  if (bytes[from] !== QUOTE) return -1;
  let end = restEnd(bytes, from + 1);
  while (end < -1) {
    yield;
    end = restEnd(bytes, -end);
  }
  return end;
}

/** Behind the quote that ends a string, -1 where there is none; minus the place from which to read on when it isn't in this stride. */
function restEnd(bytes: Uint8Array, from: number): number {
  const to = Math.min(bytes.length, from + STRIDE);
  let at = from;
  for (; at < to; at++) {
    const c = bytes[at] as number;
    if (c === QUOTE) return at + 1;
    if (c < 0x20) return -1;
    if (c !== BACKSLASH) continue;
    const letter = bytes[++at];
    if (letter === 0x75) {
      for (let i = 1; i <= 4; i++) if (!isHex(bytes[at + i])) return -1;
      at += 4;
    } else if (ESCAPED[letter ?? 0] !== 1) return -1;
  }
  return at < bytes.length ? -at : -1;
}

/** What may follow a backslash beside u. */
const ESCAPED = new Uint8Array(256);
for (const letter of '"\\/bfnrt') ESCAPED[letter.charCodeAt(0)] = 1;

/** What most numbers are: digits that do not begin with zero. */
function numberEnd(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  let c = bytes[at] as number;
  while (c >= ZERO && c <= NINE) c = bytes[++at] as number;
  return c === 0x2e || c === 0x65 || c === 0x45 ? scalarEnd(bytes, from) : at;
}
const ZERO = 0x30;
const ONE = 0x31;
const NINE = 0x39;

const isHex = (c: number | undefined): boolean =>
  c !== undefined && ((c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66));
const isDigit = (c: number | undefined): boolean => c !== undefined && c >= 0x30 && c <= 0x39;

const [TRUE, FALSE, NULL] = ['true', 'false', 'null'].map((word) => Buffer.from(word)) as [Buffer, Buffer, Buffer];

function wordEnd(bytes: Uint8Array, from: number): number {
  const word = bytes[from] === TRUE[0] ? TRUE : bytes[from] === FALSE[0] ? FALSE : NULL;
  for (let i = 0; i < word.length; i++) if (bytes[from + i] !== word[i]) return -1;
  return from + word.length;
}

export function scalarEnd(bytes: Uint8Array, from: number): number {
  if ((bytes[from] as number) > 0x39) return wordEnd(bytes, from);
  let at = bytes[from] === 0x2d ? from + 1 : from;
  if (!isDigit(bytes[at])) return -1;
  if (bytes[at] === 0x30) at++;
  else while (isDigit(bytes[at])) at++;
  if (bytes[at] === 0x2e) {
    if (!isDigit(bytes[at + 1])) return -1;
    at++;
    while (isDigit(bytes[at])) at++;
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at += bytes[at + 1] === 0x2b || bytes[at + 1] === 0x2d ? 2 : 1;
    if (!isDigit(bytes[at])) return -1;
    while (isDigit(bytes[at])) at++;
  }
  return at;
}
