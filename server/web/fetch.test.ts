import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { answerBy } from './fetch.ts';
import type { Route } from './routes.ts';

const long = JSON.stringify('word '.repeat(1_000));
const json = { 'content-type': 'application/json' };
const leaving = new EventEmitter();
const handlers: Record<string, Route['handlers']> = {
  '/echo': {
    POST: async (req, { params }) =>
      Response.json({ url: req.url, body: await req.text(), two: req.headers.get('x-two'), params: await params }, { status: 201 }),
  },
  '/cookies': {
    GET: () =>
      new Response(null, {
        status: 204,
        headers: [
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ],
      }),
  },
  '/long': { GET: () => new Response(long, { headers: json }) },
  '/done': { GET: () => new Response(long, { headers: { ...json, 'x-sallyport-encoding': 'br' } }) },
  '/secret': { GET: () => new Response(long, { headers: { ...json, 'cache-control': 'no-store, no-transform' } }) },
  '/short': { GET: () => new Response('{}', { headers: json }) },
  '/throws': {
    GET: () => {
      throw new Error('broken');
    },
  },
  '/breaks': {
    GET: () => {
      const parts = ['part'];
      return new Response(
        new ReadableStream({
          pull: (stream) => (parts.length > 0 ? stream.enqueue(new TextEncoder().encode(parts.pop())) : stream.error(new Error('broken'))),
        }),
      );
    },
  },
  '/endless': {
    GET: (req) => {
      req.signal.addEventListener('abort', () => leaving.emit('left'));
      const body = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode('first\n'.repeat(1_000))) });
      return new Response(body, { headers: { 'content-type': req.headers.get('accept') ?? '' } });
    },
  },
};
const failures: unknown[] = [];
const server = http.createServer((req, res) => {
  const route = { handlers: handlers[req.url?.split('?')[0] ?? ''] ?? {}, params: { id: 'x' } };
  answerBy(route, req, res).catch((error: Error) => {
    failures.push(error.message);
    res.headersSent ? res.destroy() : res.writeHead(500).end();
  });
});
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
const { port } = server.address() as AddressInfo;
after(() => {
  server.close();
  server.closeAllConnections();
});

type Answer = { status: number | undefined; headers: http.IncomingHttpHeaders; body: Buffer };

function ask(path: string, method = 'GET', headers: http.OutgoingHttpHeaders = {}, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = http.request({ port, path, method, headers }, async (res) => {
      try {
        resolve({ status: res.statusCode, headers: res.headers, body: Buffer.concat(await res.toArray()) });
      } catch (error) {
        reject(error);
      }
    });
    req.on('error', reject).end(body);
  });
}

test('a handler gets the request as it came, with its address, repeated headers, body and parameters', async () => {
  const { status, body } = await ask(
    '/echo?a=1',
    'POST',
    { host: 'api.test', 'x-two': ['one', 'two'], 'transfer-encoding': 'chunked' },
    'hello',
  );
  assert.equal(status, 201);
  assert.deepEqual(JSON.parse(body.toString()), { url: 'http://api.test/echo?a=1', body: 'hello', two: 'one, two', params: { id: 'x' } });
});

test('each cookie has a header of its own', async () => {
  assert.deepEqual((await ask('/cookies')).headers['set-cookie'], ['a=1', 'b=2']);
});

test('a text is compressed as the caller takes it', async () => {
  const [br, gzip, plain] = await Promise.all(
    ['gzip, br', 'gzip', 'identity'].map((accept) => ask('/long', 'GET', { 'accept-encoding': accept })),
  );
  assert.deepEqual(
    [br, gzip, plain].map((answer) => answer?.headers['content-encoding']),
    ['br', 'gzip', undefined],
  );
  assert.deepEqual(
    [br, gzip, plain].map((answer) => answer?.headers.vary),
    Array(3).fill('Accept-Encoding'),
  );
  assert.deepEqual([brotliDecompressSync(br?.body ?? ''), gunzipSync(gzip?.body ?? ''), plain?.body].map(String), Array(3).fill(long));
});

test('what is short, compressed already or must not be transformed is sent as it is', async () => {
  for (const [path, body] of [
    ['/short', '{}'],
    ['/done', long],
    ['/secret', long],
  ] as const) {
    const answer = await ask(path, 'GET', { 'accept-encoding': 'gzip, br' });
    assert.deepEqual([answer.headers['content-encoding'], answer.body.toString()], [undefined, body], path);
  }
});

test('HEAD is answered like GET without a body, and a missing method names those there are', async () => {
  const head = await ask('/long', 'HEAD');
  assert.deepEqual([head.status, head.headers['content-type'], head.body.length], [200, 'application/json', 0]);
  const put = await ask('/long', 'PUT');
  assert.deepEqual([put.status, put.headers.allow], [405, 'GET, HEAD, OPTIONS']);
  const options = await ask('/long', 'OPTIONS');
  assert.deepEqual([options.status, options.headers.allow], [204, 'GET, HEAD, OPTIONS']);
});

test('an answer that breaks off is not ended as if it were whole', async () => {
  await assert.rejects(ask('/breaks'), { code: 'ECONNRESET' });
  assert.equal((await ask('/throws')).status, 500);
  assert.deepEqual(failures, ['broken', 'broken']);
});

test('the handler learns that the caller of an endless answer has left, which is no failure', async () => {
  const before = failures.length;
  for (const accept of ['text/event-stream', 'text/plain']) {
    const left = once(leaving, 'left');
    const req = http.get({ port, path: '/endless', headers: { accept, 'accept-encoding': 'gzip' } }, (res) =>
      res.once('data', () => req.destroy()),
    );
    req.on('error', () => undefined);
    await left;
  }
  await ask('/short'); // what the server had to say of the others is said by now
  assert.equal(failures.length, before);
});
