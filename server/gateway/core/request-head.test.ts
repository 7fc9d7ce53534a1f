import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { startGateway } from '../gateway.fixture.ts';
import { exchange } from './raw-client.fixture.ts';
import { inspectHead } from './request-head.ts';

await testDatabase();
const running = await startGateway();
const { port: apiPort } = await running.gateway.listen('api', 0, '127.0.0.1');
const { port: adminPort } = await running.gateway.listen('admin', 0, '127.0.0.1');

const judged = (url: string, rawHeaders: string[]) => {
  const verdict = inspectHead({ url, rawHeaders, httpVersionMajor: 1, httpVersionMinor: 1 } as IncomingMessage);
  return verdict.ok ? 'ok' : verdict.status;
};
const HOST = ['Host', 'a.test'];

test('the limits of a head hold at their last byte: 16 KiB of target, 200 fields, 32 KiB of header lines', () => {
  assert.equal(judged(`/${'x'.repeat(16 * 1024 - 1)}`, HOST), 'ok');
  assert.equal(judged(`/${'x'.repeat(16 * 1024)}`, HOST), 414);
  const fields = (n: number) => [...HOST, ...Array.from({ length: n - 1 }, () => ['x', 'y']).flat()];
  assert.equal(judged('/', fields(200)), 'ok');
  assert.equal(judged('/', fields(201)), 431);
  // `Host: a.test\r\n` is 14 bytes on the wire, `A: …\r\n` 5 and its value.
  const lines = (bytes: number) => [...HOST, 'A', 'x'.repeat(bytes - 14 - 5)];
  assert.equal(judged('/', lines(32 * 1024)), 'ok');
  assert.equal(judged('/', lines(32 * 1024 + 1)), 431);
});

test('checks of load balancers are answered without a Host as HTTP/1.0 sends them, and nothing else is', async () => {
  for (const path of ['/healthz', '/readyz']) {
    assert.equal((await exchange(running.port, `GET ${path} HTTP/1.0\r\n\r\n`)).status, 200);
    assert.equal((await exchange(running.port, `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`)).status, 400);
    assert.equal((await exchange(running.port, `POST ${path} HTTP/1.0\r\n\r\n`)).status, 400);
  }
  assert.equal((await exchange(running.port, 'GET /p/acme/orders HTTP/1.0\r\n\r\n')).status, 400);
});

test('a head that no plane may see is refused in the shape of the surface it was for, with the headers every answer there has', async () => {
  const ask = (port: number, line: string, headers: string) =>
    exchange(port, `${line} HTTP/1.1\r\nHost: localhost:${port}\r\n${headers}Connection: close\r\n\r\n`);
  const twice = 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n';
  const wide = `X-A: ${'a'.repeat(33_000)}\r\n`;
  for (const [line, headers, status, type] of [
    ['GET /v1/routes', twice, 400, 'invalid_request'],
    ['GET /v1/routes', wide, 431, 'headers_too_large'],
    [`GET /v1/${'a'.repeat(17_000)}`, '', 414, 'uri_too_long'],
  ] as const) {
    const answer = await ask(apiPort, line, headers);
    const { error } = JSON.parse(answer.body);
    assert.deepEqual([answer.status, error.type, Object.keys(error)], [status, type, ['type', 'message', 'request_id']]);
    assert.equal(answer.headers['x-request-id'], error.request_id);
    assert.equal(answer.headers['service-version'], '2026-08-05', line);
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  }
  const oauth = JSON.parse((await ask(apiPort, 'POST /oauth/token', `${twice}Content-Length: 0\r\n`)).body);
  assert.deepEqual([oauth.error, typeof oauth.error_description], ['invalid_request', 'string']);
  const dashboard = await ask(adminPort, 'GET /auth/me', twice);
  assert.deepEqual([dashboard.status, JSON.parse(dashboard.body).code], [400, 'invalid']);
  const scim = await ask(adminPort, 'GET /scim/v2/Users', wide);
  assert.deepEqual([scim.status, JSON.parse(scim.body).schemas], [431, ['urn:ietf:params:scim:api:messages:2.0:Error']]);
  // Nothing is known of whom a request without a usable line was for.
  assert.equal(JSON.parse((await ask(apiPort, 'GET foo', '')).body).error.type, 'invalid_request');
});
