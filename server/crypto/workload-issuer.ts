import { createPrivateKey, createPublicKey, generateKeyPair, hash, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { compactJws, signingInput } from './compact-jws.ts';

// Tokens that say to foreign clouds who we are (RFC 7519, RFC 7638). RS256: the one algorithm that Microsoft Entra ID, Google and Vault all accept.

/** The public half of a key, as a JWKS has it. */
export type WorkloadJwk = { kty: 'RSA'; alg: 'RS256'; use: 'sig'; kid: string; n: string; e: string };
export type WorkloadKey = { jwk: WorkloadJwk; private_key: KeyObject };

const BITS = 2048;

/** PKCS #8 of a new key, the caller's to wipe. */
export async function newWorkloadKey(): Promise<Buffer> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: BITS });
  return privateKey.export({ format: 'der', type: 'pkcs8' });
}

export function workloadKeyOf(pkcs8: Buffer): WorkloadKey {
  const private_key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const { n = '', e = '' } = createPublicKey(private_key).export({ format: 'jwk' });
  // RFC 7638 §3: these members in this order.
  const kid = hash('sha256', JSON.stringify({ e, kty: 'RSA', n }), 'base64url');
  return { jwk: { kty: 'RSA', alg: 'RS256', use: 'sig', kid, n, e }, private_key };
}

export function signWorkloadToken({ jwk, private_key }: WorkloadKey, claims: Readonly<Record<string, unknown>>): string {
  const signed = signingInput({ alg: jwk.alg, typ: 'JWT', kid: jwk.kid }, claims);
  return compactJws(signed, sign('sha256', signed, private_key));
}
