import { hash, timingSafeEqual } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { Certificate, type Extension } from '@peculiar/asn1-x509';

// What a client shows to prove that it controls a name (RFC 8555 §8.1, §8.3, §8.4; RFC 8737 §3). Values in, verdicts out.

/** What only the holder of the account key can make of the challenge's token. */
export const keyAuthorization = (token: string, thumbprint: string): string => `${token}.${thumbprint}`;

/** The text of a TXT record for dns-01. */
export const dnsDigest = (authorization: string): string => hash('sha256', authorization, 'base64url');

/** Whether a body is the key authorization; whitespace may follow it (RFC 8555 §8.3). */
export function isHttpProof(body: Uint8Array, authorization: string): boolean {
  const given = Buffer.from(new TextDecoder('latin1').decode(body).trimEnd(), 'latin1');
  const expected = Buffer.from(authorization);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Why a certificate is no proof for tls-alpn-01, or null when it is one (RFC 8737 §3). */
export function alpnFault(der: Uint8Array, domain: string, authorization: string): string | null {
  const extensions = extensionsOf(der);
  if (!extensions) return 'the certificate could not be parsed';
  const names = extensions.find(({ extnID }) => extnID === SUBJECT_ALT_NAME);
  if (!names || !isOnlyName(names.extnValue.buffer, domain)) return `the certificate must be for ${domain} and no other name`;
  const proof = extensions.find(({ extnID }) => extnID === ACME_IDENTIFIER);
  if (!proof?.critical) return 'the certificate must have the critical extension acmeIdentifier';
  const expected = hash('sha256', authorization, 'buffer');
  return digestIn(proof.extnValue.buffer)?.equals(expected)
    ? null
    : 'the acmeIdentifier of the certificate is not the one of this challenge';
}

const SUBJECT_ALT_NAME = '2.5.29.17';
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';

function extensionsOf(der: Uint8Array): readonly Extension[] | undefined {
  try {
    return AsnConvert.parse(der, Certificate).tbsCertificate.extensions ?? [];
  } catch {
    return undefined;
  }
}

/** Exactly one dNSName, in any case: SEQUENCE { [2] IA5String } in its one DER form. */
function isOnlyName(value: ArrayBuffer, domain: string): boolean {
  const name = Buffer.from(domain, 'latin1');
  const expected = derOf(0x30, derOf(0x82, name));
  return Buffer.from(value).toString('latin1').toLowerCase() === expected.toString('latin1').toLowerCase();
}

/** Lengths of up to 65535; a name has at most 253 characters. */
function derOf(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function digestIn(value: ArrayBuffer): Buffer | undefined {
  try {
    const bytes = Buffer.from(AsnConvert.parse(value, OctetString).buffer);
    return bytes.length === 32 ? bytes : undefined;
  } catch {
    return undefined;
  }
}
