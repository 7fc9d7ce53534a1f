import { isExact } from '#server/kernel/lossless-json.ts';
import { grouped } from '#server/kernel/numbers.ts';

/** How large a value is as JSON: bytes of UTF-8, and values in all. */
export type JsonSize = { bytes: number; values: number; tooDeep?: true };

/** Of all outputs of an execution together: bytes of JSON, and values of any kind, which take many times their bytes in memory. */
export const MOST_STATE = 5 * 1024 * 1024;
export const MOST_VALUES = 500_000;
/** Of one, which is measured at once. */
export const MOST_VALUES_EACH = 320_000;
export const MOST_LEVELS = 500;
/** A number that keeps its digits is an object in memory, and takes as long to write as several values. */
export const EXACT_VALUES = 4;
export const isOver = ({ bytes, values, tooDeep }: JsonSize): boolean =>
  tooDeep === true || bytes > MOST_STATE || values > MOST_VALUES_EACH;

/** What is said of an output that is over. */
export const OVER = `An output has more than ${MOST_STATE / 1_048_576} MiB, ${grouped(MOST_VALUES_EACH)} values or ${MOST_LEVELS} levels, the limits. Pass on only what later steps need.`;

/**
 * Measured without writing it: a text of control characters is six times as long as JSON. No further than `isOver` needs: what names the same value ten
 * thousand times is as long as ten thousand of it.
 */
export function jsonSize(value: unknown): JsonSize {
  let [bytes, values] = [0, 0];
  const [open, depths]: [object[], number[]] = [[], []];
  const add = (part: unknown, depth: number) => {
    if (isExact(part)) {
      values += EXACT_VALUES;
      bytes += String(part).length;
      return;
    }
    if (typeof part === 'object' && part !== null) {
      open.push(part);
      depths.push(depth);
      return;
    }
    values++;
    bytes += typeof part === 'string' ? textBytes(part) : String(part).length;
  };
  add(value, 0);
  for (let part = open.pop(); part; part = open.pop()) {
    const depth = (depths.pop() as number) + 1;
    values++;
    if (depth > MOST_LEVELS) return { bytes, values, tooDeep: true };
    if (Array.isArray(part)) {
      bytes += 2 + Math.max(0, part.length - 1);
      for (const item of part) {
        if (isOver({ bytes, values })) break;
        add(item, depth);
      }
    } else {
      const names = Object.keys(part);
      bytes += 2 + Math.max(0, names.length - 1);
      for (const name of names) {
        if (isOver({ bytes, values })) break;
        bytes += textBytes(name) + 1;
        add((part as Record<string, unknown>)[name], depth);
      }
    }
    if (isOver({ bytes, values })) break;
  }
  return { bytes, values };
}

function textBytes(text: string): number {
  let bytes = 2;
  for (let i = 0; i < text.length; i++) bytes += bytesAt(text, i);
  return bytes;
}

/** How many characters of a text take at most so many bytes as JSON. */
export function fitting(text: string, most: number): number {
  let bytes = 2;
  for (let i = 0; i < text.length; i++) {
    bytes += bytesAt(text, i);
    if (bytes > most) return i;
  }
  return text.length;
}

function bytesAt(text: string, i: number): number {
  const code = text.charCodeAt(i);
  if (code === QUOTE || code === BACKSLASH) return 2;
  if (code < 0x20) return SHORT.has(code) ? 2 : 6;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  if (code < 0xd800 || code > 0xdfff) return 3;
  // The halves of a pair are four bytes together, and one alone is escaped.
  const [next, before] = [text.charCodeAt(i + 1), text.charCodeAt(i - 1)];
  const paired = code < 0xdc00 ? next >= 0xdc00 && next <= 0xdfff : before >= 0xd800 && before <= 0xdbff;
  return paired ? 2 : 6;
}
const [QUOTE, BACKSLASH] = [0x22, 0x5c] as const;
/** Backspace, tab, line feed, form feed, carriage return. */
const SHORT: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);
