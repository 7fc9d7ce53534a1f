import { createPublicKey, generateKeyPairSync, hash, type KeyObject, X509Certificate } from 'node:crypto';
import { isOnUnnamedCurve } from './named-curve.ts';
import { randomBuffer } from './random.ts';

/** What is kept of a client certificate; `thumbprint` is SHA-256 over the DER, 64 lower-case hex digits. */
export type ClientCertificate = { thumbprint: string; subject: string; serial: string; not_before: Date; not_after: Date };

/** A thumbprint as people paste it (colons, spaces and case ignored), or undefined when it is not 64 hex digits. */
export function parseThumbprint(text: string): string | undefined {
  const hex = text.replace(/[:\s]/g, '').toLowerCase();
  return /^[0-9a-f]{64}$/.test(hex) ? hex : undefined;
}

const ONE_CERTIFICATE = /^\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$/;

/**
 * Reads one PEM certificate, or undefined: several blocks, a private key beside it, or anything X.509 does not parse is
 * refused rather than half understood. Validity dates are the caller's to judge.
 */
export function readClientCertificate(pem: string): ClientCertificate | 'unnamed_curve' | undefined {
  const read = ONE_CERTIFICATE.test(pem) ? readCertificate(pem) : undefined;
  try {
    return read && isOnUnnamedCurve(new X509Certificate(pem).publicKey) ? 'unnamed_curve' : read;
  } catch {
    return read; // of a key that OpenSSL doesn't know
  }
}

/** The DER of exactly one PEM certificate, or undefined. It isn't parsed: most certificates that callers present are nobody's. */
export const certificateDer = (pem: string): Buffer | undefined =>
  ONE_CERTIFICATE.test(pem) ? Buffer.from(pem.split('-----')[2] ?? '', 'base64') : undefined;

/** Reads a certificate in DER or PEM, or undefined when X.509 doesn't parse it. */
export function readCertificate(encoded: string | Buffer): ClientCertificate | undefined {
  try {
    const certificate = new X509Certificate(encoded);
    return {
      thumbprint: thumbprintOf(certificate.raw),
      // Node writes one attribute a line.
      subject: certificate.subject.replaceAll('\n', ', '),
      serial: certificate.serialNumber.toLowerCase(),
      not_before: new Date(certificate.validFrom),
      not_after: new Date(certificate.validTo),
    };
  } catch {
    return undefined;
  }
}

/** The thumbprint of a certificate in DER, as the TLS layer hands it over. */
export function thumbprintOf(der: Uint8Array): string {
  return hash('sha256', der, 'hex');
}

/** A request-signing secret: `secret` (base64url of 32 random bytes) is shown once, `material` are those bytes, to be sealed. */
export function generateHmacSecret(): { secret: string; material: Buffer } {
  const material = randomBuffer(32);
  return { secret: material.toString('base64url'), material };
}

/** Imported secret material: the UTF-8 bytes of the text, or undefined below 32 bytes. */
export function importHmacSecret(secret: string): Buffer | undefined {
  const material = Buffer.from(secret, 'utf8');
  return material.length >= 32 ? material : undefined;
}

/** An Ed25519 pair: the private key (PKCS #8 PEM) is shown once, the public key (32 bytes, base64url) is stored. */
export function generateEd25519(): { public_key: string; private_key_pem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { public_key: rawPublicKey(publicKey), private_key_pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/**
 * An Ed25519 public key given as SPKI PEM or as 32 bytes of base64url, in its one stored form (base64url), or undefined.
 * Refuses private keys, other curves, and points of small order, for which one signature verifies any message.
 */
export function parseEd25519(text: string): string | undefined {
  const trimmed = text.trim();
  const raw = trimmed.startsWith('-----') ? rawFromPem(trimmed) : rawFromText(trimmed);
  if (!raw) return undefined;
  const point = Buffer.from(raw);
  point.writeUInt8(point.readUInt8(31) & 0x7f, 31);
  return smallOrder.has(point.toString('hex')) ? undefined : raw.toString('base64url');
}

/** The y coordinates of order 1, 2, 4 and 8, canonical or not, without the sign bit (RFC 8032 §5.1.7, RFC 7748 §6.1). */
const smallOrder = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

function rawFromText(text: string): Buffer | undefined {
  const raw = Buffer.from(text, 'base64url');
  // One key, one spelling: stray characters and low bits would decode to the same 32 bytes.
  return raw.length === 32 && raw.toString('base64url') === text ? raw : undefined;
}

function rawFromPem(pem: string): Buffer | undefined {
  if (!/^-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----$/.test(pem)) return undefined;
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? Buffer.from(rawPublicKey(key), 'base64url') : undefined;
  } catch {
    return undefined;
  }
}

function rawPublicKey(key: KeyObject): string {
  const { x } = key.export({ format: 'jwk' });
  if (!x) throw new TypeError('an Ed25519 key has an x coordinate');
  return x;
}
