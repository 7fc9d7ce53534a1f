import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import {
  type Issuer,
  intermediateCertificate,
  type KeyPair,
  type LeafRequest,
  leafCertificate,
  newKeyPair,
  newSerial,
  openIssuer,
  rootCertificate,
} from './authority.ts';
import { pemOf } from './pem.ts';
import type { Subject } from './subject.ts';

const DAY = 86_400_000;

/** A time some days from now, in whole seconds as certificates have it. */
export const days = (n: number): Date => new Date(Math.floor(Date.now() / 1_000) * 1_000 + n * DAY);
const term = (until: number) => ({ serial: newSerial(), notBefore: new Date(days(0).getTime() - 60_000), notAfter: days(until) });

export const URLS = { crl: 'http://pki.example.com/1.crl', issuer: 'http://pki.example.com/1.crt', ocsp: 'http://pki.example.com/ocsp' };
export const ACME: Subject = {
  common_name: 'Acme Röot, "1" CA',
  organization: 'Acme = #1',
  country: 'US',
  locality: 'Åre',
  province: 'Jämtland',
};

export type Chain = { root: Issuer; intermediate: Issuer };

/** A root and an intermediate, whose certificates name URLs. */
export function newChain(subject: Subject = ACME): Chain {
  const key = newKeyPair();
  const root = openIssuer(rootCertificate({ key, subject, ...term(3_650) }), key.privateKey);
  return { root, intermediate: newIntermediate(root, subject) };
}

export function newIntermediate(root: Issuer, subject: Subject = ACME): Issuer {
  const key = newKeyPair();
  const name = { ...subject, common_name: `${subject.common_name} Intermediate 1` };
  return openIssuer(
    intermediateCertificate({ issuer: root, publicKey: key.publicKey, subject: name, urls: URLS, ...term(30) }),
    key.privateKey,
  );
}

export type Leaf = { der: Buffer; serial: string; key: KeyPair };

export function newLeaf(issuer: Issuer, more: Partial<LeafRequest> = {}): Leaf {
  const key = newKeyPair();
  const request = {
    issuer,
    publicKey: key.publicKey,
    subject: { common_name: 'api.example.com' },
    sanDns: ['api.example.com'],
    urls: URLS,
    ...term(7),
    ...more,
  };
  return { der: leafCertificate(request), serial: request.serial, key };
}

/** A folder that is gone after the tests, and a way to put PEM there. */
export function folder(): {
  at: string;
  write: (name: string, content: string | Uint8Array) => string;
  pem: (name: string, ...ders: readonly Uint8Array[]) => string;
} {
  const at = fs.mkdtempSync(path.join(os.tmpdir(), 'pki-'));
  after(() => fs.rmSync(at, { recursive: true, force: true }));
  const write = (name: string, content: string | Uint8Array) => {
    const file = path.join(at, name);
    fs.writeFileSync(file, content);
    return file;
  };
  return { at, write, pem: (name, ...ders) => write(name, ders.map((der) => pemOf('CERTIFICATE', der)).join('')) };
}
