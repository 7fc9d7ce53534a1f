import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { AsnConvert, AsnParser, AsnSerializer, OctetString } from '@peculiar/asn1-schema';
import {
  AccessDescription,
  AlgorithmIdentifier,
  AuthorityInfoAccessSyntax,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  CRLDistributionPoints,
  DistributionPoint,
  DistributionPointName,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ad_caIssuers,
  id_ad_ocsp,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_cRLDistributionPoints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  id_pe_authorityInfoAccess,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  type Name,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Time,
  Validity,
} from '@peculiar/asn1-x509';
import { randomBuffer } from '../random.ts';
import { type Subject, subjectName } from './subject.ts';

// Certificates by the profiles of interface rule 43 §4.3 (RFC 5280): ECDSA on P-256 with SHA-256, built and signed here, never parsed from a caller.

/** A fresh P-256 pair. The private key is PKCS #8 DER in a buffer of its own: seal it or show it, then wipe it. */
export type KeyPair = { privateKey: Buffer; publicKey: Buffer };

/** What can sign: a certificate of ours and its private key, opened. Cheap to keep for as long as the key may be in memory. */
export type Issuer = {
  /** DER. */
  certificate: Uint8Array;
  key: KeyObject;
  subject: Name;
  /** DER of the subject, byte for byte as in the certificate. */
  subjectDer: Buffer;
  /** The bits of the public key, which key ids are hashes of. */
  publicKeyBits: Buffer;
  /** The subjectKeyIdentifier: SHA-1 of the public key's bits (RFC 5280 §4.2.1.2, method 1). */
  keyId: Buffer;
  notBefore: Date;
  notAfter: Date;
};

/** URLs that a certificate names; each is left out when it isn't given. */
export type CertificateUrls = { crl?: string; issuer?: string; ocsp?: string };

/** `serial` is 32 hexadecimal digits (`newSerial`); times are cut to whole seconds. */
export type CertificateTerm = { serial: string; notBefore: Date; notAfter: Date };

export type RootRequest = CertificateTerm & { key: KeyPair; subject: Subject };

export type IntermediateRequest = CertificateTerm & { issuer: Issuer; publicKey: Uint8Array; subject: Subject; urls?: CertificateUrls };

export type Usage = 'serverAuth' | 'clientAuth';

export type LeafRequest = CertificateTerm & {
  issuer: Issuer;
  /** SPKI DER. */
  publicKey: Uint8Array;
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

/** A stored certificate (DER) and its opened key (PKCS #8 DER, which stays the caller's to wipe) as an issuer. @throws when they don't belong together. */
export function openIssuer(certificate: Uint8Array, privateKey: Buffer): Issuer {
  const { tbsCertificate } = AsnParser.parse(certificate, Certificate);
  const { subject, subjectPublicKeyInfo, validity } = tbsCertificate;
  const publicKeyBits = Buffer.from(subjectPublicKeyInfo.subjectPublicKey);
  return {
    certificate,
    key: createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' }),
    subject,
    subjectDer: Buffer.from(AsnSerializer.serialize(subject)),
    publicKeyBits,
    keyId: sha1(publicKeyBits),
    notBefore: validity.notBefore.getTime(),
    notAfter: validity.notAfter.getTime(),
  };
}

/** A self-signed root that may have one level of authorities below it. */
export function rootCertificate({ key, subject, ...term }: RootRequest): Buffer {
  const name = subjectName(subject);
  const signer = createPrivateKey({ key: key.privateKey, format: 'der', type: 'pkcs8' });
  return certificate({ ...term, issuer: name, subject: name, publicKey: key.publicKey, signer }, [
    basicConstraints(true, 1),
    keyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign),
    subjectKeyId(key.publicKey),
  ]);
}

/** An authority below a root, for leaves only. */
export function intermediateCertificate({ issuer, publicKey, subject, urls, ...term }: IntermediateRequest): Buffer {
  return certificate({ ...term, issuer: issuer.subject, subject: subjectName(subject), publicKey, signer: issuer.key }, [
    basicConstraints(true, 0),
    keyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign),
    subjectKeyId(publicKey),
    authorityKeyId(issuer),
    ...urlExtensions(urls),
  ]);
}

/** A certificate for one end of TLS. The names are taken as they are: `names.shared.ts` of the domain has judged them. */
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
  const names = [
    ...sanDns.map((dNSName) => new GeneralName({ dNSName })),
    ...sanIp.map((iPAddress) => new GeneralName({ iPAddress })),
    ...sanUri.map((uniformResourceIdentifier) => new GeneralName({ uniformResourceIdentifier })),
  ];
  return certificate({ ...term, issuer: issuer.subject, subject: name, publicKey, signer: issuer.key }, [
    basicConstraints(false),
    keyUsage(KeyUsageFlags.digitalSignature),
    extendedKeyUsage(usages.map((usage) => USAGES[usage])),
    subjectKeyId(publicKey),
    authorityKeyId(issuer),
    // Critical when it is all that names the subject (RFC 5280 §4.2.1.6).
    ...(names.length > 0 ? [extension(id_ce_subjectAltName, new SubjectAlternativeName(names), name.length === 0)] : []),
    ...urlExtensions(urls),
  ]);
}

const USAGES: Readonly<Record<Usage, string>> = { serverAuth: id_kp_serverAuth, clientAuth: id_kp_clientAuth };

type Parts = CertificateTerm & { issuer: Name; subject: Name; publicKey: Uint8Array; signer: KeyObject };

/** The signed certificate, DER. */
export function certificate({ serial, notBefore, notAfter, issuer, subject, publicKey, signer }: Parts, extensions: Extension[]): Buffer {
  if (!SERIAL.test(serial)) throw new TypeError('a serial has 32 hexadecimal digits and is positive');
  const tbs = new TBSCertificate({
    version: 2,
    serialNumber: integer(serial),
    signature: ECDSA_SHA256,
    issuer,
    validity: new Validity({ notBefore: new Time(notBefore), notAfter: new Time(notAfter) }),
    subject,
    subjectPublicKeyInfo: AsnParser.parse(publicKey, SubjectPublicKeyInfo),
    extensions: new Extensions(extensions),
  });
  return signed(
    tbs,
    (signatureValue) => new Certificate({ tbsCertificate: tbs, signatureAlgorithm: ECDSA_SHA256, signatureValue }),
    signer,
  );
}
const SERIAL = /^[0-7][0-9a-f]{31}$/;

/** ecdsa-with-SHA256, without parameters (RFC 5758 §3.2). */
export const ECDSA_SHA256 = new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' });

/** Signs the DER of `tbs` and gives the DER of the whole. */
export function signed(tbs: unknown, whole: (signature: ArrayBuffer) => unknown, signer: KeyObject): Buffer {
  const signature = sign('sha256', Buffer.from(AsnSerializer.serialize(tbs)), signer);
  return Buffer.from(AsnConvert.serialize(whole(bytes(signature))));
}

/** A positive INTEGER's bytes from hexadecimal: as short as DER demands. */
export function integer(hex: string): ArrayBuffer {
  const all = Buffer.from(hex, 'hex');
  let from = 0;
  while (from < all.length - 1 && all[from] === 0 && (all[from + 1] ?? 0) < 0x80) from++;
  return bytes(all.subarray(from));
}

export function bytes(buffer: Uint8Array): ArrayBuffer {
  return new Uint8Array(buffer).buffer;
}

export function extension(extnID: string, value: unknown, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnSerializer.serialize(value)) });
}

export function basicConstraints(cA: boolean, pathLenConstraint?: number): Extension {
  return extension(id_ce_basicConstraints, new BasicConstraints({ cA, pathLenConstraint }), true);
}

export const keyUsage = (flags: number): Extension => extension(id_ce_keyUsage, new KeyUsage(flags), true);

export const extendedKeyUsage = (purposes: string[]): Extension => extension(id_ce_extKeyUsage, new ExtendedKeyUsage(purposes));

export const subjectKeyId = (spki: Uint8Array): Extension =>
  extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(bytes(keyIdOf(spki))));

export const authorityKeyId = ({ keyId }: Issuer): Extension =>
  extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier: new KeyIdentifier(bytes(keyId)) }));

/** SHA-1 of the bits of a public key (SPKI DER). An identifier and no protection, which is why SHA-1 serves. */
export function keyIdOf(spki: Uint8Array): Buffer {
  return sha1(Buffer.from(AsnParser.parse(spki, SubjectPublicKeyInfo).subjectPublicKey));
}

const sha1 = (data: Uint8Array): Buffer => createHash('sha1').update(data).digest();

export function urlExtensions({ crl, issuer, ocsp }: CertificateUrls = {}): Extension[] {
  const access = [
    ...(ocsp ? [new AccessDescription({ accessMethod: id_ad_ocsp, accessLocation: url(ocsp) })] : []),
    ...(issuer ? [new AccessDescription({ accessMethod: id_ad_caIssuers, accessLocation: url(issuer) })] : []),
  ];
  const point = () => new DistributionPoint({ distributionPoint: new DistributionPointName({ fullName: [url(crl ?? '')] }) });
  return [
    ...(crl ? [extension(id_ce_cRLDistributionPoints, new CRLDistributionPoints([point()]))] : []),
    ...(access.length > 0 ? [extension(id_pe_authorityInfoAccess, new AuthorityInfoAccessSyntax(access))] : []),
  ];
}

const url = (uniformResourceIdentifier: string) => new GeneralName({ uniformResourceIdentifier });
