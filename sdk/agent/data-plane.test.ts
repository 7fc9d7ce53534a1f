import assert from 'node:assert/strict';
import http, { type IncomingMessage } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { type ServedCall, startDataPlane } from './data-plane.ts';
import type { Bundle, ServedRoute, WrappedSecret } from './protocol.ts';

// The data plane of modes server and proxy on real sockets. Its bundle is given as opened: how bundles are verified and opened has tests of its own.

const seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
const target = http.createServer(async (req, res) => {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  seen.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks).toString() });
  if (req.url?.startsWith('/v1/slow')) return;
  res
    .writeHead(201, { 'x-svc-origin': 'a claim of the target', 'x-own': 'kept', connection: 'x-hop', 'x-hop': '1' })
    .end('from the target');
});
await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
const at = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
after(() => {
  target.close();
  target.closeAllConnections();
});

const routeOf = (slug: string, more: Partial<ServedRoute> = {}): ServedRoute => ({
  ...{ id: `id-${slug}`, name: slug, slug, environment: 'production', target_base_url: `${at}/v1`, allowed_methods: null },
  ...{ requires_clients: false, client_ids: [], ip_allowlist: [], rate_limit: null, timeouts: { timeout_ms: 30_000 }, unserved: null },
  injection_rules: { headers: { Authorization: 'Bearer {{secret:KEY}}' }, query: {} },
  ...more,
});
const secretOf = (name: string, environment: string, more: Partial<WrappedSecret> = {}): WrappedSecret => ({
  ...{
    id: `secret-${name.toLowerCase()}`,
    name,
    environment,
    version: 1,
    alg: '',
    wrapped_cek: '',
    wrap_nonce: '',
    ciphertext: '',
    nonce: '',
    aad: '',
  },
  allowed_hosts: null,
  ...more,
});
const VALUES: Record<string, string> = { 'KEY production': 'swordfish', 'KEY staging': 'another', 'TWO production': 'two\r\nX-Evil: 1' };

function bundleOf(routes: ServedRoute[], more: Partial<Bundle> = {}): Bundle {
  return {
    ...{
      v: 1,
      agent_id: 'a',
      tenant_id: 'tenant-1',
      sandbox: false,
      mode: 'server',
      window: '',
      issued_at: '',
      expires_at: '',
      etag: '',
      sig: '',
    },
    routes,
    clients: [
      { id: 'c1', name: 'near', ip_ranges: ['127.0.0.0/8'] },
      { id: 'c2', name: 'far', ip_ranges: ['203.0.113.0/24', '2001:db8::/32'] },
    ],
    secrets: [
      secretOf('KEY', 'staging'),
      secretOf('KEY', 'production'),
      secretOf('TWO', 'production'),
      secretOf('PINNED', 'production', { allowed_hosts: ['api.example.com'] }),
    ],
    limits: { requests_per_second: null, offline_grace_hours: 0 },
    content: '',
    ...more,
  };
}

async function serving(bundle: Bundle | undefined, callerKey?: string) {
  const calls: ServedCall[] = [];
  const counters = { requests: 0, errors: 0, intercepted: 0, passed: 0, durations: [] };
  const held = { bundle };
  const plane = await startDataPlane(
    {
      ...{ bundle: () => held.bundle, callerKey, counters, note: (call) => void calls.push(call) },
      open: ({ name, environment }) => VALUES[`${name} ${environment}`] ?? assert.fail(`${name} was opened`),
    },
    '127.0.0.1',
    0,
  );
  after(() => plane.close());
  const call = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`http://127.0.0.1:${plane.port}${path}`, { redirect: 'manual', ...init });
    const text = await answer.text();
    return { status: answer.status, type: answer.headers.get('x-svc-error'), headers: answer.headers, text };
  };
  return { plane, call, calls, counters, held };
}
const last = () => seen.at(-1);

test('a call of a route reaches its target with the route’s secret, path, query and body byte for byte', async () => {
  const { call, calls } = await serving(bundleOf([routeOf('pay')]));
  const answer = await call('/pay/charges/a%20b?x=1&x=2&y', {
    method: 'POST',
    body: '{"n": 1.0}',
    headers: { authorization: 'Bearer mine', 'x-svc-environment': 'staging', 'content-type': 'application/json' },
  });
  assert.deepEqual([answer.status, answer.text], [201, 'from the target']);
  assert.deepEqual([last()?.method, last()?.url, last()?.body], ['POST', '/v1/charges/a%20b?x=1&x=2&y', '{"n": 1.0}']);
  assert.equal(last()?.headers.authorization, 'Bearer swordfish');
  assert.deepEqual([last()?.headers['x-svc-environment'], last()?.headers.host], [undefined, new URL(at).host]);
  // What belongs to the connection or to the service doesn't come back from a target.
  assert.deepEqual([answer.headers.get('x-own'), answer.headers.get('x-svc-origin'), answer.headers.get('x-hop')], ['kept', null, null]);
  const [{ duration_ms, at: when, ...row } = assert.fail()] = calls;
  assert.deepEqual(row, {
    ...{
      method: 'POST',
      path: '/pay/charges/a%20b',
      host: '127.0.0.1',
      status: 201,
      route_id: 'id-pay',
      environment: 'production',
      error: null,
    },
  });
  assert.ok(duration_ms >= 0 && !Number.isNaN(Date.parse(when)));
  for (const path of ['/pay', '/pay?a=1']) assert.equal((await call(path)).status, 201);
  assert.equal(last()?.url, '/v1?a=1');
});

test('what a route sets takes the place of what a caller sends under that name, however it is spelt', async () => {
  const rules = {
    headers: { 'X-Key': '{{ secret_id:secret-key }} of {{route.slug}}' },
    query: { token: '{{secret:KEY}}', on: '{{environment}}' },
  };
  const { call } = await serving(bundleOf([routeOf('pay', { injection_rules: rules })]));
  await call('/pay/x?token=mine&a=1&to%6Ben=mine&tok=1', { headers: { 'x-key': 'mine', x_key: 'mine' } });
  assert.equal(last()?.url, '/v1/x?a=1&tok=1&on=production&token=swordfish');
  assert.deepEqual([last()?.headers['x-key'], last()?.headers.x_key], ['swordfish of pay', undefined]);
});

test('without a bundle, without a route, and for what only the service can do nothing is sent', async () => {
  const pinned = { headers: { 'X-Key': '{{secret:PINNED}}' }, query: {} };
  const split = { headers: { 'X-Key': '{{secret:TWO}}' }, query: {} };
  const missing = { headers: { 'X-Key': '{{secret:NOBODY}}' }, query: {} };
  const { call, held, calls, counters } = await serving(
    bundleOf([
      ...[routeOf('signed', { unserved: 'require_signature' }), routeOf('pinned', { injection_rules: pinned })],
      ...[routeOf('split', { injection_rules: split }), routeOf('missing', { injection_rules: missing })],
      ...[
        routeOf('meta', { target_base_url: 'http://169.254.169.254/latest' }),
        routeOf('mapped', { target_base_url: 'http://[::ffff:169.254.169.254]/' }),
      ],
      ...[routeOf('away', { target_base_url: 'http://127.0.0.1:9' }), routeOf('slow', { timeouts: { timeout_ms: 300 } })],
    ]),
  );
  const before = seen.length;
  for (const [path, status, type] of [
    ['/nowhere', 404, 'route_not_found'],
    ['/signed/x', 424, 'route_misconfigured'],
    ['/pinned/x', 403, 'secret_host_not_allowed'],
    ['/split/x', 424, 'secret_invalid_for_header'],
    ['/missing/x', 424, 'secret_not_found'],
    ['/meta/x', 403, 'upstream_not_allowed'],
    ['/mapped/x', 403, 'upstream_not_allowed'],
    ['/away/x', 502, 'upstream_unreachable'],
  ] as const) {
    const answer = await call(path);
    assert.deepEqual([answer.status, answer.type], [status, type], path);
    assert.doesNotMatch(answer.text, /swordfish|X-Evil/);
  }
  assert.equal(seen.length, before);
  assert.equal((await call('/slow/slow')).type, 'upstream_timeout');
  held.bundle = undefined;
  const closed = await call('/pay');
  assert.deepEqual([closed.status, closed.type], [503, 'bundle_expired']);
  assert.deepEqual([counters.requests, counters.errors, calls.length], [10, 10, 10]);
});

test('paths that two readers could understand differently are refused', async () => {
  const { plane } = await serving(bundleOf([routeOf('pay')]));
  const before = seen.length;
  for (const path of [
    '/pay/../admin',
    '/pay/%2e%2e/admin',
    '/pay/.%2E',
    '/pay/a%2fb',
    '/pay/a%5cb',
    '/pay/a%00',
    '/pay/a\\b',
    '/pay/é',
    'pay',
    'http://other/pay',
  ]) {
    const socket = net.connect(plane.port, '127.0.0.1');
    socket.write(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 'latin1'));
    let text = '';
    for await (const chunk of socket) text += chunk;
    assert.match(text, /^HTTP\/1\.1 400 |^$/, path);
  }
  assert.equal(seen.length, before);
});

test('a key for callers is asked for, and methods, addresses, clients and limits hold', async () => {
  const key = 'a key of at least 24 characters';
  const { call } = await serving(
    bundleOf([
      ...[routeOf('get', { allowed_methods: ['GET'] }), routeOf('near', { requires_clients: true, client_ids: ['c1'] })],
      ...[routeOf('far', { requires_clients: true, client_ids: ['c2'] }), routeOf('none', { requires_clients: true })],
      ...[
        routeOf('listed', { ip_allowlist: ['203.0.113.7'] }),
        routeOf('few', { rate_limit: { requests: 2, window_sec: 3_600, per_client: false } }),
      ],
    ]),
    key,
  );
  const headers = { 'x-svc-key': key };
  assert.deepEqual(
    [(await call('/get')).type, (await call('/get', { headers: { 'x-svc-key': `${key}.` } })).type],
    ['invalid_api_key', 'invalid_api_key'],
  );
  assert.equal((await call('/get', { headers })).status, 201);
  assert.equal(last()?.headers['x-svc-key'], undefined);
  assert.deepEqual(
    [
      (await call('/get', { headers, method: 'POST' })).type,
      (await call('/near', { headers })).status,
      (await call('/far', { headers })).type,
      (await call('/none', { headers })).type,
      (await call('/listed', { headers })).type,
    ],
    ['method_not_allowed', 201, 'client_not_authorized', 'client_not_authorized', 'ip_not_allowed'],
  );
  const few = [];
  for (let nth = 0; nth < 3; nth++) few.push((await call('/few', { headers })).status);
  assert.deepEqual(few, [201, 201, 429]);
});
