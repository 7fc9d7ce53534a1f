import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
const w = await workspace();
const { text: key } = await w.key();
let status = 200;
const upstream = await startUpstream((_, res) => res.writeHead(status).end('x'));
const call = (slug: string) => ask(running.port, w.tenant.slug, `/${slug}`, { key });
const breaker = { circuit_breaker_failures: 3, circuit_breaker_open_sec: 30 };

test('after so many failures in a row calls are refused, one tries again after the pause, and its success ends it', async (t) => {
  const route = await makeRoute(w, 'breaks', upstream.url, {
    ...breaker,
    rate_limit_enabled: true,
    rate_limit_requests: 100,
    rate_limit_window_sec: 60,
  });
  await served(running, w);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  for (const next of [503, 503, 200, 500, 502, 504, 503]) {
    status = next;
    assert.equal((await call('breaks')).headers['x-svc-upstream-status'], String(next));
  }
  const asked = upstream.seen.length;
  const refused = await call('breaks');
  assert.equal(refused.status, 503);
  assert.equal(refused.headers['x-svc-error'], 'circuit_open');
  assert.equal(refused.headers['x-svc-origin'], 'service');
  assert.equal(refused.headers['retry-after'], '30');
  assert.equal(refused.headers['x-svc-ratelimit-route'], undefined, 'it counts against no limit');
  assert.equal(upstream.seen.length, asked);

  t.mock.timers.tick(30_000);
  const all = await Promise.all(Array.from({ length: 10 }, () => call('breaks')));
  assert.equal(upstream.seen.length, asked + 1, 'one call tries');
  assert.equal(all.filter((answer) => answer.headers['x-svc-error'] === 'circuit_open').length, 9);
  assert.equal((await call('breaks')).headers['x-svc-error'], 'circuit_open', 'its failure opened it anew');

  t.mock.timers.tick(30_000);
  status = 200;
  assert.equal((await call('breaks')).status, 200);
  assert.equal((await call('breaks')).status, 200);
  await running.flush();
  const rows = await db().request_logs.findMany({ where: { route_id: route.id, error: 'circuit_open' } });
  assert.equal(rows.length, 11);
});

test('connections that fail count, answers that are errors of the caller do not, and other routes go on', async () => {
  await makeRoute(w, 'dead', 'http://127.0.0.1:9', breaker);
  await makeRoute(w, 'healthy', upstream.url, breaker);
  await makeRoute(w, 'without', 'http://127.0.0.1:9');
  await served(running, w);
  for (let i = 0; i < 3; i++) assert.equal((await call('dead')).headers['x-svc-error'], 'upstream_unreachable');
  assert.equal((await call('dead')).headers['x-svc-error'], 'circuit_open');
  status = 404;
  for (let i = 0; i < 5; i++) assert.equal((await call('healthy')).status, 404);
  for (let i = 0; i < 5; i++) assert.equal((await call('without')).headers['x-svc-error'], 'upstream_unreachable');
});

/** How an upstream can fail one call. A URL: nothing answers there. */
const FAILURES: Readonly<Record<string, { at?: string; answer?: (req: IncomingMessage, res: ServerResponse) => void }>> = {
  'a refused connection': { at: 'http://127.0.0.1:9' },
  'a name that does not resolve': { at: 'http://nowhere.invalid' },
  'no TLS': { answer: (_, res) => res.end('plain') },
  'a reset': { answer: (req) => req.socket.destroy() },
  silence: { answer: () => undefined },
  'something that is not HTTP': { answer: (req) => req.socket.end('nonsense\r\n\r\n') },
  'an answer that breaks off': {
    answer: (_, res) => {
      res.writeHead(200, { 'content-length': 10_000_000 });
      res.write('x'.repeat(200_000), () => setImmediate(() => res.destroy()));
    },
  },
  'a status': { answer: (_, res) => res.writeHead(503).end() },
};

for (const [name, { at, answer }] of Object.entries(FAILURES))
  test(`${name} opens a circuit, and opens a half-open one anew`, async (t) => {
    const { url } = at === undefined ? await startUpstream(answer) : { url: at };
    const slug = name.replaceAll(' ', '-').toLowerCase();
    await makeRoute(w, slug, name === 'no TLS' ? url.replace('http:', 'https:') : url, {
      ...breaker,
      circuit_breaker_failures: 1,
      timeout_ms: 1_000,
    });
    await served(running, w);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    for (let n = 0; n < 2; n++) {
      const failed = await call(slug).catch(() => null);
      assert.notEqual(failed?.headers['x-svc-error'], 'circuit_open', `call ${n}`);
      await until(async () => (await call(slug).catch(() => null))?.headers['x-svc-error'] === 'circuit_open', `call ${n}`);
      t.mock.timers.tick(30_000);
    }
  });

test('a call that we refuse before it leaves says nothing of a half-open circuit, and the next one tries at once', async (t) => {
  const { id, references } = await withSecret();
  status = 503;
  await makeRoute(w, 'refuses', upstream.url, { ...breaker, circuit_breaker_failures: 1, inject_headers_json: references });
  await served(running, w);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  await call('refuses');
  assert.equal((await call('refuses')).headers['x-svc-error'], 'circuit_open');
  await db().secret_environments.updateMany({ where: { secret_id: id }, data: { current_value_id: null } });
  await served(running, w);
  t.mock.timers.tick(30_000);
  for (let n = 0; n < 3; n++) assert.equal((await call('refuses')).headers['x-svc-error'], 'secret_environment_missing');
});

async function withSecret() {
  const environment = await db().environments.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox: false, is_default: true } });
  const { id } = await makeSecret(w, 'CIRCUIT_KEY', { [environment.name]: 'sk-circuit-0123456789' });
  return { id, references: { 'X-Key': `{{secret_id:${id}}}` } };
}
