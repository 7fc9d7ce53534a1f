import { constants, createHmac, createPrivateKey, createSecretKey, type KeyObject, sign } from 'node:crypto';
import { compactJws, signingInput } from '../compact-jws.ts';

export type BearerAlgorithm = 'HS256' | 'RS256' | 'PS256' | 'ES256' | 'EdDSA';
export type BearerClaims = Readonly<Record<string, unknown>>;

/** Says what is wrong with the material without any part of it. */
export class UnusableMaterial extends Error {
  override readonly name = 'UnusableMaterial';
}

/**
 * A JWT signed with material as people store it: a private key in PEM or as a JWK, or a shared key for HS256. The key must be made for the algorithm.
 * @throws UnusableMaterial
 */
export function signBearerJwt(material: string, algorithm: BearerAlgorithm, claims: BearerClaims): string {
  const { key, kid } = keyOf(material, algorithm);
  const header = { alg: algorithm, typ: 'JWT', ...(kid === undefined ? {} : { kid }) };
  const signed = signingInput(header, claims);
  return compactJws(signed, signatureOf(signed, algorithm, key));
}

function keyOf(material: string, algorithm: BearerAlgorithm): { key: KeyObject; kid: string | undefined } {
  const text = material.trim();
  const jwk = text.startsWith('{') ? jwkOf(text) : undefined;
  if (jwk) {
    const { kid, alg, use, key_ops } = jwk;
    if (alg !== undefined && alg !== algorithm) throw new UnusableMaterial(`is a JWK for another algorithm than ${algorithm}`);
    if ((use !== undefined && use !== 'sig') || (Array.isArray(key_ops) && !key_ops.includes('sign')))
      throw new UnusableMaterial('is a JWK that is not for signing');
    return { key: fitting(fromJwk(jwk, algorithm), algorithm), kid: typeof kid === 'string' ? kid : undefined };
  }
  if (text.startsWith('-----BEGIN')) return { key: fitting(fromPem(text), algorithm), kid: undefined };
  // Byte for byte as it is stored: a shared key may end in a line feed.
  if (algorithm === 'HS256') return { key: createSecretKey(Buffer.from(material, 'utf8')), kid: undefined };
  throw new UnusableMaterial(`must hold a private key for ${algorithm}, in PEM or as a JWK`);
}

/** A shared key may begin with a brace: only an object with `kty` is a JWK. */
function jwkOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && typeof (value as { kty?: unknown }).kty === 'string'
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function fromJwk(jwk: Record<string, unknown>, algorithm: BearerAlgorithm): KeyObject {
  if (jwk.kty === 'oct') {
    const { k } = jwk;
    if (typeof k !== 'string' || k === '' || Buffer.from(k, 'base64url').toString('base64url') !== k)
      throw new UnusableMaterial('is a JWK that is not valid');
    return createSecretKey(Buffer.from(k, 'base64url'));
  }
  if (algorithm === 'HS256') throw new UnusableMaterial('is not a shared key, which HS256 needs');
  try {
    return createPrivateKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new UnusableMaterial('is not the JWK of a private key');
  }
}

function fromPem(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new UnusableMaterial('is not a private key in PEM without a passphrase');
  }
}

function fitting(key: KeyObject, algorithm: BearerAlgorithm): KeyObject {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const fits = {
    HS256: key.type === 'secret',
    RS256: type === 'rsa' && (details?.modulusLength ?? 0) >= 2048,
    PS256: type === 'rsa' && (details?.modulusLength ?? 0) >= 2048,
    ES256: type === 'ec' && details?.namedCurve === 'prime256v1',
    EdDSA: type === 'ed25519',
  };
  if (!fits[algorithm]) throw new UnusableMaterial(`is not a key for ${algorithm}`);
  return key;
}

function signatureOf(bytes: Buffer, algorithm: BearerAlgorithm, key: KeyObject): Buffer {
  switch (algorithm) {
    case 'HS256':
      return createHmac('sha256', key).update(bytes).digest();
    case 'RS256':
      return sign('sha256', bytes, { key, padding: constants.RSA_PKCS1_PADDING });
    case 'PS256':
      return sign('sha256', bytes, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 });
    case 'ES256':
      return sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' });
    case 'EdDSA':
      return sign(null, bytes, key);
  }
}
