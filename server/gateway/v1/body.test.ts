import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { z } from 'zod';
import { hotOperation } from '#server/kernel/hot-operation.ts';
import { newId } from '#server/kernel/ids.ts';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { workspace } from '#server/testing/workspace.ts';
import { createListener, inspectHead } from '../core/listener.ts';
import { credentials } from '../credentials/credentials.ts';
import { createFrontDoor } from '../front-door/front-door.ts';
import { createWebForward } from '../front-door/web-forward.ts';
import { type Ask, ask } from '../gateway.fixture.ts';
import { createHotV1 } from './hot.ts';

// A hot operation with a body: read here only for a key that is known, and handed to web as it came when the answer is web's.

await testDatabase({ SVC_GATEWAYS: '1' });

const shout = hotOperation({
  id: 'tests.shout',
  summary: 'Answer in capitals',
  http: 'POST /shout',
  needs: ['environment:read'],
  refuses: [],
  input: z.object({ text: z.string().max(20), loud: z.boolean().default(true) }),
  output: z.object({ text: z.string() }),
  run: async (_, { text, loud }) => ({ text: loud ? text.toUpperCase() : text }),
});

const weigh = hotOperation({
  id: 'tests.weigh',
  summary: 'Answer what was sent',
  http: 'POST /weigh/{name}',
  kind: 'use',
  body: { limit: 2 * 1024 * 1024 },
  needs: ['environment:read'],
  refuses: [],
  input: z.object({ name: z.string(), data: z.unknown() }),
  output: z.object({ name: z.string(), data: z.unknown() }),
  run: async (_, input) => input,
});

const web = await bodiesAtWeb();
const port = await door();
const w = await workspace();
const { text: key } = await w.key();

async function bodiesAtWeb() {
  const bodies: Buffer[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      bodies.push(Buffer.concat(chunks));
      res.writeHead(299, { 'content-type': 'application/json' }).end('{}');
    });
  });
  mkdirSync(path.dirname(env.WEB_SOCKET), { recursive: true });
  await new Promise<void>((resolve) => void server.listen(env.WEB_SOCKET, resolve));
  onFileEnd(async () => void server.close());
  return bodies;
}

async function door(): Promise<number> {
  const known = credentials({ stale_ms: 0 });
  const forward = createWebForward({ socketPath: env.WEB_SOCKET });
  const front = createFrontDoor({
    web: forward,
    token: 'door-token',
    trustedProxies: [],
    hot: createHotV1({ ...known, count: () => null, operations: [shout, weigh] }),
    onChanged: async () => undefined,
  });
  const server = createListener({
    onRequest(req, res) {
      const head = inspectHead(req);
      if (!head.ok) return void res.writeHead(head.status).end();
      front.serve(req, res, { match: { plane: 'api', space: 'live', target: head.target }, head, requestId: newId() });
    },
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onFileEnd(async () => {
    server.close();
    server.closeAllConnections();
    forward.close();
    await known.close();
  });
  return (server.address() as { port: number }).port;
}

const post = (how: Ask = {}, path = '/v1/shout') =>
  ask(port, 'api', path, {
    method: 'POST',
    ...how,
    headers: { host: 'localhost', 'content-type': 'application/json', authorization: `Bearer ${key}`, ...how.headers },
  });

test('a body that the operation takes is read and answered without web', async () => {
  for (const body of ['{"text":"hello"}', '{"text":"hello","other":1}', `{"text":"hello"${' '.repeat(60_000)}}`]) {
    const answer = await post({ body });
    assert.deepEqual([answer.status, (JSON.parse(answer.body) as { data: unknown }).data], [200, { text: 'HELLO' }]);
  }
  assert.deepEqual(web, []);
});

test('a request that is not answered here reaches web with its body to the byte', async () => {
  const unknown = (await (await workspace()).key('live', 'Key - Editor', { active: false })).text;
  const table: [string, Ask, string | Buffer][] = [
    ['refused input', {}, '{"text":"far longer than twenty characters"}'],
    ['no JSON', {}, '{"text":'],
    ['invalid UTF-8', {}, Buffer.from([0x7b, 0xff, 0x7d])],
    ['another media type', { headers: { 'content-type': 'text/plain' } }, '{"text":"hello"}'],
    ['an idempotency key', { headers: { 'idempotency-key': 'k1' } }, '{"text":"hello"}'],
    ['a revoked key', { headers: { authorization: `Bearer ${unknown}` } }, '{"text":"hello"}'],
    ['an unknown version', { headers: { 'service-version': 'x' } }, '{"text":"hello"}'],
    ['a body that is too large to wait for', {}, `{"text":"hello"${' '.repeat(70_000)}}`],
    ['an empty body', {}, ''],
    ['100-continue', { headers: { expect: '100-continue' } }, '{"text":"hello"}'],
  ];
  for (const [what, how, body] of table) {
    web.length = 0;
    const answer = await post({ ...how, body });
    assert.equal(answer.status, 299, what);
    assert.deepEqual(web, [Buffer.from(body)], what);
  }
});

test('a chunked body is web’s', async () => {
  web.length = 0;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of ['{"text":', '"hello"}']) controller.enqueue(Buffer.from(part));
      controller.close();
    },
  });
  const answer = await fetch(`http://127.0.0.1:${port}/v1/shout`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body,
    duplex: 'half',
  } as RequestInit);
  assert.equal(answer.status, 299);
  assert.deepEqual(web.map(String), ['{"text":"hello"}']);
});

test('an operation that takes large bodies is served with them, to its limit', async () => {
  web.length = 0;
  const send = async (bytes: number) => {
    const body = `{"data":"${'x'.repeat(bytes - 11)}"}`;
    assert.equal(body.length, bytes);
    return (await post({ body }, '/v1/weigh/a')).status;
  };
  assert.deepEqual([await send(70_000), await send(1024 * 1024)], [200, 200]);
  assert.deepEqual(web, []);
  assert.equal(await send(1024 * 1024 + 1), 413, 'the path is not one with a wider limit at the front door');
});

test('numbers and names survive where an operation takes any JSON', async () => {
  const data = '{"price":1299.10,"big":1152921504606846976,"constructor":1,"prototype":[1.0]}';
  const { status, body } = await post({ body: `{"data":${data},"__proto__":{"name":"b"}}` }, '/v1/weigh/a');
  assert.equal(status, 200);
  assert.ok(body.startsWith(`{"data":{"name":"a","data":${data}},"meta":`), body);
  for (const refused of ['{"a":{"__proto__":1}}', '[1e400]', '{"b":[{"c":-1E999}]}']) {
    web.length = 0;
    await post({ body: `{"data":${refused}}` }, '/v1/weigh/a');
    assert.equal(web.length, 1, `${refused} is refused, and web says so`);
  }
});

test('names with dots and spaces are plain, dot segments and other encodings are not', async () => {
  for (const [path, name] of [
    ['Card%20data.v2', 'Card data.v2'],
    ['a..b', 'a..b'],
    ['a.rsc', 'a.rsc'],
  ] as const) {
    web.length = 0;
    const { status, body } = await post({ body: '{"data":1}' }, `/v1/weigh/${path}`);
    assert.deepEqual([status, (JSON.parse(body) as { data: { name: string } }).data.name, web.length], [200, name, 0], path);
  }
  for (const path of ['.a', '%2e', 'a%2Fb', 'a%41', '%20%00']) {
    web.length = 0;
    assert.notEqual((await post({ body: '{"data":1}' }, `/v1/weigh/${path}`)).status, 200, path);
  }
});
