import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import test from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import { accountKey, algorithmOf, thumbprintOf } from './account-key.ts';
import { parseBinding, verifyBinding } from './external-account.ts';
import { binding, clientKey, encoded, signed } from './jws.fixture.ts';
import { parseRequest, verifyRequest } from './jws.ts';
import type { JwsFault } from './refused.ts';

const url = 'https://ca.example/acme/new-order';
const kid = 'https://ca.example/acme/account/1';
const key = await clientKey();
const other = await clientKey();
const request = await signed(key, { a: 1 }, { kid, nonce: 'n', url });

const refuses = (body: unknown, reason: JwsFault, expected: Parameters<typeof parseRequest>[1] = { url }) =>
  assert.throws(() => parseRequest(body, expected), { name: 'JwsRefused', reason }, JSON.stringify(body));
const withHeader = (header: Record<string, unknown>) => ({ ...request, protected: encoded(header) });

test('a request of each algorithm is accepted by its own key and by no other', async () => {
  for (const alg of ['ES256', 'ES384', 'RS256', 'EdDSA'] as const) {
    const by = await clientKey(alg);
    const parsed = parseRequest(await signed(by, { a: 1 }, { jwk: by.jwk, nonce: 'n', url }), { url });
    assert.deepEqual([parsed.alg, parsed.nonce, parsed.signer.key, parsed.content.toString()], [alg, 'n', by.jwk, '{"a":1}']);
    await verifyRequest(parsed, by.jwk);
    await assert.rejects(verifyRequest(parsed, other.jwk), { name: 'JwsRefused' }, alg);
  }
});

test('a request signed by an account names it by URL, and may have no payload', async () => {
  const parsed = parseRequest(await signed(key, undefined, { kid, nonce: 'n', url }), { url });
  assert.deepEqual([parsed.signer.kid, parsed.content.length], [kid, 0]);
  await verifyRequest(parsed, key.jwk);
  await assert.rejects(verifyRequest(parsed, other.jwk), { reason: 'signature' });
});

test('no algorithm but the four is accepted, whatever key there is to verify with', async () => {
  const secret = Buffer.from(JSON.stringify(key.jwk));
  for (const alg of ['none', 'None', 'HS256', 'HS512', 'ES512', 'PS256', 'RS1', '', undefined, null, ['ES256'], { a: 1 }])
    refuses(withHeader({ alg, kid, nonce: 'n', url }), 'bad_algorithm');
  // The public key as the secret of a MAC: the classic confusion.
  const protectedHeader = encoded({ alg: 'HS256', jwk: key.jwk, nonce: 'n', url });
  const signature = createHmac('sha256', secret).update(`${protectedHeader}.${request.payload}`).digest('base64url');
  refuses({ protected: protectedHeader, payload: request.payload, signature }, 'bad_algorithm');
  refuses(withHeader({ alg: 'RS256', jwk: key.jwk, nonce: 'n', url }), 'bad_algorithm');
  const confused = parseRequest(withHeader({ alg: 'RS256', kid, nonce: 'n', url }), { url });
  await assert.rejects(verifyRequest(confused, key.jwk), { reason: 'bad_algorithm' });
});

test('a request has jwk or kid, never both and never neither', () => {
  refuses(withHeader({ alg: 'ES256', nonce: 'n', url }), 'malformed');
  refuses(withHeader({ alg: 'ES256', kid, jwk: key.jwk, nonce: 'n', url }), 'malformed');
  refuses(withHeader({ alg: 'ES256', kid: 7, nonce: 'n', url }), 'malformed');
  refuses(withHeader({ alg: 'ES256', kid: 'x'.repeat(3_000), nonce: 'n', url }), 'malformed');
});

test('the URL of the header is the URL of the request, to the character', () => {
  for (const wrong of [undefined, '', `${url}/`, `${url}?x=1`, url.toUpperCase(), 'https://ca.example/acme/new-order ', 7, [url]])
    refuses(withHeader({ alg: 'ES256', kid, nonce: 'n', url: wrong }), 'url');
});

test('a JWS of another form is refused: compact, general, with an unprotected header, extensions, or another spelling of base64url', () => {
  const { protected: head, payload, signature } = request;
  for (const body of [
    null,
    [],
    'text',
    `${head}.${payload}.${signature}`,
    {},
    { payload, signature },
    { ...request, header: { kid } },
    { payload, signatures: [{ protected: head, signature }] },
    { ...request, protected: `${head}=` },
    { ...request, payload: `${payload}=` },
    { ...request, signature: `${signature} ` },
    { ...request, signature: signature.replace(/.$/, '+') },
    { ...request, protected: encoded([]) },
    { ...request, protected: Buffer.from('{').toString('base64url') },
    { ...request, protected: Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url') },
    { ...request, extra: 1 },
  ])
    refuses(body, 'malformed');
  refuses(withHeader({ alg: 'ES256', kid, nonce: 'n', url, crit: ['exp'] }), 'malformed');
  refuses(withHeader({ alg: 'ES256', kid, nonce: 'n', url, b64: false }), 'malformed');
  refuses(withHeader({ alg: 'ES256', kid, nonce: 7, url }), 'malformed');
});

test('a changed payload, header or signature is no signature', async () => {
  for (const changed of [
    { ...request, payload: encoded({ a: 2 }) },
    { ...request, signature: Buffer.alloc(64, 1).toString('base64url') },
    { ...request, signature: '' },
    withHeader({ alg: 'ES256', kid, nonce: 'other', url }),
  ])
    await assert.rejects(verifyRequest(parseRequest(changed, { url }), key.jwk), { reason: 'signature' });
});

test('the inner JWS of a key change carries its key, and no nonce and no account', async () => {
  const inner = await signed(other, { account: kid }, { jwk: other.jwk, url });
  await verifyRequest(parseRequest(inner, { url, inner: true }), other.jwk);
  refuses(request, 'malformed', { url, inner: true });
  refuses(withHeader({ alg: 'ES256', jwk: key.jwk, nonce: 'n', url }), 'malformed', { url, inner: true });
});

test('keys that are private, symmetric, too small, too large, of another curve, or off their curve are refused', async () => {
  const refusesKey = (jwk: unknown) => assert.throws(() => accountKey(jwk), { reason: 'bad_key' }, JSON.stringify(jwk));
  const rsa = async (modulusLength: number) => exportJWK((await generateKeyPair('RS256', { modulusLength, extractable: true })).publicKey);
  const small = {
    kty: 'RSA',
    e: 'AQAB',
    n: Buffer.concat([Buffer.from([0x80]), randomBytes(126), Buffer.from([1])]).toString('base64url'),
  };
  const large = {
    kty: 'RSA',
    e: 'AQAB',
    n: Buffer.concat([Buffer.from([0x81]), randomBytes(527), Buffer.from([1])]).toString('base64url'),
  };
  const good = await rsa(2048);
  accountKey(good);
  const p521 = await exportJWK((await generateKeyPair('ES512', { extractable: true })).publicKey);
  for (const jwk of [
    null,
    [],
    'x',
    {},
    small,
    large,
    p521,
    { ...key.jwk, d: 'AA' },
    { kty: 'oct', k: 'AAAA' },
    { ...good, e: 'AQ' },
    { ...good, e: 'AAEAAQ' },
  ])
    refusesKey(jwk);
  refusesKey({ ...good, n: `AA${good.n}` });
  refusesKey({ ...key.jwk, x: `${(key.jwk as { x: string }).x}=` });
  const off = { kty: 'EC', crv: 'P-256', x: Buffer.alloc(32, 1).toString('base64url'), y: Buffer.alloc(32, 2).toString('base64url') };
  const parsed = parseRequest(withHeader({ alg: 'ES256', jwk: off, nonce: 'n', url }), { url });
  await assert.rejects(verifyRequest(parsed, accountKey(off)), { reason: 'bad_key' });
});

test('what a client adds to its key changes neither the stored key nor its thumbprint', async () => {
  const padded = accountKey({ ...key.jwk, kid: 'mine', use: 'sig', alg: 'none' });
  assert.deepEqual(padded, key.jwk);
  assert.equal(algorithmOf(padded), 'ES256');
  // RFC 7638 §3.1
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';
  assert.equal(
    await thumbprintOf(accountKey({ kty: 'RSA', n, e: 'AQAB', alg: 'RS256', kid: '2011-04-29' })),
    'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  );
});

test('an external account binding holds for its MAC key, its URL and the key of the account, and for nothing else', async () => {
  const hmac = randomBytes(32);
  const good = await binding(hmac, 'k1', url, key.jwk);
  const parsed = parseBinding(good, url);
  assert.equal(parsed.kid, 'k1');
  await verifyBinding(parsed, hmac, key.jwk);
  await assert.rejects(verifyBinding(parsed, randomBytes(32), key.jwk), { reason: 'signature' });
  await assert.rejects(verifyBinding(parsed, hmac, other.jwk), { reason: 'malformed' });
  const bad = (value: unknown, reason: JwsFault) => assert.throws(() => parseBinding(value, url), { reason });
  bad(undefined, 'malformed');
  bad(await binding(hmac, 'k1', `${url}x`, key.jwk), 'url');
  bad(await binding(hmac, 'k1', url, key.jwk, { nonce: 'n' }), 'malformed');
  bad(await binding(hmac, '', url, key.jwk), 'malformed');
  bad({ ...good, protected: encoded({ alg: 'none', kid: 'k1', url }) }, 'bad_algorithm');
  bad(await signed(key, key.jwk, { kid: 'k1', url }), 'bad_algorithm');
});
