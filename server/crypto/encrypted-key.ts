import { elements } from './pki/der.ts';

// Encrypted private keys that others chose (RFC 5958 §3): what opening one costs is written in it, so it is read before anything is derived.

/** OpenSSL writes 2,048; guides say up to a million. */
export const MOST_KEY_ROUNDS = 2_000_000;

const PBKDF2 = '2a864886f70d01050c';

/** How often the passphrase of an EncryptedPrivateKeyInfo by PBES2 and PBKDF2 is hashed (RFC 8018 §A.4); undefined for any other way of encryption. */
export function roundsOfKey(der: Buffer): number | undefined {
  try {
    const kdf = child(child(child(child(der, 0), 0), 1), 0);
    if (child(kdf, 0).toString('hex') !== PBKDF2) return undefined;
    const count = child(child(kdf, 1), 1);
    return count.length > 4 ? Number.POSITIVE_INFINITY : count.readUIntBE(0, count.length);
  } catch {
    return undefined;
  }
}

/** Contents of the element at that place inside of these bytes. @throws RangeError, DerProblem */
function child(bytes: Buffer, index: number): Buffer {
  const found = elements(bytes)[index];
  if (!found) throw new RangeError();
  return found.content;
}
