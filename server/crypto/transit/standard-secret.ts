import { decodeBase64, decodeBase64url } from '../base64.ts';
import { randomBuffer } from '../random.ts';

// Secrets of Standard Webhooks: `whsec_` and the key in base64. Only its libraries read the text so; every other format signs with the whole text.

/** A secret of 256 bits that every format can sign with: of the base64 whose letters are the same in both alphabets. */
export function mintStandardSecret(): string {
  for (;;) {
    const text = randomBuffer(32).toString('base64');
    if (!/[+/]/.test(text)) return `whsec_${text}`;
  }
}

/** The key of a secret; of one that somebody chose, and that is no base64, the bytes of its text. */
export function standardKey(secret: string): Buffer {
  const text = (secret.startsWith('whsec_') ? secret.slice(6) : secret).replace(/={0,2}$/, '');
  const bytes = decodeBase64(text.padEnd(Math.ceil(text.length / 4) * 4, '=')) ?? decodeBase64url(text);
  return bytes && bytes.length > 0 ? bytes : Buffer.from(secret, 'utf8');
}
