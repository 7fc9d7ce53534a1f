import { createHash, timingSafeEqual } from 'node:crypto';
import { type CertificateTerm, type Issuer, signed, signedCertificate } from './authority.ts';
import { REASONS, type Reason } from './crl.ts';
import {
  context,
  DerProblem,
  type Element,
  element,
  enumerated,
  expect,
  generalizedTime,
  inside,
  integerHex,
  nothing,
  octets,
  oid,
  oidText,
  only,
  primitive,
  sequence,
  TAG,
} from './der.ts';
import {
  authorityKeyId,
  basicConstraints,
  EXTENSION,
  extendedKeyUsage,
  extension,
  keyIdOf,
  keyUsage,
  publicKeyBits,
  subjectKeyId,
} from './extensions.ts';
import { type Subject, subjectName } from './subject.ts';

// OCSP (RFC 6960): questions are read strictly, answers are of the basic kind and signed by a responder that the issuer of the certificate delegates to.

/** One question. `certId` goes back into the answer byte for byte. */
export type CertificateId = {
  certId: Buffer;
  hash: 'sha1' | 'sha256' | 'sha384' | 'sha512' | null;
  issuerName: Buffer;
  issuerKey: Buffer;
  serial: string;
};

/** `serial` is hexadecimal in whole bytes, lower-case. */
export type OcspRequest = { ids: CertificateId[]; nonce: Buffer | null };

/** The largest request that is read. One question takes about 110 bytes. */
export const LONGEST_OCSP_REQUEST = 8_192;
/** Questions in one request. */
export const MOST_QUESTIONS = 20;

/** @returns null for what is no request, or asks for more than is answered at once. Signatures of requests are not looked at (RFC 6960 §4.1.1: optional). */
export function parseOcspRequest(der: Buffer): OcspRequest | null {
  if (der.length > LONGEST_OCSP_REQUEST) return null;
  try {
    return read(der);
  } catch (error) {
    if (error instanceof DerProblem) return null;
    throw error;
  }
}

function read(der: Buffer): OcspRequest | null {
  const [tbs] = inside(only(der), TAG.sequence);
  const parts = inside(tbs, TAG.sequence);
  if (parts[0]?.tag === 0xa0) {
    if (integerHex(only(parts[0].content)) !== '00') return null;
    parts.shift();
  }
  if (parts[0]?.tag === 0xa1) parts.shift(); // requestorName
  const [list, extensions, ...more] = parts;
  const questions = inside(list, TAG.sequence);
  if (questions.length === 0 || questions.length > MOST_QUESTIONS || more.length > 0) return null;
  return { ids: questions.map((one) => certificateId(inside(one, TAG.sequence)[0])), nonce: extensions ? nonceOf(extensions) : null };
}

function certificateId(one: Element | undefined): CertificateId {
  const [algorithm, name, key, serial, ...more] = inside(one, TAG.sequence);
  if (!one || more.length > 0) throw new DerProblem('has an id of more parts than four');
  return {
    certId: Buffer.from(one.der),
    hash: HASHES[oidText(inside(algorithm, TAG.sequence)[0])] ?? null,
    issuerName: expect(name, TAG.octets).content,
    issuerKey: expect(key, TAG.octets).content,
    serial: integerHex(serial),
  };
}

const HASHES: Readonly<Record<string, CertificateId['hash']>> = {
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

const NONCE = '1.3.6.1.5.5.7.48.1.2';

/** 1 to 128 bytes (RFC 9654 §2.1); anything else makes the request a malformed one. */
function nonceOf(extensions: Element): Buffer | null {
  for (const one of inside(only(expect(extensions, 0xa2).content), TAG.sequence)) {
    const parts = inside(one, TAG.sequence);
    const [type] = parts;
    if (oidText(type) !== NONCE) {
      if (parts.length > 2 && parts[1]?.tag === TAG.boolean && parts[1].content[0] !== 0)
        throw new DerProblem('has a critical extension that is not known');
      continue;
    }
    const { content } = only(expect(parts.at(-1), TAG.octets).content, TAG.octets);
    if (content.length < 1 || content.length > 128) throw new DerProblem('has a nonce that is too short or too long');
    return Buffer.from(content);
  }
  return null;
}

/** Whether a question is about a certificate of this issuer. `subject` is its name and `publicKey` its key, both DER. */
export function asksAbout(
  { hash, issuerName, issuerKey }: CertificateId,
  { subject, publicKey }: Pick<Issuer, 'subject' | 'publicKey'>,
): boolean {
  if (!hash) return false;
  const digest = (data: Buffer) => createHash(hash).update(data).digest();
  return same(issuerName, digest(subject)) && same(issuerKey, digest(publicKeyBits(publicKey)));
}

const same = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);

export type ResponderRequest = CertificateTerm & {
  issuer: Issuer;
  publicKey: Buffer;
  subject: Subject;
};

/** A certificate that may sign answers for its issuer and do nothing else, and that nobody need check for revocation (RFC 6960 §4.2.2.2). */
export function responderCertificate({ issuer, publicKey, subject, ...term }: ResponderRequest): Buffer {
  return signedCertificate({ ...term, issuer: issuer.subject, subject: subjectName(subject), publicKey, signer: issuer.key }, [
    basicConstraints(false),
    keyUsage('signature'),
    extendedKeyUsage(['1.3.6.1.5.5.7.3.9']),
    subjectKeyId(publicKey),
    authorityKeyId(issuer.keyId),
    extension(EXTENSION.nocheck, nothing()),
  ]);
}

export type CertificateStatus = { status: 'good' } | { status: 'unknown' } | { status: 'revoked'; revokedAt: Date; reason: Reason };

export type OcspAnswer = {
  /** The delegated responder: its certificate and key, as `openIssuer` opens them. */
  responder: Issuer;
  producedAt: Date;
  thisUpdate: Date;
  nextUpdate: Date;
  answers: readonly ({ certId: Buffer } & CertificateStatus)[];
  nonce: Buffer | null;
};

/** A successful answer in DER, with the responder's certificate inside. */
export function ocspResponse({ responder, producedAt, thisUpdate, nextUpdate, answers, nonce }: OcspAnswer): Buffer {
  const data = sequence(
    context(2, octets(keyIdOf(responder.publicKey))),
    generalizedTime(producedAt),
    sequence(
      ...answers.map((one) => sequence(one.certId, statusOf(one), generalizedTime(thisUpdate), context(0, generalizedTime(nextUpdate)))),
    ),
    ...(nonce ? [context(1, sequence(extension(NONCE, octets(nonce))))] : []),
  );
  const basic = signed(data, responder.key, context(0, sequence(responder.certificate)));
  return sequence(enumerated(0), context(0, sequence(oid('1.3.6.1.5.5.7.48.1.1'), octets(basic))));
}

function statusOf(one: CertificateStatus): Buffer {
  if (one.status === 'good') return primitive(0);
  if (one.status === 'unknown') return primitive(2);
  // RevokedInfo is IMPLICIT, so its tag takes the place of SEQUENCE.
  const reason = one.reason === 'unspecified' ? [] : [context(0, enumerated(REASONS[one.reason]))];
  return element(0xa1, generalizedTime(one.revokedAt), ...reason);
}

const FAILURES = { malformedRequest: 1, internalError: 2, tryLater: 3, unauthorized: 6 } as const;

/** An unsigned answer that says only what went wrong (RFC 6960 §2.3). */
export const ocspFailure = (failure: keyof typeof FAILURES): Buffer => sequence(enumerated(FAILURES[failure]));
