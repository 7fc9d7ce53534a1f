import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import test from 'node:test';
import { createLocalJWKSet, exportJWK, jwtVerify } from 'jose';
import { type BearerAlgorithm, signBearerJwt, UnusableMaterial } from './bearer-jwt.ts';

const claims = {
  iss: 'svc-user',
  sub: 'svc-user',
  aud: 'https://api.partner.example',
  iat: 1780000000,
  exp: 1780000300,
  jti: '00000000-0000-4000-8000-000000000001',
};

test('the HS256 token of interface rule 30 §12 comes out byte for byte', () => {
  const token = signBearerJwt('top-secret-signing-key', 'HS256', claims);
  assert.deepEqual(
    token
      .split('.')
      .slice(0, 2)
      .map((part) => Buffer.from(part, 'base64url').toString()),
    ['{"alg":"HS256","typ":"JWT"}', JSON.stringify(claims)],
  );
  assert.equal(token.split('.')[2], 'zwVkwO9FN5Xl-RLzQo1m2Vd6lE1kVag3exZ7Q6N2_ao');
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');
const PAIRS: [BearerAlgorithm, { privateKey: KeyObject; publicKey: KeyObject }][] = [
  ['RS256', rsa],
  ['PS256', rsa],
  ['ES256', ec],
  ['EdDSA', ed],
];
const pem = (key: KeyObject, type: 'pkcs8' | 'pkcs1' | 'sec1' = 'pkcs8') => key.export({ type: type as 'pkcs8', format: 'pem' }).toString();

test('jose verifies every algorithm, with keys in PEM and as JWK', async () => {
  for (const [algorithm, { privateKey, publicKey }] of PAIRS) {
    const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: algorithm };
    for (const material of [pem(privateKey), JSON.stringify(jwk)]) {
      const token = signBearerJwt(material, algorithm, claims);
      const { payload } = await jwtVerify(token, publicKey, { algorithms: [algorithm], currentDate: new Date(1780000001000) });
      assert.deepEqual(payload, claims);
    }
    const set = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k1' }] });
    await jwtVerify(signBearerJwt(JSON.stringify(jwk), algorithm, claims), set, { currentDate: new Date(1780000001000) });
  }
  for (const material of [pem(rsa.privateKey, 'pkcs1'), `\n${pem(rsa.privateKey)}\n`]) signBearerJwt(material, 'RS256', claims);
  signBearerJwt(pem(ec.privateKey, 'sec1'), 'ES256', claims);
  const shared = JSON.stringify({ kty: 'oct', k: Buffer.from('top-secret-signing-key').toString('base64url') });
  assert.equal(signBearerJwt(shared, 'HS256', claims), signBearerJwt('top-secret-signing-key', 'HS256', claims));
});

test('material that is not made for the algorithm is refused, and not quoted', () => {
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const sealed = ed.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' }).toString();
  const jwk = (key: KeyObject, more: object = {}) => JSON.stringify({ ...key.export({ format: 'jwk' }), ...more });
  const cases: [string, BearerAlgorithm][] = [
    ['a shared key', 'RS256'],
    [pem(rsa.privateKey), 'HS256'],
    [pem(rsa.privateKey), 'ES256'],
    [pem(ec.privateKey), 'EdDSA'],
    [pem(small.privateKey), 'RS256'],
    [pem(p384.privateKey), 'ES256'],
    [rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'RS256'],
    [sealed, 'EdDSA'],
    ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', 'EdDSA'],
    [jwk(ed.publicKey), 'EdDSA'],
    [jwk(ed.privateKey, { alg: 'ES256' }), 'EdDSA'],
    [jwk(ed.privateKey, { use: 'enc' }), 'EdDSA'],
    [jwk(ed.privateKey, { key_ops: ['verify'] }), 'EdDSA'],
    [jwk(rsa.privateKey), 'HS256'],
    ['{"kty":"oct","k":"c2VjcmV0"}', 'RS256'],
    ['{"kty":"oct","k":"not base64url!"}', 'HS256'],
  ];
  for (const [material, algorithm] of cases)
    assert.throws(
      () => signBearerJwt(material, algorithm, claims),
      (error: Error) => error instanceof UnusableMaterial && !error.message.includes(material.slice(0, 24)) && error.cause === undefined,
      `${algorithm} ${material.slice(0, 30)}`,
    );
});
