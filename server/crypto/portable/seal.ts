import { createCipheriv, createDecipheriv, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { invalid } from '#server/kernel/errors.ts';
import { decodeBase64url } from '../base64.ts';
import { hkdf } from '../derive.ts';
import { randomBuffer } from '../random.ts';
import { secretKey } from '../secret-key.ts';
import { DecryptFailed } from '../transit/decrypt-failed.ts';
import { assertKeyTypeCan, type Material } from '../transit/material.ts';
import { type Datatype, type KeyRef, keyRefText, type Portable, ROLE } from './text.ts';

/** What anyone needs to seal: the public point (base64url of 65 bytes) and the name of its key (interface rule 41 §6). */
export type SealingBundle = { public_key_raw: string; key_ref: KeyRef };

export type Leaf = { datatype: Datatype; bytes: Uint8Array; role: string | undefined; bundle: SealingBundle };

/** Seals one value for the key of a bundle, under a key pair made for it alone (interface rule 41 §3). */
export function sealLeaf(leaf: Leaf): string {
  return sealWith(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }), randomBuffer(12), leaf);
}

/** Only for published vectors: neither the pair nor the iv may be used twice. */
export function sealWith(
  pair: { privateKey: KeyObject; publicKey: KeyObject },
  iv: Uint8Array,
  { datatype, bytes, role, bundle }: Leaf,
): string {
  if (role !== undefined && !ROLE.test(role)) throw invalid('role', 'must be lower-case letters, digits, dots, hyphens and underscores');
  const ephemeral = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-65);
  const key = contentKey(pair.privateKey, recipientOf(bundle), ephemeral, bundle.key_ref.tenant_id, role);
  const header = `kc:1:${datatype}:${[Buffer.from(keyRefText(bundle.key_ref)), ephemeral, Buffer.from(iv)].map((part) => part.toString('base64url')).join(':')}`;
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(header, 'latin1'));
  const ciphertext = cipher.update(bytes);
  cipher.final();
  return `${header}:${Buffer.concat([ciphertext, cipher.getAuthTag()]).toString('base64url')}:$`;
}

const TAG_BYTES = 16;

/** The bytes of a sealed value, for the caller to wipe. @throws DecryptFailed whatever is wrong: tenant, role, key, or any bit */
export function openLeaf(
  material: Material,
  sealed: Portable,
  { tenant_id, role }: { tenant_id: string; role: string | undefined },
): Buffer {
  assertKeyTypeCan(material.type, 'seal');
  if (sealed.key_ref.tenant_id !== tenant_id || (role !== undefined && !ROLE.test(role))) throw new DecryptFailed();
  let plaintext: Buffer | undefined;
  try {
    const key = contentKey(material.key, pointKey(sealed.ephemeral), sealed.ephemeral, tenant_id, role);
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.iv, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(sealed.header, 'latin1'));
    decipher.setAuthTag(sealed.sealed.subarray(-TAG_BYTES));
    plaintext = decipher.update(sealed.sealed.subarray(0, -TAG_BYTES));
    decipher.final();
    return plaintext;
  } catch {
    plaintext?.fill(0);
    throw new DecryptFailed();
  }
}

/** HKDF of the shared secret, bound to the ephemeral key, the tenant and the role. */
function contentKey(mine: KeyObject, theirs: KeyObject, ephemeral: Uint8Array, tenantId: string, role: string | undefined): KeyObject {
  const shared = secretKey(diffieHellman({ privateKey: mine, publicKey: theirs }));
  return hkdf(shared, ephemeral, `kc/1|tenant=${tenantId}|role=${role ?? ''}`);
}

const recipients = new WeakMap<SealingBundle, KeyObject>();

/** The public key of a bundle, read once however many values are sealed for it. @throws Refusal validation_error */
function recipientOf(bundle: SealingBundle): KeyObject {
  let key = recipients.get(bundle);
  if (!key) {
    try {
      key = pointKey(decodeBase64url(bundle.public_key_raw) ?? Buffer.alloc(0));
    } catch {
      throw invalid('public_key_raw', 'must be an uncompressed point of P-256 in base64url');
    }
    recipients.set(bundle, key);
  }
  return key;
}

/** The public key of an uncompressed P-256 point. Throws for a point that isn't on the curve, which could make a private key leak bit by bit. */
function pointKey(point: Uint8Array): KeyObject {
  if (point.length !== 65 || point[0] !== 4) throw new TypeError('not an uncompressed point of P-256');
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, point]), format: 'der', type: 'spki' });
}
/** DER of a P-256 public key up to its point (RFC 5480 §2). */
const SPKI_HEAD = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');
