import { createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { inspect } from 'node:util';
import { Refusal } from '#server/kernel/errors.ts';
import { KEY_TYPES, type KeyType, type KeyUse, keyTypeCan } from '#server/kernel/key-types.ts';
import { hkdf } from '../derive.ts';
import { secretKey } from '../secret-key.ts';

/** One version of a key, ready for use. It shows nothing of itself: not when printed, not in JSON. */
export class Material {
  readonly type: KeyType;
  /** The secret or private half. */
  readonly #key: KeyObject;
  readonly #publicKey: KeyObject | undefined;

  constructor(type: KeyType, key: KeyObject) {
    this.type = type;
    this.#key = key;
    this.#publicKey = key.type === 'private' ? createPublicKey(key) : undefined;
  }

  get key(): KeyObject {
    return this.#key;
  }

  /** The public half. Throws for a symmetric key. */
  get publicKey(): KeyObject {
    if (!this.#publicKey) throw new TypeError(`a key of type ${this.type} has no public half`);
    return this.#publicKey;
  }

  toJSON(): string {
    return '[key material]';
  }

  toString(): string {
    return '[key material]';
  }

  [inspect.custom](): string {
    return '[key material]';
  }
}

/**
 * Opens the bytes of `newMaterial` and wipes them. They must be of this very type: a key that was stored under another one is a fault of ours.
 */
export function openMaterial(type: KeyType, secret: Buffer): Material {
  try {
    const bytes = SYMMETRIC_BYTES[type];
    if (bytes !== undefined) {
      if (secret.length !== bytes) throw new TypeError(`a key of type ${type} has ${bytes} bytes`);
      return new Material(type, secretKey(secret));
    }
    const key = createPrivateKey({ key: secret, format: 'der', type: 'pkcs8' });
    if (!isOfType(key, type)) throw new TypeError(`the stored key isn't of type ${type}`);
    return new Material(type, key);
  } finally {
    secret.fill(0);
  }
}

/** Bytes of the keys that are random bytes (interface rule 40 §6.3). */
export const SYMMETRIC_BYTES: Readonly<Partial<Record<KeyType, number>>> = { 'aes256-gcm': 32, 'hmac-sha256': 32, 'hmac-sha512': 64 };

function isOfType(key: KeyObject, type: KeyType): boolean {
  const details = key.asymmetricKeyDetails;
  switch (KEY_TYPES[type].kind) {
    case 'rsa':
      return key.asymmetricKeyType === 'rsa' && details?.modulusLength === Number(type.slice(4));
    case 'ecdsa':
    case 'ecdh':
      return key.asymmetricKeyType === 'ec' && details?.namedCurve === CURVES[type];
    default:
      return key.asymmetricKeyType === 'ed25519';
  }
}

/** Curves by the names that OpenSSL uses. */
export const CURVES: Readonly<Partial<Record<KeyType, string>>> = {
  'ecdsa-p256': 'prime256v1',
  'ecdsa-p384': 'secp384r1',
  'ecdh-p256': 'prime256v1',
};

/** Refuses a use that the type of a key isn't made for. @throws Refusal validation_error */
export function assertKeyTypeCan(type: KeyType, use: KeyUse): void {
  if (!keyTypeCan(type, use)) throw new Refusal('validation_error', `A key of type ${type} can't be used for ${use}.`);
}

/** The key of one context (interface rule 40 §10.2): every context has a key of its own, and no other type may be derived. */
export function deriveMaterial(material: Material, context: Uint8Array): Material {
  assertKeyTypeCan(material.type, 'encrypt');
  return new Material(material.type, hkdf(material.key, NO_SALT, Buffer.concat([DERIVE_INFO, context])));
}
const NO_SALT = Buffer.alloc(0);
const DERIVE_INFO = Buffer.from('svc-derive/1|', 'latin1');

/** The IV of a convergent encryption: the same plaintext under the same derived key gives the same 12 bytes. */
export const convergentIv = (derived: Material, plaintext: Uint8Array): Buffer =>
  createHmac('sha256', derived.key).update('iv/1|').update(plaintext).digest().subarray(0, 12);
