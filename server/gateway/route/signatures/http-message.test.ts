import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes, sign } from 'node:crypto';
import test from 'node:test';
import { httpbis } from 'http-message-signatures';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { ED_KEY, ED_PUBLIC, KEY, makeSigner, nonce, now } from './signing.fixture.ts';

// HTTP Message Signatures made by a foreign library, over real sockets.

await testDatabase();
const running = await startGateway();
const upstream = await startUpstream();

type How = {
  method?: string;
  path?: string;
  body?: string;
  fields?: string[];
  params?: Record<string, unknown>;
  names?: string[];
  headers?: Record<string, string>;
  /** What is changed of the call after it was signed. */
  change?: (headers: Record<string, string>) => Record<string, string>;
  sent?: { path?: string; body?: string; method?: string };
  label?: string;
  ed?: boolean;
  scheme?: 'http' | 'https';
};

async function signed(config: Record<string, unknown> = {}) {
  const w = await workspace();
  await makeRoute(w, 'r', upstream.url, { require_signature: true, signature_scheme: 'rfc9421', ...config });
  const { text: key } = await w.key();
  const hmac = await makeSigner(w, { hmac: KEY });
  const ed = await makeSigner(w, { public_key: ED_PUBLIC });
  await served(running, w);
  const authority = `${w.tenant.slug}.localhost:${running.port}`;
  const call = async (how: How = {}) => {
    const { method = 'POST', path = '/r/v1/charges?a=1', body = '', change = (headers) => headers, scheme = 'http' } = how;
    const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
    const headers = { host: authority, ...(body && { 'content-digest': digest }), 'x-svc-key': key, ...how.headers };
    const signer = how.ed
      ? { id: ed.id, alg: 'ed25519', sign: async (data: Buffer) => sign(null, data, ED_KEY) }
      : { id: hmac.id, alg: 'hmac-sha256', sign: async (data: Buffer) => createHmac('sha256', KEY).update(data).digest() };
    const message = await httpbis.signMessage(
      {
        key: signer,
        name: how.label ?? 'sig1',
        fields: how.fields ?? ['@method', '@authority', '@target-uri', ...(body ? ['content-digest'] : [])],
        params: how.names ?? ['created', 'keyid', 'alg', 'nonce', 'tag'],
        paramValues: { created: new Date(), nonce: nonce(), tag: 'billing', ...how.params } as never,
      },
      { method, url: `${scheme}://${authority}${path}`, headers },
    );
    const answer = await ask(running.port, '', how.sent?.path ?? path, {
      method: how.sent?.method ?? method,
      body: how.sent?.body ?? body,
      headers: change(message.headers as Record<string, string>),
    });
    return [answer.status, answer.headers['x-svc-error']];
  };
  return { w, call, hmac, ed };
}
const PASSED = [200, undefined];
const REFUSED = [401, 'signature_invalid'];

test('requests that http-message-signatures signs pass, with HMAC and Ed25519, with and without a body', async () => {
  const { call } = await signed();
  for (const ed of [false, true]) {
    assert.deepEqual(await call({ ed }), PASSED);
    assert.deepEqual(await call({ ed, body: '{"a":1}' }), PASSED);
    assert.deepEqual(await call({ ed, method: 'GET', path: '/r' }), PASSED);
    assert.deepEqual(await call({ ed, fields: ['@method', '@authority', '@path', '@query', '@scheme'] }), PASSED);
    assert.deepEqual(await call({ ed, fields: ['@method', '@authority', '@path', '@query'], path: '/r/x' }), PASSED, 'no query is "?"');
  }
  assert.deepEqual(await call({ scheme: 'https' }), PASSED, 'a proxy in front may speak TLS');
  assert.deepEqual(await call({ label: 'anything', names: ['created', 'keyid'] }), PASSED, 'alg, nonce and tag are optional');
  assert.deepEqual(
    await call({ headers: { 'content-type': 'text/plain' }, fields: ['@method', '@authority', '@target-uri', 'content-type'] }),
    PASSED,
  );
  const seen = upstream.seen.at(-1);
  assert.ok(!seen?.rawHeaders.some((name) => /^signature(?:-input)?$/i.test(name)), 'the signature is not for the upstream');
  for (const algorithm of ['sha-256', 'sha-512'] as const) {
    const body = '{"hello": "world"}';
    const digest = `${algorithm}=:${createHash(algorithm.replace('-', '')).update(body).digest('base64')}:`;
    assert.deepEqual(await call({ body, headers: { 'content-digest': digest } }), PASSED, algorithm);
  }
});

test('what a signature has to cover, and what its parameters have to say', async () => {
  const { call, ed, hmac } = await signed();
  const body = '{"a":1}';
  const full = ['@method', '@authority', '@target-uri'];
  const refused: [string, How][] = [
    ['no method', { fields: ['@authority', '@target-uri'] }],
    ['no authority', { fields: ['@method', '@target-uri'] }],
    ['no target', { fields: ['@method', '@authority'] }],
    ['a path without the query', { fields: ['@method', '@authority', '@path'] }],
    ['a query without the path', { fields: ['@method', '@authority', '@query'] }],
    ['no digest of a body', { body, fields: full }],
    ['no time', { params: { created: null } }],
    ['no key', { names: ['created', 'alg'] }],
    ['a key that is no ID', { params: { keyid: 'billing' } }],
    ['an unknown key', { params: { keyid: '01975a3e-7c2b-7d4e-9f10-3b5a6c7d8e9f' } }],
    ['the key of another algorithm', { params: { keyid: ed.id } }],
    ['another algorithm than the key', { params: { keyid: hmac.id, alg: 'ed25519' } }],
    ['an algorithm that is not supported', { params: { alg: 'rsa-pss-sha512' } }],
    ['a short nonce', { params: { nonce: 'abc' } }],
    ['a parameter of its own', { names: ['created', 'keyid', 'role'], params: { role: 'admin' } }],
    ['a digest of an unknown algorithm', { body, headers: { 'content-digest': 'unixsum=:AAAA:' } }],
    ['a digest of another body', { body, headers: { 'content-digest': `sha-256=:${createHash('sha256').update('x').digest('base64')}:` } }],
  ];
  for (const [what, how] of refused) assert.deepEqual(await call(how), REFUSED, what);
  // Headers that choose the route or the environment have to be covered.
  const addressed = { path: '/api/v1/charges', headers: { 'x-svc-route': 'r', 'x-svc-environment': 'production' } };
  assert.deepEqual(await call({ ...addressed, fields: [...full, 'x-svc-route'] }), REFUSED);
  assert.deepEqual(await call({ ...addressed, fields: [...full, 'x-svc-route', 'x-svc-environment'] }), PASSED);
  const required: [string, (headers: Record<string, string>) => Record<string, string>][] = [
    ['no input', ({ 'Signature-Input': _, ...headers }) => headers],
    ['no signature', ({ Signature: _, ...headers }) => headers],
  ];
  for (const [what, change] of required) assert.deepEqual(await call({ change }), [401, 'signature_required'], what);
});

test('a call that was changed after it was signed is refused', async () => {
  const { call } = await signed();
  const body = '{"a":1}';
  const extra = (text: string) => (headers: Record<string, string>) => ({
    ...headers,
    'Signature-Input': `${headers['Signature-Input']}${text}`,
  });
  const changed: [string, How][] = [
    ['method', { sent: { method: 'PUT' } }],
    ['path', { sent: { path: '/r/v1/refunds?a=1' } }],
    ['query', { sent: { path: '/r/v1/charges?a=2' } }],
    ['body', { body, sent: { body: '{"a":2}' } }],
    ['a body where there was none', { sent: { body } }],
    ['no body', { body, sent: { body: '' } }],
    [
      'covered header',
      {
        headers: { 'content-type': 'a/b' },
        fields: ['@method', '@authority', '@target-uri', 'content-type'],
        change: (headers) => ({ ...headers, 'content-type': 'a/c' }),
      },
    ],
    [
      'time',
      {
        change: (headers) => ({
          ...headers,
          'Signature-Input': (headers['Signature-Input'] ?? '').replace(/created=\d+/, `created=${now() - 1}`),
        }),
      },
    ],
    ['a parameter more', { change: extra(';tag="x"') }],
    ['signature', { change: (headers) => ({ ...headers, Signature: `sig1=:${randomBytes(32).toString('base64')}:` }) }],
    ['label', { change: (headers) => ({ ...headers, Signature: (headers.Signature ?? '').replace('sig1', 'sig2') }) }],
    ['a signature that is no byte sequence', { change: (headers) => ({ ...headers, Signature: 'sig1="abc"' }) }],
  ];
  for (const [what, how] of changed) assert.deepEqual(await call(how), REFUSED, what);
});

test('time, expiry and nonces hold as for every signature', async () => {
  const { call } = await signed({ signature_tolerance_sec: 60, signature_require_nonce: true });
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000);
  assert.deepEqual(await call({ params: { created: at(-58) } }), PASSED);
  for (const skew of [-63, 63]) assert.deepEqual(await call({ params: { created: at(skew) } }), [401, 'signature_expired'], String(skew));
  const names = ['created', 'expires', 'keyid', 'nonce'];
  assert.deepEqual(await call({ names, params: { expires: at(20) } }), PASSED);
  assert.deepEqual(await call({ names, params: { expires: at(-2) } }), [401, 'signature_expired']);
  assert.deepEqual(await call({ names: ['created', 'keyid'] }), [401, 'signature_required'], 'the route requires a nonce');
  const once = { params: { nonce: 'any printable characters: +/=' } };
  assert.deepEqual(await call(once), PASSED);
  assert.deepEqual(await call(once), [401, 'signature_replayed']);
});

test('of several signatures the one labelled svc counts', async () => {
  const { call } = await signed();
  const beside = (headers: Record<string, string>) => ({
    ...headers,
    'Signature-Input': `other=("@method");created=1;keyid="x", ${headers['Signature-Input']}`,
    Signature: `${headers.Signature}, other=:AAAA:`,
  });
  assert.deepEqual(await call({ label: 'svc', change: beside }), PASSED);
  assert.deepEqual(await call({ label: 'sig1', change: beside }), REFUSED);
});
