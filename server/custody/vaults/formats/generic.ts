import { randomOf } from '#server/crypto/random.ts';
import { type Format, FormatMismatch, maskedBut } from './format.ts';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const MAX_BYTES = 65_536;

/** Any text. Its tokens are `tok_` and a ULID: 48 bits of time, 80 random bits. */
export const generic: Format = {
  normalise: anyText,
  asSent: true,
  token: () => `tok_${timePart(Date.now())}${randomOf(CROCKFORD, 16)}`,
  masked: (value) => (value.length > 8 ? maskedBut(value, 4) : '*'.repeat(value.length)),
};

/** @throws FormatMismatch unless it is 1 to 65,536 bytes of UTF-8 */
export function anyText(value: string): string {
  const bytes = Buffer.byteLength(value);
  if (bytes < 1 || bytes > MAX_BYTES) throw new FormatMismatch('must have 1 to 65,536 bytes');
  return value;
}

function timePart(ms: number): string {
  let text = '';
  for (let left = ms, place = 0; place < 10; place++, left = Math.floor(left / 32)) text = `${CROCKFORD[left % 32]}${text}`;
  return text;
}
