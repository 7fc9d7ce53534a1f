import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { PatientRedact } from '#server/custody/redaction/redaction.ts';
import type { Withheld } from '#server/domain/routes/trial/schema.ts';
import { SHOWN } from '../core/own-request.ts';

export type ShownBody = {
  body: string;
  body_encoding: 'text' | 'base64' | 'withheld';
  withheld_reason: Withheld | null;
  truncated: boolean;
};
/**
 * A body as it came. `cut`: there was more of it, or it broke off. `redact` is null when the call used no secret. `most` bytes are shown. With `begins`
 * the beginning of something compressed is decompressed as far as it goes.
 */
export type Came = {
  bytes: Buffer;
  fields: (name: string) => string | undefined;
  status: number;
  cut: boolean;
  redact: PatientRedact | null;
  most?: number;
  begins?: boolean;
};
/** How much more is searched than shown: a value may end behind the shown part. */
const BEHIND = 8 * 1024;

/**
 * What a person is shown of an answer. When secrets were sent it must be text, decoded and with every value masked; what cannot be searched for
 * certain is withheld: slices, what does not decompress, and bytes that are no text, among which are the encodings that do not name themselves.
 */
export async function shownAnswer({ bytes, fields, status, cut, redact, most = SHOWN, begins = false }: Came): Promise<ShownBody> {
  const isPart = status === 206 || fields('content-range') !== undefined || /^multipart\/byteranges\b/i.test(fields('content-type') ?? '');
  if (redact && isPart && bytes.length > 0) return withheld('partial');
  const plain = opened(bytes, fields('content-encoding') ?? '', { cut, begins, sniffs: redact !== null });
  if (!plain) return withheld('compressed');
  const text = textOf(plain, /\bcharset="?([\w.:-]{1,40})/i.exec(fields('content-type') ?? '')?.[1], cut);
  if (!redact) return text ? cutText(text.bytes, cut, most) : cutBinary(plain, cut, most);
  if (!text) return withheld('binary');
  // What was compressed may be much longer than what is shown of it.
  const searched = text.bytes.subarray(0, most + BEHIND);
  const broken = cut || text.bytes.length > most + BEHIND;
  const clean = await masked(redact, searched);
  if (!clean) return withheld('complex');
  // In a charset that is not its own a value passes as characters that nobody looks for.
  if (clean === searched && text.bytes !== plain && (await masked(redact, plain)) !== plain) return withheld('binary');
  return cutText(broken ? clean.subarray(0, Math.max(0, clean.length - UNSURE)) : clean, broken, most);
}

/** The body that left, in which values are marked already; `redact` where they are not. */
export async function shownRequest(bytes: Buffer, redact: PatientRedact | null): Promise<ShownBody> {
  const text = textOf(bytes, undefined, false);
  if (!text) return redact ? withheld('binary') : cutBinary(bytes, false, SHOWN);
  const clean = redact ? await masked(redact, text.bytes) : text.bytes;
  return clean ? cutText(clean, false, SHOWN) : withheld('complex');
}

const masked = (redact: PatientRedact, bytes: Buffer): Promise<Buffer | null> => redact(bytes);
const withheld = (reason: Withheld): ShownBody => ({ body: '', body_encoding: 'withheld', withheld_reason: reason, truncated: false });
/** The beginning of a value at the end of what was cut off, too short to be known, with twelve bytes for each of its characters. */
const UNSURE = 192;

function cutText(bytes: Buffer, cut: boolean, most: number): ShownBody {
  const truncated = cut || bytes.length > most;
  const body = bytes.subarray(0, bytes.length > most ? wholeCharacters(bytes, most) : bytes.length).toString();
  return { body, body_encoding: 'text', withheld_reason: null, truncated };
}

const cutBinary = (bytes: Buffer, cut: boolean, most: number): ShownBody => ({
  body: bytes.subarray(0, most).toString('base64'),
  body_encoding: 'base64',
  withheld_reason: null,
  truncated: cut || bytes.length > most,
});

/** At most `limit` bytes, without the beginning of a character at the end. */
function wholeCharacters(bytes: Buffer, limit: number): number {
  let end = limit;
  while (end > limit - 4 && end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

const LONGEST_OPENED = 4 * SHOWN;
type Decoder = (bytes: Buffer, cut: boolean) => Buffer;
const zlibOptions = (cut: boolean) => ({ maxOutputLength: LONGEST_OPENED, ...(cut && { finishFlush: constants.Z_SYNC_FLUSH }) });
const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: (bytes, cut) => gunzipSync(bytes, zlibOptions(cut)),
  deflate: (bytes, cut) => (startsAs(bytes) === 'deflate' ? inflateSync : inflateRawSync)(bytes, zlibOptions(cut)),
  br: (bytes, cut) =>
    brotliDecompressSync(bytes, { maxOutputLength: LONGEST_OPENED, ...(cut && { finishFlush: constants.BROTLI_OPERATION_FLUSH }) }),
  zstd: (bytes, cut) => zstdDecompressSync(bytes, { maxOutputLength: LONGEST_OPENED, ...(cut && { finishFlush: constants.ZSTD_e_flush }) }),
};

type Opening = Pick<Required<Came>, 'cut' | 'begins'> & { sniffs: boolean };

/** Without the encodings that the answer names, and those it does not but that its first bytes tell; null when one cannot be undone. */
function opened(bytes: Buffer, encoding: string, { sniffs, ...opening }: Opening): Buffer | null {
  const named = encoding
    .toLowerCase()
    .split(',')
    .map((one) => one.trim().replace(/^x-/, ''))
    .filter((one) => one !== '' && one !== 'identity');
  if (named.length > LAYERS) return null;
  let plain: Buffer | null = bytes;
  for (const one of named.reverse()) plain = plain && decode(plain, one, opening);
  for (let layer = 0; sniffs && plain && layer < LAYERS; layer++) {
    const found = startsAs(plain);
    if (!found) break;
    plain = decode(plain, found, opening);
  }
  return plain;
}
const LAYERS = 4;

function decode(bytes: Buffer, encoding: string, { cut, begins }: Omit<Opening, 'sniffs'>): Buffer | null {
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (bytes.length === 0) return bytes;
  if (!decoder || (cut && !begins)) return null;
  try {
    return decoder(bytes, cut);
  } catch {
    return null;
  }
}

/** The compressed formats that have a mark of their own (RFC 1952, RFC 1950, RFC 8878); a zlib stream has no control character of text behind its first byte. */
function startsAs(bytes: Buffer): string | undefined {
  const [first = 0, second = 0] = bytes;
  if (first === 0x1f && second === 0x8b) return 'gzip';
  if (first === 0x78 && (first * 256 + second) % 31 === 0 && second !== 0x5e) return 'deflate';
  return bytes.length > 3 && bytes.readUInt32LE(0) === 0xfd2fb528 ? 'zstd' : undefined;
}

/** What text does not hold: control characters but those of lines and terminals, and the halves of what is no character. */
const NO_TEXT = /[\u0000-\u0007\u000e-\u001a\u001c-\u001f\u007f-\u009f\ufffe\uffff]/;

/** The text in UTF-8, from UTF-8, from UTF-16 that shows itself, or from the charset that the answer names; undefined when it is no text. */
function textOf(bytes: Buffer, charset: string | undefined, cut: boolean): { bytes: Buffer } | undefined {
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
  const zeros = bytes[1] === 0 ? 'utf-16le' : bytes[0] === 0 ? 'utf-16be' : undefined;
  for (const label of [wide, 'utf-8', zeros, charset]) {
    if (label === undefined) continue;
    const whole = cut && label === 'utf-8' ? bytes.subarray(0, wholeCharacters(bytes, bytes.length - 3)) : bytes;
    const text = decodedAs(whole.subarray(0, label.startsWith('utf-16') && cut ? whole.length & ~1 : whole.length), label);
    if (text === undefined || NO_TEXT.test(text)) continue;
    const again = Buffer.from(text);
    return { bytes: again.equals(bytes) ? bytes : again };
  }
  return undefined;
}

function decodedAs(bytes: Buffer, label: string): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined; // not in that charset, or in none that is known here
  }
}
