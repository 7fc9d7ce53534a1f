import { formatPreserving, minLength } from '#server/crypto/format-preserving.ts';
import { type ConversationKey, formatKey, tokenBits } from '#server/crypto/pii-keys.ts';
import { luhnDigit } from './check-digits.ts';
import { digitsOf } from './entities/entity.ts';
import type { TokenFormat } from './span.ts';

/** One value and the token that stands for it. */
export type TokenEntry = { token: string; value: string; entity: string; format: TokenFormat };

/** Writes tokens of one conversation. Equal values give equal tokens; `counter` tells values apart whose tokens would be equal. */
export function tokenFor(conversation: ConversationKey, entity: string, format: TokenFormat, value: string, counter = 0): string {
  const bits = tokenBits(conversation, entity, normalized(format, value), counter);
  const write = WRITERS[format];
  return write(value, bits, entity, conversation) ?? generic(value, bits, entity);
}

/** NFKC, trimmed; lower case for email, digits only for numbers. */
export function normalized(format: TokenFormat, value: string): string {
  const text = value.normalize('NFKC').trim();
  if (format === 'email') return text.toLowerCase();
  return format === 'pan' || format === 'ssn' || format === 'phone' ? digitsOf(text) : text;
}

type Write = (value: string, bits: Buffer, entity: string, conversation: ConversationKey) => string | undefined;

const generic = (_value: string, bits: Buffer, entity: string): string => `SVC_${entity}_${base32(bits)}`;

const WRITERS: Readonly<Record<TokenFormat, Write>> = {
  generic,
  email: (_value, bits) => `svc-${base32(bits).toLowerCase()}@pii.invalid`,
  pan: (value, bits) => {
    const { length } = digitsOf(value);
    // Shorter ones have too few digits to tell values apart.
    if (length < 12 || length > 19) return undefined;
    const body = `9${digits(bits, length - 2)}`;
    return `${body}${luhnDigit(body)}`;
  },
  ssn: (value, bits) => {
    if (digitsOf(value).length !== 9) return undefined;
    const area = `9${digits(bits, 2)}`;
    const group = String(1 + ((bits[2] as number) % 49)).padStart(2, '0');
    const serial = digits(bits.subarray(3), 4);
    return value.includes('-') ? `${area}-${group}-${serial}` : `${area}${group}${serial}`;
  },
  phone: (value, bits) => {
    const national = nationalPart(value);
    const { length } = digitsOf(national);
    if (length < 6 || length > 15) return undefined;
    let at = 0;
    const written = national.replace(/\d/g, () => String((bits[at++] as number) % 10));
    return `+999 ${written.replace(/^[^\d(]+/, '')}`;
  },
  fpe: (value, _bits, entity, conversation) => encrypted(value, formatKey(conversation, entity), entity),
};

/** Each class of characters is encrypted by itself, so that the result has the same form; undefined when no class has characters enough. */
function encrypted(value: string, key: ReturnType<typeof formatKey>, entity: string): string | undefined {
  const tweak = Buffer.from(entity);
  let result = value;
  for (const { alphabet, members } of CLASSES) {
    const text = (value.match(members) ?? []).join('');
    if (text.length < minLength(alphabet.length)) continue;
    const cipher = formatPreserving(key, { alphabet, tweak }).encrypt(text);
    let at = 0;
    result = result.replace(members, () => cipher[at++] as string);
  }
  return result === value ? undefined : result;
}

const CLASSES = [
  { alphabet: '0123456789', members: /[0-9]/g },
  { alphabet: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', members: /[A-Z]/g },
  { alphabet: 'abcdefghijklmnopqrstuvwxyz', members: /[a-z]/g },
] as const;

/** The number without its country code (ITU-T E.164, list of assigned codes); a national number as it is. */
function nationalPart(value: string): string {
  const text = value.trim();
  if (!text.startsWith('+')) return text;
  const all = digitsOf(text);
  const length = /^[17]/.test(all) ? 1 : TWO_DIGIT_CODES.test(all) ? 2 : 3;
  let at = 1;
  for (let count = 0; count < length && at < text.length; at++) if (/\d/.test(text[at] as string)) count++;
  return text.slice(at);
}

const TWO_DIGIT_CODES = /^(?:2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;

const digits = (bits: Uint8Array, count: number): string =>
  Array.from({ length: count }, (_, i) => String((bits[i] as number) % 10)).join('');

/** Ten characters of Crockford's base32: the first 50 bits, most significant first. */
function base32(bits: Uint8Array): string {
  let value = 0n;
  for (const byte of bits.subarray(0, 7)) value = (value << 8n) | BigInt(byte);
  value >>= 6n;
  let text = '';
  for (let shift = 45n; shift >= 0n; shift -= 5n) text += CROCKFORD[Number((value >> shift) & 31n)];
  return text;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
