import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import forge from 'node-forge';
import { perform } from '#server/api/perform.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh } from '#server/testing/factories.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { workspace } from '#server/testing/workspace.ts';
import { create } from '../operations.ts';
import { madeCertificate } from './certificate.fixture.ts';

await testDatabase();
const w = await workspace();
const { certificate_pem, private_key_pem } = await madeCertificate();
const upload = (fields: object) => {
  const named = { name: fresh('cert').replaceAll('-', '_'), secret_type: 'certificate', ...fields };
  return perform(create, w.live, named).then(
    () => 'created',
    (error: unknown) => (error instanceof Refusal ? error.message : Promise.reject(error)),
  );
};
/** The first loads what reads certificates on threads. */
await upload({ certificate_content: certificate_pem.repeat(50) });

test('a bundle of very many certificates is refused, and one of as many as may be keeps nobody waiting', async () => {
  const limit = /must not have more than 100 certificates/;
  assert.match(await neverBlocks(() => upload({ certificate_content: certificate_pem.repeat(400) })), limit);
  assert.equal(await neverBlocks(() => upload({ certificate_content: certificate_pem.repeat(100) + private_key_pem })), 'created');
  const der = forge.pkcs7.createSignedData();
  for (let i = 0; i < 150; i++) der.addCertificate(forge.pki.certificateToPem(rsaCertificate));
  const content = Buffer.from(forge.asn1.toDer(der.toAsn1()).getBytes(), 'latin1').toString('base64');
  assert.match(await neverBlocks(() => upload({ certificate_content: content, certificate_type: 'p7b' })), limit);
});

test('a key whose passphrase is hashed very often is refused, and one that is hashed as often as may be keeps nobody waiting', async () => {
  const key = (rounds: number) =>
    `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${encrypted(rounds).toString('base64')}\n-----END ENCRYPTED PRIVATE KEY-----\n`;
  const withKey = (rounds: number) => upload({ certificate_content: certificate_pem, private_key: key(rounds), passphrase: 'p' });
  assert.match(await neverBlocks(() => withKey(0x7fffffff)), /private_key: must not hash its passphrase more than 2,000,000 times/);
  // Beside a load the thread's deadline may come first.
  assert.match(await neverBlocks(() => withKey(2_000_000)), /passphrase: does not decrypt the private key|takes too long to read/);
});

const pair = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const rsaCertificate = forge.pki.createCertificate();
Object.assign(rsaCertificate, { publicKey: forge.pki.publicKeyFromPem(pair.publicKey), serialNumber: '01' });
rsaCertificate.validity.notAfter = new Date(Date.now() + 86_400_000);
rsaCertificate.setSubject([{ name: 'commonName', value: 'a' }]);
rsaCertificate.setIssuer([{ name: 'commonName', value: 'a' }]);
rsaCertificate.sign(forge.pki.privateKeyFromPem(pair.privateKey), forge.md.sha256.create());

/** EncryptedPrivateKeyInfo by PBES2 with PBKDF2 and AES-256-CBC (RFC 8018 §A.4), of nothing. */
function encrypted(rounds: number): Buffer {
  const element = (tag: number, ...parts: Buffer[]) => {
    const body = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([tag, body.length]), body]);
  };
  const seq = (...parts: Buffer[]) => element(0x30, ...parts);
  const oid = (hex: string) => element(6, Buffer.from(hex, 'hex'));
  const count = Buffer.alloc(4);
  count.writeUInt32BE(rounds);
  const kdf = seq(oid('2a864886f70d01050c'), seq(element(4, Buffer.alloc(8)), element(2, count[0] === 0 ? count.subarray(1) : count)));
  const cipher = seq(oid('60864801650304012a'), element(4, Buffer.alloc(16)));
  return seq(seq(oid('2a864886f70d01050d'), seq(kdf, cipher)), element(4, Buffer.alloc(48)));
}
