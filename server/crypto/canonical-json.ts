import { hash } from 'node:crypto';
import { isExact, isSameNumber, type LosslessNumber, valueText } from '#server/kernel/lossless-json.ts';

/** What {@link canonicalJson} accepts; anything else throws a TypeError. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };

type Numbers = 'any' | 'integers' | 'exact';

const deepest = 256;

/**
 * RFC 8785 canonical JSON: members sorted by UTF-16 code units, no white space, ECMAScript number text.
 * Members that are `undefined` are left out, as JSON.stringify does. Throws TypeError on values JSON cannot hold, lone
 * surrogates and nesting beyond 256; with `numbers: 'integers'` also on numbers outside +-(2^53 - 1) or with a fraction,
 * whose text a database and JavaScript may write differently. A `LosslessNumber` whose value is a double's is written as this double; of any other, which RFC
 * 8785 has no text for, all spellings of one value have the same text. With `'exact'` a `LosslessNumber` is its digits.
 */
export function canonicalJson(value: unknown, numbers: Numbers = 'any', depth = 0): string {
  if (depth > deepest) throw new TypeError(`canonical JSON is limited to ${deepest} levels`);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return number(value, numbers);
  if (isExact(value)) return exactNumber(value, numbers);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => canonicalJson(item, numbers, depth + 1)).join(',')}]`;
  if (typeof value !== 'object' || !isPlain(value)) throw new TypeError(`canonical JSON cannot hold ${typeof value}`);
  const members: string[] = [];
  // The default order of sort() is by UTF-16 code units, which is what RFC 8785 §3.2.3 asks for.
  for (const key of Object.keys(value).sort()) {
    const member: unknown = Reflect.get(value, key);
    if (member !== undefined) members.push(`${text(key)}:${canonicalJson(member, numbers, depth + 1)}`);
  }
  return `{${members.join(',')}}`;
}

function text(value: string): string {
  // JSON.stringify would write a lone surrogate as an escape, so two different texts could be read back as one.
  if (!value.isWellFormed()) throw new TypeError('canonical JSON cannot hold a lone surrogate');
  return JSON.stringify(value);
}

function number(value: number, numbers: Numbers): string {
  if (!Number.isFinite(value)) throw new TypeError('canonical JSON cannot hold NaN or Infinity');
  if (numbers === 'integers' && !Number.isSafeInteger(value)) throw new TypeError('only integers within +-(2^53 - 1) are allowed here');
  return JSON.stringify(value);
}

function exactNumber(value: LosslessNumber, numbers: Numbers): string {
  if (numbers === 'exact') return value.toString();
  if (isSameNumber(value, Number(value))) return number(Number(value), numbers);
  if (numbers === 'integers') throw new TypeError('only integers within +-(2^53 - 1) are allowed here');
  return valueText(value);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** 64 hex digits that are the same for equal content and for no other: SHA-256 of its canonical JSON. */
export const contentFingerprint = (value: unknown): string => hash('sha256', canonicalJson(value, 'exact'), 'hex');
