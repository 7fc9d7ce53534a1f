import { LONGEST_NUMBER } from '#server/kernel/decimals.ts';
import { isNumber, type LosslessNumber } from '#server/kernel/lossless-number.ts';
import { isRecord } from '../definition.shared.ts';
import { assertShort, COST, charge, chargeWhole, costOfMembers, type Meter } from './meter.shared.ts';
import { numberIn } from './numbers.shared.ts';

/** What a placeholder may do to its value (interface rule 62 §3.2). */
export type FilterCall = { name: FilterName; args: Argument[] };
export type Argument = string | number | boolean | null | LosslessNumber;

/** The runtime's own: pages preview without it. */
export type Hash = (text: string) => string;

/** What a filter works with. */
type Work = { hash: Hash; meter: Meter };
type Filter = {
  /** Least and most arguments. */ takes: readonly [number, number];
  run: (value: unknown, args: Argument[], of: Work) => unknown;
};
const filter = (run: Filter['run'], least = 0, most = least): Filter => ({ takes: [least, most], run });

export const FILTERS = {
  default: filter((value, [fallback]) => value ?? fallback, 1),
  json: filter((value, _, { meter }) => jsonOf(value ?? null, meter)),
  string: filter((value, _, { meter }) => asText(value, meter)),
  number: filter((value) => asNumber(value)),
  upper: filter((value, _, { meter }) => asText(value, meter).toUpperCase()),
  lower: filter((value, _, { meter }) => asText(value, meter).toLowerCase()),
  trim: filter((value, _, { meter }) => asText(value, meter).trim()),
  length: filter((value, _, { meter }) =>
    typeof value === 'string' || Array.isArray(value) ? value.length : isRecord(value) ? keysOf(value, meter).length : 0,
  ),
  first: filter((value) => (Array.isArray(value) || typeof value === 'string' ? (value[0] ?? null) : null)),
  last: filter((value) => (Array.isArray(value) || typeof value === 'string' ? (value[value.length - 1] ?? null) : null)),
  join: filter((value, [separator = ','], { meter }) => joined(value, asText(separator, meter), meter), 0, 1),
  split: filter((value, [separator = ','], { meter }) => splitText(asText(value, meter), asText(separator, meter), meter), 0, 1),
  base64: filter((value, _, { meter }) => base64(asText(value, meter), meter)),
  urlencode: filter((value, _, { meter }) => urlEncoded(asText(value, meter), meter)),
  date: filter((value, [format = 'iso'], { meter }) => dated(value, asText(format, meter), meter), 0, 1),
  sha256: filter((value, _, { hash, meter }) => hash(asText(value, meter))),
  keys: filter((value, _, { meter }) => (isRecord(value) ? keysOf(value, meter) : [])),
  replace: filter((value, [from, to], { meter }) => replaced(asText(value, meter), asText(from, meter), asText(to, meter), meter), 2),
} as const satisfies Record<string, Filter>;
export type FilterName = keyof typeof FILTERS;
export const isFilter = (name: string): name is FilterName => Object.hasOwn(FILTERS, name);

/** @throws TooLarge */
export const applied = (value: unknown, { name, args }: FilterCall, work: Work): unknown => FILTERS[name].run(value, args, work);

/** Objects and lists as JSON, a number as its digits, nothing as nothing. @throws TooLarge */
export function asText(value: unknown, meter: Meter): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object' && !isNumber(value)) return jsonOf(value, meter);
  const text = String(value);
  charge(meter, text.length);
  return text;
}

/** @throws TooLarge */
export function jsonOf(value: unknown, meter: Meter): string {
  chargeWhole(meter, value);
  return limited(JSON.stringify(value));
}

export function keysOf(value: object, meter: Meter): string[] {
  const keys = Object.keys(value);
  charge(meter, costOfMembers(keys.length));
  return keys;
}

/** Longer texts are neither numbers nor times: looking at one for that costs next to nothing. */
export const LONGEST_LITERAL = LONGEST_NUMBER;

/** A number as it is, or the one that a text is; else null. @throws TooLarge */
export function asNumber(value: unknown): number | LosslessNumber | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return isNumber(value) ? value : typeof value === 'string' ? numberIn(value) : null;
}

export function limited(text: string): string {
  assertShort(text.length);
  return text;
}

function joined(value: unknown, separator: string, meter: Meter): string {
  if (!Array.isArray(value)) return asText(value, meter);
  charge(meter, value.length * (separator.length + COST.item));
  const parts = value.map((item) => asText(item, meter));
  assertShort(parts.reduce((sum, part) => sum + part.length + separator.length, 0));
  return parts.join(separator);
}

const MOST_PIECES = 10_000;
function splitText(text: string, separator: string, meter: Meter): string[] {
  charge(meter, text.length + Math.min(MOST_PIECES, text.length) * COST.item);
  return text.split(separator, MOST_PIECES);
}

function replaced(text: string, from: string, to: string, meter: Meter): string {
  if (from === '') return text;
  let found = 0;
  for (let at = text.indexOf(from); at !== -1; at = text.indexOf(from, at + from.length)) {
    charge(meter, COST.piece);
    found++;
  }
  assertShort(text.length + found * (to.length - from.length));
  charge(meter, found * to.length);
  return text.split(from).join(to);
}

function urlEncoded(text: string, meter: Meter): string {
  charge(meter, text.length * COST.escape);
  return limited(encodeURIComponent(text.toWellFormed()));
}

function base64(text: string, meter: Meter): string {
  charge(meter, text.length * COST.escape);
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8_192) binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return limited(btoa(binary));
}

/** In UTC. A number counts seconds, or milliseconds when it is too large for that; null for what is no time. */
function dated(value: unknown, format: string, meter: Meter): string | number | null {
  const text =
    (typeof value === 'object' && !isNumber(value)) || (typeof value === 'string' && value.length > LONGEST_LITERAL)
      ? ''
      : asText(value, meter);
  const number = isNumber(value) ? Number(text) : Number.NaN; // a time has milliseconds, which a double of it has, too
  const at = isNumber(value) ? new Date(Math.abs(number) > 1e11 ? number : number * 1_000) : new Date(text || Number.NaN);
  if (Number.isNaN(at.getTime())) return null;
  if (format === 'unix') return Math.floor(at.getTime() / 1_000);
  const iso = at.toISOString();
  if (format === 'iso' || at.getUTCFullYear() > 9_999 || at.getUTCFullYear() < 0) return iso;
  const parts: Record<string, string> = {
    YYYY: iso.slice(0, 4),
    MM: iso.slice(5, 7),
    DD: iso.slice(8, 10),
    HH: iso.slice(11, 13),
    mm: iso.slice(14, 16),
    ss: iso.slice(17, 19),
    SSS: iso.slice(20, 23),
  };
  return format.replace(/YYYY|MM|DD|HH|mm|SSS|ss/g, (part) => parts[part] ?? part);
}
