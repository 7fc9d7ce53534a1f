import { processState } from '#server/kernel/process-state.ts';

// DER (ITU-T X.690) as far as certificates need it. What we build is small and of few shapes, so it is written directly: a general ASN.1 library takes
// fifteen times the CPU for a leaf. What callers send is read strictly: one encoding for every value, and nothing that isn't understood is skipped.

export const TAG = {
  ...{ boolean: 0x01, integer: 0x02, bits: 0x03, octets: 0x04, null: 0x05, oid: 0x06, enumerated: 0x0a },
  ...{ utf8: 0x0c, printable: 0x13, ia5: 0x16, utcTime: 0x17, generalizedTime: 0x18, sequence: 0x30, set: 0x31 },
} as const;

/** One value: its tag, its length and its parts one after the other. */
export function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const head = length < 0x80 ? 2 : length < 0x100 ? 3 : length < 0x10000 ? 4 : length < 0x1000000 ? 5 : 6;
  const whole = Buffer.allocUnsafe(head + length);
  whole[0] = tag;
  if (head === 2) whole[1] = length;
  else {
    whole[1] = 0x80 | (head - 2);
    whole.writeUIntBE(length, 2, head - 2);
  }
  let at = head;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(TAG.sequence, ...parts);

export const set = (...parts: readonly Uint8Array[]): Buffer => element(TAG.set, ...parts);

export const octets = (bytes: Uint8Array): Buffer => element(TAG.octets, bytes);

/** A BIT STRING of whole bytes, or of bytes whose last `unused` bits don't count. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => element(TAG.bits, Buffer.of(unused), bytes);

export const boolean = (value: boolean): Buffer => element(TAG.boolean, Buffer.of(value ? 0xff : 0));

export const nothing = (): Buffer => element(TAG.null);

export const enumerated = (value: number): Buffer => element(TAG.enumerated, Buffer.of(value));

export const text = (kind: 'utf8' | 'printable' | 'ia5', value: string): Buffer => element(TAG[kind], Buffer.from(value, 'utf8'));

/** `[n]` of a context: constructed (EXPLICIT, or a SEQUENCE that is IMPLICIT) unless `primitive`. */
export const context = (n: number, ...parts: readonly Uint8Array[]): Buffer => element(0xa0 | n, ...parts);
export const primitive = (n: number, ...parts: readonly Uint8Array[]): Buffer => element(0x80 | n, ...parts);

/** A number that isn't negative, or the big-endian bytes of one, as short as DER demands. */
export function integer(value: number | bigint | Uint8Array): Buffer {
  const bytes = value instanceof Uint8Array ? value : Buffer.from(evenHex(value), 'hex');
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  const short = bytes.subarray(from);
  return (short[0] ?? 0) >= 0x80 ? element(TAG.integer, Buffer.of(0), short) : element(TAG.integer, short);
}

function evenHex(value: number | bigint): string {
  const hex = value.toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}

/** An object identifier from its dotted text; the encoding is kept, since there are few. */
export function oid(dotted: string): Buffer {
  const known = oids.get(dotted);
  if (known) return known;
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const made = element(TAG.oid, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
  oids.set(dotted, made);
  return made;
}
const oids = processState('der-oids', () => new Map<string, Buffer>());

function base128(value: number): number[] {
  const digits = [value % 128];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) digits.unshift(0x80 | (left % 128));
  return digits;
}

/** UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280 §4.1.2.5), in whole seconds. */
export function time(date: Date): Buffer {
  const year = date.getUTCFullYear();
  return year >= 1950 && year < 2050 ? element(TAG.utcTime, Buffer.from(digitsOf(date).slice(2), 'latin1')) : generalizedTime(date);
}

export const generalizedTime = (date: Date): Buffer => element(TAG.generalizedTime, Buffer.from(digitsOf(date), 'latin1'));

/** `20261123184500Z`. */
function digitsOf(date: Date): string {
  const iso = date.toISOString();
  if (iso.length !== 24) throw new TypeError('the year has four digits');
  return `${iso.slice(0, 4)}${iso.slice(5, 7)}${iso.slice(8, 10)}${iso.slice(11, 13)}${iso.slice(14, 16)}${iso.slice(17, 19)}Z`;
}

/** A value that was read. `der` is the whole of it, `content` what follows its length. Both are views of what was read. */
export type Element = { tag: number; content: Buffer; der: Buffer };

/** What was read is no DER, or not of the shape that was expected. */
export class DerProblem extends Error {
  override readonly name = 'DerProblem';
}

/** The values that stand one after the other in some bytes. @throws DerProblem */
export function elements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const one = elementAt(bytes, at);
    found.push(one);
    at += one.der.length;
  }
  return found;
}

/** The one value that some bytes are, of the tag if one is given. @throws DerProblem */
export function only(bytes: Buffer, tag?: number): Element {
  const one = elementAt(bytes, 0);
  if (one.der.length !== bytes.length) throw new DerProblem('has bytes after its end');
  if (tag !== undefined) expect(one, tag);
  return one;
}

/** What a constructed value holds; with a tag, of a value of that tag. @throws DerProblem */
export function inside(one: Element | undefined, tag: number): Element[] {
  return elements(expect(one, tag).content);
}

export function expect(one: Element | undefined, tag: number): Element {
  if (one?.tag !== tag) throw new DerProblem(`has no value of tag 0x${tag.toString(16)} where one is expected`);
  return one;
}

/** Lengths in the shortest form, tags below 31 (X.690 §10.1, §8.1.2.2). */
function elementAt(bytes: Buffer, at: number): Element {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) throw new DerProblem('ends too early');
  if ((tag & 0x1f) === 0x1f) throw new DerProblem('has a tag of several bytes');
  let head = 2;
  let length = first;
  if (first >= 0x80) {
    const size = first & 0x7f;
    if (size === 0 || size > 4 || at + 2 + size > bytes.length) throw new DerProblem('has a length that DER has not');
    length = bytes.readUIntBE(at + 2, size);
    if (length < 0x80 || length < 256 ** (size - 1)) throw new DerProblem('has a length that is longer than it need be');
    head += size;
  }
  const end = at + head + length;
  if (end > bytes.length) throw new DerProblem('ends too early');
  return { tag, content: bytes.subarray(at + head, end), der: bytes.subarray(at, end) };
}

/** The dotted text of an object identifier. @throws DerProblem */
export function oidText(one: Element | undefined): string {
  const { content } = expect(one, TAG.oid);
  if (content.length === 0 || content.length > 64 || (content.at(-1) ?? 0x80) >= 0x80)
    throw new DerProblem('has a broken object identifier');
  const numbers: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER) throw new DerProblem('has a broken object identifier');
    if (byte >= 0x80) continue;
    numbers.push(value);
    value = 0;
  }
  const [first = 0, ...rest] = numbers;
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - top * 40, ...rest].join('.');
}

/** The bytes of an INTEGER that isn't negative, without a leading zero, as hexadecimal. @throws DerProblem */
export function integerHex(one: Element | undefined): string {
  const { content } = expect(one, TAG.integer);
  const [first, second] = content;
  if (first === undefined || first >= 0x80) throw new DerProblem('has a number that is negative or empty');
  if (first === 0 && second !== undefined && second < 0x80) throw new DerProblem('has a number that is longer than it need be');
  return (first === 0 && second !== undefined ? content.subarray(1) : content).toString('hex');
}

/** The bytes of a BIT STRING of whole bytes. @throws DerProblem */
export function bitsOf(one: Element | undefined): Buffer {
  const { content } = expect(one, TAG.bits);
  if (content[0] !== 0) throw new DerProblem('has a string of bits that are no whole bytes');
  return content.subarray(1);
}
