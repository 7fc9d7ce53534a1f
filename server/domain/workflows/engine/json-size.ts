/** How large a value is as JSON: bytes of UTF-8, and values in all. */
export type JsonSize = { bytes: number; values: number };

/** Measured without writing it: a text of control characters is six times as long as JSON. */
export function jsonSize(value: unknown): JsonSize {
  let [bytes, values] = [0, 0];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const part = open.pop();
    values++;
    if (typeof part === 'string') bytes += textBytes(part);
    else if (typeof part !== 'object' || part === null) bytes += String(part).length;
    else if (Array.isArray(part)) {
      bytes += 2 + Math.max(0, part.length - 1);
      for (const item of part) open.push(item);
    } else {
      const names = Object.keys(part);
      bytes += 2 + Math.max(0, names.length - 1);
      for (const name of names) {
        bytes += textBytes(name) + 1;
        open.push((part as Record<string, unknown>)[name]);
      }
    }
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
