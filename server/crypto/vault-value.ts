import { createCipheriv, createDecipheriv, createHmac, type KeyObject } from 'node:crypto';
import { hkdf } from './derive.ts';
import { randomBuffer } from './random.ts';
import { secretKey } from './secret-key.ts';
import { DecryptFailed } from './transit/decrypt-failed.ts';
import type { Material } from './transit/material.ts';

// Values of vaults (interface rule 42 §5.1): iv (12), tag (16), ciphertext of AES-256-GCM under a version of the vault's key.

/** The row a value belongs to; a value that is moved to another row doesn't open. */
export type ValuePlace = { tenant_id: string; vault_id: string; token_id: string };

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The plaintext stays the caller's to wipe. */
export function sealVaultValue({ key }: Material, place: ValuePlace, plaintext: Uint8Array): Buffer {
  const iv = randomBuffer(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(aadOf(place));
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]);
}

/** The plaintext, the caller's to wipe. @throws DecryptFailed */
export function openVaultValue({ key }: Material, place: ValuePlace, sealed: Uint8Array): Buffer {
  if (sealed.length < IV_BYTES + TAG_BYTES) throw new DecryptFailed();
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(aadOf(place));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const plaintext = decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES));
  try {
    decipher.final();
    return plaintext;
  } catch {
    plaintext.fill(0);
    throw new DecryptFailed();
  }
}

const aadOf = ({ tenant_id, vault_id, token_id }: ValuePlace) => Buffer.from(`vault|${tenant_id}|${vault_id}|${token_id}`, 'latin1');

/** The key of a vault's blind index (interface rule 42 §11.1), from the sub-key `svc/lookup-hmac/v1` of a tenant key: 32 bytes to seal and wipe. */
export const newIndexKey = (lookup: KeyObject, vaultId: string): Buffer => hkdf(lookup, NO_SALT, `blind-index/1|vault=${vaultId}`).export();
const NO_SALT = Buffer.alloc(0);

/** The key of a blind index, ready for use. */
export type IndexKey = KeyObject;

/** What finds a value without showing it: HMAC-SHA256 of its normalised text. */
export const blindIndex = (indexKey: IndexKey, normalised: string): Buffer =>
  createHmac('sha256', indexKey).update(normalised, 'utf8').digest();

/** The opened bytes of an index key, which are wiped. */
export const indexKeyOf = (bytes: Buffer): IndexKey => secretKey(bytes);

/** The key of a vault that transforms values instead of storing them; it serves FF1 alone. */
export const transformKey = ({ key }: Material, vaultId: string): KeyObject => hkdf(key, NO_SALT, `vault-ff1/1|vault=${vaultId}`);
