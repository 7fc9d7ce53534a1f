import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import test from 'node:test';
import { randomBuffer } from './random.ts';
import { DecryptFailed } from './transit/decrypt-failed.ts';
import { openMaterial } from './transit/material.ts';
import { blindIndex, indexKeyOf, newIndexKey, openVaultValue, sealVaultValue } from './vault-value.ts';

const place = {
  tenant_id: '11111111-2222-4333-8444-555555555555',
  vault_id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  token_id: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
};

test('the blind index of the specification', () => {
  const bytes = newIndexKey(createSecretKey(Buffer.from(Array.from({ length: 32 }, (_, i) => i))), place.vault_id);
  assert.equal(bytes.toString('hex'), '9b5c5d6b9573ba4c9c5f74d99e28a1e4c43ca60ea4e0ada8c6dde1b534396c68');
  assert.equal(
    blindIndex(indexKeyOf(bytes), '4242424242424242').toString('hex'),
    'a2db178717bc896e7d1cc4246cb310d6fbac4385929006edc77f0b2934f38038',
  );
});

test('a value opens in its own row only, and not with any bit changed', () => {
  const material = openMaterial('aes256-gcm', randomBuffer(32));
  const sealed = sealVaultValue(material, place, Buffer.from('4242424242424242'));
  assert.equal(openVaultValue(material, place, sealed).toString(), '4242424242424242');
  for (const other of ['tenant_id', 'vault_id', 'token_id'] as const)
    assert.throws(() => openVaultValue(material, { ...place, [other]: crypto.randomUUID() }, sealed), DecryptFailed);
  for (let at = 0; at < sealed.length; at++) {
    const flipped = Buffer.from(sealed);
    flipped[at] = (flipped[at] as number) ^ 1;
    assert.throws(() => openVaultValue(material, place, flipped), DecryptFailed);
  }
  assert.throws(() => openVaultValue(openMaterial('aes256-gcm', randomBuffer(32)), place, sealed), DecryptFailed);
  assert.throws(() => openVaultValue(material, place, sealed.subarray(0, 20)), DecryptFailed);
});
