import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { KEY_TYPES, type KeyType } from '#server/kernel/key-types.ts';
import { kidOf } from './key-ids.ts';

/** The JWK of a public half: curve or modulus members, then `use`, `alg` (none for key agreement) and `kid`. */
export type PublicJwk = JsonWebKey & { kty: string; use: 'sig' | 'enc'; alg?: string; kid: string };

/** A public half in both forms a verifier may want (interface rule 40 §3.6). `spki` is DER, as stored. */
export function publicKey(
  type: KeyType,
  spki: Uint8Array,
  { key_id, version }: { key_id: string; version: number },
): { pem: string; jwk: PublicJwk } {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  const [alg] = KEY_TYPES[type].jwt;
  const jwk = { ...key.export({ format: 'jwk' }), use: alg ? 'sig' : 'enc', ...(alg ? { alg } : {}), kid: kidOf(key_id, version) };
  return { pem: key.export({ format: 'pem', type: 'spki' }) as string, jwk: jwk as PublicJwk };
}

/** The 65 bytes of an uncompressed P-256 point, which the SPKI of an ecdh-p256 key ends in. */
export const rawPoint = (spki: Uint8Array): Buffer => Buffer.from(spki.subarray(-65));
