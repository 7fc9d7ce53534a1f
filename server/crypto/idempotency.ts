import { createHmac, hash, type KeyObject } from 'node:crypto';
import { hkdf, subKey } from './derive.ts';
import { randomBuffer } from './random.ts';
import { DecryptFailed, kinds, open, overhead, seal } from './svt1.ts';

/**
 * The fingerprint of a request, 64 hex digits (interface rule 01 §7.4): method, path, raw query (without `?`, empty when
 * there is none) and the raw body, each as received. Same key with another fingerprint is another request.
 */
export function requestFingerprint(method: string, path: string, rawQuery: string, body: Uint8Array): string {
  return hash('sha256', `${method}\n${path}\n${rawQuery}\n${hash('sha256', body, 'hex')}`, 'hex');
}

/** The key K of one tenant key version (interface rule 01 §7.5). */
export function idempotencyKey(tenantKey: KeyObject): KeyObject {
  return subKey(tenantKey, 'svc/idempotency-fp/v1');
}

/** What is stored for a key text or a fingerprint, 32 bytes: a bare hash of either could be guessed from a database copy. */
export function storedForm(k: KeyObject, text: string): Buffer {
  return createHmac('sha256', k).update(text, 'utf8').digest();
}

const saltBytes = 16;
const aad = 'idem/1';

/**
 * Seals an answer that carries a one-time secret so that only the client that repeats its key text opens it: neither the
 * database nor the service alone can (interface rule 01 §7.9). Result: salt (16) and an SVT1 blob of kind 03.
 */
export function sealAnswer(k: KeyObject, keyText: string, answer: Uint8Array): Buffer<ArrayBuffer> {
  const salt = randomBuffer(saltBytes);
  return Buffer.concat([salt, seal(kinds.value, answerKey(k, keyText, salt), 0, aad, answer)]);
}

/** The answer again; DecryptFailed with another key text, another tenant key or changed bytes. */
export function openAnswer(k: KeyObject, keyText: string, sealed: Uint8Array): Buffer {
  if (sealed.byteLength < saltBytes + overhead) throw new DecryptFailed();
  return open(kinds.value, answerKey(k, keyText, sealed.subarray(0, saltBytes)), 0, aad, sealed.subarray(saltBytes));
}

/** HKDF-SHA256(ikm = K, salt, info = "idem/1|" || SHA-256(key text), 32). */
export function answerKey(k: KeyObject, keyText: string, salt: Uint8Array): KeyObject {
  return hkdf(k, salt, Buffer.concat([Buffer.from('idem/1|', 'latin1'), hash('sha256', keyText, 'buffer')]));
}
