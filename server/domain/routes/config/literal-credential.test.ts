import assert from 'node:assert/strict';
import test from 'node:test';
import { looksLikeCredential, secretsIn, splitScheme, suggestedSecretName } from './literal-credential.shared.ts';

test('a credential typed into a header is noticed, whatever the header is called', () => {
  assert.equal(looksLikeCredential('X-Anything', 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'), 'a Stripe key');
  assert.equal(looksLikeCredential('Authorization', 'Bearer 0123456789abcdef'), 'a credential');
  assert.equal(looksLikeCredential('X-Api-Key', 'hunter2hunter2'), 'a credential');
});

test('a credential is noticed under every name and in every shape that APIs take one in', () => {
  for (const [name, value] of [
    ['Authorization', 'Basic dXNlcjpwYXNz'],
    ['authorization', 'a1b2c3'],
    ['Cookie', 'session=4f9a'],
    ['X-Auth-Token', 'abcdefgh1'],
    ['apiKey', 'abcdefgh1'],
    ['clientSecret', 'hunter2'],
    ['db_password', 'hunter2'],
    ['access_token', 'abcdefgh1'],
    ['sig', 'abcdefgh1'],
    ['X-Custom', 'Bearer 0123456789abcdef'],
    ['note', 'it is ghp_abcdefghijklmnopqrstuvwxyz0123'],
    ['note', 'AKIAIOSFODNN7EXAMPLE'],
    ['note', 'xoxb-123456789012-abcdef'],
    ['note', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
  ] as const)
    assert.ok(looksLikeCredential(name, value), `${name}: ${value}`);
});

test('placeholders and plain values are left alone', () => {
  assert.equal(looksLikeCredential('Authorization', 'Bearer {{secret:STRIPE}}'), undefined);
  assert.equal(looksLikeCredential('X-Team', 'payments-and-refunds'), undefined);
  assert.equal(looksLikeCredential('Authorization', 'Bearer'), undefined);
  assert.equal(looksLikeCredential('Authorization', 'Bearer {{var:token}}'), undefined);
  assert.equal(looksLikeCredential('greeting', 'basic package for all'), undefined);
  assert.equal(looksLikeCredential('monkey', 'banana-banana'), undefined);
});

test('a literal beside a placeholder is still noticed', () => {
  assert.equal(looksLikeCredential('X-Key', '{{secret:A}}ghp_abcdefghijklmnopqrstuvwxyz0123'), 'a GitHub token');
});

test('only the secret part moves, the scheme stays in the header', () => {
  assert.deepEqual(splitScheme('Bearer abc def'), { scheme: 'Bearer ', credential: 'abc def' });
  assert.deepEqual(splitScheme('abc'), { scheme: '', credential: 'abc' });
});

test('a suggested name is one that a secret may have', () => {
  assert.match(suggestedSecretName('Müller & Söhne', 'X-Api-Key'), /^[A-Z0-9_]+$/);
  assert.equal(suggestedSecretName('', '---'), 'UPSTREAM_KEY');
});

test('every secret a template names is found once per mention', () => {
  const id = '0b9c1f5e-1f2b-4c58-9a4e-3d3f7f0a1b2c';
  assert.deepEqual(secretsIn(`a {{secret:A}} {{ secret_id : ${id} }} {{var:x}}`), [
    { by: 'name', value: 'A' },
    { by: 'id', value: id },
  ]);
});
