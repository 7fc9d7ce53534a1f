import { createPrivateKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { parseAddress } from '#server/kernel/address.ts';
import { randomBuffer } from '../random.ts';
import { certificateParts, validityOf } from './certificate-parts.ts';
import { bits, context, integer, oid, sequence, time } from './der.ts';
import {
  authorityKeyId,
  basicConstraints,
  type CertificateUrls,
  extendedKeyUsage,
  keyIdOf,
  keyUsage,
  subjectAltName,
  subjectKeyId,
  urlExtensions,
} from './extensions.ts';
import { type Subject, subjectName } from './subject.ts';

// Certificates by the profiles of interface rule 43 §4.3 (RFC 5280): ECDSA on P-256 with SHA-256, built and signed here, never parsed from a caller.

/** A fresh P-256 pair. The private key is PKCS #8 DER in a buffer of its own: seal it or show it, then wipe it. */
export type KeyPair = { privateKey: Buffer; publicKey: Buffer };

/** What can sign: a certificate of ours and its private key, opened. */
export type Issuer = {
  /** DER. */
  certificate: Buffer;
  key: KeyObject;
  /** Its name in DER, byte for byte as the certificate has it. */
  subject: Buffer;
  /** SPKI DER. */
  publicKey: Buffer;
  /** Its subjectKeyIdentifier. */
  keyId: Buffer;
  notBefore: Date;
  notAfter: Date;
};

/** `serial` is 32 hexadecimal digits (`newSerial`); times are cut to whole seconds. */
export type CertificateTerm = { serial: string; notBefore: Date; notAfter: Date };

export type RootRequest = CertificateTerm & { key: KeyPair; subject: Subject };

export type IntermediateRequest = CertificateTerm & { issuer: Issuer; publicKey: Buffer; subject: Subject; urls?: CertificateUrls };

export type Usage = 'serverAuth' | 'clientAuth';

export type LeafRequest = CertificateTerm & {
  issuer: Issuer;
  /** SPKI DER. */
  publicKey: Buffer;
  subject: Subject;
  /** A-labels. */
  sanDns?: readonly string[];
  /** IPv4 or IPv6 text. */
  sanIp?: readonly string[];
  sanUri?: readonly string[];
  /** Both ends of TLS unless told. */
  usages?: readonly Usage[];
  urls?: CertificateUrls;
};

export function newKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }), publicKey: publicKey.export({ type: 'spki', format: 'der' }) };
}

/** 16 random bytes as hexadecimal: positive, never zero, and always 16 bytes long in DER, so that its text has 32 digits everywhere (RFC 5280 §4.1.2.2). */
export function newSerial(): string {
  const bytes = randomBuffer(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes.toString('hex');
}

/** A stored certificate (DER) with its key (PKCS #8 DER, which stays the caller's to wipe). @throws when they don't belong together. */
export function openIssuer(certificate: Uint8Array, privateKey: Buffer): Issuer {
  const der = Buffer.from(certificate);
  const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
  if (!new X509Certificate(der).checkPrivateKey(key)) throw new TypeError('the key does not belong to the certificate');
  const { subject, publicKey, validity } = certificateParts(der);
  return { certificate: der, key, subject: subject.der, publicKey: publicKey.der, keyId: keyIdOf(publicKey.der), ...validityOf(validity) };
}

/** A self-signed root that may have one level of authorities below it. */
export function rootCertificate({ key, subject, ...term }: RootRequest): Buffer {
  const name = subjectName(subject);
  const signer = createPrivateKey({ key: key.privateKey, format: 'der', type: 'pkcs8' });
  return signedCertificate({ ...term, issuer: name, subject: name, publicKey: key.publicKey, signer }, [
    basicConstraints({ depth: 1 }),
    keyUsage('authority'),
    subjectKeyId(key.publicKey),
  ]);
}

/** An authority below a root, for leaves only. */
export function intermediateCertificate({ issuer, publicKey, subject, urls, ...term }: IntermediateRequest): Buffer {
  return signedCertificate({ ...term, issuer: issuer.subject, subject: subjectName(subject), publicKey, signer: issuer.key }, [
    basicConstraints({ depth: 0 }),
    keyUsage('authority'),
    subjectKeyId(publicKey),
    authorityKeyId(issuer.keyId),
    ...urlExtensions(urls),
  ]);
}

/** A certificate for an end of TLS. Names are taken as they are: `names.shared.ts` of the domain has judged them. */
export function leafCertificate(request: LeafRequest): Buffer {
  const {
    issuer,
    publicKey,
    subject,
    sanDns = [],
    sanIp = [],
    sanUri = [],
    usages = ['serverAuth', 'clientAuth'],
    urls,
    ...term
  } = request;
  const name = subjectName(subject);
  const unnamed = name.length === 2;
  return signedCertificate({ ...term, issuer: issuer.subject, subject: name, publicKey, signer: issuer.key }, [
    basicConstraints(false),
    keyUsage('signature'),
    extendedKeyUsage(usages.map((usage) => USAGES[usage])),
    subjectKeyId(publicKey),
    authorityKeyId(issuer.keyId),
    ...subjectAltName({ dns: sanDns, ip: sanIp.map(addressBytes), uri: sanUri }, unnamed),
    ...urlExtensions(urls),
  ]);
}

const USAGES: Readonly<Record<Usage, string>> = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' };

/** Four bytes or sixteen (RFC 5280 §4.2.1.6). */
function addressBytes(text: string): Buffer {
  const address = parseAddress(text, { mapped: 'keep' });
  if (!address) throw new TypeError('an address is IPv4 or IPv6');
  return Buffer.from(address.value.toString(16).padStart(address.family === 4 ? 8 : 32, '0'), 'hex');
}

type Parts = CertificateTerm & { issuer: Buffer; subject: Buffer; publicKey: Buffer; signer: KeyObject };

/** Version 3, DER. */
export function signedCertificate(
  { serial, notBefore, notAfter, issuer, subject, publicKey, signer }: Parts,
  extensions: readonly Buffer[],
): Buffer {
  if (!SERIAL.test(serial)) throw new TypeError('a serial has 32 hexadecimal digits and is positive');
  return signed(
    sequence(
      context(0, integer(2)),
      integer(Buffer.from(serial, 'hex')),
      ECDSA_SHA256,
      issuer,
      sequence(time(notBefore), time(notAfter)),
      subject,
      publicKey,
      context(3, sequence(...extensions)),
    ),
    signer,
  );
}
const SERIAL = /^[0-7][0-9a-f]{31}$/;

/** ecdsa-with-SHA256, without parameters (RFC 5758 §3.2). */
export const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

/** What X.509 signs: the content, the algorithm, the signature. `after` follows them (certificates of an OCSP answer). */
export function signed(content: Buffer, signer: KeyObject, ...after: readonly Buffer[]): Buffer {
  return sequence(content, ECDSA_SHA256, bits(sign('sha256', content, signer)), ...after);
}
