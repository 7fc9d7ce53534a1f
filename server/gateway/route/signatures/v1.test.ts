import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, mock, test } from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Ask, ask, makeRoute, makeSecret, type Running, served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import {
  addCredential,
  assign,
  ED_PUBLIC,
  edSignature,
  hmacSignature,
  KEY,
  type Lines,
  linesOf,
  makeSigner,
  nonce,
  now,
  signedHeaders,
} from './signing.fixture.ts';

await testDatabase({ SVC_GATEWAYS: '2', PROXY_BASE_HOST: 'example.com', TRUSTED_PROXIES: '127.0.0.1' });
const [first, second] = [await startGateway(), await startGateway()];
const upstream = await startUpstream();
after(() => mock.timers.reset());

type SignedAsk = Ask & { path?: string; at?: Running };

/** A workspace with a route `orders-api` that requires signatures, a key, and a client that signs with KEY. */
async function signed(config: Record<string, unknown> = {}) {
  const w = await workspace();
  const host = `${w.tenant.slug}.example.com`;
  const route = await makeRoute(w, 'orders-api', upstream.url, { require_signature: true, ...config });
  const { text: key } = await w.key();
  const signer = await makeSigner(w, { hmac: KEY });
  const serve = async () => {
    await served(first, w);
    await served(second, w);
  };
  await serve();
  /** Sends a call, by default just the one that the lines describe. */
  const send = (lines: Lines, { path, at = first, ...how }: SignedAsk = {}) =>
    ask(at.port, '', path ?? `/orders-api${lines.path}${lines.query && `?${lines.query}`}`, {
      method: lines.method,
      key,
      ...how,
      headers: { host, ...(how.headers ?? signedHeaders(lines)) },
    });
  const lines = (given: Parameters<typeof linesOf>[0] = {}) => linesOf({ host, route: 'orders-api', path: '/v1/charges', ...given });
  return { w, host, route, key, signer, serve, send, lines };
}
const told = ({ status, headers }: { status: number; headers: Record<string, string> }) => [status, headers['x-svc-error']];

test('the worked examples of interface rule 10 §9.6 pass byte for byte', async () => {
  const w = await workspace();
  await db().tenants.update({ where: { id: w.tenant.id }, data: { slug: 'acme' } });
  const staging = await db().environments.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'staging', display_name: 'Staging', color: '#000000' },
  });
  const rule = { require_signature: true };
  const route = await makeRoute(w, 'orders-api', upstream.url, rule);
  const concat = await makeRoute(w, 'concat', upstream.url, { ...rule, signature_scheme: 'concat' });
  assert.ok(concat.id);
  await db().route_environment_configs.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      sandbox: false,
      route_id: route.id,
      environment_id: staging.id,
      environment_name: 'staging',
      overridden_fields: [],
    },
  });
  const { text: key } = await w.key();
  const signer = await makeSigner(w, { hmac: KEY });
  await addCredential(w, signer.client.id, { public_key: ED_PUBLIC });
  await served(first, w);
  const body = '{"amount":2000,"currency":"usd"}';
  const common = { host: 'acme.example.com', 'x-svc-timestamp': '1767225600' };
  const post = { ...common, 'x-svc-environment': 'staging', 'content-type': 'application/json' };
  const call = (path: string, how: Ask) => ask(first.port, '', path, { key, ...how });
  mock.timers.enable({ apis: ['Date'], now: 1767225600_000 });
  try {
    const charge = (nonce: string, signature: string) =>
      call('/orders-api/v1/charges?expand=customer&limit=10', {
        method: 'POST',
        body,
        headers: { ...post, 'x-svc-nonce': nonce, 'x-svc-signature': signature },
      });
    const NONCE = '9f2c6a1e-5b7d-4c1a-8a55-0d4b2f6f7e11';
    const HMAC = 'v1=755688ec1c4ec706f35c63d3947b3fe240e27e2c62f0ff1d06ab59427c9aa6d5';
    const ED = 'v1=YCwHBIJsc93kWlttsJ1ww5Ggx8Fme72Vp-fm-IgcYh8SRV917HCx_gPnIyu2H9Qvndb8AJRoZyoVkOgKBpdPCg';
    assert.equal((await charge(NONCE, HMAC)).status, 200);
    assert.deepEqual([upstream.seen.at(-1)?.url, upstream.seen.at(-1)?.body], ['/v1/charges?expand=customer&limit=10', body]);
    assert.deepEqual(told(await charge(NONCE, HMAC)), [401, 'signature_replayed']);
    // Another credential, so the nonce is a new one.
    assert.equal((await charge(NONCE, ED)).status, 200);
    const list = await call('/orders-api/v1/customers', {
      headers: { ...common, 'x-svc-signature': 'v1=3385680c7b058cff48b1bf1d4ef8b04675b7cc67a58bd97b8c94e09ed4753df4' },
    });
    assert.equal(list.status, 200);
    const weak = await call('/concat/v1/charges?limit=10&expand=customer', {
      method: 'POST',
      body,
      headers: {
        host: 'acme.example.com',
        'x-timestamp': '1767225600',
        'x-signature': 'e3789f9b760f0a8be817bbebd042cf1c957d6a7d9e1bc1b2ae8d04598dd83d3b',
      },
    });
    assert.equal(weak.status, 200);
    assert.ok(!upstream.seen.at(-1)?.rawHeaders.some((name) => /^x-(?:signature|timestamp)$/i.test(name)), 'they are ours');
  } finally {
    mock.timers.reset();
  }
});

test('what is missing, malformed, late or not signed by an enabled credential is refused in this order', async () => {
  const { send, lines, signer, w, serve } = await signed({ signature_require_nonce: true });
  const body = '{"a":1}';
  const good = () => lines({ method: 'POST', nonce: nonce(), body });
  const ok = good();
  assert.equal((await send(ok, { body })).status, 200);
  const disabled = await addCredential(w, signer.client.id, { hmac: randomBytes(32) }, { enabled: false });
  await serve();
  const old = String(now() - 302);
  const h = (more: Record<string, string | undefined>, of = good()) =>
    Object.fromEntries(Object.entries({ ...signedHeaders(of), ...more }).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >;
  const cases: [string, Record<string, string>, string][] = [
    ['nothing', {}, 'signature_required'],
    ['no signature', h({ 'x-svc-signature': undefined }), 'signature_required'],
    ['an empty signature', h({ 'x-svc-signature': '' }), 'signature_required'],
    ['no timestamp', h({ 'x-svc-timestamp': undefined }), 'signature_required'],
    ['no nonce', h({ 'x-svc-nonce': undefined }), 'signature_required'],
    ['no nonce and a bad timestamp', h({ 'x-svc-nonce': undefined, 'x-svc-timestamp': 'x' }), 'signature_required'],
    [
      'upper-case hex',
      h({ 'x-svc-signature': signedHeaders(good())['x-svc-signature']?.toUpperCase().replace('V1', 'v1') }),
      'signature_invalid',
    ],
    ['another version', h({ 'x-svc-signature': `v2=${'a'.repeat(64)}` }), 'signature_invalid'],
    ['no version', h({ 'x-svc-signature': 'a'.repeat(64) }), 'signature_invalid'],
    [
      'six signatures',
      h({
        'x-svc-signature': Array(6)
          .fill(`v1=${'a'.repeat(64)}`)
          .join(','),
      }),
      'signature_invalid',
    ],
    ['an empty item', h({ 'x-svc-signature': `v1=${'a'.repeat(64)},` }), 'signature_invalid'],
    ['milliseconds', h({ 'x-svc-timestamp': `${Date.now()}` }), 'signature_invalid'],
    ['a short nonce', h({ 'x-svc-nonce': 'a'.repeat(15) }), 'signature_invalid'],
    ['a long nonce', h({ 'x-svc-nonce': 'a'.repeat(129) }), 'signature_invalid'],
    ['a nonce of other characters', h({ 'x-svc-nonce': `${'a'.repeat(16)}+` }), 'signature_invalid'],
    ['a key ID that is none', h({ 'x-svc-key-id': 'x' }), 'signature_invalid'],
    ['a malformed signature that is late', h({ 'x-svc-signature': 'v1=x', 'x-svc-timestamp': old }), 'signature_invalid'],
    ['late', h({}, { ...good(), timestamp: old }), 'signature_expired'],
    ['early', h({}, { ...good(), timestamp: String(now() + 303) }), 'signature_expired'],
    ['late with a bad signature', h({ 'x-svc-timestamp': old }), 'signature_expired'],
    ['another key', h({ 'x-svc-signature': hmacSignature(good(), randomBytes(32)) }), 'signature_invalid'],
    ['an unknown key ID', h({ 'x-svc-key-id': newId() }), 'signature_invalid'],
    ['a disabled key', h({ 'x-svc-key-id': disabled }), 'signature_invalid'],
    ['the nonce of a call that passed', signedHeaders({ ...good(), nonce: ok.nonce }), 'signature_replayed'],
  ];
  const before = upstream.seen.length;
  for (const [what, headers, code] of cases) assert.deepEqual(told(await send(ok, { body, headers })), [401, code], what);
  assert.equal(upstream.seen.length, before, 'nothing was forwarded');
  const unknown = await send(ok, { body, headers: h({ 'x-svc-key-id': newId() }) });
  const off = await send(ok, { body, headers: h({ 'x-svc-key-id': disabled }) });
  const vague = (text: string) =>
    text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replaceAll(/_ms":\d+|remaining":\d+|reset":"[^"]*/g, '');
  assert.equal(vague(unknown.body), vague(off.body), 'unknown and disabled IDs have one answer');
});

test('changing any one of the ten lines makes the signature invalid', async () => {
  const { send, lines } = await signed();
  const body = '{"a":1}';
  const base = () => lines({ method: 'POST', nonce: nonce(), query: 'a=1&b=2', body });
  const path = '/orders-api/v1/charges?a=1&b=2';
  assert.equal((await send(base(), { body, path })).status, 200);
  const changes: Partial<Lines>[] = [
    { version: 'v2' },
    { timestamp: String(now() - 1) },
    { nonce: nonce() },
    { host: 'other.example.com' },
    { route: 'orders' },
    { environment: 'production' },
    { method: 'PUT' },
    { path: '/v1/charge' },
    { query: 'b=2&a=1' },
    { body: '0'.repeat(64) },
  ];
  for (const change of changes) {
    const sent = base();
    const headers = { ...signedHeaders(sent), 'x-svc-signature': hmacSignature({ ...sent, ...change }) };
    assert.deepEqual(told(await send(sent, { body, path, headers })), [401, 'signature_invalid'], Object.keys(change)[0]);
  }
  // And the same from the other side: the signature stays, the call changes.
  const other: [string, Ask & { path?: string }][] = [
    ['body', { body: '{"a":2}' }],
    ['method', { body, method: 'PUT' }],
    ['query', { body, path: `${path}&c` }],
    ['an empty query', { body: '', path: '/orders-api/v1/charges?' }],
    ['path', { body, path: '/orders-api/v1//charges?a=1&b=2' }],
    ['encoding', { body, path: '/orders-api/v1/charge%73?a=1&b=2' }],
  ];
  for (const [what, how] of other) {
    const sent = base();
    assert.deepEqual(told(await send(sent, { path, ...how, headers: signedHeaders(sent) })), [401, 'signature_invalid'], what);
  }
});

test('the route counts as it is sent: by its slug, percent-encoded, by its ID or in the header', async () => {
  const { send, lines, route } = await signed();
  const forms: [path: string, reference: string, header?: string][] = [
    ['/orders-api/v1/charges', 'orders-api'],
    ['/orders%2Dapi/v1/charges', 'orders%2Dapi'],
    [`/${route.id}/v1/charges`, route.id],
    ['/api/v1/charges', 'orders-api', 'orders-api'],
    ['/things/v1/charges', 'orders-api', ' orders-api '],
  ];
  for (const [path, reference, header] of forms) {
    const forwarded = header === undefined ? '/v1/charges' : path.replace(/^\/api/, '');
    const sent = lines({ route: reference, path: forwarded });
    const headers = { ...signedHeaders(sent), ...(header && { 'x-svc-route': header }) };
    assert.equal((await send(sent, { path, headers })).status, 200, path);
  }
  const bare = lines({ path: '/' });
  for (const path of ['/orders-api', '/orders-api/']) assert.equal((await send(bare, { path })).status, 200, path);
  const query = lines({ path: '/', query: 'x=1' });
  assert.equal((await send(query, { path: '/orders-api?x=1' })).status, 200);
  const upper = lines();
  assert.equal(
    (await send(upper, { headers: { ...signedHeaders(upper), host: upper.host.toUpperCase() } })).status,
    200,
    'the host has no case',
  );
  assert.equal((await send(upper, { headers: { ...signedHeaders(upper), host: `${upper.host}:8443` } })).status, 200, 'nor a port');
});

test('several signatures are one that matches; a key may be rotated', async () => {
  const { send, lines, w, signer, serve } = await signed();
  const next = randomBytes(32);
  const sent = () => lines({ nonce: nonce() });
  const both = (of: Lines) => ({ ...signedHeaders(of), 'x-svc-signature': `${hmacSignature(of, next)}, ${hmacSignature(of)}` });
  const call = async (headers: (of: Lines) => Record<string, string>) => {
    const of = sent();
    return (await send(of, { headers: headers(of) })).status;
  };
  assert.equal(await call(both), 200);
  const nextId = await addCredential(w, signer.client.id, { hmac: next });
  await serve();
  assert.equal(await call(both), 200);
  assert.equal(await call((of) => signedHeaders(of, { key: next, keyId: nextId })), 200);
  assert.equal(await call((of) => signedHeaders(of, { key: next, keyId: nextId.toUpperCase() })), 200);
  assert.equal(await call((of) => signedHeaders(of, { keyId: nextId })), 401, 'the key that is named is the one that counts');
  await db().client_credentials.delete({ where: { id: signer.id } });
  for (const at of [first, second])
    await until(async () => {
      const of = sent();
      return (await send(of, { at })).status === 401;
    });
  assert.equal(await call(both), 200);
});

test('a credential that is disabled, expires, or whose client is disabled counts no longer, on any gateway', async () => {
  const { send, lines, w, serve } = await signed();
  const ends: [string, (made: Awaited<ReturnType<typeof makeSigner>>) => Promise<unknown>][] = [
    ['disabled', ({ id }) => db().client_credentials.update({ where: { id }, data: { enabled: false } })],
    ['expired', ({ id }) => db().client_credentials.update({ where: { id }, data: { expires_at: new Date() } })],
    ['deleted', ({ id }) => db().client_credentials.delete({ where: { id } })],
    ['client disabled', ({ client }) => db().clients.update({ where: { id: client.id }, data: { enabled: false } })],
    ['client deleted', ({ client }) => db().clients.delete({ where: { id: client.id } })],
  ];
  for (const [what, end] of ends) {
    const key = randomBytes(32);
    const made = await makeSigner(w, { hmac: key });
    await serve();
    const call = async (at: Running) => {
      const of = lines({ nonce: nonce() });
      return (await send(of, { at, headers: signedHeaders(of, { key, keyId: made.id }) })).status;
    };
    assert.equal(await call(first), 200, what);
    await end(made);
    for (const at of [first, second]) await until(async () => (await call(at)) === 401);
  }
});

test('a nonce is used up on all gateways: of a hundred calls at once exactly one passes', async () => {
  const { send, lines, w } = await signed();
  const of = lines({ nonce: nonce() });
  const before = upstream.seen.length;
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => send(of, { at: i % 2 === 0 ? first : second })));
  assert.deepEqual(
    Object.entries(Object.groupBy(answers, ({ headers }) => headers['x-svc-error'] ?? 'passed'))
      .map(([code, all]) => [code, all?.length])
      .sort(),
    [
      ['passed', 1],
      ['signature_replayed', 99],
    ],
  );
  assert.equal(upstream.seen.length, before + 1);
  // Calls without a nonce can't be told apart; the route may require one.
  const plain = lines();
  for (const at of [first, second]) assert.equal((await send(plain, { at })).status, 200);
  const { rows } = await sql().query(
    'select n.expires_at from signature_nonces n join client_credentials c on c.id = n.credential_id where c.tenant_id = $1',
    [w.tenant.id],
  );
  assert.deepEqual(
    rows.map((row: { expires_at: Date }) => row.expires_at.getTime() / 1000),
    [Number(of.timestamp) + 300 + 60],
  );
});

test('a nonce that came with a bad signature is not used up', async () => {
  const { send, lines } = await signed();
  const of = lines({ nonce: nonce() });
  const bad = { ...signedHeaders(of), 'x-svc-signature': hmacSignature(of, randomBytes(32)) };
  assert.deepEqual(told(await send(of, { headers: bad })), [401, 'signature_invalid']);
  assert.equal((await send(of)).status, 200);
});

test('without the store of nonces nothing that brings one passes', async () => {
  const { send, lines } = await signed();
  await sql().query('alter table signature_nonces rename to signature_nonces_away');
  try {
    const of = lines({ nonce: nonce() });
    const answer = await send(of);
    assert.deepEqual(told(answer), [503, 'dependency_unavailable']);
    assert.ok(Number(answer.headers['retry-after']) > 0);
    assert.equal((await send(lines())).status, 200, 'a call without one needs no store');
  } finally {
    await sql().query('alter table signature_nonces_away rename to signature_nonces');
  }
});

test('the tolerance holds to the second, on both sides', async () => {
  const { send, lines } = await signed({ signature_tolerance_sec: 5 });
  for (const [skew, status] of [
    [0, 200],
    [-4, 200],
    [4, 200],
    [-7, 401],
    [7, 401],
  ] as const)
    assert.equal((await send(lines({ timestamp: String(now() + skew) }))).status, status, String(skew));
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
  try {
    for (const [skew, status] of [
      [-5, 200],
      [5, 200],
      [-6, 401],
      [6, 401],
    ] as const)
      assert.equal((await send(lines({ timestamp: String(now() + skew) }))).status, status, `exactly ${skew}`);
  } finally {
    mock.timers.reset();
  }
});

test('a good signature names the client before an address does, and the log says so', async () => {
  const { send, lines, w, signer, host, key } = await signed();
  const scope = { tenant_id: w.tenant.id, sandbox: false };
  const near = await db().clients.create({ data: { id: newId(), ...scope, name: 'by address', ip_address: '198.51.100.0/24' } });
  await db().client_credentials.create({
    data: { id: newId(), ...scope, client_id: near.id, kind: 'ip', ip_range: '198.51.100.0/24', is_primary: true, data: {} },
  });
  await makeRoute(w, 'open', upstream.url);
  await served(first, w);
  const from = { 'x-forwarded-for': '198.51.100.7' };
  const ids: string[] = [];
  const note = (answer: Awaited<ReturnType<typeof ask>>) => ids.push(answer.headers['x-svc-request-id'] ?? '');
  note(await send(lines(), { headers: { ...signedHeaders(lines()), ...from } }));
  note(await send(lines(), { headers: { ...signedHeaders(lines({ path: '/other' })), ...from } }));
  note(await ask(first.port, '', '/open/x', { key, headers: { host, ...from } }));
  await first.flush();
  const rows = await Promise.all(
    ids.map((request_id) => db().request_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, request_id } })),
  );
  assert.deepEqual(
    rows.map((row) => [row.signature_valid, row.identification_method, row.matched_client_id]),
    [
      [true, 'signature_hmac', signer.client.id],
      [false, 'ip', near.id],
      [null, 'ip', near.id],
    ],
  );
  assert.ok(await db().credential_usage.findFirst({ where: { id: signer.id } }), 'last matched');
  assert.ok(!upstream.seen.at(-2)?.rawHeaders.some((name) => /^x-svc-/i.test(name)), 'none of our headers goes on');
});

test('where clients are required, only assigned ones can sign, and a signature alone admits', async () => {
  const { send, lines, w, route, signer, serve, host } = await signed({ requires_clients: true });
  await makeRoute(w, 'plain', upstream.url, { requires_clients: true });
  await serve();
  const unsigned = { headers: {} };
  assert.deepEqual(told(await send(lines())), [401, 'signature_invalid'], 'a key, and a client that is not assigned');
  await assign(w, route, signer.client.id);
  await serve();
  assert.equal((await send(lines())).status, 200, 'a key and a signature');
  assert.deepEqual(told(await send(lines(), unsigned)), [401, 'signature_required']);
  const stranger = (how: Ask, path = '/orders-api/v1/charges') => ask(first.port, '', path, { ...how, headers: { host, ...how.headers } });
  assert.equal((await stranger({ headers: signedHeaders(lines()) })).status, 200, 'a signature alone');
  const once = lines({ nonce: nonce() });
  assert.equal((await stranger({ headers: signedHeaders(once) })).status, 200);
  assert.deepEqual(told(await stranger({ headers: signedHeaders(once) })), [401, 'signature_replayed'], 'told to who has the key');
  // Everybody else hears the same of every route, whether it exists or not.
  const bad: Record<string, string>[] = [
    {},
    { 'x-svc-signature': 'v1=x' },
    { 'x-svc-signature': `v1=${'a'.repeat(64)}` },
    { ...signedHeaders(lines({ timestamp: '1000000000' })) },
    { ...signedHeaders(lines({ path: '/else' })) },
    { 'x-signature': 'a'.repeat(64), 'x-timestamp': String(now()) },
    { 'signature-input': 'a=("@method");created=1', signature: 'a=:AA==:' },
  ];
  const opaque = ({ status, raw, body }: Awaited<ReturnType<typeof ask>>) =>
    JSON.stringify([status, raw.filter((_, i) => i % 2 === 0), body.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|"latency_ms":\d+/g, '')]);
  for (const headers of bad) {
    const answers = new Set<string>();
    for (const path of ['/orders-api/v1/charges', '/plain/x', '/never/x', '/'])
      for (const body of [undefined, '{"a":1}'])
        answers.add(
          opaque(
            await stranger(
              {
                headers: { 'x-forwarded-for': `203.0.113.${bad.indexOf(headers)}`, ...headers },
                ...(body ? { method: 'POST', body } : { method: 'POST' }),
              },
              path,
            ),
          ),
        );
    assert.equal(answers.size, 1, JSON.stringify(headers));
    assert.match([...answers][0] ?? '', /authentication_required/);
  }
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { proxy_require_credential: true } } });
  await until(async () => (await stranger({ headers: signedHeaders(lines()) })).status === 401);
  assert.equal((await send(lines())).status, 200);
});

test('a stored secret signs with its value of the environment, and stops with it', async () => {
  const { send, lines, w, serve } = await signed();
  const value = `a shared secret ${randomBytes(16).toString('hex')}`;
  const secret = await makeSecret(w, 'HMAC', { staging: value });
  const { id } = await makeSigner(w, { secret_id: secret.id });
  const call = async () => {
    await serve();
    const of = lines();
    return (await send(of, { headers: signedHeaders(of, { key: Buffer.from(value), keyId: id }) })).status;
  };
  assert.equal(await call(), 401, 'it has no value in production');
  await db().secret_environments.updateMany({ where: { secret_id: secret.id }, data: { environment_name: 'production' } });
  assert.equal(await call(), 200);
  await db().secrets.update({ where: { id: secret.id }, data: { expires_at: new Date(Date.now() - 1_000) } });
  assert.equal(await call(), 200, 'expiry alone warns');
  await db().secrets.update({ where: { id: secret.id }, data: { strict_expiry_enforcement: true } });
  assert.equal(await call(), 401);
});

test('without a key ID the twenty oldest credentials are tried', async () => {
  const { send, lines, w, signer, serve } = await signed();
  const many = await makeSigner(w, { hmac: randomBytes(32) });
  for (let i = 0; i < 18; i++) await addCredential(w, many.client.id, { hmac: randomBytes(32) });
  const late = randomBytes(32);
  const id = await addCredential(w, many.client.id, { hmac: late });
  await serve();
  assert.ok(signer.id);
  const of = lines();
  assert.equal((await send(of)).status, 200);
  assert.deepEqual(told(await send(of, { headers: signedHeaders(of, { key: late }) })), [401, 'signature_invalid']);
  assert.equal((await send(of, { headers: signedHeaders(of, { key: late, keyId: id }) })).status, 200);
});

test('bodies: read once up to 10 MiB, chunked or not, and rewritten only after they were judged', async () => {
  const { send, lines, w, serve, route } = await signed();
  const big = Buffer.alloc(10 * 1024 * 1024, 'x');
  const post = (body: Buffer | string, more: Partial<Parameters<typeof linesOf>[0]> = {}) => lines({ method: 'POST', body, ...more });
  assert.equal((await send(post(big), { body: big })).status, 200);
  assert.equal(upstream.seen.at(-1)?.body.length, big.length);
  const longer = Buffer.concat([big, Buffer.from('x')]);
  assert.deepEqual(told(await send(post(longer), { body: longer })), [413, 'payload_too_large']);
  const text = '{"amount":1,"token":"{{secret:PLACED}}"}';
  const chunked = post(text);
  assert.equal(
    (
      await send(chunked, {
        body: text,
        headers: { ...signedHeaders(chunked), 'transfer-encoding': 'chunked', 'content-length': [] as never },
      })
    ).status,
    200,
  );
  await makeSecret(w, 'PLACED', { production: 'the-value' });
  await db().route_environment_configs.updateMany({ where: { route_id: route.id }, data: { inject_body_json: { via: 'gw' } } });
  await serve();
  const of = post(text);
  assert.equal((await send(of, { body: text, headers: { ...signedHeaders(of), 'content-type': 'application/json' } })).status, 200);
  assert.equal(upstream.seen.at(-1)?.body, '{"amount":1,"token":"the-value","via":"gw"}');
  assert.equal(
    first.runtime.bodies.hold({ snapshot: { tenant: { id: w.tenant.id } }, bufferedBytes: 0 } as never, 128 * 1024 * 1024),
    true,
    'all memory was given back',
  );
});

test('a method may require a signature where the environment does not', async () => {
  const { send, lines } = await signed({
    require_signature: false,
    use_method_specific_configs: true,
    method_configs: [{ method: 'DELETE', require_signature: true }],
  });
  assert.equal((await send(lines(), { headers: {} })).status, 200);
  assert.deepEqual(told(await send(lines({ method: 'DELETE' }), { headers: {} })), [401, 'signature_required']);
  assert.equal((await send(lines({ method: 'DELETE' }))).status, 200);
});

test('an Ed25519 credential verifies with its own signatures only', async () => {
  const { send, lines, w, serve } = await signed();
  const { id } = await makeSigner(w, { public_key: ED_PUBLIC });
  await serve();
  const of = lines();
  const headers = { ...signedHeaders(of, { keyId: id }), 'x-svc-signature': edSignature(of) };
  assert.equal((await send(of, { headers })).status, 200);
  assert.equal((await send(of, { headers: signedHeaders(of, { keyId: id }) })).status, 401, 'an HMAC is none');
  const flipped = edSignature(of).replace(/.$/, (c) => (c === 'A' ? 'Q' : 'A'));
  assert.equal((await send(of, { headers: { ...headers, 'x-svc-signature': flipped } })).status, 401);
});
