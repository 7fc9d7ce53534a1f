/** Bytes as some reader understands them; byte i was written at `start[i]` to `end[i]` of the original. */
export type Reading = { bytes: Uint8Array; start: Uint32Array; end: Uint32Array };

/** The original, as it stands. */
export function verbatim(bytes: Uint8Array): Reading {
  const [start, end] = [new Uint32Array(bytes.length), new Uint32Array(bytes.length)];
  for (let i = 0; i < bytes.length; i++) {
    start[i] = i;
    end[i] = i + 1;
  }
  return { bytes, start, end };
}

/**
 * Without what writers add or change when they lay text out: white space, the zero bytes of UTF-16, and quotes, which CSV, SQL and YAML double. The
 * values that are looked for are squeezed too.
 */
export function squeezed(reading: Reading): Reading {
  const { bytes } = reading;
  let layout = 0;
  for (let i = 0; i < bytes.length; i++) layout += LAYOUT[bytes[i] as number] as number;
  if (layout === 0) return reading;
  const out = empty(bytes.length - layout);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (LAYOUT[byte]) continue;
    out.bytes[length] = byte;
    out.start[length] = reading.start[i] as number;
    out.end[length++] = reading.end[i] as number;
  }
  return out;
}

const LAYOUT = new Uint8Array(256);
for (const byte of [0, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x22, 0x27]) LAYOUT[byte] = 1;

/** The parts that are text, in UTF-8: of what only happened to be decodable next to nothing is left, and what is left is decoded further. */
export function legible(reading: Reading): Reading {
  const { bytes } = reading;
  const runs: [from: number, to: number][] = [];
  let left = 0;
  for (let i = 0, from = 0; i <= bytes.length; ) {
    const length = characterAt(bytes, i);
    i += length || 1;
    if (length > 0) continue;
    if (i - 1 - from >= SHORTEST_TEXT) {
      runs.push([from, i - 1]);
      left += i - 1 - from;
    }
    from = i;
  }
  if (left === bytes.length) return reading;
  const out = empty(left);
  let length = 0;
  for (const [from, to] of runs) {
    for (const part of ['bytes', 'start', 'end'] as const) out[part].set(reading[part].subarray(from, to), length);
    length += to - from;
  }
  return out;
}
const SHORTEST_TEXT = 8;

/** How many bytes the character takes that begins here; 0 when none does. */
function characterAt(bytes: Uint8Array, i: number): number {
  const byte = bytes[i] ?? 0x7f;
  if (byte < 0x80) return (byte >= 0x20 && byte < 0x7f) || LAYOUT[byte] ? 1 : 0;
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
  for (let n = 1; n < length; n++) if (((bytes[i + n] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

const empty = (capacity: number): Reading => ({
  bytes: new Uint8Array(capacity),
  start: new Uint32Array(capacity),
  end: new Uint32Array(capacity),
});
const upTo = ({ bytes, start, end }: Reading, length: number): Reading => ({
  bytes: bytes.subarray(0, length),
  start: start.subarray(0, length),
  end: end.subarray(0, length),
});

/** What the text may say to a reader who decodes it once. Readings of fewer than `least` bytes are left out. */
export function* decoded(reading: Reading, plain: Reading, least: number): Generator<Reading> {
  const { bytes } = reading;
  const has = (byte: number) => bytes.includes(byte);
  const enough = (read: Reading) => read.bytes.length >= least;
  // Whatever is decoded gets shorter: a reading that does not says the same again.
  const says = (read: Reading) => enough(read) && read.bytes.length < bytes.length;
  if (has(0x25) || has(0x5c) || has(0x26)) yield* [unescaped(reading)].filter(says);
  if (has(0x2b)) yield* [unescaped(reading, true)].filter(enough);
  if (has(0x3d)) yield* [quotedPrintable(reading)].filter(says);
  for (const read of base64(plain, least)) if (enough(read)) yield read;
  for (const read of hex(plain, least)) if (enough(read)) yield read;
  yield* [decimal(reading, least)].filter(enough);
}

const CONTROLS: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, b: 0x08, f: 0x0c, v: 0x0b, e: 0x1b, a: 0x07 };
const PERCENT = /%(?:[uU]([0-9a-fA-F]{4})|([0-9a-fA-F]{2}))/y;
const BACKSLASH = /\\(?:[ux]\{([0-9a-fA-F]{1,8})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|([\s\S]))/y;
const LOW_HALF = /\\u([dD][c-fC-F][0-9a-fA-F]{2})/y;
const ENTITY = /&(?:#([0-9]{1,8})|#[xX]([0-9a-fA-F]{1,8})|([A-Za-z]{2,6}));/y;

/** With the escapes of URLs, of JSON and programming languages, and of HTML replaced by their characters. In a form `+` stands for a blank. */
export function unescaped(reading: Reading, plusIsBlank = false): Reading {
  const { bytes } = reading;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const out = writer(reading, bytes.length);
  for (let i = 0; i < bytes.length; ) {
    const byte = bytes[i] as number;
    const pattern = byte === 0x25 ? PERCENT : byte === 0x5c ? BACKSLASH : byte === 0x26 ? ENTITY : undefined;
    const found = pattern && at(pattern, text, i);
    if (!found) {
      out.put(plusIsBlank && byte === 0x2b ? 0x20 : byte, i, i);
      i += 1;
      continue;
    }
    let last = i + found[0].length - 1;
    const [, first, second, third, fourth, octal, other] = found;
    if (pattern === PERCENT) out.code(number(first, 16) ?? -1, number(second, 16), i, last);
    else if (pattern === ENTITY) out.code(number(first, 10) ?? number(second, 16) ?? ENTITIES.get(third ?? '') ?? -1, undefined, i, last);
    else if (fourth !== undefined || octal !== undefined) out.code(-1, number(fourth, 16) ?? number(octal, 8), i, last);
    else if (other !== undefined) out.put(CONTROLS[other] ?? other.charCodeAt(0), i, last);
    else {
      const unit = number(first ?? second ?? third, 16) ?? -1;
      const low = unit >= 0xd800 && unit < 0xdc00 ? at(LOW_HALF, text, last + 1) : null;
      if (low) last += low[0].length;
      out.code(low ? 0x10000 + ((unit - 0xd800) << 10) + (number(low[1], 16) ?? 0) - 0xdc00 : unit, undefined, i, last);
    }
    i = last + 1;
  }
  return out.done();
}

function at(pattern: RegExp, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index;
  return pattern.exec(text);
}
const number = (digits: string | undefined, base: number): number | undefined =>
  digits === undefined ? undefined : Number.parseInt(digits, base);

/** Names of HTML: those of ASCII, then those of Latin-1 from U+00A0 on. */
const ENTITIES: ReadonlyMap<string, number> = new Map([
  ...'Tab:9 NewLine:10 excl:33 quot:34 num:35 dollar:36 percnt:37 amp:38 apos:39 lpar:40 rpar:41 ast:42 plus:43 comma:44 period:46 sol:47 colon:58 semi:59 lt:60 equals:61 gt:62 quest:63 commat:64 lsqb:91 lbrack:91 bsol:92 rsqb:93 rbrack:93 Hat:94 lowbar:95 grave:96 lcub:123 lbrace:123 verbar:124 vert:124 rcub:125 rbrace:125'
    .split(' ')
    .map((pair): [string, number] => [pair.slice(0, pair.indexOf(':')), Number(pair.slice(pair.indexOf(':') + 1))]),
  ...'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
    .split(' ')
    .map((name, i): [string, number] => [name, 0xa0 + i]),
]);

/** RFC 2045 §6.7: `=41` is a byte, `=` at the end of a line joins it with the next one. */
function quotedPrintable(reading: Reading): Reading {
  const { bytes } = reading;
  const out = writer(reading, bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    const [high, low] = [digit(bytes[i + 1]), digit(bytes[i + 2])];
    if (bytes[i] !== 0x3d) out.put(bytes[i] as number, i, i);
    else if (high !== NONE && low !== NONE) {
      out.put(high * 16 + low, i, i + 2);
      i += 2;
    } else if (bytes[i + 1] !== 0x0a && bytes[i + 1] !== 0x0d) out.put(0x3d, i, i);
  }
  return out.done();
}

const NONE = 255;
const NIBBLES = new Uint8Array(256).fill(NONE);
for (const [i, character] of [...'0123456789abcdefABCDEF'].entries()) NIBBLES[character.charCodeAt(0)] = i < 16 ? i : i - 6;
const digit = (byte = 0): number => NIBBLES[byte] as number;

const SEXTETS = new Int8Array(256).fill(-1);
for (const [i, character] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  SEXTETS[character.charCodeAt(0)] = i;
SEXTETS[0x2d] = 62;
SEXTETS[0x5f] = 63;

/** Base64 of either alphabet, from each of the four places that its first group may begin at. */
function* base64(plain: Reading, least: number): Generator<Reading> {
  const { bytes } = plain;
  const shortest = Math.max(2, Math.ceil((least * 4) / 3));
  const runs: [from: number, to: number][] = [];
  for (let i = 0, from = 0; i <= bytes.length; i++) {
    if (i < bytes.length && (SEXTETS[bytes[i] as number] as number) >= 0) continue;
    if (i - from >= shortest) runs.push([from, i]);
    from = i + 1;
  }
  const room = runs.reduce((sum, [from, to]) => sum + to - from, 0);
  if (room === 0) return;
  for (let shift = 0; shift < 4; shift++) {
    const out = empty(room);
    let length = 0;
    for (const [from, to] of runs) {
      // A byte takes six bits of one character and two of the next, or four and four, or two and six.
      for (let i = from + shift, part = 0; i + 1 < to; i++, part = (part + 1) & 3) {
        if (part === 3) continue;
        const pair = ((SEXTETS[bytes[i] as number] as number) << 6) | (SEXTETS[bytes[i + 1] as number] as number);
        out.bytes[length] = pair >> (4 - part * 2);
        out.start[length] = plain.start[i] as number;
        out.end[length++] = plain.end[i + 1] as number;
      }
    }
    yield upTo(out, length);
  }
}

/** What may stand between the bytes of a hex dump: `73:6b`, `73-6b`, `\x73\x6b`, `%73%6b`, `{0x73, 0x6b}`. */
const BETWEEN_HEX = new Uint8Array(256);
for (const byte of Buffer.from(':-,;._%\\xX[]{}()<>|/&#')) BETWEEN_HEX[byte] = 1;

/** Two hex digits are a byte, whatever stands between them; a run may begin with half of one. */
function* hex(plain: Reading, least: number): Generator<Reading> {
  const { bytes } = plain;
  const digits = new Uint32Array(bytes.length);
  const runs: [from: number, to: number][] = [];
  let [from, count] = [0, 0];
  for (let i = 0; i <= bytes.length; i++) {
    const byte = bytes[i] ?? 0x7a;
    if (byte === 0x30 && ((bytes[i + 1] ?? 0) | 0x20) === 0x78) i++;
    else if (NIBBLES[byte] !== NONE) digits[count++] = i;
    else if (!BETWEEN_HEX[byte]) {
      if (count - from >= least * 2) runs.push([from, count]);
      else count = from;
      from = count;
    }
  }
  if (runs.length === 0) return;
  for (let shift = 0; shift < 2; shift++) {
    const out = empty(count >> 1);
    let length = 0;
    for (const [first, last] of runs)
      for (let d = first + shift; d + 1 < last; d += 2) {
        const [high, low] = [digits[d] as number, digits[d + 1] as number];
        out.bytes[length] = digit(bytes[high]) * 16 + digit(bytes[low]);
        out.start[length] = plain.start[high] as number;
        out.end[length++] = plain.end[low] as number;
      }
    yield upTo(out, length);
  }
}

/** Lists of bytes in decimal, as programs print their buffers: `[115, 107, -61]`, and `{"0":115,"1":107}`, whose keys do not count. */
function decimal(reading: Reading, least: number): Reading {
  const { bytes } = reading;
  const out = writer(reading, (bytes.length >> 1) + 1);
  for (let i = 0, run = 0; i <= bytes.length; i++) {
    const byte = bytes[i] ?? 0x7f;
    if (isDigit(byte)) {
      const first = i;
      let value = 0;
      for (; isDigit(bytes[i]); i++) value = Math.min(1_000, value * 10 + (bytes[i] as number) - 0x30);
      i -= 1;
      const isKey = bytes[i + 1] === 0x22 && bytes[first - 1] === 0x22;
      if (isKey || value > 255) continue;
      out.put((bytes[first - 1] === 0x2d ? 256 - value : value) & 0xff, first, i);
      run += 1;
    } else if (!LAYOUT[byte] && !BETWEEN_NUMBERS.has(byte)) {
      if (run < least) out.drop(run);
      run = 0;
    }
  }
  return out.done();
}
const BETWEEN_NUMBERS = new Set(Buffer.from(',;:[](){}|-'));
const isDigit = (byte: number | undefined) => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Collects a reading of a reading, of at most `capacity` bytes. */
function writer(from: Reading, capacity: number) {
  let out: Reading | undefined;
  let length = 0;
  const put = (byte: number, first: number, last: number) => {
    // Most readings of most texts are empty.
    out ??= empty(capacity);
    out.start[length] = from.start[first] as number;
    out.end[length] = from.end[last] as number;
    out.bytes[length++] = byte;
  };
  return {
    put,
    /** `byte` as it is, else the character of the code in UTF-8, which no escape of it is shorter than. */
    code(code: number, byte: number | undefined, first: number, last: number) {
      if (byte !== undefined) put(byte, first, last);
      else if (code >= 0 && code < 0x80) put(code, first, last);
      else if (code >= 0x80 && code <= 0x10ffff) for (const one of Buffer.from(String.fromCodePoint(code))) put(one, first, last);
    },
    /** Takes back what was put last. */
    drop(count: number) {
      length -= count;
    },
    done: (): Reading => upTo(out ?? empty(0), length),
  };
}
