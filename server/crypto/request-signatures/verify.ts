import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';

/** HMAC-SHA256 of the parts in their order. */
export function hmacOf(key: Uint8Array, parts: readonly Uint8Array[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** Compares with every one, in constant time each. */
export const anyEquals = (mac: Uint8Array, signatures: readonly Uint8Array[]): boolean =>
  signatures.filter((signature) => signature.length === mac.length && timingSafeEqual(signature, mac)).length > 0;

/** The key object of 32 bytes in base64url, as credentials store it. */
export const ed25519Key = (x: string): KeyObject => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });

/** Pure Ed25519 (RFC 8032). */
export const ed25519Verifies = (key: KeyObject, message: Uint8Array, signatures: readonly Uint8Array[]): boolean =>
  signatures.some((signature) => signature.length === 64 && verify(null, message, key, signature));
