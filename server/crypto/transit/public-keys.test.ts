import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import test from 'node:test';
import { KEY_TYPES, keyTypesFor } from '#server/kernel/key-types.ts';
import { kidOf, parseKid } from './key-ids.ts';
import { ed25519Secret, freshMaterial, fromHex } from './material.fixture.ts';
import { openMaterial } from './material.ts';
import { publicKey, rawPoint } from './public-keys.ts';

const named = { key_id: '5b1c7d2e-8f40-4c1a-9a55-0d2f3c4b5a61', version: 1 };

test('the published JWK comes out member by member', () => {
  const material = openMaterial('ed25519', ed25519Secret(fromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')));
  const { jwk } = publicKey('ed25519', material.publicKey.export({ format: 'der', type: 'spki' }), named);
  const { kty, crv, x, use, alg, kid } = jwk;
  assert.equal(
    JSON.stringify({ kty, crv, x, use, alg, kid }),
    '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","use":"sig","alg":"EdDSA","kid":"5b1c7d2e-8f40-4c1a-9a55-0d2f3c4b5a61.v1"}',
  );
});

test('both forms of a public key are of the key, and neither has a private member', async () => {
  for (const type of keyTypesFor('public-key')) {
    const { material, spki } = await freshMaterial(type);
    assert.ok(spki);
    const { pem, jwk } = publicKey(type, spki, named);
    assert.ok(createPublicKey(pem).equals(material.publicKey));
    assert.ok(createPublicKey({ key: jwk, format: 'jwk' }).equals(material.publicKey));
    assert.equal(jwk.alg, KEY_TYPES[type].jwt[0]);
    assert.equal(jwk.use, type === 'ecdh-p256' ? 'enc' : 'sig');
    assert.equal(jwk.kid, kidOf(named.key_id, 1));
    for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) assert.ok(!(member in jwk), member);
  }
});

test('the raw point of a sealing key is 65 bytes of its curve', async () => {
  const { spki } = await freshMaterial('ecdh-p256');
  assert.ok(spki);
  const { jwk } = publicKey('ecdh-p256', spki, named);
  const point = rawPoint(spki);
  assert.equal(point[0], 4);
  assert.equal(point.subarray(1, 33).toString('base64url'), jwk.x);
});

test('a kid names a key and a version in one spelling', () => {
  assert.deepEqual(parseKid(kidOf(named.key_id, 12)), { key_id: named.key_id, version: 12 });
  for (const kid of [
    '',
    named.key_id,
    `${named.key_id}.v0`,
    `${named.key_id}.v01`,
    `${named.key_id.toUpperCase()}.v1`,
    `${named.key_id}.v1 `,
  ])
    assert.equal(parseKid(kid), undefined);
});
