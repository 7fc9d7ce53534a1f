import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { decodeBase64url } from '../base64.ts';
import { subKey } from '../derive.ts';
import { publicRandom } from '../random.ts';
import type { RootKeys } from '../root-key.ts';

// Anti-replay nonces (RFC 8555 §6.5). Handing one out stores nothing: it says itself when, and for which directory, it was made. That it is used once is
// for `server/domain/acme/nonces.ts`.

/** How long a nonce is good for, and how long a used one must be remembered. */
export const NONCE_MS = 3_600_000;

const RANDOM = 12;
const STAMP = 6;
const MAC = 18;

/** The keys of nonces: the first makes them, all are accepted, so that a rotation of the root key interrupts nobody. */
export function nonceKeys({ current, previous }: RootKeys): [KeyObject, ...KeyObject[]] {
  const keyOf = (root: RootKeys['current']) => subKey(root.key, 'svc/acme-nonce/v1');
  return previous ? [keyOf(current), keyOf(previous)] : [keyOf(current)];
}

/** 48 characters of base64url: 12 random bytes, the time in milliseconds, and a MAC over both and the directory. */
export function newNonce([key]: readonly [KeyObject, ...KeyObject[]], directory: string, now: Date): string {
  const head = Buffer.concat([publicRandom(RANDOM), Buffer.alloc(STAMP)]);
  head.writeUIntBE(now.getTime(), RANDOM, STAMP);
  return Buffer.concat([head, macOf(key, head, directory)]).toString('base64url');
}

/** Whether a nonce is ours, for this directory, and not too old. */
export function isOwnNonce(keys: readonly KeyObject[], nonce: string, directory: string, now: Date): boolean {
  const bytes = nonce.length === ((RANDOM + STAMP + MAC) / 3) * 4 ? decodeBase64url(nonce) : undefined;
  if (!bytes) return false;
  const head = bytes.subarray(0, RANDOM + STAMP);
  const age = now.getTime() - head.readUIntBE(RANDOM, STAMP);
  if (age < -CLOCKS_APART_MS || age > NONCE_MS) return false;
  return keys.some((key) => timingSafeEqual(bytes.subarray(RANDOM + STAMP), macOf(key, head, directory)));
}

/** Nodes of one deployment whose clocks differ. */
const CLOCKS_APART_MS = 60_000;

const macOf = (key: KeyObject, head: Buffer, directory: string): Buffer =>
  createHmac('sha256', key).update('acme-nonce:').update(head).update(directory).digest().subarray(0, MAC);
