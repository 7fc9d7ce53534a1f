import { createSecretKey, type KeyObject } from 'node:crypto';
import { placeAad, type SealedPlace } from './aad.ts';
import { randomBuffer } from './random.ts';
import { DecryptFailed, kinds, open, seal } from './svt1.ts';

/** A tenant key with its version; the KeyObject never leaves the process and prints nothing. */
export type TenantKey = { version: number; key: KeyObject };

/** The three columns of a sealed value: the value under its content key, the content key under the tenant key, that key's version. */
export type SealedValue = { value_ct: Bytes; cek_wrapped: Bytes; tmk_version: number };
export type WrappedContentKey = Omit<SealedValue, 'value_ct'>;
/** The two columns of a small value sealed directly under the tenant key. */
export type SealedSmall = { ct: Bytes; tmk_version: number };
/** The same columns as any driver reads them. */
export type StoredValue = { value_ct: Uint8Array; cek_wrapped: Uint8Array; tmk_version: number };
export type StoredContentKey = Omit<StoredValue, 'value_ct'>;
export type StoredSmall = { ct: Uint8Array; tmk_version: number };

type Bytes = Uint8Array<ArrayBuffer>;

/** Above this a row gets a content key of its own, so that a rotation need not rewrite it. */
export const smallLimit = 4096;

/** Seals under a fresh content key. The plaintext stays the caller's to wipe. */
export function sealUnder(tmk: TenantKey, place: SealedPlace, plaintext: Uint8Array): SealedValue {
  const bytes = randomBuffer(32);
  try {
    const value_ct = seal(kinds.value, createSecretKey(bytes), 0, placeAad('val', place), plaintext);
    return { value_ct, cek_wrapped: seal(kinds.contentKey, tmk.key, tmk.version, placeAad('cek', place), bytes), tmk_version: tmk.version };
  } finally {
    bytes.fill(0);
  }
}

/** The plaintext, the caller's to wipe. DecryptFailed when the blobs are not of this place and key. */
export function openUnder(tmk: TenantKey, place: SealedPlace, sealed: StoredValue): Buffer {
  const bytes = openContentKey(tmk, place, sealed);
  try {
    return open(kinds.value, createSecretKey(bytes), 0, placeAad('val', place), sealed.value_ct);
  } finally {
    bytes.fill(0);
  }
}

/** The content key under another tenant key; the value blob does not change and is not needed. */
export function rewrapUnder(from: TenantKey, to: TenantKey, place: SealedPlace, wrapped: StoredContentKey): WrappedContentKey {
  const bytes = openContentKey(from, place, wrapped);
  try {
    return { cek_wrapped: seal(kinds.contentKey, to.key, to.version, placeAad('cek', place), bytes), tmk_version: to.version };
  } finally {
    bytes.fill(0);
  }
}

/** Seals at most 4 KiB without a content key (kind 04). Throws RangeError above. */
export function sealSmallUnder(tmk: TenantKey, place: SealedPlace, plaintext: Uint8Array): SealedSmall {
  if (plaintext.byteLength > smallLimit) throw new RangeError(`a value sealed without a content key has at most ${smallLimit} bytes`);
  return { ct: seal(kinds.small, tmk.key, tmk.version, placeAad('dir', place), plaintext), tmk_version: tmk.version };
}

/** The plaintext of a small value, the caller's to wipe. */
export function openSmallUnder(tmk: TenantKey, place: SealedPlace, sealed: StoredSmall): Buffer {
  if (sealed.tmk_version !== tmk.version) throw new DecryptFailed();
  return open(kinds.small, tmk.key, tmk.version, placeAad('dir', place), sealed.ct);
}

function openContentKey(tmk: TenantKey, place: SealedPlace, wrapped: StoredContentKey): Buffer {
  // The column, the blob's head and the key must name one version, or a row could be moved back to an older key.
  if (wrapped.tmk_version !== tmk.version) throw new DecryptFailed();
  const bytes = open(kinds.contentKey, tmk.key, tmk.version, placeAad('cek', place), wrapped.cek_wrapped);
  if (bytes.length !== 32) throw new DecryptFailed();
  return bytes;
}
