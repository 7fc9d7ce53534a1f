import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { exchange } from '../core/raw-client.fixture.ts';
import { ask, makeRoute, served, startGateway, startUpstream, type Upstream } from '../gateway.fixture.ts';

await testDatabase();
const running = await startGateway();
const { port } = running;
const upstream = await startUpstream();
const w = await workspace();
const { text: key } = await w.key();
await makeRoute(w, 'plain', upstream.url);
await makeRoute(w, 'slash', `${upstream.url}/`);
await makeRoute(w, 'base', `${upstream.url}/backend`);
await makeRoute(w, 'base-slash', `${upstream.url}/backend/`);
await makeRoute(w, 'hook', `${upstream.url}/services/T0/B0`);
const off = await makeRoute(w, 'off', upstream.url, {}, { enabled: false });
await served(running, w);

const raw = (target: string, headers = '', body = '', method = 'GET') =>
  exchange(
    port,
    `${method} ${target} HTTP/1.1\r\nHost: ${w.tenant.slug}.localhost:${port}\r\nX-Svc-Key: ${key}\r\nConnection: close\r\n${headers}\r\n${body}`,
  );
const sentTo = (u: Upstream) => u.seen.at(-1)?.url;

test('a route is named by path, by header under /api, and by header with the path verbatim', async () => {
  const table: [target: string, route: string | null, upstream: string][] = [
    ['/plain', null, '/'],
    ['/plain/', null, '/'],
    ['/plain?x=1', null, '/?x=1'],
    ['/plain/v1/users/123?x=1&x=2', null, '/v1/users/123?x=1&x=2'],
    ['/%70lain/a', null, '/a'],
    ['/api', 'plain', '/'],
    ['/api/api/v2/tickets', 'plain', '/api/v2/tickets'],
    ['/v3/anything', 'plain', '/v3/anything'],
    ['/plain/a', 'base', '/backend/plain/a'],
    ['/slash', null, '/'],
    ['/base', null, '/backend'],
    ['/base/api/v1/users', null, '/backend/api/v1/users'],
    ['/base-slash/', null, '/backend/'],
    ['/base-slash', null, '/backend/'],
    ['/hook', null, '/services/T0/B0'],
    ['/base/a%2Fb//c/', null, '/backend/a%2Fb//c/'],
    ['/base/%zz/?', null, '/backend/%zz/?'],
  ];
  for (const [target, route, expected] of table) {
    const answer = await raw(target, route === null ? '' : `X-Svc-Route:  ${route} \r\n`);
    assert.equal(answer.status, 200, `${target}: ${answer.body}`);
    assert.equal(sentTo(upstream), expected, target);
  }
});

test('a route is found by id, slug and exact name, and nowhere else', async () => {
  for (const reference of [off.id, 'off', 'Route off', 'route plain', 'PLAIN', 'nothing'])
    assert.equal((await raw('/x', `X-Svc-Route: ${reference}\r\n`)).status, 404, reference);
  assert.equal((await raw('/x', 'X-Svc-Route: Route plain\r\n')).status, 200);
  assert.match((await raw('/off')).body, /"type":"route_not_found"/);
});

test('a name beyond ASCII is found percent-encoded in the path, and as UTF-8 in the header', async () => {
  const { id } = await makeRoute(w, 'kasse', upstream.url);
  await db().routes.update({ where: { id }, data: { name: 'Übersicht 日本' } });
  await served(running, w);
  assert.equal((await raw(`/${encodeURIComponent('Übersicht 日本')}/a`)).status, 200);
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');
  const named = (header: string) =>
    exchange(
      port,
      Buffer.from(
        `GET /x HTTP/1.1\r\nHost: ${w.tenant.slug}.localhost:${port}\r\nX-Svc-Key: ${key}\r\nConnection: close\r\nX-Svc-Route: ${header}\r\n\r\n`,
        'latin1',
      ),
    );
  assert.equal((await named(utf8('Übersicht 日本'))).status, 200);
  assert.equal((await named(utf8('Übersicht'))).status, 404);
  assert.equal((await named('\xdcbersicht')).status, 404, 'what is no UTF-8 names nobody, and breaks nothing');
});

test('no spelling of a dot segment leads out of the base path', async () => {
  const before = upstream.seen.length;
  const hostile = [
    '/base/..',
    '/base/../x',
    '/base/./x',
    '/base/%2e%2e/x',
    '/base/.%2E/x',
    '/base/a%2f..%2fx',
    '/base/a%5c..%5cx',
    '/base/a/..%2f',
    '/base/%00',
    '/base/a%0d%0ab',
    '/base/%2e',
    '/base/..;/x',
    '/base/..;a=b/x',
    '/base/%2e%2e%3b/x',
  ];
  for (const target of hostile) {
    const answer = await raw(target);
    assert.equal(answer.status, 400, target);
    assert.equal(answer.headers['x-svc-error'], 'invalid_path', target);
  }
  assert.equal(upstream.seen.length, before);
  for (const target of ['/base/...', '/base/.well', '/base/a..b', '/base/..a', '/base/a;b=1/c..;d'])
    assert.equal((await raw(target)).status, 200, target);
});

test('a call without a route reference is told so, and only with a credential', async () => {
  for (const target of ['/', '/api', '/api/x', '//x']) {
    const answer = await raw(target);
    assert.equal(answer.status, 400, target);
    assert.match(answer.body, /"type":"route_required"/);
    const anonymous = await ask(port, w.tenant.slug, target);
    assert.equal(anonymous.status, 401, target);
  }
});

test('two control headers, unknown methods and too much head are refused in the words of the plane', async () => {
  const twice = await raw('/plain', 'X-Svc-Route: plain\r\nX-Svc-Route: base\r\n');
  assert.equal(twice.status, 400);
  assert.equal(twice.headers['x-svc-error'], 'invalid_request');
  assert.equal(twice.headers['x-svc-plane'], 'route');
  const trace = await raw('/plain', '', '', 'TRACE');
  assert.equal(trace.status, 405);
  assert.equal(trace.headers.allow, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
  const long = await raw(`/plain/${'x'.repeat(17 * 1024)}`);
  assert.deepEqual([long.status, long.headers['x-svc-error']], [414, 'uri_too_long']);
  const many = await raw('/plain', 'a: b\r\n'.repeat(201));
  assert.deepEqual([many.status, many.headers['x-svc-error']], [431, 'headers_too_large']);
});

test('hosts that are no workspace serve nothing, and a person at the root is sent to the dashboard', async () => {
  const unknown = await ask(port, 'nobody-here', '/plain', { key });
  assert.equal(unknown.status, 404);
  assert.equal(unknown.headers['x-svc-plane'], undefined);
  const person = await ask(port, w.tenant.slug, '/', { headers: { accept: 'text/html,*/*' } });
  assert.equal(person.status, 302);
  assert.match(person.headers.location ?? '', /^http:\/\/localhost/);
  assert.equal((await ask(port, w.tenant.slug, '/', { key, headers: { accept: 'text/html' } })).status, 400);
});

test('the path mount behaves as the host', async () => {
  const answer = await exchange(
    port,
    `GET /p/${w.tenant.slug}/base/x?q=1 HTTP/1.1\r\nHost: localhost:${port}\r\nX-Svc-Key: ${key}\r\nConnection: close\r\n\r\n`,
  );
  assert.equal(answer.status, 200, answer.body);
  assert.equal(sentTo(upstream), '/backend/x?q=1');
});
