import assert from 'node:assert/strict';
import test from 'node:test';
import { KEY_TYPES, type KeyType, keyTypesFor } from '#server/kernel/key-types.ts';
import { type JwtKey, type JwtVerdict, signJwt, verifyJwt } from './jwt.ts';
import { ed25519Secret, freshMaterial, fromHex, materialOf, run } from './material.fixture.ts';
import { type Material, openMaterial } from './material.ts';

const key_id = '5b1c7d2e-8f40-4c1a-9a55-0d2f3c4b5a61';
const seed = fromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
const claims = { sub: 'user_1', iat: 1_767_225_600, exp: 1_767_229_200 };
const now = new Date(claims.iat * 1000);
const hmac = materialOf('hmac-sha256', run(0, 32));
const v1 = { key_id, version: 1 };

const keyWith = (materials: Record<number, Material>, states: Record<number, 'disabled' | 'destroyed'> = {}): JwtKey => ({
  id: key_id,
  type: (Object.values(materials)[0] as Material).type,
  versions: [...new Set([...Object.keys(materials), ...Object.keys(states)].map(Number))]
    .sort((a, b) => b - a)
    .map((version) => ({ version, state: states[version] ?? 'usable' })),
  material: (version) => materials[version] as Material,
});
const errorOf = (verdict: JwtVerdict) => (verdict.valid ? 'valid' : verdict.error);
const base64url = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

test('the published tokens come out byte for byte and verify', async () => {
  const hs = await signJwt(hmac, v1, { claims }, now);
  assert.equal(
    hs.token,
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjViMWM3ZDJlLThmNDAtNGMxYS05YTU1LTBkMmYzYzRiNWE2MS52MSJ9.eyJzdWIiOiJ1c2VyXzEiLCJpYXQiOjE3NjcyMjU2MDAsImV4cCI6MTc2NzIyOTIwMH0.Atf7rXSNCNcqA1k-ecrM78xRW7T-XfvGQcb9evSSe1E',
  );
  const ed = openMaterial('ed25519', ed25519Secret(seed));
  const { token } = await signJwt(ed, v1, { claims }, now);
  assert.equal(
    token,
    'eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCIsImtpZCI6IjViMWM3ZDJlLThmNDAtNGMxYS05YTU1LTBkMmYzYzRiNWE2MS52MSJ9.eyJzdWIiOiJ1c2VyXzEiLCJpYXQiOjE3NjcyMjU2MDAsImV4cCI6MTc2NzIyOTIwMH0.4l1Me6MOHrPoDuz96zDQx5QvLY7X6z6La69qoTZkAhKIKodsTiSbn-rmeN5hFSxazU_pxPNBaynIIc0XMVKBAw',
  );
  assert.deepEqual(JSON.parse(JSON.stringify(await verifyJwt(keyWith({ 1: ed }), token, {}, now))), {
    valid: true,
    claims,
    key_version: 1,
    alg: 'EdDSA',
    kid: `${key_id}.v1`,
  });
});

test('every type signs a token with each of its algorithms and verifies it', async () => {
  for (const type of keyTypesFor('jwt')) {
    const { material } = await freshMaterial(type);
    for (const alg of KEY_TYPES[type].jwt) {
      const header_overrides = KEY_TYPES[type].kind === 'rsa' ? { alg } : undefined;
      const { token } = await signJwt(material, v1, { claims, header_overrides }, now);
      const verdict = await verifyJwt(keyWith({ 1: material }), token, {}, now);
      assert.equal(verdict.valid && verdict.alg, alg);
    }
  }
});

test('times are added at the end, and none but whole seconds are taken', async () => {
  const made = async (input: Parameters<typeof signJwt>[2]) => (await signJwt(hmac, v1, input, now)).claims;
  assert.equal(JSON.stringify(await made({ claims: { b: 1, a: 2 }, ttl_seconds: 5 })), '{"b":1,"a":2,"iat":1767225600,"exp":1767225605}');
  assert.equal(JSON.stringify(await made({ claims: { iat: 100, sub: 'x' }, ttl_seconds: 5 })), '{"iat":100,"sub":"x","exp":105}');
  for (const input of [
    { claims: { exp: 9_999_999_999 }, ttl_seconds: 5 },
    { claims: { exp: 1.5 } },
    { claims: { exp: '9999999999' } },
    { claims: { nbf: null } },
    { claims: { iat: 2 ** 53 } },
    { claims: { long: 'x'.repeat(16_384) } },
  ])
    await assert.rejects(made(input), { type: 'validation_error' });
});

test('header_overrides set typ, cty and private strings, and nothing a verifier trusts', async () => {
  const headerOf = async (header_overrides: Record<string, unknown>, type: KeyType = 'hmac-sha256') => {
    const { material } = await freshMaterial(type);
    const { token } = await signJwt(material, v1, { claims, header_overrides }, now);
    return Buffer.from(token.split('.')[0] as string, 'base64url').toString();
  };
  assert.equal(
    await headerOf({ tenant: 'acme', cty: 'x', typ: 'at+jwt' }),
    `{"alg":"HS256","typ":"at+jwt","kid":"${key_id}.v1","tenant":"acme","cty":"x"}`,
  );
  assert.match(await headerOf({ alg: 'PS384' }, 'rsa-2048'), /"alg":"PS384"/);
  const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, 'x']));
  await headerOf(named(10));
  for (const refused of [
    ...['kid', 'jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'zip', 'x5t', 'enc'].map((name) => ({ [name]: 'x' })),
    { b64: false },
    { crit: ['exp'] },
    { alg: 'none' },
    { alg: 'HS512' },
    { alg: 'HS256' },
    { typ: null },
    { p: 1 },
    { p: {} },
    { p: 'x'.repeat(257) },
    { '': 'x' },
    JSON.parse('{"__proto__":"x"}'),
    named(11),
  ])
    await assert.rejects(headerOf(refused), { type: 'validation_error' }, JSON.stringify(refused));
  for (const alg of ['none', 'HS256', 'ES256', 'EdDSA', 'rs256'])
    await assert.rejects(headerOf({ alg }, 'rsa-2048'), { type: 'validation_error' });
});

test('a token has one spelling', async () => {
  const { token } = await signJwt(hmac, v1, { claims }, now);
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const lastBits = (part: string) => `${part.slice(0, -1)}${part.endsWith('E') ? 'F' : 'B'}`;
  for (const text of [
    '',
    '..',
    `${token}=`,
    `${token}\n`,
    ` ${token}`,
    `${token}.`,
    `${header}.${payload}`,
    `${header}..${signature}`,
    `${header}.${payload}.`,
    `${header}.${payload}. ${signature}`,
    `${header}.${payload}=.${signature}`,
    `${header}.${payload}.${lastBits(signature)}`,
    `${header}.${payload}.${signature.replaceAll('-', '+').replaceAll('_', '/')}`,
    `${base64url('[]')}.${payload}.${signature}`,
    `${base64url('"x"')}.${payload}.${signature}`,
    `${base64url('{')}.${payload}.${signature}`,
    'x'.repeat(70_000),
  ])
    assert.equal(errorOf(await verifyJwt(keyWith({ 1: hmac }), text, {}, now)), 'malformed', text.slice(0, 60));
});

test('the algorithm must be of the type of the key, before anything is computed', async () => {
  const { material, spki } = await freshMaterial('rsa-2048');
  const key = { ...keyWith({ 1: material }), material: () => assert.fail('no key is needed') };
  const signedBy = (alg: unknown) => `${base64url({ alg, kid: `${key_id}.v1` })}.${base64url(claims)}.${base64url('x')}`;
  for (const alg of ['none', 'None', '', null, undefined, 'HS256', 'ES256', 'EdDSA', 'rs256', ['RS256']])
    assert.equal(errorOf(await verifyJwt(key, signedBy(alg), {}, now)), 'alg_not_allowed', String(alg));
  const unsecured = `${base64url({ alg: 'none' })}.${base64url(claims)}.`;
  assert.equal(errorOf(await verifyJwt(key, unsecured, {}, now)), 'alg_not_allowed');
  // The classic confusion: the public key as the secret of an HMAC.
  assert.ok(spki);
  const confused = await signJwt(materialOf('hmac-sha256', spki.subarray(0, 32)), v1, { claims }, now);
  assert.equal(errorOf(await verifyJwt(keyWith({ 1: material }), confused.token, {}, now)), 'alg_not_allowed');
});

test('the kid decides which version verifies, and none means any that is usable', async () => {
  const [old, current] = [materialOf('hmac-sha256', run(1, 32)), materialOf('hmac-sha256', run(2, 32))];
  const signedBy = async (material: Material, version: number, id = key_id) =>
    (await signJwt(material, { key_id: id, version }, { claims }, now)).token;
  const check = async (key: JwtKey, token: string) => errorOf(await verifyJwt(key, token, {}, now));
  const both = keyWith({ 1: old, 2: current });
  assert.equal(await check(both, await signedBy(old, 1)), 'valid');
  assert.equal(await check(both, await signedBy(old, 2)), 'bad_signature');
  assert.equal(await check(both, await signedBy(old, 3)), 'unknown_kid');
  assert.equal(await check(both, await signedBy(old, 1, '00000000-0000-4000-8000-000000000000')), 'unknown_kid');
  assert.equal(await check(keyWith({ 2: current }, { 1: 'destroyed' }), await signedBy(old, 1)), 'version_destroyed');
  assert.equal(await check(keyWith({ 1: old, 2: current }, { 1: 'disabled' }), await signedBy(old, 1)), 'version_disabled');

  const withoutKid = async (material: Material) => {
    const signed = `${base64url({ alg: 'HS256' })}.${base64url(claims)}`;
    const { signBytes, signingOptions } = await import('./signatures.ts');
    return `${signed}.${(await signBytes(material, Buffer.from(signed), signingOptions('hmac-sha256'))).toString('base64url')}`;
  };
  assert.deepEqual(JSON.parse(JSON.stringify(await verifyJwt(both, await withoutKid(old), {}, now))), {
    valid: true,
    claims,
    key_version: 1,
    alg: 'HS256',
    kid: `${key_id}.v1`,
  });
  assert.equal(await check(keyWith({ 1: old, 2: current }, { 1: 'disabled' }), await withoutKid(old)), 'bad_signature');
  assert.deepEqual(await verifyJwt(both, await withoutKid(materialOf('hmac-sha256', run(3, 32))), {}, now), {
    valid: false,
    error: 'bad_signature',
  });
});

test('claims are judged after the signature, with the skew asked for', async () => {
  const judge = async (given: Record<string, unknown>, expected: Parameters<typeof verifyJwt>[2] = {}, seconds = claims.iat) => {
    const { token } = await signJwt(hmac, v1, { claims: given }, now);
    return errorOf(await verifyJwt(keyWith({ 1: hmac }), token, expected, new Date(seconds * 1000)));
  };
  const at = claims.iat;
  assert.equal(await judge({ exp: at }, {}, at + 59), 'valid');
  assert.equal(await judge({ exp: at }, {}, at + 60), 'expired');
  assert.equal(await judge({ exp: at }, { clock_skew_seconds: 0 }, at), 'expired');
  assert.equal(await judge({ nbf: at + 60 }), 'valid');
  assert.equal(await judge({ nbf: at + 61 }), 'not_yet_valid');
  assert.equal(await judge({}), 'valid');
  assert.equal(await judge({ iss: 'a' }, { iss: 'a' }), 'valid');
  assert.equal(await judge({ iss: 'a' }, { iss: 'b' }), 'iss_mismatch');
  assert.equal(await judge({}, { iss: 'b' }), 'iss_mismatch');
  assert.equal(await judge({ aud: ['a', 'b'] }, { aud: 'b' }), 'valid');
  assert.equal(await judge({ aud: 'ab' }, { aud: 'a' }), 'aud_mismatch');
  assert.equal(await judge({}, { aud: 'undefined' }), 'aud_mismatch');
  assert.equal(await judge({ sub: 'a' }, { sub: 'b' }), 'sub_mismatch');
  assert.equal(await judge({ iss: 'x', exp: 1 }, { iss: 'y' }), 'expired');
});

test('a payload that is no object is malformed, however well it is signed', async () => {
  const { signBytes, signingOptions } = await import('./signatures.ts');
  for (const payload of ['[]', '1', 'null', '"x"', '{', '{"exp":"soon"}', '{"exp":1e999}', '\xff']) {
    const signed = `${base64url({ alg: 'HS256' })}.${Buffer.from(payload, 'latin1').toString('base64url')}`;
    const mac = await signBytes(hmac, Buffer.from(signed), signingOptions('hmac-sha256'));
    assert.equal(errorOf(await verifyJwt(keyWith({ 1: hmac }), `${signed}.${mac.toString('base64url')}`, {}, now)), 'malformed', payload);
  }
});
