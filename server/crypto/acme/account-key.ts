import { calculateJwkThumbprint, type JWK } from 'jose';
import { decodeBase64url } from '../base64.ts';
import { JwsRefused } from './refused.ts';

/** Signature algorithms of ACME requests (RFC 8555 §6.2), as the answer to another one lists them. No MAC is among them. */
export const SIGNATURE_ALGORITHMS = ['ES256', 'ES384', 'RS256', 'EdDSA'] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** The public key of an account in its required members alone (RFC 7638 §3.2), so that one key has one stored form. */
export type AccountKey =
  | { kty: 'EC'; crv: 'P-256' | 'P-384'; x: string; y: string }
  | { kty: 'OKP'; crv: 'Ed25519'; x: string }
  | { kty: 'RSA'; e: string; n: string };

/** The public key in a header or a payload, when its type and size are acceptable. @throws JwsRefused bad_key */
export function accountKey(jwk: unknown): AccountKey {
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk)) throw bad('must be a JSON Web Key');
  const { kty, crv, x, y, e, n } = jwk as Record<string, unknown>;
  if (PRIVATE_MEMBERS.some((member) => Object.hasOwn(jwk, member))) throw bad('must not contain a private or symmetric key');
  if (kty === 'EC' && crv === 'P-256' && isCoordinate(x, 32) && isCoordinate(y, 32)) return { kty, crv, x, y };
  if (kty === 'EC' && crv === 'P-384' && isCoordinate(x, 48) && isCoordinate(y, 48)) return { kty, crv, x, y };
  if (kty === 'OKP' && crv === 'Ed25519' && isCoordinate(x, 32)) return { kty, crv, x };
  if (kty === 'RSA' && isModulus(n) && isExponent(e)) return { kty, e, n };
  throw bad('must be a P-256, P-384 or Ed25519 key, or an RSA key of 2048 to 4096 bits');
}

/** The algorithm that a key signs with: each type has one, so a header can't choose another for it. */
export function algorithmOf(key: AccountKey): SignatureAlgorithm {
  if (key.kty === 'EC') return key.crv === 'P-256' ? 'ES256' : 'ES384';
  return key.kty === 'OKP' ? 'EdDSA' : 'RS256';
}

/** RFC 7638 SHA-256 thumbprint, base64url: what names the key, in key authorizations too (RFC 8555 §8.1). */
export const thumbprintOf = (key: AccountKey): Promise<string> => calculateJwkThumbprint(key as JWK, 'sha256');

const PRIVATE_MEMBERS = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

const isCoordinate = (text: unknown, bytes: number): text is string => typeof text === 'string' && decodeBase64url(text)?.length === bytes;

/** 2048 to 4096 bits without leading zeros. */
function isModulus(text: unknown): text is string {
  const bytes = typeof text === 'string' && text.length <= 700 ? decodeBase64url(text) : undefined;
  if (!bytes) return false;
  const bits = bytes.length * 8 - (bytes[0] === 0 ? 8 : Math.clz32(bytes[0] ?? 0) - 24);
  return bytes[0] !== 0 && bits >= 2048 && bits <= 4096 && (bytes.at(-1) ?? 0) % 2 === 1;
}

/** Odd and at most 32 bits: a larger one makes each verification expensive, and 1 verifies anything. */
function isExponent(text: unknown): text is string {
  const bytes = typeof text === 'string' && text.length <= 6 ? decodeBase64url(text) : undefined;
  return (
    bytes !== undefined && bytes.length >= 1 && bytes[0] !== 0 && (bytes.at(-1) ?? 0) % 2 === 1 && !(bytes.length === 1 && bytes[0] === 1)
  );
}

const bad = (problem: string) => new JwsRefused('bad_key', `The account key ${problem}.`);
