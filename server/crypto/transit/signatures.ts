import {
  constants,
  createHmac,
  type KeyObject,
  type SignKeyObjectInput,
  sign as signOnThread,
  timingSafeEqual,
  verify as verifyOnThread,
} from 'node:crypto';
import { invalid } from '#server/kernel/errors.ts';
import { KEY_TYPES, type KeyType, type RsaPadding, type SignatureHash } from '#server/kernel/key-types.ts';
import { decodeBase64, decodeBase64url } from '../base64.ts';
import { assertKeyTypeCan, type Material } from './material.ts';
import { parseVersioned } from './versioned-text.ts';

// Signatures and MACs (interface rule 40 §5.1): svc:v<version>:<base64>. ECDSA in DER, Ed25519 in 64 bytes, HMAC the whole digest.

/** A signature as a caller gave it; without a version when it came as bare base64 or base64url. */
export type ParsedSignature = { version: number | undefined; bytes: Buffer };

/** How to sign, as a caller says it. */
export type SigningInput = { hash?: string | undefined; rsa_padding?: string | undefined };

/** How to sign, judged for a type of key. */
export type SigningOptions = { hash: SignatureHash; padding: RsaPadding | undefined; ecdsa: 'der' | 'ieee-p1363' };

/** @throws Refusal validation_error when the type can't sign, or has no such choice */
export function signingOptions(type: KeyType, { hash, rsa_padding }: SigningInput = {}): SigningOptions {
  assertKeyTypeCan(type, 'sign');
  const { hashes, paddings } = KEY_TYPES[type];
  return {
    hash: choice('hash', type, hash, hashes) ?? (type === 'hmac-sha512' ? 'sha512' : 'sha256'),
    padding: choice('rsa_padding', type, rsa_padding === 'pkcs1' ? 'pkcs1v15' : rsa_padding, paddings),
    ecdsa: 'der',
  };
}

function choice<T extends string>(field: string, type: KeyType, given: string | undefined, allowed: readonly T[]): T | undefined {
  if (given === undefined) return allowed[0];
  if (allowed.length === 0) throw invalid(field, `can't be chosen for a key of type ${type}`);
  const found = allowed.find((value) => value === given);
  if (found === undefined) throw invalid(field, `must be one of ${allowed.join(', ')}`);
  return found;
}

/** @throws Refusal validation_error */
export function parseSignature(text: string, field = 'signature'): ParsedSignature {
  const parsed = parseVersioned(text);
  const bytes = parsed ? decodeBase64(parsed.rest) : (decodeBase64(text) ?? decodeBase64url(text));
  if (!bytes || bytes.length === 0) throw invalid(field, 'must be a signature as sign returns it, or its bytes in base64 or base64url');
  return { version: parsed?.version, bytes };
}

/** Signs and names the version. Slow types are computed on another thread. */
export async function sign(material: Material, version: number, data: Uint8Array, options: SigningOptions): Promise<string> {
  return `svc:v${version}:${(await signBytes(material, data, options)).toString('base64')}`;
}

export function signBytes(material: Material, data: Uint8Array, options: SigningOptions): Buffer | Promise<Buffer> {
  assertKeyTypeCan(material.type, 'sign');
  if (KEY_TYPES[material.type].kind === 'hmac') return macOf(material, data);
  const key = { ...parameters(material.type, options), key: material.key };
  const hash = hashName(material.type, options);
  if (!isSlow(material.type)) return signOnThread(hash, data, key);
  return new Promise((resolve, reject) => signOnThread(hash, data, key, (error, bytes) => (error ? reject(error) : resolve(bytes))));
}

/** Whether these bytes are the signature of the data; false for anything that isn't one. */
export function verify(material: Material, data: Uint8Array, signature: Uint8Array, options: SigningOptions): boolean | Promise<boolean> {
  assertKeyTypeCan(material.type, 'verify');
  return KEY_TYPES[material.type].kind === 'hmac'
    ? equal(macOf(material, data), signature)
    : verifyWith(material.type, material.publicKey, data, signature, options);
}

/** `verify` with the public half alone. */
export function verifyWith(
  type: KeyType,
  publicKey: KeyObject,
  data: Uint8Array,
  signature: Uint8Array,
  options: SigningOptions,
): boolean | Promise<boolean> {
  const key = { ...parameters(type, options), key: publicKey };
  const hash = hashName(type, options);
  if (!isSlow(type)) return verifyOnThread(hash, data, key, signature);
  return new Promise((resolve, reject) =>
    verifyOnThread(hash, data, key, signature, (error, valid) => (error ? reject(error) : resolve(valid))),
  );
}

/** The whole digest of an HMAC key over the data. */
export const macOf = (material: Material, data: Uint8Array): Buffer =>
  createHmac(material.type === 'hmac-sha512' ? 'sha512' : 'sha256', material.key)
    .update(data)
    .digest();

const equal = (expected: Buffer, given: Uint8Array) => expected.length === given.length && timingSafeEqual(expected, given);

const hashName = (type: KeyType, { hash }: SigningOptions) => (type === 'ed25519' ? null : hash);

/** A signature of RSA or on P-384 takes a millisecond and more: too long for the thread that serves everyone. */
const isSlow = (type: KeyType) => KEY_TYPES[type].kind === 'rsa' || type === 'ecdsa-p384';

function parameters(type: KeyType, { padding, ecdsa }: SigningOptions): Omit<SignKeyObjectInput, 'key'> {
  if (KEY_TYPES[type].kind === 'ecdsa') return { dsaEncoding: ecdsa };
  if (padding === 'pkcs1v15') return { padding: constants.RSA_PKCS1_PADDING };
  // The salt is as long as the digest, exactly: OpenSSL would accept any length when it isn't told.
  return padding === 'pss' ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {};
}
