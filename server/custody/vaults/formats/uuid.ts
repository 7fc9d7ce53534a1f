import { randomBuffer } from '#server/crypto/random.ts';
import type { Format } from './format.ts';
import { anyText, generic } from './generic.ts';

/** Any text. Its tokens are UUIDs of version 4 (RFC 9562 §5.4). */
export const uuid: Format = { normalise: anyText, asSent: true, token: uuidV4, masked: generic.masked };

function uuidV4(): string {
  const bytes = randomBuffer(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
