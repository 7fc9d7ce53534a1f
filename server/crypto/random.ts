import { randomFillSync, randomInt } from 'node:crypto';
import { processState } from '#server/kernel/process-state.ts';

const base62Digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * `length` characters of 0-9 A-Z a-z, each equally likely (5.95 bits): bytes of 248 and more are
 * thrown away, since 256 is not a multiple of 62 and the remainder would favour the first digits.
 */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBuffer(length - text.length + 8)) {
      if (byte < 248 && text.length < length) text += base62Digits[byte % 62];
    }
  }
  return text;
}

/** `length` characters of A-Z 2-7 (RFC 4648 base32, 5 bits each), or of a-z 2-7 where a host name carries them. */
export function randomBase32(length: number, letters: 'upper' | 'lower' = 'upper'): string {
  let text = '';
  for (const byte of randomBuffer(length)) text += base32Digits[byte & 31];
  return letters === 'lower' ? text.toLowerCase() : text;
}

/** `length` characters of an alphabet of at most 256, each equally likely. */
export function randomOf(alphabet: string, length: number): string {
  const fair = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length)
    for (const byte of randomBuffer(length + 8)) if (byte < fair && text.length < length) text += alphabet.charAt(byte % alphabet.length);
  return text;
}

/** `length` decimal digits, each equally likely: mailed codes. */
export function randomDigits(length: number): string {
  let text = '';
  while (text.length < length) for (const byte of randomBuffer(length + 2)) if (byte < 250 && text.length < length) text += byte % 10;
  return text;
}

/** `bytes` random bytes as base64url without padding; 32 bytes give the 43 characters of mailed links. */
export function randomBase64url(bytes = 32): string {
  return randomBuffer(bytes).toString('base64url');
}

/** A fresh buffer of its own, never a slice of a shared pool, so that wiping it wipes the only copy. */
export function randomBuffer(bytes: number): Buffer<ArrayBuffer> {
  return randomFillSync(Buffer.alloc(bytes));
}

/**
 * Random bytes that will be public, such as ivs, and are not worth wiping. From a reserve, each byte once: asking the generator for a dozen costs ten
 * times as much.
 */
export function publicRandom(bytes: number): Buffer {
  if (publicAt + bytes > publicReserve.length) {
    randomFillSync(publicReserve);
    publicAt = 0;
  }
  publicAt += bytes;
  return Buffer.from(publicReserve.subarray(publicAt - bytes, publicAt));
}
const publicReserve = Buffer.alloc(12_000);
let publicAt = publicReserve.length;

/** The millisecond of the newest id, and its counter. */
const newest = processState('newest-uuid', () => ({ ms: 0, counter: 0 }));

/**
 * A lower-case UUID version 7 (RFC 9562 §5.7). Ids of one process increase strictly: the 12 bits after the
 * version are a counter (method 1 of §6.2) that starts at random below half and borrows from the next millisecond.
 */
export function uuidV7(now = Date.now()): string {
  // Ids are public, so they may come from a shared reserve: asking the generator for every one costs ten times as much.
  if (reserveAt + 10 > reserve.length) {
    randomFillSync(reserve);
    reserveAt = 0;
  }
  const at = reserveAt;
  reserveAt += 10;
  if (now > newest.ms) {
    newest.ms = now;
    newest.counter = reserve.readUInt16BE(at) & 0x7ff;
  } else if (++newest.counter > 0xfff) {
    newest.ms += 1;
    newest.counter = reserve.readUInt16BE(at) & 0x7ff;
  }
  id.writeUIntBE(newest.ms, 0, 6);
  id.writeUInt16BE(0x7000 | newest.counter, 6);
  reserve.copy(id, 8, at + 2, at + 10);
  id.writeUInt8((id.readUInt8(8) & 0x3f) | 0x80, 8);
  let place = 0;
  for (let i = 0; i < 16; i++) {
    const byte = id[i] as number;
    text[place++] = hexDigits.charCodeAt(byte >> 4);
    text[place++] = hexDigits.charCodeAt(byte & 15);
    if (i === 3 || i === 5 || i === 7 || i === 9) place++; // a hyphen stands there
  }
  return text.toString('latin1');
}

const hexDigits = '0123456789abcdef';
const reserve = Buffer.alloc(4_000);
let reserveAt = reserve.length;
const id = Buffer.alloc(16);
const text = Buffer.alloc(36, '-');

/** A whole number of 0 to `below` - 1, each equally likely; `below` is at most 2^48. */
export const randomInteger = (below: number): number => randomInt(below);
