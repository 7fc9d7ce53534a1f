import assert from 'node:assert/strict';
import test from 'node:test';
import { inspect } from 'node:util';
import { KEY_TYPE_NAMES, KEY_TYPES } from '#server/kernel/key-types.ts';
import { freshMaterial, run } from './material.fixture.ts';
import { openMaterial } from './material.ts';
import { newMaterial } from './new-material.ts';

test('every type can be made and opened, and only asymmetric ones have a public half', async () => {
  for (const type of KEY_TYPE_NAMES) {
    const { material, spki } = await freshMaterial(type);
    assert.equal(material.type, type);
    assert.equal(spki !== null, KEY_TYPES[type].asymmetric);
    if (spki) assert.deepEqual(material.publicKey.export({ format: 'der', type: 'spki' }), spki);
    else assert.throws(() => material.publicKey, TypeError);
  }
});

test('two keys of a type are different', async () => {
  for (const type of ['aes256-gcm', 'hmac-sha512', 'ecdsa-p256', 'ed25519'] as const)
    assert.notDeepEqual((await newMaterial(type)).secret, (await newMaterial(type)).secret);
});

test('material shows nothing of itself, however it is printed', async () => {
  for (const type of ['aes256-gcm', 'ed25519'] as const) {
    const { secret } = await newMaterial(type);
    const shown = [secret.toString('hex'), secret.toString('base64'), secret.toString('base64url'), [...secret].join(', ')];
    const material = openMaterial(type, secret);
    const printed = [inspect(material, { depth: 9, showHidden: true }), JSON.stringify({ material }), `${material}`, inspect({ material })];
    for (const text of printed) {
      assert.match(text, /\[key material\]/);
      for (const form of shown) assert.ok(!text.includes(form));
    }
  }
});

test('opening wipes the bytes, and refuses those of another type', async () => {
  const bytes = run(1, 32);
  openMaterial('aes256-gcm', bytes);
  assert.deepEqual(bytes, Buffer.alloc(32));
  assert.throws(() => openMaterial('aes256-gcm', run(1, 31)), TypeError);
  assert.throws(() => openMaterial('hmac-sha512', run(1, 32)), TypeError);
  const { secret } = await newMaterial('ecdsa-p256');
  for (const type of ['ecdsa-p384', 'ed25519', 'rsa-2048'] as const)
    assert.throws(() => openMaterial(type, Buffer.from(secret)), TypeError);
  assert.throws(() => openMaterial('ed25519', run(1, 32)));
});
