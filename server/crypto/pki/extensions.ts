import { createHash } from 'node:crypto';
import { bits, bitsOf, boolean, context, inside, integer, octets, oid, only, primitive, sequence, TAG } from './der.ts';

// Extensions of certificates and CRLs, in DER (RFC 5280 §4.2 and §5.2).

export const EXTENSION = {
  ...{
    subjectKeyId: '2.5.29.14',
    keyUsage: '2.5.29.15',
    subjectAltName: '2.5.29.17',
    basicConstraints: '2.5.29.19',
    crlNumber: '2.5.29.20',
  },
  ...{ crlReason: '2.5.29.21', crlUrls: '2.5.29.31', authorityKeyId: '2.5.29.35', extendedKeyUsage: '2.5.29.37' },
  ...{ access: '1.3.6.1.5.5.7.1.1', nocheck: '1.3.6.1.5.5.7.48.1.5' },
} as const;

export function extension(type: string, value: Uint8Array, critical = false): Buffer {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octets(value));
}

/** Critical. An authority may have `depth` levels of authorities below it. */
export function basicConstraints(authority: false | { depth: number }): Buffer {
  return extension(EXTENSION.basicConstraints, authority ? sequence(boolean(true), integer(authority.depth)) : sequence(), true);
}

/** Critical. keyCertSign and cRLSign for authorities, digitalSignature for all else. */
export function keyUsage(kind: 'authority' | 'signature'): Buffer {
  return extension(EXTENSION.keyUsage, kind === 'authority' ? bits(Buffer.of(0x06), 1) : bits(Buffer.of(0x80), 7), true);
}

export function extendedKeyUsage(purposes: readonly string[]): Buffer {
  return extension(EXTENSION.extendedKeyUsage, sequence(...purposes.map(oid)));
}

export const subjectKeyId = (spki: Buffer): Buffer => extension(EXTENSION.subjectKeyId, octets(keyIdOf(spki)));

export const authorityKeyId = (keyId: Uint8Array): Buffer => extension(EXTENSION.authorityKeyId, sequence(primitive(0, keyId)));

/** SHA-1 of the bits of a public key (SPKI DER; RFC 5280 §4.2.1.2, method 1). It names and doesn't protect, so SHA-1 serves. */
export function keyIdOf(spki: Buffer): Buffer {
  return createHash('sha1').update(publicKeyBits(spki)).digest();
}

/** The bits of a public key that hashes of it are made of. @throws DerProblem */
export function publicKeyBits(spki: Buffer): Buffer {
  const [, key] = inside(only(spki), TAG.sequence);
  return bitsOf(key);
}

export type Names = { dns: readonly string[]; ip: readonly Uint8Array[]; uri: readonly string[] };

/** Critical when it is all that names the subject (RFC 5280 §4.2.1.6). */
export function subjectAltName({ dns, ip, uri }: Names, critical: boolean): Buffer[] {
  const names = [...dns.map((name) => primitive(2, ascii(name))), ...ip.map((bytes) => primitive(7, bytes)), ...uri.map(url)];
  return names.length === 0 ? [] : [extension(EXTENSION.subjectAltName, sequence(...names), critical)];
}

/** URLs that a certificate names; each is left out when it isn't given. */
export type CertificateUrls = { crl?: string | undefined; issuer?: string | undefined; ocsp?: string | undefined };

export function urlExtensions({ crl, issuer, ocsp }: CertificateUrls = {}): Buffer[] {
  const access = [
    ...(ocsp ? [sequence(oid('1.3.6.1.5.5.7.48.1'), url(ocsp))] : []),
    ...(issuer ? [sequence(oid('1.3.6.1.5.5.7.48.2'), url(issuer))] : []),
  ];
  return [
    // DistributionPoint, DistributionPointName, fullName: three levels of tags around one URL.
    ...(crl ? [extension(EXTENSION.crlUrls, sequence(sequence(context(0, context(0, url(crl))))))] : []),
    ...(access.length > 0 ? [extension(EXTENSION.access, sequence(...access))] : []),
  ];
}

const url = (text: string): Buffer => primitive(6, ascii(text));

function ascii(text: string): Buffer {
  if (!ASCII.test(text)) throw new TypeError('a name of a certificate is visible ASCII');
  return Buffer.from(text, 'latin1');
}
const ASCII = /^[\x21-\x7e]+$/;
