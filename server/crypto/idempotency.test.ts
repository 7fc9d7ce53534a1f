import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { answerKey, idempotencyKey, openAnswer, requestFingerprint, sealAnswer, storedForm } from './idempotency.ts';
import { DecryptFailed } from './svt1.ts';

const tmk = createSecretKey(Buffer.from(Array.from({ length: 32 }, (_, i) => 0x20 + i)));
const k = idempotencyKey(tmk);
const keyText = '01J8ZQ4T9V6Q2M4N8K7H5R1C0B';
const fingerprint = '6d8a611813f530b3c9e3230ed21f509687a137789c16714734fadeeedcb739ed';

test('the published fingerprint and stored forms come out byte for byte', () => {
  assert.equal(requestFingerprint('POST', '/v1/api-keys', '', Buffer.from('{"name":"CI"}')), fingerprint);
  assert.equal(k.export().toString('hex'), 'cbc508f2d284c95c2f4524ba28a8c4dc13e6653cfaed222ac9363bac5484cf78');
  assert.equal(storedForm(k, fingerprint).toString('hex'), '8b08b460f4107e773bccdfe290335f6ce30f979593081daa8c1fa77ce5a84a42');
  assert.equal(storedForm(k, keyText).toString('hex'), '31294ed9f82e05a686351d37361a257c2b32ba5a02b025f9ca7277de3abe9d4c');
});

test('the key of the second sealing is the documented HKDF', () => {
  // Computed apart from this code with HMAC-SHA256 alone: salt 00..0f, K and key text of the published vector.
  const salt = Buffer.from(Array.from({ length: 16 }, (_, i) => i));
  assert.equal(answerKey(k, keyText, salt).export().toString('hex'), '9f5c7ec26e8a5137a00e5fe1dd276a9f8f23d1da7d8035de2b73556cd8e2da1b');
});

test('a stored answer opens only with the key text that made it, the same tenant key and untouched bytes', () => {
  const answer = Buffer.from('{"data":{"key":"shown once"}}');
  const sealed = sealAnswer(k, keyText, answer);
  assert.deepEqual(openAnswer(k, keyText, sealed), answer);
  assert.notDeepEqual(sealAnswer(k, keyText, answer), sealed);
  assert.ok(!sealed.includes('shown once'));
  assert.throws(() => openAnswer(k, `${keyText}x`, sealed), DecryptFailed);
  assert.throws(() => openAnswer(k, '', sealed), DecryptFailed);
  assert.throws(() => openAnswer(tmk, keyText, sealed), DecryptFailed);
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const damaged = Buffer.from(sealed);
    damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.throws(() => openAnswer(k, keyText, damaged), DecryptFailed, `bit ${bit}`);
  }
  for (let length = 0; length < sealed.length; length++)
    assert.throws(() => openAnswer(k, keyText, sealed.subarray(0, length)), DecryptFailed);
});

test('method, path, query and body each count, and none can spill into another', () => {
  const part = fc.stringMatching(/^[A-Za-z0-9/?=&{}":]{0,20}$/);
  const request = fc.tuple(part, part, part, part);
  const of = ([method, path, query, body]: [string, string, string, string]) => requestFingerprint(method, path, query, Buffer.from(body));
  fc.assert(fc.property(request, request, (a, b) => assert.equal(of(a) === of(b), JSON.stringify(a) === JSON.stringify(b))));
});
