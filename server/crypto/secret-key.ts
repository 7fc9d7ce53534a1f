import { createSecretKey, type KeyObject } from 'node:crypto';

/** A KeyObject of the bytes, which are wiped: the only copy left is OpenSSL's, cleared when the object is collected. */
export function secretKey(bytes: Uint8Array): KeyObject {
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}
