import assert from 'node:assert/strict';
import test from 'node:test';
import { MCP_PATH } from '#server/api/mcp/serve.ts';
import { NEWEST } from '#server/kernel/versions.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeAgent, makeToken, PROMPT, sse } from './ai/ai.fixture.ts';
import { PLANES } from './assemble.ts';
import { exchange } from './core/raw-client.fixture.ts';
import { callApi, startApi, startTlsUpstream } from './ephemeral/ephemeral.fixture.ts';
import { ask, makeRoute, served, startUpstream } from './gateway.fixture.ts';
import { makeGateway, makeServer, makeToken as makeToolToken } from './mcp/mcp.fixture.ts';
import { startWeb } from './v1/web.fixture.ts';

// `Service-Version` on every path under /v1, on every host and plane (interface rules 01 §11, 64 §7).

await testDatabase({ SVC_GATEWAYS: '1' });
await startWeb();
const running = await startApi();
const w = await workspace();
const { text: key } = await w.key();
const HOST = 'api.versioned.example';
/** An upstream has versions of its own, and its own header for them. */
const THEIRS = { 'service-version': '1999-01-01' };
const provider = await startUpstream((_, res, body) => {
  const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
  if (!stream) return void res.writeHead(200, { ...THEIRS, 'content-type': 'application/json' }).end('{"choices":[]}');
  res.writeHead(200, { ...THEIRS, 'content-type': 'text/event-stream' }).write(sse({ choices: [] }));
  res.end(sse('[DONE]'));
});
const named = await startTlsUpstream([HOST], (_, res) => void res.writeHead(200, THEIRS).end('streamed'));
const vendor = await startUpstream((_, res, body) => {
  const { id = null } = JSON.parse(body.toString() || '{}') as { id?: number };
  const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'vendor', version: '1' } };
  res.writeHead(200, { ...THEIRS, 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
const plain = await startUpstream((_, res) => void res.writeHead(200, THEIRS).end());
await makeRoute(w, 'plain', plain.url);
const agent = await makeAgent(w, provider);
const { text: token } = await makeToken(w, agent);
const gateway = await makeGateway(w);
await makeServer(w, gateway, 'vendor', { upstream_url: vendor.url });
const { text: tool } = await makeToolToken(w, gateway);
await served(running, w);
const { port, api } = running;
const host = `${w.tenant.slug}.localhost:${port}`;
const onApi = `localhost:${api}`;

type Target = {
  name: string;
  port: number;
  host: string;
  path: string;
  method?: string;
  auth: string;
  headers?: Record<string, string>;
  body?: string;
};
const json = { 'content-type': 'application/json' };
const initialize = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'client', version: '1' } },
});
const onBoth = (name: string, path: string, more: Omit<Target, 'name' | 'port' | 'host' | 'path'>): Target[] => [
  { name, port, host, path, ...more },
  { name: `${name} on the API host`, port: api, host: onApi, path, ...more },
];
const agentPath = `/v1/ai/${agent.agent.slug}/v1/chat/completions`;
const accept = { ...json, accept: 'application/json, text/event-stream' };
const TARGETS: readonly Target[] = [
  ...onBoth('ai', agentPath, { method: 'POST', auth: token, headers: json, body: JSON.stringify(PROMPT) }),
  ...onBoth('ai stream', agentPath, { method: 'POST', auth: token, headers: json, body: JSON.stringify({ ...PROMPT, stream: true }) }),
  ...onBoth('mcp', '/v1/mcp/vendor', { method: 'POST', auth: tool, headers: accept, body: initialize }),
  ...onBoth('mcp aggregate', '/v1/mcp', { method: 'POST', auth: tool, headers: accept, body: initialize }),
  { name: 'own mcp', port: api, host: onApi, path: MCP_PATH, method: 'POST', auth: key, headers: accept, body: initialize },
  { name: 'proxy', port: api, host: onApi, path: '/v1/proxy', auth: key, headers: { 'x-svc-proxy-url': `https://${HOST}/x` } },
  { name: 'management', port: api, host: onApi, path: '/v1/environments', auth: key },
];
/** Planes that serve nothing under /v1: answers of a route are the upstream's, and so are those of gateway tokens. */
const UNVERSIONED = [PLANES[0], PLANES.at(-1)];

const call = (target: Target, { version, auth = target.auth, ...more }: Partial<Target> & { version?: string | string[] } = {}) =>
  callApi(target.port, more.path ?? target.path, {
    method: more.method ?? target.method ?? 'GET',
    headers: {
      ...{ host: target.host, ...(auth === '' ? {} : { authorization: `Bearer ${auth}` }), ...target.headers, ...more.headers },
      ...(version === undefined ? {} : { 'service-version': version }),
    },
    ...((more.body ?? target.body) === undefined ? {} : { body: more.body ?? target.body }),
  });

function assertVersioned(answer: { raw: readonly string[]; status: number; body: string }, what: string): void {
  const values = answer.raw.filter((_, i) => i % 2 === 1 && answer.raw[i - 1]?.toLowerCase() === 'service-version');
  assert.deepEqual(values, [NEWEST], `${what}: ${answer.status} ${answer.body.slice(0, 200)}`);
}

test('every plane that serves a path under /v1 is asked here', () => {
  for (const plane of PLANES)
    assert.equal(
      TARGETS.some(({ port: at, path }) =>
        plane.matches(
          at === api
            ? { plane: 'api', space: 'live', target: path }
            : { plane: 'tenant', label: w.tenant.slug, slug: w.tenant.slug, space: 'live', mount: '', target: path },
        ),
      ),
      !UNVERSIONED.includes(plane),
      plane.name,
    );
});

test('every answer names the version once: successes, streams and refusals of every kind', async () => {
  for (const target of TARGETS) {
    const { name, path } = target;
    for (const version of [undefined, NEWEST, [NEWEST, NEWEST]]) {
      const answer = await call(target, version === undefined ? {} : { version });
      assert.equal(answer.status, 200, `${name}: ${answer.body}`);
      assertVersioned(answer, name);
    }
    const refusals: [string, Partial<Target>, RegExp][] = [
      ['no credential', { auth: '' }, /^401$/],
      ['a bad credential', { auth: 'tk_live_wrong' }, /^401$/],
      ['an unknown path', { path: `${path}/nothing/here` }, /^4/],
      ['another path of /v1', { path: '/v1/nothing-here' }, /^404$/],
      ['a method that nothing has', { method: 'TRACE', body: '' }, /^4/],
      ['another method', { method: 'PUT' }, /^[24]/],
      ['a broken body', { headers: json, body: '{' }, /^[24]/],
      ['a long target', { path: `${path}?${'a'.repeat(17_000)}` }, /^4/],
      ['a long head', { headers: { 'x-a': 'a'.repeat(33_000) } }, /^4/],
      ['another expectation', { headers: { expect: 'a-wonder' } }, /^417$/],
    ];
    for (const [what, more, status] of refusals) {
      const answer = await call(target, more);
      assert.match(String(answer.status), status, `${name}, ${what}: ${answer.body}`);
      assertVersioned(answer, `${name}, ${what}`);
    }
    const raw = await exchange(
      target.port,
      `POST ${path} HTTP/1.1\r\nHost: ${target.host}\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    );
    assert.deepEqual([raw.status, raw.headers['service-version']], [400, NEWEST], `${name}, two hosts`);
    const long = await exchange(
      target.port,
      `POST ${path} HTTP/1.1\r\nHost: ${target.host}\r\nAuthorization: Bearer ${target.auth}\r\nContent-Type: application/json\r\nConnection: close\r\nX-Svc-Proxy-URL: https://${HOST}/\r\nContent-Length: 99000000\r\n\r\n`,
    );
    assert.deepEqual([long.status, long.headers['service-version']], [413, NEWEST], `${name}, a long body: ${long.head}`);
  }
});

test('an unknown or malformed version is refused with the words of the Management API, before it is known who calls', async () => {
  const management = TARGETS.find(({ name }) => name === 'management') as Target;
  const words = ((await call(management, { version: 'x' })).json() as unknown as { error: { message: string } }).error.message;
  const sent = () => provider.seen.length + named.seen.length;
  const before = sent();
  for (const target of TARGETS)
    for (const version of ['2020-01-01', '2026-02-30', '20260805', '', `${NEWEST},`, [NEWEST, '2020-01-01']])
      for (const auth of [target.auth, 'tk_live_wrong', '']) {
        const answer = await call(target, { version, auth });
        const told = `${target.name} ${version} ${auth.slice(0, 8)}: ${answer.body}`;
        assertVersioned(answer, told);
        assert.equal(answer.status, 400, told);
        const { error, error_description, code } = answer.json() as unknown as Record<string, string & { type: string; message: string }>;
        const agents = / ?(?:ai|mcp)/.test(target.name) && target.name !== 'own mcp';
        assert.deepEqual(
          agents ? [error, code, error_description] : [error?.type, error?.message],
          agents ? ['invalid_api_version', 'invalid_api_version', words] : ['invalid_api_version', words],
          told,
        );
        if (agents || target.name === 'proxy')
          assert.deepEqual(
            ['error', 'origin', 'plane'].map((what) => answer.headers[`x-svc-${what}`]),
            ['invalid_api_version', 'service', agents ? 'ai' : 'proxy'],
            told,
          );
      }
  assert.equal(sent(), before, 'nothing was asked of an upstream');
});

test('the token endpoint of a workspace answers in the words of OAuth, and other hosts and paths have no version', async () => {
  const exchangePath = '/v1/oauth/token';
  const wrong = await ask(port, w.tenant.slug, exchangePath, { method: 'POST', headers: { 'service-version': 'x' } });
  assertVersioned(wrong, exchangePath);
  assert.deepEqual([wrong.status, (wrong.json() as Record<string, string>).error], [400, 'invalid_request']);
  const nowhere = await ask(port, 'nobody-is-called-so', '/v1/mcp', { headers: { 'service-version': 'x' } });
  assertVersioned(nowhere, 'an unknown workspace');
  assert.equal(nowhere.status, 404);
  const route = await ask(port, w.tenant.slug, '/plain/v1/x', { key, headers: { 'service-version': 'x' } });
  assert.deepEqual([route.status, route.headers['service-version']], [200, '1999-01-01'], 'an answer of a route is its upstream’s');
  assert.equal(plain.seen.at(-1)?.headers['service-version'], 'x');
});
