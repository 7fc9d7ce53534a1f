import assert from 'node:assert/strict';
import test from 'node:test';
import { Refusal } from '#server/kernel/errors.ts';
import {
  bytesOfEither,
  DecryptFailed,
  decrypt,
  encrypt,
  encryptConvergent,
  encryptWithIv,
  newDataKey,
  parseCipherText,
  rewrap,
} from './cipher-text.ts';
import { freshMaterial, materialOf, run } from './material.fixture.ts';
import { deriveMaterial } from './material.ts';

const key = materialOf('aes256-gcm', run(0, 32));
const iv = run(0xa0, 12);
const plaintext = Buffer.from('Jane Doe, 415-555-9311');
const published = {
  ours: 'svc:v1:oKGio6SlpqeoqaqrCtXdCR3M5q6Yvrpibw8FTax5Ekhlj23aTkWz4jJX9etFgWAjo4Y=',
  foreign: 'vault:v1:oKGio6SlpqeoqaqrrHkSSGWPbdpORbPiMlf160WBYCOjhgrV3QkdzOaumL66Ym8PBU0=',
  empty: 'svc:v1:oKGio6SlpqeoqaqrXGmWJa9Lk6D4IgoqYRnF0A==',
  associated: 'svc:v1:oKGio6SlpqeoqaqregsN27VnzdvDiwzKWZsaCqx5Ekhlj23aTkWz4jJX9etFgWAjo4Y=',
};
const isInvalid = (error: unknown) => error instanceof Refusal && error.type === 'validation_error';

test('the published ciphertexts come out byte for byte and open again', () => {
  const row = Buffer.from('row:42');
  assert.equal(encryptWithIv(iv, key, 1, plaintext), published.ours);
  assert.equal(encryptWithIv(iv, key, 1, Buffer.alloc(0)), published.empty);
  assert.equal(encryptWithIv(iv, key, 1, plaintext, row), published.associated);
  assert.deepEqual(decrypt(key, parseCipherText(published.ours)), plaintext);
  assert.deepEqual(decrypt(key, parseCipherText(published.empty)), Buffer.alloc(0));
  assert.deepEqual(decrypt(key, parseCipherText(published.associated), row), plaintext);
  assert.throws(() => decrypt(key, parseCipherText(published.associated)), DecryptFailed);
  assert.throws(() => decrypt(key, parseCipherText(published.ours), row), DecryptFailed);
});

test('opens the foreign prefix in both layouts, and our prefix in ours only', () => {
  assert.deepEqual(decrypt(key, parseCipherText(published.foreign)), plaintext);
  assert.deepEqual(decrypt(key, parseCipherText(published.ours.replace('svc:', 'vault:'))), plaintext);
  assert.throws(() => decrypt(key, parseCipherText(published.foreign.replace('vault:', 'svc:'))), DecryptFailed);
});

test('a ciphertext has one spelling', () => {
  const body = published.empty.slice('svc:v1:'.length);
  assert.equal(parseCipherText(`svc:v999999999:${body}`).version, 999_999_999);
  for (const text of [
    '',
    'svc:v1:',
    `svc:v0:${body}`,
    `svc:v01:${body}`,
    `svc:v1000000000:${body}`,
    `svc:v-1:${body}`,
    `svc:v1.0:${body}`,
    `SVC:v1:${body}`,
    ` svc:v1:${body}`,
    `svc:v1:${body}\n`,
    `svc:v1: ${body}`,
    `svc:v1:${body.replaceAll('=', '')}`,
    `svc:v1:${body}=`,
    `svc:v1:${body.replace('0A==', '0B==')}`, // bits that no byte holds
    `svc:v1:${body.replaceAll('+', '-').replaceAll('/', '_')}_`,
    `svc:v1:${Buffer.from(body, 'base64').subarray(0, 27).toString('base64')}`,
    `kc:v1:${body}`,
    `svc:v1:${body}:`,
  ])
    assert.throws(() => parseCipherText(text), isInvalid, text);
});

test('every encryption has an iv of its own, and a convergent one has the same', () => {
  assert.notEqual(encrypt(key, 1, plaintext), encrypt(key, 1, plaintext));
  const context = (text: string) => deriveMaterial(key, Buffer.from(text));
  assert.equal(encryptConvergent(context('a'), 1, plaintext), encryptConvergent(context('a'), 1, plaintext));
  assert.notEqual(encryptConvergent(context('a'), 1, plaintext), encryptConvergent(context('b'), 1, plaintext));
  assert.notEqual(encryptConvergent(context('a'), 1, plaintext), encryptConvergent(context('a'), 1, Buffer.from('other')));
  assert.deepEqual(decrypt(context('a'), parseCipherText(encryptConvergent(context('a'), 1, plaintext))), plaintext);
  assert.throws(() => decrypt(key, parseCipherText(encrypt(context('a'), 1, plaintext))), DecryptFailed);
});

test('rewrap keeps plaintext and associated data under another key and version', () => {
  const next = materialOf('aes256-gcm', run(9, 32));
  const aad = Buffer.from('row:42');
  const moved = rewrap(key, parseCipherText(published.associated), next, 7, aad);
  assert.equal(parseCipherText(moved).version, 7);
  assert.deepEqual(decrypt(next, parseCipherText(moved), aad), plaintext);
  assert.throws(() => decrypt(next, parseCipherText(moved)), DecryptFailed);
  assert.throws(() => rewrap(next, parseCipherText(published.associated), key, 7, aad), DecryptFailed);
});

test('a data key has the bits that were asked for, in clear and encrypted', () => {
  for (const bits of [128, 256, 512] as const) {
    const made = newDataKey(key, 3, bits);
    assert.equal(made.plaintext.length, bits / 8);
    assert.deepEqual(decrypt(key, parseCipherText(made.ciphertext)), made.plaintext);
  }
});

test('a key of another type encrypts nothing', async () => {
  const { material } = await freshMaterial('ed25519');
  for (const other of [material, materialOf('hmac-sha256', run(0, 32))]) {
    assert.throws(() => encrypt(other, 1, plaintext), isInvalid);
    assert.throws(() => decrypt(other, parseCipherText(published.ours)), isInvalid);
    assert.throws(() => deriveMaterial(other, plaintext), isInvalid);
  }
});

test('data is text or base64, one of them, whole and within its limit', () => {
  assert.deepEqual(bytesOfEither('plaintext', 'é', undefined, 2), Buffer.from('é'));
  assert.deepEqual(bytesOfEither('plaintext', undefined, 'AAE=', 2), Buffer.from([0, 1]));
  assert.deepEqual(bytesOfEither('plaintext', '', undefined, 2), Buffer.alloc(0));
  for (const [text, base64] of [
    [undefined, undefined],
    ['a', 'YQ=='],
    ['\ud800', undefined],
    ['abc', undefined],
    [undefined, 'AAE'],
    [undefined, 'AAF='],
    [undefined, 'A_E='],
    [undefined, 'AAAA'],
  ] as const)
    assert.throws(() => bytesOfEither('plaintext', text, base64, 2), isInvalid);
});
