import { isRecord } from '../definition.shared.ts';

/** What a placeholder may do to its value (interface rule 62 §3.2). */
export type FilterCall = { name: FilterName; args: Argument[] };
export type Argument = string | number | boolean | null;

/** The runtime's own: pages preview without it. */
export type Hash = (text: string) => string;

/** Characters that a text may grow to. */
export const MOST_TEXT = 5 * 1024 * 1024;
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

type Filter = {
  /** Least and most arguments. */ takes: readonly [number, number];
  run: (value: unknown, args: Argument[], hash: Hash) => unknown;
};
const filter = (run: Filter['run'], least = 0, most = least): Filter => ({ takes: [least, most], run });

export const FILTERS = {
  default: filter((value, [fallback]) => value ?? fallback, 1),
  json: filter((value) => limited(JSON.stringify(value ?? null))),
  string: filter((value) => asText(value)),
  number: filter((value) => asNumber(value)),
  upper: filter((value) => asText(value).toUpperCase()),
  lower: filter((value) => asText(value).toLowerCase()),
  trim: filter((value) => asText(value).trim()),
  length: filter((value) =>
    typeof value === 'string' || Array.isArray(value) ? value.length : isRecord(value) ? Object.keys(value).length : 0,
  ),
  first: filter((value) => (Array.isArray(value) || typeof value === 'string' ? (value[0] ?? null) : null)),
  last: filter((value) => (Array.isArray(value) || typeof value === 'string' ? (value[value.length - 1] ?? null) : null)),
  join: filter((value, [separator = ',']) => joined(value, asText(separator)), 0, 1),
  split: filter((value, [separator = ',']) => asText(value).split(asText(separator), 10_000), 0, 1),
  base64: filter((value) => base64(asText(value))),
  urlencode: filter((value) => encodeURIComponent(asText(value).toWellFormed())),
  date: filter((value, [format = 'iso']) => dated(value, asText(format)), 0, 1),
  sha256: filter((value, _, hash) => hash(asText(value))),
  keys: filter((value) => (isRecord(value) ? Object.keys(value) : [])),
  replace: filter((value, [from, to]) => replaced(asText(value), asText(from), asText(to)), 2),
} as const satisfies Record<string, Filter>;
export type FilterName = keyof typeof FILTERS;
export const isFilter = (name: string): name is FilterName => Object.hasOwn(FILTERS, name);

export const applied = (value: unknown, { name, args }: FilterCall, hash: Hash): unknown => FILTERS[name].run(value, args, hash);

/** Objects and lists as JSON, nothing as nothing. @throws TooLarge */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return limited(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** A number, or a text that is one; else null. */
export function asNumber(value: unknown): number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  const number = typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

export function limited(text: string): string {
  if (text.length > MOST_TEXT) throw new TooLarge('a value is larger than 5 MiB');
  return text;
}

function joined(value: unknown, separator: string): string {
  if (!Array.isArray(value)) return asText(value);
  const parts = value.map(asText);
  if (parts.reduce((sum, part) => sum + part.length + separator.length, 0) > MOST_TEXT) throw new TooLarge('a value is larger than 5 MiB');
  return parts.join(separator);
}

function replaced(text: string, from: string, to: string): string {
  if (from === '') return text;
  const parts = text.split(from);
  if (text.length + (parts.length - 1) * (to.length - from.length) > MOST_TEXT) throw new TooLarge('a value is larger than 5 MiB');
  return parts.join(to);
}

function base64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8_192) binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return limited(btoa(binary));
}

/** In UTC. A number counts seconds, or milliseconds when it is too large for that; null for what is no time. */
function dated(value: unknown, format: string): string | number | null {
  const at = typeof value === 'number' ? new Date(Math.abs(value) > 1e11 ? value : value * 1_000) : new Date(asText(value) || Number.NaN);
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
