// @peculiar/x509 refuses to load without this polyfill.
import { grouped } from '#server/kernel/numbers.ts';
import 'reflect-metadata';
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { MOST_KEY_ROUNDS, roundsOfKey } from './encrypted-key.ts';
import { isOnUnnamedCurve, UNNAMED_CURVE } from './named-curve.ts';
import { looksLikePfx, type PfxContents, PfxProblem, readPfx } from './pfx.ts';

// Certificates that a person or a machine uploads (interface rule 30 §11): read by node's OpenSSL, PKCS #7 by @peculiar/x509, PFX by pfx.ts.

export type CertificateFormat = 'pem' | 'pfx' | 'p12' | 'crt' | 'cer' | 'key' | 'pkcs7' | 'p7b' | 'p7c';

export type CertificateUpload = {
  /** PEM, or base64 of a binary format. */
  content: string;
  format: CertificateFormat;
  private_key?: string | undefined;
  passphrase?: string | undefined;
};

/** What is wrong with an upload. The message continues the name of the field and holds nothing of it. */
export class CertificateProblem extends Error {
  override readonly name = 'CertificateProblem';
  readonly field: 'certificate_content' | 'private_key' | 'passphrase';
  constructor(field: CertificateProblem['field'], message: string) {
    super(message);
    this.field = field;
  }
}

/** What a certificate says of itself; without a certificate all is null. */
export type CertificateFacts = {
  subject: string | null;
  issuer: string | null;
  serial_number: string | null;
  fingerprint_sha256: string | null;
  not_before: string | null;
  expires_at: string | null;
  subject_alternative_names: string[];
  has_private_key: boolean;
  /** Certificates in all, the leaf included. */
  chain_length: number;
};

export type ReadCertificate = {
  /** The leaf and its chain, in order; '' for a key alone. */
  certificate_pem: string;
  /** PKCS #8 without a passphrase. */
  private_key_pem: string | null;
  facts: CertificateFacts;
  warnings: string[];
};

/** Reads and checks an upload. @throws CertificateProblem */
export function readCertificate(upload: CertificateUpload): ReadCertificate {
  const { format } = upload;
  const { certificates, key } = format === 'pfx' || format === 'p12' ? fromPfx(upload) : fromText(upload);
  const [leaf] = certificates;
  if (!leaf && (!key || format !== 'key'))
    throw new CertificateProblem('certificate_content', format === 'key' ? 'must have a private key' : 'must have a certificate');
  if (format === 'key' && leaf)
    throw new CertificateProblem('certificate_content', 'must not have a certificate when certificate_type is key');
  assertFew(certificates.length);
  const warnings: string[] = [];
  for (const certificate of certificates) assertStrong(certificate.publicKey, 'certificate_content');
  if (key) assertStrong(createPublicKey(key), 'private_key');
  if (leaf && key && !leaf.checkPrivateKey(key))
    throw new CertificateProblem('private_key', 'does not match: the key does not match the certificate');
  if (certificates.some(signedBySha1)) warnings.push('A certificate is signed with SHA-1, which many servers refuse.');
  return {
    certificate_pem: certificates.map((one) => `${one.toString().trimEnd()}\n`).join(''),
    private_key_pem: key && key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    facts: factsOf(certificates, key !== null),
    warnings,
  };
}

/** A chain has few; each costs up to a millisecond. */
export const MOST_CERTIFICATES = 100;
const assertFew = (count: number): void => {
  if (count > MOST_CERTIFICATES)
    throw new CertificateProblem('certificate_content', `must not have more than ${MOST_CERTIFICATES} certificates`);
};

type Found = { certificates: X509Certificate[]; key: KeyObject | null };

/** PEM, or base64 of anything but a PFX file. */
function fromText(upload: CertificateUpload): Found {
  const blocks = pemBlocks(upload.content);
  const certificates = certificatesOf(upload, blocks);
  const inside = blocks.filter(({ label }) => label.endsWith('PRIVATE KEY'));
  if (inside.length > 1) throw new CertificateProblem('certificate_content', 'must not have more than one private key');
  if (inside.length === 1 && upload.private_key !== undefined)
    throw new CertificateProblem('private_key', 'must be left out when certificate_content has a private key');
  const text = inside[0]?.text ?? upload.private_key;
  const key = text === undefined ? null : privateKey(text, upload.passphrase, inside[0] ? 'certificate_content' : 'private_key');
  return { certificates, key };
}

/** Leaf, chain and key of a PFX file; the leaf is the one that the key belongs to. */
function fromPfx({ content, private_key, passphrase }: CertificateUpload): Found {
  if (private_key !== undefined) throw new CertificateProblem('private_key', 'must be left out: a PFX file has its own');
  const contents = pfxContents(binary(content), passphrase);
  if (contents.private_keys.length > 1) throw new CertificateProblem('certificate_content', 'must not have more than one private key');
  const [der] = contents.private_keys;
  const key = der === undefined ? null : pfxKey(der);
  const found = contents.certificates.map(certificate);
  return { certificates: chained(found, key === null ? undefined : found.find((one) => one.checkPrivateKey(key))), key };
}

function pfxContents(der: Buffer, passphrase: string | undefined): PfxContents {
  try {
    return readPfx(der, passphrase ?? '');
  } catch (error) {
    if (!(error instanceof PfxProblem)) throw error;
    if (error.kind === 'costly')
      throw new CertificateProblem('certificate_content', 'asks for too many iterations or holds too many entries');
    if (error.kind === 'malformed')
      throw new CertificateProblem('certificate_content', 'must be base64 of a PFX file that is encrypted with AES or 3DES');
    throw new CertificateProblem('passphrase', passphrase === undefined ? 'is required: the file is encrypted' : 'does not open the file');
  }
}

function pfxKey(der: Buffer): KeyObject {
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch {
    throw new CertificateProblem('certificate_content', 'must have a private key of a known kind');
  } finally {
    der.fill(0);
  }
}

type PemBlock = { label: string; text: string };

/** The blocks of a PEM text, in order; what stands between them is left out (RFC 7468 §2). */
function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(BEGIN); at >= 0; at = text.indexOf(BEGIN, at)) {
    const close = text.indexOf('-----', at + BEGIN.length);
    const label = close < 0 ? '' : text.slice(at + BEGIN.length, close);
    const ending = `-----END ${label}-----`;
    const end = label === '' || label.length > 60 ? -1 : text.indexOf(ending, close);
    if (end < 0) throw new CertificateProblem('certificate_content', 'is not well-formed PEM: a block has no end');
    assertFew(blocks.push({ label, text: text.slice(at, end + ending.length) }) - 1); // one may be the key
    at = end + ending.length;
  }
  return blocks;
}
const BEGIN = '-----BEGIN ';

function certificatesOf({ content, format }: CertificateUpload, blocks: readonly PemBlock[]): X509Certificate[] {
  const bundled = format === 'pkcs7' || format === 'p7b' || format === 'p7c';
  if (blocks.length === 0) {
    if (format === 'key') throw new CertificateProblem('certificate_content', 'must be a private key in PEM');
    const der = binary(content);
    if (looksLikePfx(der)) throw new CertificateProblem('certificate_content', 'is a PFX file: send certificate_type pfx');
    return bundled ? fromPkcs7(der) : [certificate(der)];
  }
  return blocks.flatMap(({ label, text }) => {
    if (label === 'CERTIFICATE' || label === 'X509 CERTIFICATE' || label === 'TRUSTED CERTIFICATE')
      return [certificate(text.replaceAll(label, 'CERTIFICATE'))];
    if (label === 'PKCS7' || label === 'CMS') return fromPkcs7(binary(text.split('-----')[2] ?? ''));
    if (label.endsWith('PRIVATE KEY')) return [];
    throw new CertificateProblem('certificate_content', `must not have a block of the kind ${LABEL.test(label) ? label : 'it has'}`);
  });
}
const LABEL = /^[A-Z0-9 ]{1,40}$/;

function binary(text: string): Buffer {
  const compact = text.replace(/\s/g, '');
  const bytes = Buffer.from(compact, 'base64');
  if (bytes.length === 0 || bytes.toString('base64').replaceAll('=', '') !== compact.replaceAll('=', ''))
    throw new CertificateProblem('certificate_content', 'must be PEM, or base64 of a binary certificate');
  return bytes;
}

function certificate(source: string | Buffer): X509Certificate {
  try {
    return new X509Certificate(source);
  } catch {
    throw new CertificateProblem('certificate_content', 'must be an X.509 certificate');
  }
}

/** The certificates of a bundle, the leaf first: bundles are sets, so whichever issued none of the others is the leaf. */
function fromPkcs7(der: Buffer): X509Certificate[] {
  let found: X509Certificate[];
  try {
    found = [...new x509.X509Certificates(new Uint8Array(der))].map((one) => new X509Certificate(Buffer.from(one.rawData)));
  } catch {
    throw new CertificateProblem('certificate_content', 'must be a PKCS #7 bundle of certificates');
  }
  if (found.length === 0) throw new CertificateProblem('certificate_content', 'must have a certificate');
  assertFew(found.length);
  return chained(found);
}

/** The leaf first, then who issued whom, then the rest. */
function chained(
  found: readonly X509Certificate[],
  leaf = found.find((one) => !found.some((other) => other !== one && other.issuer === one.subject)) ?? found[0],
): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let next = leaf; next && !chain.includes(next); ) {
    const current: X509Certificate = next;
    chain.push(current);
    next = found.find((one) => one.subject === current.issuer);
  }
  return [...chain, ...found.filter((one) => !chain.includes(one))];
}

function privateKey(text: string, passphrase: string | undefined, field: 'certificate_content' | 'private_key'): KeyObject {
  assertFewRounds(text, field);
  try {
    return createPrivateKey({ key: text, format: 'pem', ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (error) {
    const encrypted = text.includes('ENCRYPTED');
    if (encrypted && passphrase === undefined) throw new CertificateProblem('passphrase', 'is required: the private key is encrypted');
    if (encrypted) throw new CertificateProblem('passphrase', 'does not decrypt the private key');
    throw new CertificateProblem(
      field,
      (error as { code?: string }).code === 'ERR_MISSING_PASSPHRASE' ? 'is encrypted' : 'must be a private key in PEM',
    );
  }
}

/** OpenSSL hashes a passphrase as often as the key says. */
function assertFewRounds(text: string, field: 'certificate_content' | 'private_key'): void {
  const start = text.indexOf(ENCRYPTED_KEY);
  if (start < 0) return;
  const rounds = roundsOfKey(
    Buffer.from(text.slice(start + ENCRYPTED_KEY.length, text.indexOf('-----', start + ENCRYPTED_KEY.length)), 'base64'),
  );
  if (rounds === undefined) throw new CertificateProblem(field, 'is encrypted in a way that is not supported: use PBES2 with PBKDF2');
  if (rounds > MOST_KEY_ROUNDS)
    throw new CertificateProblem(field, `must not hash its passphrase more than ${grouped(MOST_KEY_ROUNDS)} times`);
}
const ENCRYPTED_KEY = '-----BEGIN ENCRYPTED PRIVATE KEY-----';

const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

function assertStrong(key: KeyObject, field: CertificateProblem['field']): void {
  if (isOnUnnamedCurve(key)) throw new CertificateProblem(field, UNNAMED_CURVE);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const fits =
    type === 'ed25519' ||
    ((type === 'rsa' || type === 'rsa-pss') && (details?.modulusLength ?? 0) >= 2_048) ||
    (type === 'ec' && CURVES.has(details?.namedCurve ?? ''));
  if (!fits)
    throw new CertificateProblem(
      field,
      'must have an RSA key of at least 2048 bits, an EC key on P-256, P-384 or P-521, or an Ed25519 key',
    );
}

function signedBySha1(one: X509Certificate): boolean {
  const algorithm = new x509.X509Certificate(one.raw).signatureAlgorithm as { hash?: { name?: string } };
  return algorithm.hash?.name === 'SHA-1';
}

function factsOf([leaf, ...chain]: readonly X509Certificate[], has_private_key: boolean): CertificateFacts {
  if (!leaf)
    return {
      ...{ subject: null, issuer: null, serial_number: null, fingerprint_sha256: null, not_before: null, expires_at: null },
      ...{ subject_alternative_names: [], has_private_key, chain_length: 0 },
    };
  const { subject, issuer } = new x509.X509Certificate(leaf.raw);
  return {
    subject: subject.slice(0, 1_000),
    issuer: issuer.slice(0, 1_000),
    serial_number: leaf.serialNumber.toLowerCase(),
    fingerprint_sha256: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
    not_before: new Date(leaf.validFrom).toISOString(),
    expires_at: new Date(leaf.validTo).toISOString(),
    subject_alternative_names: (leaf.subjectAltName ?? '')
      .split(', ')
      .filter((name) => name !== '')
      .slice(0, 100),
    has_private_key,
    chain_length: chain.length + 1,
  };
}
