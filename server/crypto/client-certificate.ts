// @peculiar/x509 resolves its parsers through decorators and refuses to load without this polyfill.
import 'reflect-metadata';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { randomBuffer } from './random.ts';

/** A certificate authority that can sign: its certificate and its P-256 private key. */
export type ClientCa = { certificate_pem: string; private_key: KeyObject };

export type ClientCertificateRequest = {
  client_id: string;
  /** The client's name; the first 64 characters become the CN. */
  name: string;
  ttl_days: number;
  now: Date;
};

/** Shown once; nothing but the thumbprint is kept. */
export type IssuedClientCertificate = { certificate_pem: string; private_key_pem: string; ca_chain_pem: string; not_after: Date };

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const day = 86_400_000;
/** Clocks of two machines differ; a certificate must be good at once. */
const backdating = 60_000;

/** The self-signed root `svc-mtls` of one tenant, ten years by default. Its key (PKCS #8 PEM) is to be sealed at once. */
export async function createClientCa(
  tenantId: string,
  now: Date,
  ttlDays = 3_650,
): Promise<{ certificate_pem: string; private_key_pem: string }> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = new x509.Name([{ O: [{ utf8String: tenantId }] }, { CN: [{ utf8String: 'svc-mtls' }] }]);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: name,
    issuer: name,
    ...validity(now, ttlDays),
    publicKey: verifying(publicKey),
    signingKey: signing(privateKey),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(verifying(publicKey)),
    ],
  });
  return { certificate_pem: pem(certificate), private_key_pem: privateKeyPem(privateKey) };
}

/** An authority as it is stored: its certificate and its opened key (PKCS #8 PEM), which stays the caller's to wipe. */
export function openedClientCa(certificatePem: string, privateKeyPem: Buffer): ClientCa {
  return { certificate_pem: certificatePem, private_key: createPrivateKey(privateKeyPem) };
}

/**
 * A certificate for one client: ECDSA P-256, clientAuth only, CN = client name, SAN `urn:svc:client:<client id>`
 * (interface rule 11 §3). Never outlives the authority.
 */
export async function issueClientCertificate(
  ca: ClientCa,
  { client_id, name, ttl_days, now }: ClientCertificateRequest,
): Promise<IssuedClientCertificate> {
  const authority = new x509.X509Certificate(ca.certificate_pem);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { notBefore, notAfter } = validity(now, ttl_days);
  const not_after = notAfter < authority.notAfter ? notAfter : authority.notAfter;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    // A structured name: in the text form a comma in a client's name would start another attribute.
    subject: new x509.Name([{ CN: [{ utf8String: [...name].slice(0, 64).join('') }] }]),
    issuer: authority.subjectName,
    notBefore,
    notAfter: not_after,
    publicKey: verifying(publicKey),
    signingKey: signing(ca.private_key),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: 'url', value: `urn:svc:client:${client_id}` }]),
      await x509.SubjectKeyIdentifierExtension.create(verifying(publicKey)),
      await x509.AuthorityKeyIdentifierExtension.create(authority),
    ],
  });
  return { certificate_pem: pem(certificate), private_key_pem: privateKeyPem(privateKey), ca_chain_pem: pem(authority), not_after };
}

function validity(now: Date, ttlDays: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now.getTime() - backdating), notAfter: new Date(now.getTime() + ttlDays * day) };
}

/** 16 random bytes, positive and not zero (RFC 5280 §4.1.2.2). */
function serial(): string {
  const bytes = randomBuffer(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes.toString('hex');
}

// Node's own CryptoKey type knows usages that the DOM's, which the library is typed with, does not; the object is the same.
function signing(key: KeyObject): CryptoKey {
  return key.toCryptoKey(algorithm, false, ['sign']) as CryptoKey;
}

// See above.
function verifying(key: KeyObject): CryptoKey {
  return key.toCryptoKey(algorithm, true, ['verify']) as CryptoKey;
}

function pem(certificate: x509.X509Certificate): string {
  return `${certificate.toString('pem').trimEnd()}\n`;
}

function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
