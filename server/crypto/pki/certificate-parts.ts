import { DerProblem, type Element, elements, expect, inside, only, TAG } from './der.ts';

/** The parts of a certificate that are read again: of ours when it signs, of any when it is looked at. */
export type CertificateParts = { serial: Element; issuer: Element; validity: Element; subject: Element; publicKey: Element; tbs: Element };

/** @throws DerProblem */
export function certificateParts(der: Buffer): CertificateParts {
  const [tbs] = inside(only(der), TAG.sequence);
  const [version, serial, , issuer, validity, subject, publicKey] = inside(tbs, TAG.sequence);
  expect(version, 0xa0);
  return {
    tbs: expect(tbs, TAG.sequence),
    serial: expect(serial, TAG.integer),
    issuer: expect(issuer, TAG.sequence),
    validity: expect(validity, TAG.sequence),
    subject: expect(subject, TAG.sequence),
    publicKey: expect(publicKey, TAG.sequence),
  };
}

/** Both ends of a validity. @throws DerProblem */
export function validityOf(validity: Element): { notBefore: Date; notAfter: Date } {
  const [from, to] = elements(validity.content);
  return { notBefore: timeOf(from), notAfter: timeOf(to) };
}

/** A time of a certificate, a CRL or an answer of OCSP. @throws DerProblem */
export function timeOf(one: Element | undefined): Date {
  const digits = one?.content.toString('latin1') ?? '';
  const full = one?.tag === TAG.generalizedTime ? digits : `${Number(digits.slice(0, 2)) < 50 ? '20' : '19'}${digits}`;
  const [, year, month, day, hour, minute, second] = TIME.exec(full) ?? [];
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(date.getTime())) throw new DerProblem('has a time that is none');
  return date;
}
const TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
