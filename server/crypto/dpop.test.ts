import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import test from 'node:test';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { proofSigner } from './dpop.fixture.ts';
import { canonicalUrl, dpopNonce, jwkThumbprint, nonceKeys, type ProofExpected, ProofRefused, verifyProof } from './dpop.ts';
import { mintToken } from './tokens.ts';

const root = (byte: number) => ({ id: `r${byte}`, key: createSecretKey(Buffer.alloc(32, byte)) });
const keys = nonceKeys({ current: root(1), previous: undefined });
const now = new Date('2026-01-01T00:00:00Z');
const url = 'https://api.example.com/v1/routes';
const token = mintToken('oauth_token_live').token;

const verify = (header: string | null, more: Partial<ProofExpected> = {}) =>
  verifyProof({ header, method: 'GET', urls: [url], now, access_token: token, nonce_keys: keys, ...more });
const fault = (attempt: Promise<unknown>) =>
  attempt.then(
    () => 'accepted',
    (error: unknown) => (error instanceof ProofRefused ? error.reason : assert.fail(error as Error)),
  );

// The worked example of interface rule 21 §9.
const EXAMPLE = {
  proof: [
    'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwiY3J2IjoiUC0yNTYiLCJ4IjoiemVJNTNzYUhtOGs3ekM0MDFHZ2lsNC1fUkkwcENTcy1xLWNLNHdta1U0TSIsInkiOiJvN0VXZWZOQmlYY1ExVUY3b25ZeXNWZGZEMC1QRmpfRmVpNzhleTU5LTBNIn19',
    'eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9hcGkuZXhhbXBsZS5jb20vdjEvcm91dGVzIiwiaWF0IjoxNzY3MjI1NjAwLCJhdGgiOiJpckhSV3QyZDRzTGF1UXZNdWdRSUg5Y2NUSjBqdnNrWmJTNkZaMGNrb2NVIn0',
    'sQLzYNUgmAoPUTmBhKYygN5JF0xtFq-hJ1Pu2pzamr2iFlEV64t4bU9PQOgPIlsFdKWdVi89C8tRY1kB82CIMw',
  ].join('.'),
  token: 'svc_live_PvGyPqYrngDIV4rJt8AZCCz5Ehwr2iQ0KBjmtCe0gNf3hChfg',
  jkt: 'sUSobkeq5vLOscELD8EeeD0P_9j4ButwmyXdxrgqm8A',
  now: new Date(1767225600_000),
};

// RFC 9449 §4.1 and §7.1.
const RFC_HEADER =
  'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19';
const RFC = {
  token_request: [
    RFC_HEADER,
    'eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ',
    '2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg',
  ].join('.'),
  resource_request: [
    RFC_HEADER,
    'eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9',
    '2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA',
  ].join('.'),
  token: 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU',
  jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I',
};

test('the worked example of the specification holds at its time, and only then', async () => {
  const { proof, token, jkt } = EXAMPLE;
  const held = await verify(proof, { access_token: token, jkt, now: EXAMPLE.now });
  assert.deepEqual(held, { jkt, jti: 'e1j3V_bKic8-LAEB' });
  for (const [seconds, expected] of [
    [120, 'accepted'],
    [121, 'time'],
    [-30, 'accepted'],
    [-31, 'time'],
  ] as const) {
    const at = new Date(EXAMPLE.now.getTime() + seconds * 1000);
    assert.equal(await fault(verify(proof, { access_token: token, now: at })), expected, `${seconds} s later`);
  }
});

test('the examples of RFC 9449 hold', async () => {
  const { token_request, resource_request, token, jkt } = RFC;
  const asked = { method: 'POST', urls: ['https://server.example.com/token'], access_token: undefined, now: new Date(1562262616_000) };
  assert.equal((await verify(token_request, asked)).jkt, jkt);
  const resource = { urls: ['https://resource.example.org/protectedresource'], access_token: token, jkt, now: new Date(1562262618_000) };
  assert.equal((await verify(resource_request, resource)).jkt, jkt);
});

test('the thumbprint is that of RFC 7638 §3.1', async () => {
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';
  const jwk = { kty: 'RSA', n, e: 'AQAB', alg: 'RS256', kid: '2011-04-29' };
  assert.equal(await jwkThumbprint(jwk), 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs');
});

test('a proof of another method, URL, time, token or key is refused', async () => {
  const client = await proofSigner();
  const asked = { method: 'GET', url, access_token: token, at: now };
  const cases: [string, Promise<string>, Partial<ProofExpected>?][] = [
    ['accepted', client.prove(asked), { jkt: client.jkt }],
    ['method', client.prove({ ...asked, method: 'POST' })],
    ['method', client.prove({ ...asked, method: 'get' })],
    ['url', client.prove({ ...asked, url: `${url}?page=1` })],
    ['url', client.prove({ ...asked, url: `${url}#top` })],
    ['url', client.prove({ ...asked, url: 'https://api.evil.example/v1/routes' })],
    ['url', client.prove({ ...asked, url: 'https://user@api.example.com/v1/routes' })],
    ['url', client.prove({ ...asked, url: `${url}/` })],
    ['accepted', client.prove({ ...asked, url: 'HTTPS://API.example.com:443/v1/%72outes' })],
    [
      'accepted',
      client.prove({ ...asked, url: 'https://sandbox.example.com/v1/routes' }),
      { urls: [url, 'https://sandbox.example.com/v1/routes'] },
    ],
    ['accepted', client.prove(asked), { urls: [`${url}?page=1`] }],
    ['time', client.prove({ ...asked, at: new Date(now.getTime() - 121_000) })],
    ['time', client.prove({ ...asked, at: new Date(now.getTime() + 31_000) })],
    ['time', client.prove({ ...asked, claims: { iat: 'now' } })],
    ['token', client.prove({ ...asked, access_token: undefined })],
    ['token', client.prove({ ...asked, access_token: mintToken('oauth_token_live').token })],
    ['binding', client.prove(asked), { jkt: (await proofSigner()).jkt }],
    ['malformed', client.prove({ ...asked, claims: { jti: '' } })],
    ['malformed', client.prove({ ...asked, claims: { jti: 'x'.repeat(257) } })],
    ['malformed', client.prove({ ...asked, claims: { jti: 7 } })],
    ['malformed', client.prove({ ...asked, header: { typ: 'jwt' } })],
    ['accepted', (await proofSigner('EdDSA')).prove(asked)],
    ['accepted', (await proofSigner('Ed25519')).prove(asked)],
  ];
  for (const [expected, proof, more] of cases)
    assert.equal(await fault(verify(await proof, more)), expected, JSON.stringify(decoded(await proof)));
});

const decoded = (proof: string) => Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString();

test('nothing but one proof of an acceptable public key is a proof', async () => {
  const client = await proofSigner();
  const asked = { method: 'GET', url, access_token: token, at: now };
  const proof = await client.prove(asked);
  const [head = '', payload = '', signature = ''] = proof.split('.');
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: client.jwk };
  assert.equal(await fault(verify(null)), 'missing');
  assert.equal(await fault(verify('')), 'missing');
  assert.equal(await fault(verify(`${proof}, ${proof}`)), 'malformed', 'two headers arrive as one with a comma');
  assert.equal(await fault(verify('x.y')), 'malformed');
  assert.equal(await fault(verify(`${head}.${payload}.${'A'.repeat(9000)}`)), 'malformed');
  assert.equal(await fault(verify(`${encoded({ ...header, alg: 'none' })}.${payload}.`)), 'key');
  assert.equal(await fault(verify(`${encoded({ ...header, alg: 'HS256' })}.${payload}.${signature}`)), 'key');
  assert.equal(await fault(verify(`${encoded({ ...header, jwk: { ...client.jwk, crv: 'P-384' } })}.${payload}.${signature}`)), 'key');
  assert.equal(await fault(verify(`${encoded({ ...header, jwk: undefined })}.${payload}.${signature}`)), 'key');
  assert.equal(await fault(verify(`${encoded({ ...header, jwk: (await proofSigner()).jwk })}.${payload}.${signature}`)), 'signature');
  assert.equal(await fault(verify(`${head}.${encoded({ ...JSON.parse(decoded(proof)), htm: 'POST' })}.${signature}`)), 'signature');
  assert.equal(await fault(verify(`${head}.${payload}.${'A'.repeat(86)}`)), 'signature');
});

test('a proof whose header holds the private key is refused', async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const claims = { jti: 'a', htm: 'GET', htu: url, iat: now.getTime() / 1000 };
  const proof = await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
    .sign(privateKey);
  assert.equal(await fault(verify(proof)), 'key');
});

test('a nonce is optional until it is demanded, and must be one of ours of the last ten minutes', async () => {
  const client = await proofSigner();
  const proof = (nonce?: string) => client.prove({ method: 'GET', url, access_token: token, at: now, claims: { nonce } });
  const minutesAgo = (minutes: number) => dpopNonce(keys, new Date(now.getTime() - minutes * 60_000));
  const required = { nonce_required: true };
  assert.equal(await fault(verify(await proof())), 'accepted');
  assert.equal(await fault(verify(await proof(), required)), 'nonce');
  for (const more of [{}, required]) {
    assert.equal(await fault(verify(await proof(dpopNonce(keys, now)), more)), 'accepted');
    assert.equal(await fault(verify(await proof(minutesAgo(5)), more)), 'accepted');
    assert.equal(await fault(verify(await proof(minutesAgo(10)), more)), 'nonce');
    assert.equal(await fault(verify(await proof(minutesAgo(-5)), more)), 'nonce');
    assert.equal(await fault(verify(await proof('made-up'), more)), 'nonce');
    assert.equal(await fault(verify(await proof(dpopNonce(nonceKeys({ current: root(2), previous: undefined }), now)), more)), 'nonce');
  }
  const rotated = nonceKeys({ current: root(2), previous: root(1) });
  assert.equal(
    await fault(verify(await proof(dpopNonce(keys, now)), { nonce_keys: rotated })),
    'accepted',
    'made before the root key was rotated',
  );
  assert.match(dpopNonce(keys, now), /^[A-Za-z0-9_-]{32}$/);
  assert.equal(Buffer.from(dpopNonce(keys, now), 'base64url').readBigUInt64BE(), BigInt(now.getTime() / 300_000));
});

test('URLs that mean the same have one spelling', () => {
  const same = [
    'https://api.example.com/v1/a',
    'HTTPS://API.EXAMPLE.COM:443/v1/a',
    'https://api.example.com/v1/%61',
    'https://api.example.com/v1/x/../a',
    'https://api.example.com/v1/a?b#c',
  ];
  for (const text of same) assert.equal(canonicalUrl(text), 'https://api.example.com/v1/a', text);
  assert.equal(canonicalUrl('https://api.example.com'), 'https://api.example.com/');
  assert.equal(canonicalUrl('http://localhost:4000/a%2fb'), 'http://localhost:4000/a%2Fb');
  for (const text of [
    'ftp://a/b',
    'https://',
    '/v1/routes',
    'https://a@b/',
    'https://a:b@c/',
    'https:\\\\a\\b',
    'https://a/\tb',
    'https://ä/',
  ])
    assert.equal(canonicalUrl(text), null, text);
});
