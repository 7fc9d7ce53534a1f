/** A text of bytes (one character each) as some reader understands it, and where in the original each of its characters begins; null: where it stands. */
export type Reading = { text: string; at: Uint32Array | null };

/** The part of the original that a stretch of a reading was read from. */
export const placeIn = ({ at }: Reading, from: number, to: number): [number, number] =>
  at === null ? [from, to] : [at[from] ?? 0, at[to] ?? at.at(-1) ?? 0];

/** The text itself, and with its escapes read: once, and once more for JSON inside JSON. `+` as a blank is how forms are written. */
export function readingsOf(text: string, withBlanks: boolean): Reading[] {
  const raw: Reading = { text, at: null };
  const once = unescaped(raw, false);
  return [raw, ...(once === raw ? [] : [once, unescaped(once, false)]), ...(withBlanks ? [unescaped(raw, true)] : [])];
}

/** A reading as base64 is written in it: both alphabets are one, and lines are joined. */
export function base64Reading(reading: Reading): Reading {
  if (!/[-_\r\n]/.test(reading.text)) return reading;
  const out = writer(reading);
  for (let i = 0; i < reading.text.length; i++) {
    const code = reading.text.charCodeAt(i);
    if (code !== 0x0a && code !== 0x0d) out.put(code === 0x2d ? 0x2b : code === 0x5f ? 0x2f : code, i);
  }
  return out.done();
}

const NAMED: Readonly<Record<string, number>> = { amp: 0x26, lt: 0x3c, gt: 0x3e, quot: 0x22, apos: 0x27 };
const CONTROLS: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, b: 0x08, f: 0x0c };
const PERCENT = /%([0-9a-f]{2})/iy;
const BACKSLASH = /\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.))/isy;
const LOW_HALF = /\\u(d[c-f][0-9a-f]{2})/iy;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/iy;

/** With what URLs, JSON of any writer, JavaScript and HTML put in place of a character read as that character; a line ends in \n alone. */
function unescaped(reading: Reading, plusIsBlank: boolean): Reading {
  const { text } = reading;
  if (!/[%\\&]|\r\n/.test(text) && !(plusIsBlank && text.includes('+'))) return reading;
  const out = writer(reading);
  for (let i = 0; i < text.length; ) {
    const code = text.charCodeAt(i);
    const pattern = code === 0x25 ? PERCENT : code === 0x5c ? BACKSLASH : code === 0x26 ? ENTITY : undefined;
    if (pattern) pattern.lastIndex = i;
    const found = pattern?.exec(text);
    if (!found) {
      out.put(plusIsBlank && code === 0x2b ? 0x20 : code, i);
      i += 1;
      continue;
    }
    let end = i + found[0].length;
    const [, first, second, third] = found;
    if (pattern === PERCENT) out.put(Number.parseInt(first ?? '', 16), i);
    else if (pattern === ENTITY)
      out.character(third ? (NAMED[third.toLowerCase()] ?? 0) : Number.parseInt(first ?? second ?? '', first ? 10 : 16), i);
    else if (second) out.put(Number.parseInt(second, 16), i);
    else if (third !== undefined) out.put(CONTROLS[third] ?? third.charCodeAt(0), i);
    else {
      const unit = Number.parseInt(first ?? '', 16);
      LOW_HALF.lastIndex = end;
      const low = unit >= 0xd800 && unit < 0xdc00 ? LOW_HALF.exec(text) : null;
      if (low) end += low[0].length;
      out.character(low ? 0x10000 + ((unit - 0xd800) << 10) + (Number.parseInt(low[1] ?? '', 16) - 0xdc00) : unit, i);
    }
    i = end;
  }
  return out.done();
}

/** Writes a reading of a reading; nothing that stands for a character is shorter than its UTF-8. */
function writer(from: Reading) {
  const bytes = Buffer.alloc(from.text.length);
  const at = new Uint32Array(from.text.length + 1);
  let length = 0;
  const put = (byte: number, source: number) => {
    if (byte === 0x0a && length > 0 && bytes[length - 1] === 0x0d) length -= 1;
    else at[length] = from.at === null ? source : (from.at[source] ?? 0);
    bytes[length++] = byte;
  };
  return {
    put,
    character(code: number, source: number) {
      if (code <= 0x10ffff) for (const byte of Buffer.from(String.fromCodePoint(code))) put(byte, source);
    },
    done(): Reading {
      at[length] = from.at === null ? from.text.length : (from.at[from.text.length] ?? 0);
      return { text: bytes.toString('latin1', 0, length), at: at.subarray(0, length + 1) };
    },
  };
}
