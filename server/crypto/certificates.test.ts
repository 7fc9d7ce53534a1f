import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import * as x509 from '@peculiar/x509';
import { type CertificateUpload, readCertificate } from './certificates.ts';
import { createClientCa, issueClientCertificate, openedClientCa } from './client-certificate.ts';

const now = new Date();
const ca = await createClientCa('1de1a7f0-0000-7000-8000-000000000001', now);
const issue = () =>
  issueClientCertificate(openedClientCa(ca.certificate_pem, Buffer.from(ca.private_key_pem)), {
    ...{ client_id: '1de1a7f0-0000-7000-8000-000000000002', name: 'partner, client', ttl_days: 90, now },
  });
const one = await issue();
const other = await issue();
const read = (upload: Partial<CertificateUpload>) => readCertificate({ content: one.certificate_pem, format: 'pem', ...upload });
const refused = (upload: Partial<CertificateUpload>, field: string, message: RegExp) =>
  assert.throws(
    () => read(upload),
    (error: { field?: string; message: string }) => error.field === field && message.test(error.message),
  );

test('a bundle gives its leaf, its chain and its key, in whatever order they stand', () => {
  const text = `notes\n${one.private_key_pem}${one.certificate_pem}\n\n${ca.certificate_pem}`;
  const { certificate_pem, private_key_pem, facts } = read({ content: text });
  assert.equal(certificate_pem, one.certificate_pem + ca.certificate_pem);
  assert.equal(private_key_pem, one.private_key_pem);
  assert.deepEqual([facts.chain_length, facts.has_private_key, facts.subject], [2, true, 'CN=partner\\, client']);
  assert.match(facts.fingerprint_sha256 ?? '', /^[0-9a-f]{64}$/);
  assert.equal(facts.expires_at, new Date(Math.floor(one.not_after.getTime() / 1000) * 1000).toISOString());
});

test('binary certificates and PKCS #7 bundles are read, the leaf first', () => {
  const leaf = new x509.X509Certificate(one.certificate_pem);
  assert.equal(read({ content: Buffer.from(leaf.rawData).toString('base64'), format: 'cer' }).certificate_pem, one.certificate_pem);
  const bundle = new x509.X509Certificates([new x509.X509Certificate(ca.certificate_pem), leaf]).export('base64');
  for (const format of ['pkcs7', 'p7b', 'p7c'] as const)
    assert.equal(read({ content: bundle, format }).certificate_pem, one.certificate_pem + ca.certificate_pem);
  const pem = `-----BEGIN PKCS7-----\n${bundle}\n-----END PKCS7-----\n`;
  assert.equal(read({ content: pem }).facts.chain_length, 2);
});

test('a key must belong to the certificate, and an encrypted one needs its passphrase', () => {
  refused({ private_key: other.private_key_pem }, 'private_key', /does not match the certificate/);
  const encrypted = createPrivateKey(one.private_key_pem)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'a passphrase' })
    .toString();
  refused({ private_key: encrypted }, 'passphrase', /is required/);
  refused({ private_key: encrypted, passphrase: 'wrong' }, 'passphrase', /does not decrypt/);
  assert.equal(read({ private_key: encrypted, passphrase: 'a passphrase' }).private_key_pem, one.private_key_pem);
  assert.deepEqual(read({ content: one.private_key_pem, format: 'key' }).facts.has_private_key, true);
});

test('weak keys and what is no certificate are refused, and nothing of the upload is repeated', () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  refused({ content: weak, format: 'key' }, 'private_key', /at least 2048 bits/);
  for (const content of [
    'cAnArY',
    '-----BEGIN CERTIFICATE-----\ncAnArY',
    '-----BEGIN CERTIFICATE-----\ncAnA\n-----END CERTIFICATE-----',
    '====',
    '',
  ])
    assert.throws(
      () => read({ content }),
      (error: Error) => error.name === 'CertificateProblem' && !error.message.includes('cAnA'),
    );
  refused({ content: one.private_key_pem }, 'certificate_content', /./);
});
