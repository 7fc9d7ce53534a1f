import { createECDH, createPrivateKey } from 'node:crypto';
import type { KeyType } from '#server/kernel/key-types.ts';
import { type Material, openMaterial } from './material.ts';
import { newMaterial } from './new-material.ts';

/** Consecutive bytes, as published vectors use them. */
export const run = (first: number, length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => first + i));

export const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex');

/** A symmetric key of given bytes; the argument stays whole. */
export const materialOf = (type: KeyType, bytes: Uint8Array): Material => openMaterial(type, Buffer.from(bytes));

/** PKCS #8 of an Ed25519 seed (RFC 8410 §7). */
export const ed25519Secret = (seed: Uint8Array): Buffer => Buffer.concat([fromHex('302e020100300506032b657004220420'), seed]);

/** PKCS #8 of a private scalar on P-256. */
export function p256Secret(scalar: Uint8Array): Buffer {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(scalar);
  const point = curve.getPublicKey();
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d: Buffer.from(scalar).toString('base64url') }, format: 'jwk' }).export({
    format: 'der',
    type: 'pkcs8',
  });
}

const fresh = new Map<KeyType, Promise<{ material: Material; spki: Buffer | null }>>();

/** A random key of a type, one per process: making RSA keys takes most of the time of a test. */
export function freshMaterial(type: KeyType): Promise<{ material: Material; spki: Buffer | null }> {
  const known = fresh.get(type) ?? newMaterial(type).then(({ secret, spki }) => ({ material: openMaterial(type, secret), spki }));
  fresh.set(type, known);
  return known;
}
