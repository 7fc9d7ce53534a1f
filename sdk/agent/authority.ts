import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { bits, type Der, element, explicit, integer, objectId, octets, pem, sequence, setOf, text, time, yes } from './der.ts';

const DAY = 86_400_000;
const CN = '2.5.4.3';
const ECDSA_SHA256 = () => sequence(objectId('1.2.840.10045.4.3.2'));

export type Authority = {
  /** PEM of the certificate that programs on this host trust. */
  certificate: string;
  privateKey: string;
};

/** A certificate authority for this host alone: P-256, five years, unable to have authorities below it. */
export function createAuthority(host: string, now = new Date()): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = nameOf(`Sallyport agent on ${host}`.slice(0, 64));
  const certificate = certificateOf({
    issuer: name,
    subject: name,
    publicKey,
    signer: privateKey,
    from: new Date(now.getTime() - DAY),
    to: new Date(now.getTime() + 5 * 365 * DAY),
    extensions: [
      extension('2.5.29.19', sequence(yes(), integer(Buffer.of(0))), true),
      extension('2.5.29.15', bits(Buffer.of(0b0000_0110), 1), true),
      extension('2.5.29.14', octets(keyId(publicKey))),
    ],
  });
  return { certificate, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Makes and remembers the certificates that the forward proxy shows for hosts of routes. Each is good for two days and renewed after one. */
export function createLeaves(authority: Authority): (host: string) => SecureContext {
  const signer = createPrivateKey(authority.privateKey);
  const issuer = new X509Certificate(authority.certificate);
  const issuerName = subjectOf(issuer);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const made = new Map<string, { context: SecureContext; until: number }>();
  return (host) => {
    const known = made.get(host);
    if (known && known.until > Date.now()) return known.context;
    const cert = certificateOf({
      issuer: issuerName,
      subject: nameOf(host.slice(0, 64)),
      publicKey,
      signer,
      from: new Date(Date.now() - DAY),
      to: new Date(Date.now() + 2 * DAY),
      extensions: [
        extension('2.5.29.17', sequence(alternativeName(host)), true),
        extension('2.5.29.15', bits(Buffer.of(0b1000_0000), 7), true),
        extension('2.5.29.37', sequence(objectId('1.3.6.1.5.5.7.3.1'))),
        extension('2.5.29.35', sequence(element(0x80, keyId(createPublicKey(authority.certificate))))),
      ],
    });
    const context = createSecureContext({ key, cert: `${cert}${authority.certificate}`, minVersion: 'TLSv1.2' });
    made.set(host, { context, until: Date.now() + DAY });
    return context;
  };
}

type Parts = { issuer: Der; subject: Der; publicKey: KeyObject; signer: KeyObject; from: Date; to: Date; extensions: Der[] };

/** RFC 5280 §4.1, version 3, signed with ECDSA and SHA-256. */
function certificateOf({ issuer, subject, publicKey, signer, from, to, extensions }: Parts): string {
  const body = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(serial()),
    ECDSA_SHA256(),
    issuer,
    sequence(time(from), time(to)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  );
  return pem('CERTIFICATE', sequence(body, ECDSA_SHA256(), bits(sign('sha256', body, signer))));
}

/** Positive, 127 random bits. */
function serial(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

const nameOf = (common: string) => sequence(setOf(sequence(objectId(CN), text(common))));
const extension = (id: string, value: Uint8Array, critical = false) => sequence(objectId(id), ...(critical ? [yes()] : []), octets(value));
const keyId = (key: KeyObject) =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }).subarray(-65))
    .digest();

/** The authority has one name of one attribute, so its text is all there is to it. */
function subjectOf(certificate: X509Certificate): Der {
  return nameOf(certificate.subject.replace(/^CN=/, ''));
}

function alternativeName(host: string): Der {
  if (isIP(host) === 4) return element(0x87, Buffer.from(host.split('.').map(Number)));
  if (isIP(host) === 6) throw new TypeError('Addresses of IPv6 are not intercepted.');
  return element(0x82, Buffer.from(host));
}
