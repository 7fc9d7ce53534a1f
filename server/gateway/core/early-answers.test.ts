import assert from 'node:assert/strict';
import test from 'node:test';
import { NEWEST } from '#server/kernel/versions.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway } from '../gateway.fixture.ts';
import { exchange } from './raw-client.fixture.ts';

// What is answered before anything of a plane looks at the request: by the parser, the head's limits, an unknown host, and a web process that isn't there.

await testDatabase();
const running = await startGateway();
const w = await workspace();
await served(running, w);
const ports = { proxy: running.port, api: 0, sandbox: 0, admin: 0 };
for (const name of ['api', 'sandbox', 'admin'] as const) ports[name] = (await running.gateway.listen(name, 0, '127.0.0.1')).port;

const HOSTS: [keyof typeof ports, string][] = [
  ['proxy', `${w.tenant.slug}.localhost`],
  ['proxy', `sandbox-${w.tenant.slug}.localhost`],
  ['proxy', 'nobody-here.localhost'],
  ['proxy', 'localhost'],
  ['proxy', 'other.example'],
  ['api', 'localhost'],
  ['sandbox', 'localhost'],
  ['admin', 'localhost'],
];
const PATHS = [
  '/',
  '/v1/routes',
  '/v1/nothing',
  '/v1/ai/chat/completions',
  '/v1/mcp',
  '/v1/proxy',
  '/auth/me',
  '/admin/trpc/routes.list',
  '/scim/v2/Users',
  '/oauth/token',
  '/hooks/x',
  '/agents/x',
  '/x',
];
const REQUESTS: [string, (host: string, path: string) => string][] = [
  ['a head that is no HTTP', () => 'GET\r\n\r\n'],
  ['a method that nobody has', (host, path) => `BREW ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
  ['a method of others', (host, path) => `TRACE ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
  ['two hosts', (host, path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\n\r\n`],
  [
    'two lengths',
    (host, path) => `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['a long target', (host, path) => `GET ${path}?${'a'.repeat(17_000)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
  ['a large head', (host, path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Pad: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['a head over the parser’s limit', (host, path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Pad: ${'a'.repeat(200_000)}\r\n\r\n`],
  ['a body that is announced too large', (host, path) => `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 99999999999\r\n\r\n`],
  ['another expectation', (host, path) => `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nExpect: a-wonder\r\nContent-Length: 1\r\n\r\nx`],
  ['an unknown version', (host, path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nService-Version: 2020-01-01\r\n\r\n`],
  ['a plain call', (host, path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
];
/** RFC 6749 and RFC 7644 say what their bodies hold: there the header has the ID alone. */
const BY_RFC = /^\/(?:oauth|scim)\//;

/** The ID that an error tells of itself, in whichever shape. */
const idIn = ({ error, request_id }: { error?: { request_id?: string; data?: { request_id?: string } }; request_id?: string }) =>
  request_id ?? error?.request_id ?? error?.data?.request_id;

test('every JSON error says which request it is of, whoever gives it', async () => {
  let errors = 0;
  for (const [port, host] of HOSTS)
    for (const path of PATHS)
      for (const [what, request] of REQUESTS) {
        const { status, headers, body } = await exchange(ports[port], request(host, path), 20);
        const about = `${what}: ${host} on ${port}, ${path}: ${status} ${body.slice(0, 200)}`;
        if (status < 400 || !/json/.test(headers['content-type'] ?? '')) continue;
        errors++;
        assertStamped({ headers, port, path, what }, about);
        assert.match(headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/, about);
        if (!BY_RFC.test(path) || idIn(JSON.parse(body)) !== undefined)
          assert.equal(idIn(JSON.parse(body)), headers['x-request-id'], about);
      }
  assert.ok(errors > 500, String(errors));
});

test('what is written on a bare connection has the same headers: handshakes that become nothing, CONNECT, heads without a path', async () => {
  const socket = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  const cases: [bytes: string, status: number, version: string | undefined][] = [
    ['GET /agent/v1/tunnel HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: sallyport-tunnel/1\r\n\r\n', 401, undefined],
    [`GET /agent/v1/control HTTP/1.1\r\nHost: localhost\r\n${socket}\r\n\r\n`, 503, undefined],
    ['CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 405, NEWEST],
    ['GET\r\n\r\n', 400, NEWEST],
    ['BREW /v1/routes HTTP/1.1\r\nHost: localhost\r\n\r\n', 400, NEWEST],
    ['BREW /oauth/token HTTP/1.1\r\nHost: localhost\r\n\r\n', 400, undefined],
  ];
  for (const [bytes, status, version] of cases) {
    const { headers, body, ...answer } = await exchange(ports.api, bytes, 200);
    const about = `${bytes}: ${answer.head}`;
    assert.equal(answer.status, status, about);
    assert.equal(idIn(JSON.parse(body)), headers['x-request-id'], about);
    const names = ['content-type', 'cache-control', 'x-content-type-options', 'referrer-policy', 'connection', 'service-version'];
    assert.deepEqual(
      names.map((name) => headers[name]),
      ['application/json; charset=utf-8', 'no-store', 'nosniff', 'no-referrer', 'close', version],
      about,
    );
    assert.equal(headers['retry-after'], status === 503 ? '5' : undefined, about);
  }
});

/** What the parser gives up on, so that nothing of the head is known for certain. */
const UNREADABLE = /no HTTP|that nobody has|two lengths|parser/;
/** Planes whose calls carry the response block on the hosts of the API too. */
const PLANE_OF: Readonly<Record<string, string>> = { '/v1/ai/chat/completions': 'ai', '/v1/mcp': 'ai', '/v1/proxy': 'proxy' };

type Early = { headers: Record<string, string>; port: string; path: string; what: string };

/** Whoever writes an answer: the version below /v1, the block of its plane, or else the headers of every answer (interface rules 01 §4, 12 §13.1). */
function assertStamped({ headers, port, path, what }: Early, about: string): void {
  const isApi = port === 'api' || port === 'sandbox';
  const isUnreadable = UNREADABLE.test(what);
  if (path.startsWith('/v1') && (isApi || !isUnreadable)) assert.equal(headers['service-version'], NEWEST, about);
  const plane = isApi && !isUnreadable ? PLANE_OF[path] : undefined;
  if (plane === undefined && headers['x-svc-plane'] === undefined) {
    const standard = ['x-content-type-options', 'referrer-policy', 'cache-control'].map((name) => headers[name]);
    assert.deepEqual(standard, ['nosniff', 'no-referrer', 'no-store'], about);
    return;
  }
  assert.equal(headers['x-svc-request-id'], headers['x-request-id'], about);
  assert.deepEqual([headers['x-svc-origin'], headers['x-svc-latency-phase']], ['service', 'complete'], about);
  assert.match(
    `${headers['x-svc-error']} ${headers['x-svc-latency-ms']} ${headers['server-timing']}`,
    /^[a-z_]+ \d+ service;dur=\d+$/,
    about,
  );
  if (plane !== undefined)
    assert.deepEqual([headers['x-svc-plane'], headers['x-svc-sandbox']], [plane, port === 'sandbox' ? 'true' : undefined], about);
}
