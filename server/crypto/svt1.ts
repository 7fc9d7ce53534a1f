import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto';

/**
 * The one format of data at rest (interface rule 31 §2), AES-256-GCM always:
 *
 *     "SVT1" | kind (1) | key version (u32, big-endian) | iv (12) | tag (16) | ciphertext
 *
 * Who may read a blob is bound by its AAD: tenant, space, purpose and row. The header is not part of the AAD; a changed
 * kind or key version is refused because both must equal what the caller expects.
 */
export const kinds = { tenantKey: 0x01, contentKey: 0x02, value: 0x03, small: 0x04 } as const;
export type Kind = (typeof kinds)[keyof typeof kinds];

/** Why a blob did not open is never told: not which byte, not whether key, AAD or format was wrong. */
export class DecryptFailed extends Error {
  override readonly name = 'DecryptFailed';
  readonly type = 'decrypt_failed';

  constructor() {
    super('the stored value cannot be decrypted');
  }
}

const magic = Buffer.from('SVT1', 'latin1');
const ivBytes = 12;
const tagBytes = 16;
const ivAt = 9;
const tagAt = ivAt + ivBytes;
const ciphertextAt = tagAt + tagBytes;
/** Bytes a blob adds to its plaintext. */
export const overhead = ciphertextAt;

/** Encrypts under a fresh random iv. `key` is a 32-byte secret KeyObject (a raw Buffer is several times slower per call). */
export function seal(kind: Kind, key: KeyObject, keyVersion: number, aad: string, plaintext: Uint8Array): Buffer<ArrayBuffer> {
  return sealWithIv(randomFillSync(Buffer.alloc(ivBytes)), kind, key, keyVersion, aad, plaintext);
}

/** Only for reproducing published vectors: an iv used twice under one key breaks AES-GCM. Everything else calls `seal`. */
export function sealWithIv(
  iv: Uint8Array,
  kind: Kind,
  key: KeyObject,
  keyVersion: number,
  aad: string,
  plaintext: Uint8Array,
): Buffer<ArrayBuffer> {
  if (iv.byteLength !== ivBytes) throw new RangeError('an SVT1 iv has 12 bytes');
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(aad, 'utf8'));
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  const head = Buffer.alloc(ivAt);
  magic.copy(head);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(keyVersion, 5);
  return Buffer.concat([head, iv, cipher.getAuthTag(), ciphertext]);
}

/** The plaintext, in a buffer the caller may wipe; DecryptFailed whatever is wrong. */
export function open(kind: Kind, key: KeyObject, keyVersion: number, aad: string, blob: Uint8Array): Buffer {
  if (keyVersionOf(kind, blob) !== keyVersion) throw new DecryptFailed();
  const bytes = view(blob);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(ivAt, tagAt), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(aad, 'utf8'));
    decipher.setAuthTag(bytes.subarray(tagAt, ciphertextAt));
    const plaintext = decipher.update(bytes.subarray(ciphertextAt));
    try {
      decipher.final();
    } catch (error) {
      plaintext.fill(0);
      throw error;
    }
    return plaintext;
  } catch {
    throw new DecryptFailed();
  }
}

/** The key version in the head of a blob of this kind; DecryptFailed when it is not one. */
export function keyVersionOf(kind: Kind, blob: Uint8Array): number {
  const bytes = view(blob);
  if (bytes.length < ciphertextAt || !bytes.subarray(0, 4).equals(magic) || bytes.readUInt8(4) !== kind) throw new DecryptFailed();
  return bytes.readUInt32BE(5);
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
