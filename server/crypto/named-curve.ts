import { createPublicKey, type KeyObject } from 'node:crypto';
import { inside, oidText, only, TAG } from './pki/der.ts';

/** What is said of a key that isn't on a named curve, to follow the name of a field or what the key is in. */
export const UNNAMED_CURVE =
  'must name its elliptic curve: explicit curve parameters are refused (RFC 5480 §2.1.1). Make the key on a named curve';

const EC_PUBLIC_KEY = '1.2.840.10045.2.1';

/**
 * Whether a public key (SPKI DER) spells its curve out, or leaves it to whoever reads it, where RFC 5480 §2.1.1 allows a name alone. OpenSSL takes parameters
 * that look like those of a known curve for it, but readers that compute with what they are given can be made to trust another key. @throws DerProblem
 */
export function hasUnnamedCurve(spki: Buffer): boolean {
  const [algorithm] = inside(only(spki), TAG.sequence);
  const [id, parameters] = inside(algorithm, TAG.sequence);
  return oidText(id) === EC_PUBLIC_KEY && parameters?.tag !== TAG.oid;
}

/** The same of a key that was read, public or private: OpenSSL writes it as it came. */
export const isOnUnnamedCurve = (key: KeyObject): boolean =>
  key.asymmetricKeyType === 'ec' &&
  hasUnnamedCurve((key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' }));
