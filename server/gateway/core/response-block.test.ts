import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Answer, type Ask, ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
const upstream = await startUpstream((req, res) => {
  const status = Number(/\/status\/(\d+)/.exec(req.url ?? '')?.[1] ?? 200);
  if (req.url?.endsWith('/never')) return;
  if (req.url?.endsWith('/stream')) return void res.writeHead(200).end('{}');
  res.writeHead(status, { 'content-length': 2 }).end('{}');
});
const nobody = await new Promise<number>((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    server.close(() => resolve(port));
  });
});
const w = await workspace({ plan: 'free' });
await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'api_calls', value: 1_000 } });
const limit = { rate_limit_enabled: true, rate_limit_requests: 100, rate_limit_window_sec: 3_600 };
await makeRoute(w, 'all', upstream.url, limit);
await makeRoute(w, 'silent', upstream.url, { ...limit, timeout_ms: 500 });
await makeRoute(w, 'plain', upstream.url);
await makeRoute(w, 'gone', `http://127.0.0.1:${nobody}`, limit);
await makeRoute(w, 'one', upstream.url, { ...limit, rate_limit_requests: 1 });
await makeRoute(w, 'tried', upstream.url, {}, { space: 'test' });
const live = await w.key();
const sandbox = await w.key('test');
await served(running, w);

/** The block of an answer, in its order: which headers, and the values of those that tell who answered. */
async function block(path: string, options: Ask = {}, host = w.tenant.slug): Promise<[Answer, string[]]> {
  const answer = await ask(running.port, host, path, options);
  const names = answer.raw.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  const OURS = /^(?:x-svc-|x-ratelimit-|x-api-usage-|server-timing|x-request-id|retry-after|www-authenticate|allow$)/;
  return [answer, names.filter((name) => OURS.test(name))];
}

const HEAD = ['x-svc-request-id', 'x-svc-origin'];
const TIME = ['x-svc-latency-ms', 'x-svc-latency-phase'];
const MEASURED = ['x-svc-upstream-ms', 'x-svc-overhead-ms'];
const ROUTE = ['x-svc-ratelimit-route', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];
const TENANT = ['x-svc-ratelimit-tenant', 'x-ratelimit-tenant-limit', 'x-ratelimit-tenant-remaining', 'x-ratelimit-tenant-reset'];
const MONTH = ['x-svc-ratelimit-monthly', 'x-api-usage-limit', 'x-api-usage-used', 'x-api-usage-remaining'];
const END = ['server-timing', 'x-request-id'];
const PLANE = 'x-svc-plane';

test('an answer of the upstream carries its status, the times and every limit that was asked, whatever its status', async () => {
  const key = live.text;
  for (const status of [200, 401, 404, 429, 500, 503]) {
    const [answer, names] = await block(`/all/status/${status}`, { key });
    assert.deepEqual(
      names,
      [...HEAD, 'x-svc-upstream-status', PLANE, ...TIME, ...MEASURED, ...ROUTE, ...TENANT, ...MONTH, ...END],
      String(status),
    );
    assert.deepEqual(
      [answer.status, answer.headers['x-svc-origin'], answer.headers['x-svc-upstream-status'], answer.headers['x-svc-latency-phase']],
      [status, 'upstream', String(status), 'complete'],
    );
  }
  const [, unlimited] = await block('/plain', { key });
  assert.deepEqual(unlimited, [...HEAD, 'x-svc-upstream-status', PLANE, ...TIME, ...MEASURED, ...TENANT, ...MONTH, ...END]);
  const [streamed, names] = await block('/plain/stream', { key });
  assert.deepEqual([streamed.headers['x-svc-latency-phase'], names], ['first-byte', unlimited]);
  const [tried, inTest] = await block('/tried', { key: sandbox.text }, `sandbox-${w.tenant.slug}`);
  assert.deepEqual(inTest, [...HEAD, 'x-svc-upstream-status', PLANE, 'x-svc-sandbox', ...TIME, ...MEASURED, ...TENANT, ...END]);
  assert.equal(tried.headers['x-svc-sandbox'], 'true');
});

test('a refusal names itself, never an upstream status, and shows the limits it came past', async () => {
  const key = live.text;
  const from = (more: string[], middle: string[] = []) => [...HEAD, 'x-svc-error', PLANE, ...middle, ...TIME, ...more, ...END];
  await block('/one', { key });
  const table: [what: string, path: string, options: Ask, status: number, code: string, names: string[], service: string[] | undefined][] =
    [
      ['nobody', '/all', {}, 401, 'authentication_required', [...from([]), 'www-authenticate'], undefined],
      ['a wrong key', '/all', { key: 'tk_live_x' }, 401, 'invalid_api_key', [...from([]), 'www-authenticate'], undefined],
      ['the other space', '/all', { key: sandbox.text }, 403, 'wrong_key_type', from([]), undefined],
      ['no such route', '/none', { key }, 404, 'route_not_found', from([]), undefined],
      ['a bad path', '/all/%2e%2e', { key }, 400, 'invalid_path', from([]), undefined],
      ['a method', '/all', { key, method: 'PURGE' }, 405, 'method_not_allowed', [...from([]), 'allow'], undefined],
      ['a loop', '/all', { key, headers: { via: '1.1 svc-gateway' } }, 508, 'loop_detected', from(TENANT), ['tenant']],
      [
        'the route’s limit',
        '/one',
        { key },
        429,
        'route_rate_limit_exceeded',
        [...from([...ROUTE, ...TENANT, ...MONTH]), 'retry-after'],
        ['route', 'tenant', 'monthly'],
      ],
      [
        'no upstream',
        '/gone',
        { key },
        502,
        'upstream_unreachable',
        from([...MEASURED, ...ROUTE, ...TENANT, ...MONTH]),
        ['route', 'tenant', 'monthly'],
      ],
      [
        'a silent upstream',
        '/silent/never',
        { key },
        504,
        'upstream_timeout',
        from([...MEASURED, ...ROUTE, ...TENANT, ...MONTH]),
        ['route', 'tenant', 'monthly'],
      ],
    ];
  for (const [what, path, options, status, code, expected, limits] of table) {
    const [answer, names] = await block(path, options);
    assert.deepEqual([answer.status, answer.headers['x-svc-error'], answer.headers['x-svc-origin']], [status, code, 'service'], what);
    assert.deepEqual(names, expected, what);
    const { error, service } = JSON.parse(answer.body);
    const id = answer.headers['x-svc-request-id'];
    assert.deepEqual(Object.keys(error), ['type', 'message', 'request_id'], what);
    assert.equal(error.type, status === 429 ? 'rate_limit_exceeded' : code);
    assert.deepEqual([error.request_id, service.request_id, answer.headers['x-request-id']], [id, id, id], what);
    assert.deepEqual(
      [service.origin, service.plane, service.latency_phase, service.code, service.message],
      ['service', 'route', 'complete', code, error.message],
    );
    assert.equal(String(service.latency_ms), answer.headers['x-svc-latency-ms']);
    assert.deepEqual(service.rate_limit && Object.keys(service.rate_limit), limits, what);
    assert.equal(service.rate_limit?.monthly && 'reset' in service.rate_limit.monthly, limits?.includes('monthly') ? false : undefined);
  }
  const [head] = await block('/none', { key, method: 'HEAD' });
  assert.deepEqual([head.status, head.body, head.headers['x-svc-error']], [404, '', 'route_not_found']);
});
