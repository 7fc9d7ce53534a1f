import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { exchange } from './core/raw-client.fixture.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from './gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
const { port } = running;

test('the worked example: secrets injected, block returned, nothing of ours forwarded', async () => {
  const w = await workspace();
  const upstream = await startUpstream((_, res) =>
    res.writeHead(201, { 'content-type': 'application/json', 'content-length': 2 }).end('{}'),
  );
  const secret = await makeSecret(w, 'PROCESSOR_TOKEN', { production: 'sk-live-"quoted"' });
  await makeRoute(w, 'orders-api', `${upstream.url}/api`, {
    inject_headers_json: { Authorization: `Bearer {{secret_id:${secret.id}}}` },
    inject_body_json: { meta: { via: 'gw' } },
    rate_limit_enabled: true,
    rate_limit_requests: 100,
    rate_limit_window_sec: 60,
  });
  const { text: key } = await w.key();
  await served(running, w);
  const answer = await ask(port, w.tenant.slug, '/orders-api/v1/charges?limit=10', {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json', 'x-svc-client-origin': 'sdk-intercept' },
    body: '{"amount":2000.10,"big":12345678901234567890,"token":"{{secret:PROCESSOR_TOKEN}}"}',
  });
  assert.equal(answer.status, 201, answer.body);
  const seen = upstream.seen[0];
  assert.equal(seen?.url, '/api/v1/charges?limit=10');
  assert.equal(seen?.headers.authorization, 'Bearer sk-live-"quoted"');
  assert.equal(seen?.body, '{"amount":2000.10,"big":12345678901234567890,"token":"sk-live-\\"quoted\\"","meta":{"via":"gw"}}');
  assert.equal(seen?.headers.via, '1.1 svc-gateway');
  assert.equal(seen?.headers.host, `127.0.0.1:${upstream.port}`);
  assert.deepEqual(
    Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith('x-svc')),
    [],
  );
  const { headers } = answer;
  assert.match(headers['x-svc-request-id'] ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(headers['x-svc-origin'], 'upstream');
  assert.equal(headers['x-svc-upstream-status'], '201');
  assert.equal(headers['x-svc-plane'], 'route');
  assert.equal(headers['x-svc-latency-phase'], 'complete');
  assert.match(headers['x-svc-ratelimit-route'] ?? '', /^limit=100, remaining=99, reset=2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.match(headers['server-timing'] ?? '', /^service;dur=\d+, service_upstream;dur=\d+$/);
  assert.equal(headers['x-request-id'], headers['x-svc-request-id']);
});

test('SCIM at a host that is nobody’s, such as the address of the machine, gets the answer of every host without SCIM', async () => {
  for (const host of ['203.0.113.9', 'elsewhere.example'])
    for (const credential of ['', 'Authorization: Bearer scim_x\r\n']) {
      const answer = await exchange(port, `GET /scim/v2/Users HTTP/1.1\r\nHost: ${host}\r\n${credential}\r\n`);
      assert.deepEqual([answer.status, answer.body], [404, '{"schemas":["urn:ietf:params:scim:api:messages:2.0:Error"],"status":"404"}']);
      assert.equal(answer.headers['content-type'], 'application/scim+json; charset=utf-8');
    }
});

test('a gateway that is about to stop tells load balancers, ends connections with its answers and serves on', async () => {
  const leaving = await startGateway();
  const { port } = leaving;
  const probe = (path: string) => ask(port, 'acme', path, { headers: { connection: 'keep-alive' } });
  assert.deepEqual([(await probe('/readyz')).status, (await probe('/readyz')).headers.connection], [200, 'keep-alive']);
  const w = await workspace();
  const upstream = await startUpstream();
  await makeRoute(w, 'orders', upstream.url);
  const { text: key } = await w.key();
  await served(leaving, w);
  leaving.gateway.leave();
  const { status, headers, body } = await probe('/readyz');
  assert.deepEqual([status, headers.connection, JSON.parse(body)], [503, 'close', { status: 'stopping' }]);
  assert.equal((await probe('/healthz')).status, 200);
  const call = await ask(port, w.tenant.slug, '/orders', { key, headers: { connection: 'keep-alive' } });
  assert.deepEqual([call.status, call.headers.connection], [200, 'close']);
});

test('a web process that hangs delays no answer about calls, which says so a moment later', async (t) => {
  mkdirSync(path.dirname(env.WEB_SOCKET), { recursive: true });
  const web = createServer({ requireHostHeader: false }, () => {}); // takes requests and answers none
  await new Promise<void>((resolve) => web.listen(env.WEB_SOCKET, resolve));
  t.after(() => {
    web.close();
    web.closeAllConnections();
  });
  const gateway = await startGateway();
  const told = async () => {
    const { status, body } = await ask(gateway.port, 'acme', '/readyz');
    return [status, (JSON.parse(body) as { status: string }).status];
  };
  // An answer that waited for web would know that it's away.
  assert.deepEqual(await told(), [200, 'ok']);
  await until(async () => (await told())[1] === 'degraded');
  assert.equal((await told())[0], 200);
});
