import { createCipheriv, createDecipheriv } from 'node:crypto';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import type { DataKeyBits } from '#server/kernel/key-types.ts';
import { decodeBase64 } from '../base64.ts';
import { publicRandom, randomBuffer } from '../random.ts';
import { DecryptFailed } from './decrypt-failed.ts';
import { assertKeyTypeCan, convergentIv, type Material } from './material.ts';
import { parseVersioned } from './versioned-text.ts';

// Ciphertext of AES keys (interface rule 40 §4.1): svc:v<version>:<base64 of iv (12), tag (16), ciphertext>.

export { DecryptFailed } from './decrypt-failed.ts';

/** A ciphertext whose text is well-formed. `foreign`: it came with `vault:`, whose bytes are iv, ciphertext, tag. */
export type ParsedCipherText = { foreign: boolean; version: number; bytes: Buffer };

const IV_BYTES = 12;
const TAG_BYTES = 16;
const OVERHEAD = IV_BYTES + TAG_BYTES;

/** @throws Refusal validation_error naming `field` */
export function parseCipherText(text: string, field = 'ciphertext'): ParsedCipherText {
  const parsed = parseVersioned(text);
  const bytes = parsed && decodeBase64(parsed.rest);
  if (!bytes || bytes.length < OVERHEAD) throw invalid(field, 'must be a ciphertext as encrypt returns it, such as svc:v1:<base64>');
  return { foreign: parsed.foreign, version: parsed.version, bytes };
}

/** Encrypts under a fresh random iv; `aad` is bound to the ciphertext and not part of it. */
export function encrypt(material: Material, version: number, plaintext: Uint8Array, aad?: Uint8Array): string {
  return encryptWithIv(publicRandom(IV_BYTES), material, version, plaintext, aad);
}

/**
 * Encrypts so that one plaintext has one ciphertext under the key of one context. Takes no associated data: two tags of one iv over different associated
 * data give away the key that authenticates. `derived` comes from `deriveMaterial`, never from the key itself.
 */
export function encryptConvergent(derived: Material, version: number, plaintext: Uint8Array): string {
  return encryptWithIv(convergentIv(derived, plaintext), derived, version, plaintext);
}

/** Only for `encryptConvergent` and published vectors: an iv used for two plaintexts of one key breaks AES-GCM. */
export function encryptWithIv(iv: Uint8Array, material: Material, version: number, plaintext: Uint8Array, aad?: Uint8Array): string {
  assertKeyTypeCan(material.type, 'encrypt');
  if (iv.byteLength !== IV_BYTES) throw new RangeError('an iv has 12 bytes');
  const cipher = createCipheriv('aes-256-gcm', material.key, iv, { authTagLength: TAG_BYTES });
  if (aad) cipher.setAAD(aad);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  return `svc:v${version}:${Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64')}`;
}

/** The plaintext, in a buffer the caller may wipe. @throws DecryptFailed whatever is wrong */
export function decrypt(material: Material, { foreign, bytes }: ParsedCipherText, aad?: Uint8Array): Buffer {
  assertKeyTypeCan(material.type, 'decrypt');
  const iv = bytes.subarray(0, IV_BYTES);
  const ours = () => open(material, iv, bytes.subarray(OVERHEAD), bytes.subarray(IV_BYTES, OVERHEAD), aad);
  // Material of another engine may be imported with its ciphertexts. Both layouts are authenticated, so trying two is safe.
  const theirs = () => open(material, iv, bytes.subarray(IV_BYTES, -TAG_BYTES), bytes.subarray(-TAG_BYTES), aad);
  const plaintext = foreign ? (theirs() ?? ours()) : ours();
  if (!plaintext) throw new DecryptFailed();
  return plaintext;
}

function open(material: Material, iv: Buffer, ciphertext: Buffer, tag: Buffer, aad: Uint8Array | undefined): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', material.key, iv, { authTagLength: TAG_BYTES });
  if (aad) decipher.setAAD(aad);
  decipher.setAuthTag(tag);
  const plaintext = decipher.update(ciphertext);
  try {
    decipher.final();
    return plaintext;
  } catch {
    plaintext.fill(0);
    return undefined;
  }
}

/** Moves a ciphertext to another version; its associated data stays bound and the plaintext never leaves this function. @throws DecryptFailed */
export function rewrap(from: Material, parsed: ParsedCipherText, to: Material, version: number, aad?: Uint8Array): string {
  const plaintext = decrypt(from, parsed, aad);
  try {
    return encrypt(to, version, plaintext, aad);
  } finally {
    plaintext.fill(0);
  }
}

/** A random key for use outside of the service, in clear (for the caller to wipe) and encrypted. */
export function newDataKey(
  material: Material,
  version: number,
  bits: DataKeyBits,
  aad?: Uint8Array,
): { plaintext: Buffer; ciphertext: string } {
  const plaintext = randomBuffer(bits / 8);
  return { plaintext, ciphertext: encrypt(material, version, plaintext, aad) };
}

/** The bytes of the one of two fields that is given: text as UTF-8, or base64. @throws Refusal validation_error */
export function bytesOfEither(field: string, text: string | undefined, base64: string | undefined, limit: number): Buffer {
  if ((text === undefined) === (base64 === undefined))
    throw new Refusal('validation_error', `Send exactly one of ${field} and ${field}_b64.`);
  if (text !== undefined && !text.isWellFormed()) throw invalid(field, `isn't valid Unicode; send the bytes in ${field}_b64`);
  const bytes = text === undefined ? decodeBase64(base64 as string) : Buffer.from(text, 'utf8');
  if (!bytes) throw invalid(`${field}_b64`, 'must be standard base64 with padding');
  if (bytes.length > limit) throw invalid(text === undefined ? `${field}_b64` : field, `must be at most ${limit} bytes`);
  return bytes;
}
