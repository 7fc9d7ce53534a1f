import { createPublicKey, X509Certificate } from 'node:crypto';
import { type AccountKey, accountKey } from './account-key.ts';

/** What identifies a certificate that a client names, and the key in it when it is one that signs requests. */
export type LeafIdentity = { serial_hex: string; key: AccountKey | null };

/** Reads a certificate in DER; undefined for anything else. Nothing of it is verified: the caller compares it with what was issued. */
export function leafIdentity(der: Uint8Array): LeafIdentity | undefined {
  try {
    const certificate = new X509Certificate(der);
    return {
      serial_hex: certificate.serialNumber.toLowerCase(),
      key: signingKey(certificate.publicKey.export({ type: 'spki', format: 'der' })),
    };
  } catch {
    return undefined;
  }
}

/** A public key (SPKI DER) as the key of a request, or null when requests can't be signed with it. */
export function signingKey(spki: Uint8Array): AccountKey | null {
  try {
    return accountKey(createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }).export({ format: 'jwk' }));
  } catch {
    return null;
  }
}
