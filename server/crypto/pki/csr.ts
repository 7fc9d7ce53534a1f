import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { formatRange } from '#server/kernel/address.ts';
import { hasUnnamedCurve, UNNAMED_CURVE } from '../named-curve.ts';
import { bitsOf, DerProblem, type Element, expect, inside, integerHex, oidText, only, TAG } from './der.ts';
import { EXTENSION } from './extensions.ts';
import { derOf } from './pem.ts';
import { type Subject, subjectOf } from './subject.ts';

export type RequestedKey = 'ecdsa-p256' | 'ecdsa-p384' | 'ed25519' | 'rsa';

/** A PKCS #10 request whose sender has shown to hold its key. Of its content only the key and the names count (interface rule 43 §11.1). */
export type CertificateRequest = {
  /** SPKI DER. */
  publicKey: Buffer;
  algorithm: RequestedKey;
  subject: Subject;
  /** As they stand in the request: nothing has judged them. */
  sanDns: string[];
  sanIp: string[];
};

export type RequestRefusal = {
  refused: 'malformed' | 'unnamed_curve' | 'weak_key' | 'unsupported_signature' | 'wrong_signature' | 'unsupported_name';
  message: string;
};

/** The largest request that is read, in characters of PEM: RSA of 4096 bits with a hundred long names fits. */
export const LONGEST_REQUEST = 65_536;

/** Reads a request and checks its proof of possession (RFC 2986). Never throws for what the caller sent. */
export function parseRequest(pem: string): CertificateRequest | RequestRefusal {
  const der = pem.length > LONGEST_REQUEST ? null : (derOf('CERTIFICATE REQUEST', pem) ?? derOf('NEW CERTIFICATE REQUEST', pem));
  return der ? parseRequestDer(der) : refusal('malformed', 'must be one certificate request in PEM');
}

/** The same for DER, which ACME sends. */
export function parseRequestDer(der: Buffer): CertificateRequest | RequestRefusal {
  try {
    return read(der);
  } catch (error) {
    if (error instanceof DerProblem) return refusal('malformed', `must be a certificate request: it ${error.message}`);
    throw error;
  }
}

function read(der: Buffer): CertificateRequest | RequestRefusal {
  const [info, signedBy, signature, ...more] = inside(only(der), TAG.sequence);
  const [version, subject, publicKey, attributes, ...others] = inside(info, TAG.sequence);
  if (!info || !publicKey || more.length > 0 || others.length > 0 || integerHex(version) !== '00')
    throw new DerProblem('is not of version 1');
  if (hasUnnamedCurve(publicKey.der)) return refusal('unnamed_curve', UNNAMED_CURVE);
  const key = keyOf(publicKey);
  if (key?.asymmetricKeyType === 'rsa-pss')
    return refusal('weak_key', 'must have its RSA key under rsaEncryption: a key for RSA-PSS alone is not certified');
  const algorithm = key && algorithmOf(key);
  if (!key || !algorithm)
    return refusal('weak_key', 'must have a key on P-256 or P-384, an Ed25519 key, or an RSA key of 2048 to 8192 bits');
  const method = methodOf(expect(signedBy, TAG.sequence));
  if (!method || !KEYS[method.kind].includes(algorithm))
    return refusal(
      'unsupported_signature',
      'must be signed with SHA-256, SHA-384 or SHA-512, or with Ed25519; RSA-PSS with one of them for the signature and its mask',
    );
  if (!proves(method, info.der, key, bitsOf(signature)))
    return refusal('wrong_signature', 'must be signed by the key that it asks a certificate for');
  const names = attributes ? namesOf(attributes) : { sanDns: [], sanIp: [] };
  if ('refused' in names) return names;
  return { publicKey: Buffer.from(publicKey.der), algorithm, subject: subjectOf(expect(subject, TAG.sequence).der), ...names };
}

/** How a request is signed; with a length of salt by RSA-PSS. */
type Method = { kind: 'ecdsa' | 'rsa' | 'ed25519'; hash: string | null; saltLength?: number };

/** The method that an AlgorithmIdentifier names, when it is one that counts. @throws DerProblem */
function methodOf(algorithm: Element): Method | undefined {
  const [id, parameters] = inside(algorithm, TAG.sequence);
  const name = oidText(id);
  return name === RSA_PSS ? pssOf(parameters) : SIGNATURES[name];
}

const [RSA_PSS, MASK] = ['1.2.840.113549.1.1.10', '1.2.840.113549.1.1.8'];
const HASHES: Readonly<Record<string, string>> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

/** RSASSA-PSS-params (RFC 4055 §3.1). What is left out is SHA-1, which isn't taken; the mask must have the hash of the signature, as is advised there. */
function pssOf(parameters: Element | undefined): Method | undefined {
  const parts = inside(parameters, TAG.sequence);
  const given = new Map(parts.map((one) => [one.tag, only(one.content)]));
  const [hash, mask, salt, trailer] = [0xa0, 0xa1, 0xa2, 0xa3].map((tag) => given.get(tag));
  if (given.size !== parts.length || !hash || !mask || (trailer && integerHex(trailer) !== '01')) return undefined;
  const [maskId, maskHash] = inside(mask, TAG.sequence);
  const name = hashOf(hash);
  const saltLength = salt ? Number.parseInt(integerHex(salt), 16) : 20;
  if (name === undefined || oidText(maskId) !== MASK || hashOf(maskHash) !== name || saltLength > 1_024) return undefined;
  return { kind: 'rsa', hash: name, saltLength };
}

const hashOf = (algorithm: Element | undefined): string | undefined => HASHES[oidText(inside(algorithm, TAG.sequence)[0])];

const SIGNATURES: Readonly<Record<string, Method>> = {
  '1.2.840.10045.4.3.2': { kind: 'ecdsa', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { kind: 'ecdsa', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { kind: 'ecdsa', hash: 'sha512' },
  '1.2.840.113549.1.1.11': { kind: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { kind: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { kind: 'rsa', hash: 'sha512' },
  '1.3.101.112': { kind: 'ed25519', hash: null },
};

const KEYS: Readonly<Record<'ecdsa' | 'rsa' | 'ed25519', readonly RequestedKey[]>> = {
  ecdsa: ['ecdsa-p256', 'ecdsa-p384'],
  rsa: ['rsa'],
  ed25519: ['ed25519'],
};

function keyOf({ der }: Element): KeyObject | null {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return null;
  }
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): RequestedKey | null {
  if (type === 'ed25519') return 'ed25519';
  if (type === 'ec') return CURVES[details?.namedCurve ?? ''] ?? null;
  const bits = details?.modulusLength ?? 0;
  const exponent = details?.publicExponent ?? 0n;
  // The limits above keep checking a signature cheap: a long exponent, or a modulus of megabits, takes seconds.
  return type === 'rsa' && bits >= 2_048 && bits <= 8_192 && exponent >= 3n && exponent < 1n << 33n && exponent % 2n === 1n ? 'rsa' : null;
}
const CURVES: Readonly<Record<string, RequestedKey>> = { prime256v1: 'ecdsa-p256', secp384r1: 'ecdsa-p384' };

function proves({ hash, saltLength }: Method, signed: Buffer, key: KeyObject, signature: Buffer): boolean {
  const pss = saltLength === undefined ? {} : { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
  try {
    return verify(hash, signed, { key, ...pss }, signature);
  } catch {
    return false;
  }
}

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

/** The names that the extension request asks for (RFC 2985 §5.4.2). Other attributes and extensions are the role's to decide, and are left out. */
function namesOf(attributes: Element): { sanDns: string[]; sanIp: string[] } | RequestRefusal {
  const found = { sanDns: [] as string[], sanIp: [] as string[] };
  for (const attribute of inside(attributes, 0xa0)) {
    const [type, values] = inside(attribute, TAG.sequence);
    if (oidText(type) !== EXTENSION_REQUEST) continue;
    for (const extension of inside(inside(values, TAG.set)[0], TAG.sequence)) {
      const [id, ...rest] = inside(extension, TAG.sequence);
      if (oidText(id) !== EXTENSION.subjectAltName) continue;
      for (const { tag, content } of inside(only(expect(rest.at(-1), TAG.octets).content), TAG.sequence)) {
        if (tag === 0x82) found.sanDns.push(content.toString('latin1'));
        else if (tag === 0x87 && (content.length === 4 || content.length === 16)) found.sanIp.push(addressText(content));
        else return refusal('unsupported_name', 'must ask for DNS names and IP addresses only');
      }
    }
  }
  return found;
}

function addressText(bytes: Buffer): string {
  const family = bytes.length === 4 ? 4 : 6;
  return formatRange({ family, first: BigInt(`0x${bytes.toString('hex')}`), bits: bytes.length * 8 });
}

const refusal = (refused: RequestRefusal['refused'], message: string): RequestRefusal => ({ refused, message });
