import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { parseNetworks } from '#server/platform/http-out/networks.ts';
import { until } from '#server/testing/until.ts';
import { type HostConfig, type PortPlane, planeOf } from '../core/hosts.ts';
import { createListener, inspectHead } from '../core/listener.ts';
import { exchange, listen } from '../core/raw-client.fixture.ts';
import { stampVersion } from '../core/service-version.ts';
import { createFrontDoor, type FrontDoorOptions } from './front-door.ts';
import { frontDoor } from './surface.ts';
import { createWebForward, type WebForwardOptions } from './web-forward.ts';

const config: HostConfig = {
  apiUrl: 'http://localhost:4000',
  sandboxUrl: 'http://localhost:4001',
  adminUrl: 'http://localhost:4002',
  hooksUrl: 'http://localhost:4000/hooks',
  baseHost: 'localhost',
  pathMode: false,
};
const closing: (() => void)[] = [];
after(() => {
  for (const close of closing) close();
});

type Setup = {
  web?: ((req: IncomingMessage, res: ServerResponse) => void) | 'down';
  door?: Partial<FrontDoorOptions>;
  forward?: Partial<WebForwardOptions>;
};

/** The whole edge on one port per call: listener, head check, host match, front door, and a web process on a unix socket. */
async function edge({ web = nextLike, door = {}, forward = {} }: Setup = {}) {
  const socketPath = path.join(mkdtempSync(path.join(tmpdir(), 'door-')), 'web.sock');
  const seen: { method: string; url: string; headers: IncomingMessage['headers']; raw: string[] }[] = [];
  if (web !== 'down') {
    const server = createServer((req, res) => {
      seen.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, raw: req.rawHeaders });
      web(req, res);
    });
    await listen(server, socketPath);
  }
  const client = createWebForward({ socketPath, ...forward });
  closing.push(() => client.close());
  const front = createFrontDoor({
    web: client,
    token: 'door-token',
    trustedProxies: [],
    onChanged: async () => undefined,
    ...door,
  });
  const ports: Record<string, number> = {};
  for (const plane of ['api', 'sandbox', 'admin', 'proxy'] as const) {
    const server = createListener({
      onRequest(req, res) {
        const head = inspectHead(req);
        if (!head.ok) return void res.writeHead(head.status).end(head.type);
        const match = planeOf({ portPlane: plane as PortPlane, host: head.host, target: head.target }, config);
        if (match.plane === 'unknown' || match.plane === 'wrap') return void res.writeHead(404).end();
        front.serve(req, res, { match, head, requestId: REQUEST_ID, fault: stampVersion(req, res, match.target) });
      },
    });
    ports[plane] = await listen(server);
  }
  const ask = (plane: string, line: string, headers = '', body = '') =>
    exchange(ports[plane] as number, `${line} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n${body}`, 80);
  return { ask, seen, ports, client };
}
const REQUEST_ID = '01890000-0000-7000-8000-000000000001';

/** Answers like the framework: by itself for anything odd, by a route handler for what it knows. */
function nextLike(req: IncomingMessage, res: ServerResponse): void {
  const url = req.url ?? '';
  const own = (status: number, type: string, body: string, more = {}) =>
    res.writeHead(status, { 'content-type': type, 'x-powered-by': 'Next.js', ...more }).end(body);
  if (req.method === 'OPTIONS' && !/^\/(?:v1|auth|admin)/.test(url)) return void res.writeHead(400).end();
  if (url.startsWith('/admin/trpc') && req.method === 'PUT') return void res.writeHead(405).end();
  if (url === '/openapi.json' && req.method !== 'GET' && req.method !== 'HEAD') return void own(500, 'text/plain', 'Internal Server Error');
  if (req.method === 'TRACE') return void own(500, 'text/plain', 'Internal Server Error');
  if (url.includes('//') || (url !== '/' && url.split('?')[0]?.endsWith('/')))
    return void own(308, 'text/plain', url, { location: url.replace(/\/+/g, '/') });
  if (/%(?![0-9a-f]{2})|%ff/i.test(url.split('?')[0] ?? '')) return void own(500, 'text/plain', 'Internal Server Error');
  if (req.headers.rsc === '1' && !url.includes('_rsc')) return void own(307, 'text/plain', '', { location: `${url}?_rsc=1` });
  if (req.headers['x-middleware-subrequest']) return void own(200, 'text/plain', 'middleware skipped');
  if (/^\/[a-z0-9.-]+\/unknown/.test(url))
    return void own(404, 'text/html; charset=utf-8', '<html>404: This page could not be found</html>');
  if (url.endsWith('/crash')) return void (url.startsWith('/auth') ? res.writeHead(500).end() : own(500, 'text/html', '<html>500</html>'));
  res.writeHead(200, { 'content-type': 'application/json', 'x-seen': url });
  req.pipe(res);
}

const envelope = (body: string) => JSON.parse(body) as { error: { type: string; message: string; request_id: string } };

test('on the API planes every odd request gets our envelope, id and version, and never the framework (table of what Next answers by itself)', async () => {
  const { ask, seen } = await edge();
  const table: [string, string, number, string][] = [
    ['GET //v1/routes', '', 404, 'not_found'],
    ['GET /v1//routes', '', 404, 'not_found'],
    ['GET /v1/routes/', '', 404, 'not_found'],
    ['GET /v1/routes/%zz', '', 404, 'not_found'],
    ['GET /v1/routes/%', '', 404, 'not_found'],
    ['GET /v1/routes/%ff', '', 404, 'not_found'],
    ['GET /v1/routes/%00', '', 404, 'not_found'],
    ['GET /v1/routes/%0d%0a', '', 404, 'not_found'],
    ['GET /v1/routes/%06', '', 404, 'not_found'],
    ['DELETE /v1/routes/%zz', '', 404, 'not_found'],
    ['GET /v1/routes%2fx', '', 404, 'not_found'],
    ['GET /pub/acme/pki/0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b/ocsp/..%2fx', '', 404, 'not_found'],
    ['GET /pub/acme/pki/0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b/crl%2fx', '', 404, 'not_found'],
    ['GET /v1/routes/%5Cx', '', 404, 'not_found'],
    ['GET /v1/routes\\x', '', 404, 'not_found'],
    ['GET /v1/../admin/x', '', 404, 'not_found'],
    ['GET /v1/%2e%2e/admin/x', '', 404, 'not_found'],
    ['GET /v1/./routes', '', 404, 'not_found'],
    ['TRACE /v1/routes', '', 405, 'method_not_allowed'],
    ['PROPFIND /v1/routes', '', 405, 'method_not_allowed'],
    ['GET /', '', 404, 'not_found'],
    ['GET /login', '', 404, 'not_found'],
    ['GET /admin/members', '', 404, 'not_found'],
    ['GET /auth/me', '', 404, 'not_found'],
    ['GET /api/auth/session', '', 404, 'not_found'],
    ['GET /_next/static/x.js', '', 404, 'not_found'],
    ['GET /v10/routes', '', 404, 'not_found'],
    ['GET /v1/routes', `X-Pad: ${'a'.repeat(17_000)}\r\n`, 431, 'headers_too_large'],
  ];
  for (const [line, headers, status, type] of table) {
    const answer = await ask('api', line, headers);
    assert.equal(answer.status, status, line);
    assert.equal(envelope(answer.body).error.type, type, line);
    assert.deepEqual(Object.keys(envelope(answer.body)), ['error']);
    assert.deepEqual(Object.keys(envelope(answer.body).error), ['type', 'message', 'request_id']);
    assert.equal(envelope(answer.body).error.request_id, REQUEST_ID, line);
    assert.equal(answer.headers['x-request-id'], REQUEST_ID, line);
    assert.equal(answer.headers['cache-control'], 'no-store', line);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff', line);
    if (/ \/v1\//.test(line)) assert.equal(answer.headers['service-version'], '2026-08-05', line);
    if (status === 405) assert.match(answer.headers.allow ?? '', /GET, HEAD, POST/);
  }
  // Only of what is too large is web asked whether there is such a path, and not given it.
  assert.deepEqual(
    seen.map((request) => request.headers['x-sallyport-fault']),
    ['headers_too_large'],
  );
});

test("the framework's own answers that still get through are replaced by ours", async () => {
  const { ask } = await edge();
  for (const [line, status, type] of [
    ['GET /v1/unknown', 404, 'not_found'],
    ['GET /v1/crash', 500, 'internal_error'],
  ] as const) {
    const answer = await ask('api', line);
    assert.deepEqual([answer.status, envelope(answer.body).error.type], [status, type]);
    assert.equal(answer.headers['x-request-id'], REQUEST_ID);
    assert.equal(answer.headers['x-powered-by'], undefined);
    assert.doesNotMatch(answer.body, /html|Next/);
  }
  for (const [plane, line, status] of [
    ['api', 'GET /oauth/unknown', 404],
    ['api', 'GET /.well-known/unknown', 404],
    ['api', 'GET /pub/crash', 500],
    ['admin', 'GET /api/unknown', 404],
    ['admin', 'GET /auth/crash', 500],
  ] as const) {
    const answer = await ask(plane, line);
    assert.equal(answer.status, status, line);
    assert.match(answer.headers['content-type'] ?? '', /^application\/json/, line);
    assert.doesNotMatch(answer.body, /html|Next/, line);
  }
  assert.equal((await ask('api', 'GET /v1/routes', 'RSC: 1\r\n')).status, 200);
  // What has no handler at all gets an empty 400 from it when it is asked for its options.
  for (const target of ['/oauth/unknown', '/wg/x', '/pub/x', '/.well-known/x', '/elements/v1/x']) {
    const answer = await ask('api', `OPTIONS ${target}`);
    assert.equal(answer.status, 404, target);
    assert.match(answer.headers['content-type'] ?? '', /^application\/json/, target);
  }
});

test('a page that the framework fails at has words, a next step and the request ID, in the colours of the reader', async () => {
  const faults: [string, string, object][] = [
    ['text/html; charset=utf-8', '<!DOCTYPE html><html id="__next_error__"></html>', {}],
    ['text/plain', 'Internal Server Error', { 'content-length': 21 }],
    ['', '', {}],
  ];
  for (const [type, body, more] of faults) {
    const { ask } = await edge({
      web: (_, res) => void res.writeHead(500, { ...(type ? { 'content-type': type } : {}), ...more }).end(body),
    });
    for (const line of ['GET /', 'GET /acme/live/routes', 'GET /signin']) {
      const answer = await ask('admin', line);
      assert.deepEqual([answer.status, answer.headers['content-type']], [500, 'text/html; charset=utf-8'], `${type} ${line}`);
      for (const says of [
        /<h1>This page couldn.+t load<\/h1>/,
        /<a class="button" href="">Reload<\/a>/,
        /color-scheme:light dark/,
        new RegExp(REQUEST_ID),
      ])
        assert.match(answer.body, says, `${type} ${line}`);
      assert.match(answer.headers['content-security-policy'] ?? '', /^default-src 'none'; style-src 'sha256-/);
      assert.doesNotMatch(answer.body, /__next|Internal Server Error/);
    }
    assert.equal((await ask('admin', 'HEAD /signin')).body, '');
  }
  // Parts of a page, which the dashboard puts words to by itself, the page of a dashboard that is being built, and faults of development stay as they are.
  for (const [status, headers] of [
    [500, { 'content-type': 'text/x-component' }],
    [503, { 'content-type': 'text/html; charset=utf-8' }],
    [500, { 'content-type': 'text/html', 'x-sallyport-development': '1' }],
  ] as const) {
    const { ask } = await edge({ web: (_, res) => void res.writeHead(status, { ...headers, 'content-length': 6 }).end('of web') });
    const answer = await ask('admin', 'GET /signin');
    assert.deepEqual([answer.status, answer.body], [status, 'of web'], JSON.stringify(headers));
    assert.equal(answer.headers['x-sallyport-development'], undefined);
  }
});

test('a page and a document are read and nothing else, and whoever tries is told how', async () => {
  const { ask, seen } = await edge();
  for (const [plane, target, allow] of [
    ['admin', '/signin', 'GET, HEAD'],
    ['admin', '/acme/live/routes', 'GET, HEAD'],
    ['admin', '/openapi.json', 'GET, HEAD'],
    ['api', '/openapi.json', 'GET, HEAD'],
    ['admin', '/oauth/consent/h', 'GET, HEAD, POST'],
    ['admin', '/admin/trpc/routes.list', 'GET, HEAD, POST, OPTIONS'],
    ['admin', '/auth/trpc/auth.me', 'GET, HEAD, POST, OPTIONS'],
  ] as const)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const before = seen.length;
      const answer = await ask(plane, `${method} ${target}`, 'Content-Length: 0\r\n');
      const taken = allow.includes(method);
      assert.deepEqual([answer.status, answer.headers.allow], taken ? [200, undefined] : [405, allow], `${method} ${target}`);
      assert.equal(seen.length - before, taken ? 1 : 0, `${method} ${target}`);
      if (!taken) assert.ok(answer.body.length > 0 && answer.headers['x-request-id'], `${method} ${target}`);
    }
  assert.equal(
    (await ask('admin', 'POST /__nextjs_original-stack-frames', 'Content-Length: 0\r\n')).status,
    200,
    'tools of the framework in development',
  );
});

test('how web encoded an answer is told to the caller in the header the framework would have dropped', async () => {
  const { ask } = await edge({
    web: (_, res) =>
      void res.writeHead(200, { 'content-type': 'application/json', 'x-sallyport-encoding': 'gzip', 'content-length': 2 }).end('zz'),
  });
  const { headers } = await ask('api', 'GET /v1/routes');
  assert.deepEqual([headers['content-encoding'], headers['x-sallyport-encoding']], ['gzip', undefined]);
});

test('an answer that differs by encoding says so, and no word of the framework stands beside it', async () => {
  const { ask } = await edge({
    web: (_, res) =>
      void res.writeHead(200, { 'content-type': 'application/json', vary: 'rsc, next-router-state-tree, Accept-Encoding' }).end('{}'),
  });
  assert.equal((await ask('api', 'GET /openapi.json')).headers.vary, 'Accept-Encoding');
  assert.equal((await ask('admin', 'GET /signin')).headers.vary, 'rsc, next-router-state-tree, Accept-Encoding');
});

test('framework, proxy and front-door headers of the caller never arrive; ours do, once', async () => {
  const { ask, seen } = await edge();
  const forged = [
    'X-Middleware-Subrequest: middleware:middleware:middleware',
    'x-middleware-rewrite: /admin',
    'X-Nextjs-Data: 1',
    'Next-Action: abc',
    'Next-Router-Prefetch: 1',
    'RSC: 1',
    'X-Sallyport-Front: guess',
    'x-sallyport-space: test',
    'X-Sallyport-Ip: 1.1.1.1',
    'X-Forwarded-For: 1.1.1.1',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: evil.test',
    'Forwarded: for=1.1.1.1',
    'X-Real-IP: 1.1.1.1',
    'X-Request-Id: mine',
    'X-Matched-Path: /admin',
    'X-HTTP-Method-Override: DELETE',
    'Cookie: session=1',
    'TE: trailers',
    'Connection: keep-alive, X-Nominated, Authorization',
    'X-Nominated: 1',
    'Authorization: Bearer tk_live_x',
    'X-Custom: kept',
  ];
  assert.equal((await ask('sandbox', 'GET /v1/routes?x=%zz', `${forged.join('\r\n')}\r\n`)).status, 200);
  const got = seen[0];
  assert.ok(got);
  assert.equal(got.url, '/v1/routes?x=%zz');
  const names = got.raw.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  for (const name of [
    'x-middleware-subrequest',
    'x-middleware-rewrite',
    'x-nextjs-data',
    'next-action',
    'next-router-prefetch',
    'rsc',
    'forwarded',
  ])
    assert.ok(!names.includes(name), name);
  for (const name of ['x-real-ip', 'x-request-id', 'x-matched-path', 'x-http-method-override', 'cookie', 'te', 'x-nominated'])
    assert.ok(!names.includes(name), name);
  for (const name of names.filter((one) => one.startsWith('x-sallyport-') || one.startsWith('x-forwarded-')))
    assert.equal(names.filter((one) => one === name).length, 1, name);
  assert.equal(got.headers['x-sallyport-front'], 'door-token');
  assert.equal(got.headers['x-sallyport-plane'], 'api');
  assert.equal(got.headers['x-sallyport-space'], 'test');
  assert.equal(got.headers['x-sallyport-request-id'], REQUEST_ID);
  assert.equal(got.headers['x-sallyport-ip'], '127.0.0.1');
  assert.equal(got.headers['x-sallyport-proto'], 'http');
  assert.equal(got.headers['x-sallyport-relayed'], '1', 'somebody passed it on: the peer is not the person');
  assert.equal(got.headers['x-forwarded-for'], '127.0.0.1');
  assert.equal(got.headers.authorization, 'Bearer tk_live_x');
  assert.equal(got.headers['x-custom'], 'kept');
  await ask('admin', 'GET /auth/mailbox', 'X-Sallyport-Relayed: 0\r\n');
  assert.equal(seen[1]?.headers['x-sallyport-relayed'], undefined, 'nobody passed this one on');
});

test('the dashboard keeps the headers its router needs, and a trusted proxy may say where the caller came from', async () => {
  const { ask, seen } = await edge({ door: { trustedProxies: parseNetworks(['127.0.0.1']) } });
  const answer = await ask(
    'admin',
    'GET /acme/live/routes?_rsc=x',
    'RSC: 1\r\nNext-Router-State-Tree: t\r\nNext-Action: a\r\nX-Middleware-Subrequest: m\r\nCookie: c=1\r\nX-Forwarded-For: 198.51.100.7\r\nX-Forwarded-Proto: https\r\n',
  );
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['strict-transport-security'], 'max-age=63072000; includeSubDomains');
  const headers = seen[0]?.headers ?? {};
  assert.deepEqual([headers.rsc, headers['next-router-state-tree'], headers.cookie], ['1', 't', 'c=1']);
  assert.deepEqual(
    [headers['next-action'], headers['x-middleware-subrequest'], headers['x-sallyport-space']],
    [undefined, undefined, undefined],
  );
  assert.deepEqual([headers['x-sallyport-ip'], headers['x-sallyport-proto']], ['198.51.100.7', 'https']);
});

test('each plane serves its own paths and no other', async () => {
  const { ask, seen, ports } = await edge();
  const served: [string, string, string?][] = [
    ['api', '/v1/routes'],
    ['api', '/oauth/token'],
    ['api', '/.well-known/openid-configuration'],
    ['api', '/openapi.json'],
    ['api', '/auth/oauth2/callback?state=x'],
    ['api', '/pub/acme/jwks/k.json'],
    // A question of OCSP in base64: the one path whose end is data.
    ['api', '/pub/acme/test/pki/0192f0c1-2d3e-7a4b-8c5d-6e7f80910a1b/ocsp/MEE%2FMD0wOzA5%2BA%3D%3D'],
    ['api', '/agent/v1/session'],
    ['api', '/hooks/wf/token', '/hooks/wf/token'],
    ['sandbox', '/v1/routes'],
    ['sandbox', '/oauth/token'],
    ['admin', '/'],
    ['admin', '/auth/me'],
    ['admin', '/admin/trpc/x'],
    ['admin', '/api/auth/session'],
    ['admin', '/_next/static/chunk.js'],
    ['admin', '/oauth/consent/h'],
    ['admin', '/oauth/device/h'],
    ['admin', '/scim/v2/Users'],
  ];
  for (const [plane, target, url = target] of served) {
    assert.equal((await ask(plane, `GET ${target}`)).status, 200, `${plane} ${target}`);
    assert.equal(seen.at(-1)?.url, url);
  }
  assert.equal((await ask('admin', 'POST /oauth/consent/h?x=1', 'Content-Length: 0\r\n')).status, 200);
  assert.equal(seen.at(-1)?.url, '/auth/oauth/consent/h?x=1');
  const count = seen.length;
  const refused: [string, string][] = [
    ['api', '/scim/v2/Users'],
    ['api', '/oauthx'],
    ['api', '/oauth/consent/h'],
    ['sandbox', '/oauth/device/h'],
    ['api', '/hooks/other'],
    ['api', '/agent/v2'],
    ['sandbox', '/hooks/wf/token'],
    ['admin', '/v1/routes'],
    ['admin', '/oauth/token'],
    ['admin', '/wg/x'],
    ['admin', '/.well-known/openid-configuration'],
    ['admin', '/p/acme/x'],
    // Of the framework and of our own processes: nothing of the dashboard uses the first, and the others are the supervisor's and the gateway's.
    ['admin', '/_next/image?url=%2Ffavicon.ico&w=64&q=75'],
    ['admin', '/__alive'],
    ['admin', '/__ready'],
  ];
  for (const [plane, target] of refused) assert.equal((await ask(plane, `GET ${target}`)).status, 404, `${plane} ${target}`);
  const tenant = (host: string, target: string) => exchange(ports.proxy as number, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  for (const target of ['/v1/routes', '/oauth/token', '/', '/admin/x', '/api/auth/session'])
    assert.equal((await tenant('acme.localhost', target)).status, 404, target);
  assert.equal((await tenant('sandbox-acme.localhost', '/scim/v2/Users')).status, 404);
  assert.equal(seen.length, count);
  assert.equal((await tenant('acme.localhost', '/scim/v2/Users')).status, 200);
  assert.equal(seen.at(-1)?.headers['x-sallyport-tenant'], 'acme');
  assert.equal((await tenant('acme.localhost', '/v1/oauth/token')).status, 200);
});

test('SCIM on a host that serves none is the same bytes everywhere, in SCIM words', async () => {
  const { ask, ports } = await edge();
  const one = await ask('api', 'GET /scim/v2/Users');
  const two = await ask('sandbox', 'GET /scim/v2/Groups/x');
  const three = await exchange(ports.proxy as number, 'GET /scim/v2/Users HTTP/1.1\r\nHost: sandbox-acme.localhost\r\n\r\n');
  assert.equal(one.body, '{"schemas":["urn:ietf:params:scim:api:messages:2.0:Error"],"status":"404"}');
  assert.deepEqual([two.body, three.body], [one.body, one.body]);
  const mounted = { plane: 'tenant', label: 'acme', slug: 'acme', space: 'live', mount: '/p/acme', target: '/scim/v2/Users' } as const;
  assert.equal(frontDoor(mounted, 'GET', 0).ok, false, 'a workspace mounted on the host of the API');
  assert.equal(frontDoor({ ...mounted, mount: '' }, 'GET', 0).ok, true);
  assert.match(one.headers['content-type'] ?? '', /scim\+json/);
});

test('error shapes follow the surface: OAuth, dashboard API, page', async () => {
  const { ask } = await edge();
  assert.equal(JSON.parse((await ask('api', 'GET /oauth/token/')).body).error, 'invalid_request');
  const dashboard = JSON.parse((await ask('admin', 'GET /admin/members/')).body);
  assert.deepEqual([dashboard.error, dashboard.code, dashboard.request_id], ['not_found', 'not_found', REQUEST_ID]);
  for (const path of ['/admin/members/%zz', '/admin/members/%06', '/auth/sessions/%ff']) {
    const malformed = await ask('admin', `GET ${path}`);
    assert.deepEqual([malformed.status, JSON.parse(malformed.body).code], [404, 'not_found'], path);
  }
  const page = await ask('admin', 'GET /a/%00');
  assert.deepEqual([page.status, page.headers['content-type']], [404, 'text/html; charset=utf-8']);
  assert.match(page.body, new RegExp(REQUEST_ID));
});

test('a page with stray slashes is moved inside its own origin only', async () => {
  const { ask } = await edge();
  for (const [target, location] of [
    ['/acme/', '/acme'],
    ['//evil.test', '/evil.test'],
    ['///evil.test//x/?a=1', '/evil.test/x?a=1'],
    ['//', '/'],
  ] as const) {
    const answer = await ask('admin', `GET ${target}`);
    assert.deepEqual([answer.status, answer.headers.location], [308, location], target);
  }
  assert.equal((await ask('admin', 'POST //evil.test', 'Content-Length: 0\r\n')).status, 404);
  assert.equal((await ask('admin', 'GET /\\evil.test')).status, 404);
});

test('bodies above the cap of their path are refused with 413, announced or not, and web never sees a whole one', async () => {
  const ended: number[] = [];
  const { ask, ports } = await edge({
    web(req, res) {
      let bytes = 0;
      req.on('data', (chunk) => {
        bytes += chunk.length;
      });
      req.on('end', () => {
        if (bytes > 0) ended.push(bytes);
        res.setHeader('content-type', 'application/json').end('{}');
      });
      req.on('error', () => undefined);
    },
  });
  const MIB = 1024 * 1024;
  const caps: [string, string, number][] = [
    ['api', '/v1/routes', MIB],
    ['api', '/oauth/token', 64 * 1024],
    ['admin', '/auth/me', 256 * 1024],
    ['admin', '/auth/avatars', 3 * MIB],
    ['admin', '/auth/avatars/x', 256 * 1024],
    ['admin', '/admin/settings', MIB],
    ['admin', '/scim/v2/Users', MIB],
    ['api', '/v1/vaults/v/tokens/bulk', 4 * MIB],
    ['api', '/v1/crypto/keys/k/encrypt', 2 * MIB],
    ['api', '/hooks/wf/token', MIB],
  ];
  for (const [plane, target, cap] of caps) {
    const exact = await ask(plane, `POST ${target}`, `Content-Length: ${cap}\r\n`, 'a'.repeat(cap));
    assert.equal(exact.status, 200, target);
    assert.equal(ended.at(-1), cap);
    const before = ended.length;
    assert.equal((await ask(plane, `POST ${target}`, `Content-Length: ${cap + 1}\r\n`)).status, 413, target);
    const chunk = (n: number) => `${n.toString(16)}\r\n${'a'.repeat(n)}\r\n`;
    const chunked = await ask(plane, `POST ${target}`, 'Transfer-Encoding: chunked\r\n', `${chunk(cap)}${chunk(1)}0\r\n\r\n`);
    assert.equal(chunked.status, 413, target);
    assert.equal(ended.length, before, 'an oversized body never ended well');
  }
  const told = await exchange(
    ports.api as number,
    `POST /v1/routes HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ${MIB + 1}\r\n\r\n`,
  );
  assert.equal(told.status, 413);
  assert.equal(envelope(told.body).error.type, 'payload_too_large');
  assert.match(told.body, /The request body must not exceed 1 MiB\./);
});

test('of a request that is too large web gets to know the line alone, and only its word that there is no such path or method is told instead', async () => {
  const { ask, seen } = await edge({
    web: (req, res) =>
      void res
        .writeHead(req.url === '/v1/nothing' ? 404 : req.method === 'PUT' ? 405 : 200, { 'content-type': 'application/json', allow: 'GET' })
        .end('{"from":"web"}'),
  });
  const wide = `X-A: ${'a'.repeat(17_000)}\r\nX-Sallyport-Fault: none\r\nAuthorization: Bearer k\r\n`;
  const long = `Content-Length: ${1024 * 1024 + 1}\r\nContent-Type: application/json\r\nAuthorization: Bearer k\r\n`;
  for (const [headers, fault, status] of [
    [wide, 'headers_too_large', 431],
    [long, 'payload_too_large', 413],
  ] as const) {
    for (const [line, told] of [
      ['POST /v1/nothing', 404],
      ['PUT /v1/routes', 405],
      ['POST /v1/routes', status],
      ['DELETE /v1/routes/x', status],
    ] as const) {
      const answer = await ask('api', line, headers, headers === long ? 'a'.repeat(70_000) : '');
      assert.deepEqual([answer.status, answer.headers['service-version']], [told, '2026-08-05'], `${line} ${fault}`);
      assert.equal(answer.body.includes('from'), told !== status, line);
      if (told === status) assert.equal(envelope(answer.body).error.type, fault);
      const asked = seen.at(-1);
      assert.equal(asked?.headers['x-sallyport-fault'], fault);
      assert.deepEqual(
        [asked?.headers['content-length'], asked?.headers.authorization, asked?.headers['x-a']],
        ['0', undefined, undefined],
      );
    }
  }
  const { ask: alone } = await edge({ web: 'down' });
  assert.equal((await alone('api', 'POST /v1/nothing', long)).status, 413, 'without web the size is all there is to tell');
});

test('a body that stops coming is answered 408 and let go', async () => {
  const { ports } = await edge({ forward: { bodyIdleMs: 100 }, web: (req, res) => void req.resume().on('end', () => res.end()) });
  const answer = await exchange(ports.api as number, ['POST /v1/routes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc'], 100);
  assert.equal(answer.status, 408);
});

test('without a web process the API planes say dependency_unavailable with Retry-After and the dashboard shows a page that retries', async () => {
  const { ask } = await edge({ web: 'down' });
  for (const line of ['GET /v1/routes', 'POST /v1/routes']) {
    const api = await ask('api', line, 'Content-Length: 2\r\n', '{}');
    assert.deepEqual([api.status, api.headers['retry-after'], envelope(api.body).error.type], [503, '5', 'dependency_unavailable']);
  }
  assert.equal(JSON.parse((await ask('api', 'POST /oauth/token', 'Content-Length: 0\r\n')).body).error, 'temporarily_unavailable');
  const page = await ask('admin', 'GET /acme/live');
  assert.equal(page.status, 503);
  assert.match(page.body, /http-equiv="refresh"/);
  assert.match(page.headers['content-security-policy'] ?? '', /default-src 'none'/);
});

test('a page without a policy of its own gets one under which nothing runs and nobody frames it; others keep theirs', async () => {
  const policy = async (headers: Record<string, string>) => {
    const { ask } = await edge({ web: (_, res) => void res.writeHead(404, headers).end('<p>') });
    return (await ask('admin', 'GET /missing.png')).headers['content-security-policy'];
  };
  const still = (await policy({ 'content-type': 'text/html; charset=utf-8' })) ?? '';
  assert.match(still, /^default-src 'none';.*frame-ancestors 'none'$/);
  assert.doesNotMatch(still, /script-src/);
  assert.equal(await policy({ 'content-type': 'TEXT/HTML', 'content-security-policy': "script-src 'self'" }), "script-src 'self'");
  assert.equal(await policy({ 'content-type': 'application/json' }), undefined);
});

test('when web dies inside a change nobody claims that nothing happened', async () => {
  const { ask } = await edge({ web: (req) => void req.socket.destroy() });
  const change = await ask('api', 'POST /v1/routes', 'Content-Length: 2\r\n', '{}');
  assert.deepEqual([change.status, envelope(change.body).error.type, change.headers['retry-after']], [503, 'dependency_unavailable', '5']);
  assert.match(envelope(change.body).error.message, /may or may not have been made/);
  assert.equal((await ask('api', 'GET /v1/routes')).status, 503);
});

test('a web process that hangs is given up after it did not say that it lives, and one that works on is waited for', async () => {
  const hanging = await edge({ web: () => undefined, forward: { lifeCheckMs: 50 } });
  const read = await hanging.ask('api', 'GET /v1/routes');
  assert.deepEqual([read.status, envelope(read.body).error.type, read.headers['retry-after']], [503, 'dependency_unavailable', '5']);
  assert.match(envelope(read.body).error.message, /wasn't processed/);
  const change = await hanging.ask('api', 'POST /v1/routes', 'Content-Length: 2\r\n', '{}');
  assert.deepEqual([change.status, envelope(change.body).error.type], [503, 'dependency_unavailable']);
  assert.match(envelope(change.body).error.message, /may or may not have been made/);

  let asked = 0;
  let finish = () => {};
  const busy = await edge({
    forward: { lifeCheckMs: 50, maxSockets: 1 },
    web(req, res) {
      if (req.url !== '/__alive') {
        finish = () => res.setHeader('content-type', 'application/json').end('{}');
        return;
      }
      res.end('alive');
      if (++asked === 3) finish();
    },
  });
  assert.equal((await busy.ask('api', 'GET /v1/routes')).status, 200, 'though its connection is the only one');
});

test('a page that failed because of the database says so and reloads, and a process that is away while the database is too says that', async () => {
  const failed = await edge({
    web: (_, res) => void res.writeHead(500, { 'content-type': 'text/html', 'x-sallyport-outage': 'refused' }).end('<html>500</html>'),
  });
  const page = await failed.ask('admin', 'GET /acme/live');
  assert.deepEqual([page.status, page.headers['retry-after']], [503, '5']);
  assert.match(page.body, /The database can.+t be reached.*Calls through your routes go on/s);
  assert.match(page.body, /http-equiv="refresh" content="5"/);
  assert.equal(page.headers['x-sallyport-outage'], undefined);

  const away = await edge({ web: 'down', door: { databaseAway: () => true } });
  const call = await away.ask('api', 'GET /v1/routes');
  assert.deepEqual([call.status, envelope(call.body).error.type], [503, 'dependency_unavailable']);
  assert.match(envelope(call.body).error.message, /can't reach its database/);
  assert.match((await away.ask('admin', 'GET /acme/live')).body, /The database can.+t be reached/);
});

test('a kept-alive socket that web has closed meanwhile does not fail a call without a body', async () => {
  const used = new WeakSet<object>();
  const { ask, seen } = await edge({
    web(req, res) {
      if (used.has(req.socket)) return void req.socket.destroy();
      used.add(req.socket);
      res.setHeader('content-type', 'application/json').end('{}');
    },
  });
  for (let i = 0; i < 3; i++) assert.equal((await ask('api', 'GET /v1/routes')).status, 200);
  assert.equal(seen.length, 5);
});

test('a change without a body is never sent twice: web may have made it before it died', async () => {
  const made: string[] = [];
  const { ask } = await edge({
    web(req, res) {
      if (req.method === 'GET') return void res.setHeader('content-type', 'application/json').end('{}');
      made.push(req.method ?? '');
      req.socket.destroy();
    },
  });
  for (const method of ['POST', 'DELETE', 'PUT', 'PATCH']) {
    assert.equal((await ask('api', 'GET /v1/routes')).status, 200); // leaves a connection that is used again
    const change = await ask('api', `${method} /v1/routes/x/rotate`);
    assert.deepEqual([change.status, envelope(change.body).error.type], [503, 'dependency_unavailable'], method);
  }
  assert.deepEqual(made, ['POST', 'DELETE', 'PUT', 'PATCH']);
});

test('one address cannot take every place at the web process, whatever its callers leave unread or unsent', async () => {
  const { ask, ports } = await edge({
    forward: { maxSockets: 3, maxPerAddress: 2 },
    web(req, res) {
      if (req.url?.includes('endless')) res.writeHead(200, { 'content-type': 'application/json' }).write('{');
      else req.resume().on('end', () => res.setHeader('content-type', 'application/json').end('{}'));
    },
  });
  const from = (localAddress: string, text: string) => {
    const socket = connect({ port: ports.api as number, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined).write(text);
    return socket;
  };
  const unread = from('127.0.0.1', 'GET /v1/endless HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const unsent = from('127.0.0.1', 'POST /v1/routes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{');
  await until(async () => (await ask('api', 'GET /v1/routes')).status === 429);
  const third = await ask('api', 'GET /v1/routes');
  assert.deepEqual([third.status, envelope(third.body).error.type, third.headers['retry-after']], [429, 'rate_limit_exceeded', '1']);
  const other = from('127.0.0.2', 'GET /v1/routes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  let answer = '';
  for await (const bytes of other) answer += bytes;
  assert.match(answer, /^HTTP\/1\.1 200 /);
  unread.destroy();
  unsent.destroy();
  await until(async () => (await ask('api', 'GET /v1/routes')).status === 200, 'it has its places back');
});

test('one address cannot fill the memory of the web process with bodies whose last byte does not come', async () => {
  const { ask, ports } = await edge({
    forward: { maxBodiesPerAddress: 300_010 },
    web: (req, res) => void req.resume().on('end', () => res.setHeader('content-type', 'application/json').end('{}')),
  });
  const sockets = Array.from({ length: 4 }, () => {
    const socket = connect(ports.api as number, '127.0.0.1');
    const one = { socket, answer: '' };
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        one.answer += bytes;
      });
    socket.write(`POST /v1/routes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\n\r\n${'x'.repeat(100_000)}`);
    return one;
  });
  await until(() => sockets.some(({ answer }) => answer !== ''));
  assert.equal((await ask('api', 'POST /v1/routes', 'Content-Length: 99\r\n', 'x'.repeat(99))).status, 429);
  assert.deepEqual(sockets.map(({ answer }) => answer.slice(9, 12)).sort(), ['', '', '', '429']);
  for (const { socket } of sockets.filter(({ answer }) => answer === '')) socket.write('x');
  await until(() => sockets.every(({ answer }) => answer !== ''));
  assert.deepEqual(sockets.map(({ answer }) => answer.slice(9, 12)).sort(), ['200', '200', '200', '429']);
  for (const { socket } of sockets) socket.destroy();
  assert.equal((await ask('api', 'POST /v1/routes', 'Content-Length: 9\r\n', 'x'.repeat(9))).status, 200);
});

test('an answer that breaks off is broken off for the caller too', async () => {
  let breakOff = () => {};
  const { ports } = await edge({
    web(_, res) {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      res.write('{"half":');
      breakOff = () => res.socket?.destroy();
    },
  });
  const socket = connect(ports.api as number, '127.0.0.1');
  socket.write('GET /v1/routes HTTP/1.1\r\nHost: localhost\r\n\r\n');
  let answer = '';
  socket
    .on('error', () => undefined)
    .on('data', (bytes) => {
      answer += bytes;
      if (answer.includes('half')) breakOff();
    });
  await once(socket, 'close');
  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n\{"half":$/);
});

test('a change is awaited before its answer is relayed, the marker stays inside, and a stuck refresh does not hide the answer', async () => {
  const order: string[] = [];
  const web = (_: IncomingMessage, res: ServerResponse) => {
    order.push('web');
    res
      .writeHead(201, { 'content-type': 'application/json', 'X-Sallyport-Changed': 't1:live, t2:test', 'set-cookie': ['a=1', 'b=2'] })
      .end('{}');
  };
  const { ask } = await edge({
    web,
    door: {
      onChanged: async (value) => {
        for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
        order.push(value);
      },
    },
  });
  const answer = await ask('api', 'POST /v1/routes', 'Content-Length: 0\r\n');
  assert.deepEqual(order, ['web', 't1:live', 't2:test']);
  assert.equal(answer.status, 201);
  assert.doesNotMatch(answer.head, /sallyport/i);
  assert.equal(answer.head.match(/set-cookie/gi)?.length, 2);

  const stuck = await edge({ web, door: { onChanged: () => new Promise(() => undefined), changedTimeoutMs: 50 } });
  assert.equal((await stuck.ask('api', 'POST /v1/routes', 'Content-Length: 0\r\n')).status, 201);
  const failing = await edge({ web, door: { onChanged: () => Promise.reject(new Error('no database')) } });
  assert.equal((await failing.ask('api', 'POST /v1/routes', 'Content-Length: 0\r\n')).status, 201);
});

test('event streams arrive piece by piece, and web learns when the caller hangs up', async () => {
  let gone = false;
  const { ports } = await edge({
    web(_, res) {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.flushHeaders();
      const beat = setInterval(() => res.write('data: x\n\n'), 20);
      res.on('close', () => {
        clearInterval(beat);
        gone = true;
      });
    },
  });
  const socket = connect(ports.admin as number, '127.0.0.1');
  socket.write('GET /admin/trpc/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
  let text = '';
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.split('data: x').length > 3) resolve();
    });
  });
  socket.destroy();
  await until(() => gone);
});

test('an answer keeps its own request id (a replay carries the original one), HEAD has no body, 204 and 304 pass', async () => {
  const { ask } = await edge({
    web(req, res) {
      const status = Number(/status=(\d+)/.exec(req.url ?? '')?.[1] ?? 200);
      res.writeHead(status, { 'x-request-id': 'original', 'content-type': 'application/json' }).end(status === 200 ? '{"a":1}' : undefined);
    },
  });
  assert.equal((await ask('api', 'POST /v1/routes', 'Content-Length: 0\r\n')).headers['x-request-id'], 'original');
  assert.equal((await ask('api', 'HEAD /v1/routes')).body, '');
  assert.equal((await ask('api', 'GET /v1/routes?status=204')).status, 204);
  assert.equal((await ask('api', 'GET /openapi.json?status=304')).status, 304);
});

test('an open live view ends when the gateway stops, whole and at once', async () => {
  let told = () => {};
  const gone = new Promise<void>((resolve) => {
    told = resolve;
  });
  const { ports, client } = await edge({
    web: (_, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n');
      res.on('close', told);
    },
  });
  const socket = connect(ports.admin as number, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
    if (text.includes('data: one')) client.endStreams();
  });
  socket.write('GET /admin/logs/tail HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await new Promise((resolve) => socket.once('end', resolve));
  assert.match(text, /data: one\n\n\r\n0\r\n\r\n$/, 'the end of the message came before the end of the connection');
  await gone;
});
