import assert from 'node:assert/strict';
import test from 'node:test';
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
        assert.match(headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/, about);
        if (!BY_RFC.test(path) || idIn(JSON.parse(body)) !== undefined)
          assert.equal(idIn(JSON.parse(body)), headers['x-request-id'], about);
      }
  assert.ok(errors > 500, String(errors));
});
