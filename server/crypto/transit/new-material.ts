import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { KEY_TYPES, type KeyType } from '#server/kernel/key-types.ts';
import { randomBuffer } from '../random.ts';
import { CURVES, SYMMETRIC_BYTES } from './material.ts';

/**
 * A fresh key: `secret` are the bytes to seal (random bytes, or PKCS #8 DER), for the caller to wipe, `spki` is the public half in DER. RSA takes up to
 * seconds on another thread, so call it outside of a transaction.
 */
export async function newMaterial(type: KeyType): Promise<{ secret: Buffer<ArrayBuffer>; spki: Buffer<ArrayBuffer> | null }> {
  const bytes = SYMMETRIC_BYTES[type];
  if (bytes !== undefined) return { secret: randomBuffer(bytes), spki: null };
  const { privateKey, publicKey } = await newPair(type);
  return {
    secret: privateKey.export({ format: 'der', type: 'pkcs8' }) as Buffer<ArrayBuffer>,
    spki: publicKey.export({ format: 'der', type: 'spki' }) as Buffer<ArrayBuffer>,
  };
}

function newPair(type: KeyType): Promise<{ privateKey: KeyObject; publicKey: KeyObject }> {
  const { kind } = KEY_TYPES[type];
  if (kind === 'ed25519') return generate('ed25519');
  if (kind === 'rsa') return generate('rsa', { modulusLength: Number(type.slice(4)), publicExponent: 65_537 });
  return generate('ec', { namedCurve: CURVES[type] as string });
}

const generate = promisify(generateKeyPair);
