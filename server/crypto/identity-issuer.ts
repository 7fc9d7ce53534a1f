import { createPrivateKey, createPublicKey, generateKeyPair, hash, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { compactJws, signingInput } from './compact-jws.ts';

// Tokens that say to an upstream that a call came through us, and for whom (RFC 7515, RFC 7518 §3.4, RFC 7638).

/** The public half of a key, as a JWKS has it. */
export type IdentityJwk = { kty: 'EC'; crv: 'P-256'; alg: 'ES256'; use: 'sig'; kid: string; x: string; y: string };
export type IdentityKey = { jwk: IdentityJwk; private_key: KeyObject };

/** PKCS #8 of a new key, the caller's to wipe. */
export async function newIdentityKey(): Promise<Buffer> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  return privateKey.export({ format: 'der', type: 'pkcs8' });
}

export function identityKeyOf(pkcs8: Buffer): IdentityKey {
  const private_key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const { x = '', y = '' } = createPublicKey(private_key).export({ format: 'jwk' });
  // RFC 7638 §3: these members in this order.
  const kid = hash('sha256', JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }), 'base64url');
  return { jwk: { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig', kid, x, y }, private_key };
}

export function signIdentityToken({ jwk, private_key }: IdentityKey, claims: Readonly<Record<string, unknown>>): string {
  const signed = signingInput({ alg: jwk.alg, typ: 'JWT', kid: jwk.kid }, claims);
  return compactJws(signed, sign('sha256', signed, { key: private_key, dsaEncoding: 'ieee-p1363' }));
}
