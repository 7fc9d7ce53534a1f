import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test from 'node:test';
import { generateKeyPair } from 'jose';
import { createResolver, type ResolveFamily } from '../http-out/resolver.ts';
import { egressSettings } from '../http-out/settings.ts';
import { listen, loopback, toLoopback } from '../http-out/upstream.fixture.ts';
import { byAnotherKey, signed, TestIssuer, unsigned, withHmac } from './issuer.fixture.ts';
import { createKeySource, verifiedWorkload } from './issuer-keys.ts';

const sourceOf = (resolve: ResolveFamily = toLoopback) => createKeySource(createResolver({ settings: loopback, resolve }));
const start = new Date();
const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);

test('a token of the issuer is verified, whatever accepted algorithm it is signed with', async () => {
  for (const alg of ['RS256', 'PS384', 'ES256', 'ES384', 'EdDSA']) {
    const issuer = await TestIssuer.start();
    await issuer.rotate(alg);
    const { sub } = await verifiedWorkload(sourceOf(), await issuer.token(), start);
    assert.equal(sub, 'repo:acme/app:ref:refs/heads/main', alg);
  }
});

test('a token without a good signature of its issuer is refused', async () => {
  const issuer = await TestIssuer.start();
  const [source, claims] = [sourceOf(), issuer.claims()];
  const stranger = await TestIssuer.start();
  const thief = await listen(createServer((_, res) => res.end(JSON.stringify({ keys: [stranger.key.jwk] }))));
  const [head, body, signature] = (await issuer.token()).split('.') as [string, string, string];
  const other = Buffer.from(JSON.stringify({ ...claims, sub: 'repo:evil/app' })).toString('base64url');
  const refused: [string, string, string][] = [
    ['none', unsigned(claims), 'algorithm'],
    ['an HMAC with the public key', await withHmac(claims, issuer.key), 'algorithm'],
    ['another key of the same name, carried in the header', await byAnotherKey(claims, issuer.key), 'signature'],
    ['a key set that the header points to', await byAnotherKey(claims, issuer.key, { jku: `http://127.0.0.1:${thief}/` }), 'signature'],
    ['a certificate that the header points to', await byAnotherKey(claims, issuer.key, { x5u: `http://127.0.0.1:${thief}/` }), 'signature'],
    ["another issuer's key", await signed(claims, { ...stranger.key, jwk: { ...stranger.key.jwk, kid: 'elsewhere' } }), 'unknown_key'],
    ['changed claims', `${head}.${other}.${signature}`, 'signature'],
    ['no signature', `${head}.${body}.`, 'signature'],
    ['a critical extension', await issuer.token({}, { crit: ['exp'], exp: 1 }).catch(() => withCrit(head, body, signature)), 'algorithm'],
    ['no key named', await issuer.token({}, { kid: undefined }), 'malformed'],
    ['two parts', `${head}.${body}`, 'malformed'],
    ['five parts', `${head}.${body}.${signature}.a.b`, 'malformed'],
    ['an oversized token', await issuer.token({ pad: 'x'.repeat(16_000) }), 'malformed'],
    ['text', 'not a token at all', 'malformed'],
  ];
  for (const [what, token, reason] of refused) await assert.rejects(verifiedWorkload(source, token, start), { reason }, what);
  assert.ok(await verifiedWorkload(source, await issuer.token(), start), 'the issuer itself is still accepted');
});

const withCrit = (head: string, body: string, signature: string) => {
  const header = { ...JSON.parse(Buffer.from(head, 'base64url').toString()), crit: ['b64'], b64: false };
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${body}.${signature}`;
};

test('times are judged with a minute of tolerance, and a token lives a day at most', async () => {
  const issuer = await TestIssuer.start();
  const source = sourceOf();
  const seconds = Math.floor(start.getTime() / 1000);
  const judged = async (claims: object) =>
    verifiedWorkload(source, await issuer.token({ ...claims }, {}, start), start).then(
      () => 'accepted',
      ({ reason }) => reason,
    );
  const cases: [object, string][] = [
    [{ exp: seconds - 50 }, 'accepted'],
    [{ exp: seconds - 61 }, 'expired'],
    [{ exp: undefined }, 'claims'],
    [{ exp: 'never' }, 'claims'],
    [{ iat: undefined }, 'claims'],
    [{ iat: seconds + 50 }, 'accepted'],
    [{ iat: seconds + 70 }, 'expired'],
    [{ nbf: undefined }, 'accepted'],
    [{ nbf: seconds + 70 }, 'expired'],
    [{ nbf: 'soon' }, 'expired'],
    [{ exp: seconds + 86_400 }, 'accepted'],
    [{ exp: seconds + 86_401 }, 'claims'],
    [{ sub: '' }, 'claims'],
    [{ sub: undefined }, 'claims'],
    [{ sub: 7 }, 'claims'],
    [{ iss: undefined }, 'claims'],
  ];
  for (const [claims, expected] of cases) assert.equal(await judged(claims), expected, JSON.stringify(claims));
});

test('keys are fetched once in ten minutes, and once more in thirty seconds for one that is unknown', async () => {
  const issuer = await TestIssuer.start();
  const source = sourceOf();
  await Promise.all([1, 2, 3].map(async () => verifiedWorkload(source, await issuer.token(), start)));
  assert.deepEqual(issuer.asked, { configuration: 1, keys: 1 }, 'whoever asks at once shares the answer');
  await verifiedWorkload(source, await issuer.token({}, {}, later(599)), later(599));
  assert.equal(issuer.asked.keys, 1);
  await verifiedWorkload(source, await issuer.token({}, {}, later(601)), later(601));
  assert.equal(issuer.asked.keys, 2);

  await issuer.rotate();
  assert.ok(await verifiedWorkload(source, await issuer.token({}, {}, later(602)), later(602)), 'a new key is found at once');
  assert.equal(issuer.asked.keys, 3);
  const strange = (at: Date) => issuer.token({}, { kid: 'strange' }, at);
  for (let i = 603; i < 630; i += 3)
    await assert.rejects(verifiedWorkload(source, await strange(later(i)), later(i)), { reason: 'unknown_key' });
  assert.equal(issuer.asked.keys, 3, 'made-up keys ask nobody');
  await assert.rejects(verifiedWorkload(source, await strange(later(633)), later(633)), { reason: 'unknown_key' });
  assert.equal(issuer.asked.keys, 4);
});

test('keys outlive their issuer by a day while it is down, and not when it answers something else', async () => {
  const issuer = await TestIssuer.start();
  const source = sourceOf();
  const at = async (seconds: number) => verifiedWorkload(source, await issuer.token({}, {}, later(seconds)), later(seconds));
  await at(0);
  issuer.down = true;
  assert.ok(await at(3_600));
  assert.ok(await at(86_390));
  await assert.rejects(at(86_401), { reason: 'issuer_unreachable' });
  issuer.down = false;
  await assert.rejects(at(86_402), { reason: 'issuer_unreachable' }, 'an issuer that failed is left alone for a moment');
  assert.ok(await at(86_420));
  issuer.metadata = { issuer: 'https://elsewhere.example' };
  await assert.rejects(at(90_000), { reason: 'issuer_misconfigured' });
});

test('an issuer whose documents are wrong, missing, redirected or oversized has no keys', async () => {
  const cases: [string, (issuer: TestIssuer) => void][] = [
    ['names another issuer', (issuer) => (issuer.metadata = { issuer: `${issuer.issuer}/` })],
    ['names no keys', (issuer) => (issuer.metadata = { jwks_uri: undefined })],
    ['keys by file', (issuer) => (issuer.metadata = { jwks_uri: 'file:///etc/passwd' })],
    ['not found', (issuer) => (issuer.metadata = { jwks_uri: `${issuer.issuer}/nothing` })],
    [
      'redirects',
      (issuer) =>
        (issuer.answer = (path, res) => path === '/keys' && !!res.writeHead(302, { location: `${issuer.issuer}/elsewhere` }).end()),
    ],
    ['too large', (issuer) => (issuer.answer = (path, res) => path === '/keys' && !!res.end(`{"keys":[],"x":"${'x'.repeat(600_000)}"}`))],
    ['no JSON', (issuer) => (issuer.answer = (_, res) => !!res.end('<html>'))],
    ['a list', (issuer) => (issuer.answer = (_, res) => !!res.end('[]'))],
    ['keys that are none', (issuer) => (issuer.answer = (path, res) => path === '/keys' && !!res.end('{"keys":[1,"a"]}'))],
  ];
  for (const [what, spoil] of cases) {
    const issuer = await TestIssuer.start();
    spoil(issuer);
    await assert.rejects(
      verifiedWorkload(sourceOf(), await issuer.token(), start),
      ({ reason }) => reason === 'issuer_misconfigured' || reason === 'issuer_blocked' || reason === 'issuer_unreachable',
      what,
    );
  }
});

test('a symmetric key in the key set verifies nothing', async () => {
  const issuer = await TestIssuer.start();
  const secret = crypto.getRandomValues(new Uint8Array(32));
  issuer.extra = [{ kty: 'oct', k: Buffer.from(secret).toString('base64url'), kid: 'shared', alg: 'HS256' }];
  const { SignJWT } = await import('jose');
  const token = await new SignJWT(issuer.claims()).setProtectedHeader({ alg: 'HS256', kid: 'shared' }).sign(secret);
  await assert.rejects(verifiedWorkload(sourceOf(), token, start), { reason: 'algorithm' });
});

test('an issuer inside is never called, by address, name, redirect, key address or a name that moves', async () => {
  const inside = await TestIssuer.start();
  const port = new URL(inside.issuer).port;
  const closed = egressSettings({});
  const moving: { calls: number; resolve: ResolveFamily } = {
    calls: 0,
    resolve: async (_, family) => {
      if (family !== 4) throw new Error('ENODATA');
      return [{ address: moving.calls++ === 0 ? '93.184.216.34' : '127.0.0.1', ttl: 0 }];
    },
  };
  const pair = await generateKeyPair('ES256');
  const tokenOf = (iss: string) => signed({ ...inside.claims(), iss }, { private: pair.privateKey, jwk: { alg: 'ES256', kid: 'k' } });
  for (const iss of [
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}`,
    'https://169.254.169.254',
    'http://169.254.169.254/latest',
    'https://[::ffff:127.0.0.1]',
    'https://metadata.google.internal',
    `https://localhost:${port}`,
    'https://10.1.2.3',
    'https://2130706433',
    `https://points-inside.example:${port}`,
  ])
    await assert.rejects(
      verifiedWorkload(createKeySource(createResolver({ settings: closed, resolve: toLoopback })), await tokenOf(iss), start),
      { reason: 'issuer_blocked' },
      iss,
    );
  // Public when first asked about, inside when asked again: only the answer that was judged is connected to.
  await moving.resolve('x', 4, AbortSignal.timeout(1));
  await assert.rejects(
    verifiedWorkload(
      createKeySource(createResolver({ settings: closed, resolve: moving.resolve })),
      await tokenOf(`https://moves.example:${port}`),
      start,
    ),
    { reason: 'issuer_blocked' },
  );
  assert.deepEqual(inside.asked, { configuration: 0, keys: 0 });
  // A callable issuer that names keys inside: the allow-list opens one address only.
  const narrow = createResolver({ settings: egressSettings({ privateAllowlist: [{ cidr: '127.0.0.1/32' }] }), resolve: toLoopback });
  inside.metadata = { jwks_uri: `http://127.0.0.2:${port}/keys` };
  await assert.rejects(verifiedWorkload(createKeySource(narrow), await inside.token(), start), { reason: 'issuer_blocked' });
  assert.equal(inside.asked.keys, 0);
});

test('a deployment that permits http upstreams still wants keys encrypted, but for hosts that it opened', async () => {
  const issuer = await TestIssuer.start('issuer.example');
  const open = egressSettings({
    allowHttp: true,
    testHosts: [{ name: 'issuer.example', port: Number(new URL(issuer.issuer).port), address: '127.0.0.1' }],
  });
  await assert.rejects(verifiedWorkload(createKeySource(createResolver({ settings: open })), await issuer.token(), start), {
    reason: 'issuer_blocked',
  });
  assert.equal(issuer.asked.configuration, 0);
});
