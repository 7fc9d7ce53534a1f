import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type EventEmitter, once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until, untilSteady } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { exchange, listen } from './raw-client.fixture.ts';

await testDatabase();
const running = await startGateway();
const { port } = running;
const w = await workspace();
const { text: key } = await w.key();
const host = `${w.tenant.slug}.localhost:${port}`;

/** An upstream that answers every connection by hand. `serve` is called once per request head. */
async function rawUpstream(slug: string, serve: (socket: Socket, n: number) => void, config: Record<string, unknown> = {}) {
  let requests = 0;
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      if (/^[A-Z]+ \//.test(chunk.toString('latin1'))) serve(socket, ++requests);
    });
  });
  const upstreamPort = await listen(server);
  await makeRoute(w, slug, `http://127.0.0.1:${upstreamPort}`, config);
  await served(running, w);
  return { port: upstreamPort, sockets, server, requests: () => requests };
}

const open = (path: string, headers: Record<string, string> = {}) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const req = request({ port, host: '127.0.0.1', path, headers: { host, 'x-svc-key': key, ...headers }, agent: false }, resolve);
    req.on('error', reject);
    req.end();
  });

/** The first of the events; the listeners of the others are taken off again. */
async function either(emitter: EventEmitter, ...events: string[]): Promise<void> {
  const rest = new AbortController();
  await Promise.race(events.map((event) => once(emitter, event, { signal: rest.signal })));
  rest.abort();
}

const row = (requestId: string | undefined) =>
  until(async () => {
    await running.flush();
    return (await db().request_logs.count({ where: { request_id: requestId ?? '' } })) === 1;
  }).then(() => db().request_logs.findFirstOrThrow({ where: { request_id: requestId ?? '' } }));

test('the first event arrives long before the stream ends, under a first-byte block', async () => {
  let finish = () => {};
  const upstream = await startUpstream((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: one\n\n');
    finish = () => res.end('data: two\n\n');
  });
  await makeRoute(w, 'events', upstream.url);
  await served(running, w);
  const res = await open('/events');
  assert.equal(res.headers['x-svc-latency-phase'], 'first-byte');
  assert.equal(String((await once(res, 'data'))[0]), 'data: one\n\n');
  const ended = once(res, 'end');
  finish();
  assert.equal(String((await once(res, 'data'))[0]), 'data: two\n\n');
  await ended;
});

test('a head whose body is late is not held back', async () => {
  let sendBody = () => {};
  const late = await rawUpstream('late', (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    sendBody = () => void socket.write('2\r\nok\r\n0\r\n\r\n');
  });
  const res = await open('/late'); // would never be there if it waited for the body
  sendBody();
  assert.equal(String((await once(res, 'data'))[0]), 'ok');
  assert.equal(late.requests(), 1);
});

test('a slow reader slows the upstream down instead of filling memory', async () => {
  const size = 200 * 1024 * 1024;
  const chunk = Buffer.alloc(256 * 1024, 7);
  let written = 0;
  const upstream = await startUpstream(async (_, res) => {
    res.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
    while (written < size && !res.destroyed) {
      written += chunk.length;
      if (!res.write(chunk)) await either(res, 'drain', 'close');
    }
    res.end();
  });
  await makeRoute(w, 'big', upstream.url);
  await served(running, w);
  const res = await open('/big');
  res.pause();
  const held = await untilSteady(() => written);
  assert.ok(held < 40 * 1024 * 1024, `${held} bytes were taken from the upstream although nobody read`);
  res.destroy();
  await until(() => written < size);
});

test('every caller gets exactly its own bytes, whoever else is served meanwhile and however slowly it reads', async () => {
  /** The body of a call says everywhere whose it is. */
  const bodyOf = (name: string, size: number) => Buffer.alloc(size, `${name} `);
  const upstream = await startUpstream((req, res) => {
    const [, name = '', size = '', framing] = (req.url ?? '').slice(1).split('-');
    const body = bodyOf(name, Number(size));
    res.writeHead(200, framing === 'length' ? { 'content-length': body.length } : {});
    // In uneven pieces, so that reads of different calls come in between.
    for (let at = 0; at < body.length; at += 70_001) res.write(body.subarray(at, at + 70_001));
    res.end();
  });
  await makeRoute(w, 'own', upstream.url);
  await served(running, w);
  // The largest do not fit into the buffers of a connection, so that parts of them wait in ours.
  const sizes = [1, 300, 16_384, 16_385, 65_536, 100_000, 1_048_576, 1_048_577, 24_000_000];
  const calls = [1, 2, 3].flatMap((round) =>
    sizes.flatMap((size) => ['length', 'chunks'].map((framing) => ({ name: `r${round}s${size}${framing}`, size, framing }))),
  );
  const { promise: quickOnes, resolve: quickDone } = Promise.withResolvers<void>();
  let quick = calls.filter((_, i) => i % 3 === 0).length;
  await Promise.all(
    calls.map(async ({ name, size, framing }, i) => {
      const res = await open(`/own/x-${name}-${size}-${framing}`);
      if (i % 3 !== 0) await quickOnes;
      const chunks: Buffer[] = [];
      for await (const chunk of res as AsyncIterable<Buffer>) chunks.push(chunk);
      assert.ok(Buffer.concat(chunks).equals(bodyOf(name, size)), name);
      if (i % 3 === 0 && --quick === 0) quickDone();
    }),
  );
});

test('a large upload arrives whole, with its length when it was known and in chunks when not', async () => {
  const upstream = await startUpstream((req, res, body) => {
    const text = JSON.stringify({
      hash: createHash('sha256').update(body).digest('hex'),
      length: req.headers['content-length'] ?? null,
      te: req.headers['transfer-encoding'] ?? null,
    });
    res.writeHead(200, { 'content-length': text.length }).end(text);
  });
  await makeRoute(w, 'upload', upstream.url);
  await served(running, w);
  const body = Buffer.alloc(12 * 1024 * 1024, 'sallyport ');
  const hash = createHash('sha256').update(body).digest('hex');
  const known = await ask(port, w.tenant.slug, '/upload', {
    method: 'PUT',
    key,
    body,
    headers: { 'content-type': 'application/octet-stream' },
  });
  assert.deepEqual(known.json(), { hash, length: String(body.length), te: null } as never);
  const chunked = await ask(port, w.tenant.slug, '/upload', {
    method: 'POST',
    key,
    body,
    headers: { 'transfer-encoding': 'chunked', 'content-length': [] },
  });
  assert.deepEqual(chunked.json(), { hash, length: null, te: 'chunked' } as never);
  const withGet = await ask(port, w.tenant.slug, '/upload', { method: 'DELETE', key, body: 'x' });
  assert.equal((withGet.json() as unknown as { length: string }).length, '1');
});

test('every upstream gets exactly the body that was meant for it, on the second attempt too, whoever else sends and however slowly it reads', async () => {
  const bodyOf = (name: string, size: number) => Buffer.alloc(size, `${name} `);
  const seen = new Set<string>();
  const slow = createHttpServer(async (req, res) => {
    const [, name = ''] = (req.url ?? '').slice(1).split('-');
    // Longer than the buffers of a connection take, so that parts of the body wait in ours.
    if (name.includes('slow')) await untilSteady(() => req.socket.bytesRead);
    const hash = createHash('sha256');
    for await (const chunk of req as AsyncIterable<Buffer>) hash.update(chunk);
    const first = !seen.has(name);
    seen.add(name);
    const text = hash.digest('hex');
    res.writeHead(name.includes('again') && first ? 503 : 200, { 'content-length': text.length, 'retry-after': '0' }).end(text);
  });
  await makeRoute(w, 'uploads', `http://127.0.0.1:${await listen(slow)}`, { retry_attempts: 1 });
  await served(running, w);
  const sizes = [1, 4_096, 16_385, 65_536, 100_000, 1_048_576, 12_000_000];
  const calls = ['', 'slow', 'again', 'slowagain'].flatMap((kind) =>
    sizes.flatMap((size) =>
      ['application/json', 'application/octet-stream', 'chunked'].map((type) => ({
        name: `${kind}${size}${type.slice(12)}`,
        kind,
        size,
        type,
      })),
    ),
  );
  await Promise.all(
    calls.map(async ({ name, kind, size, type }) => {
      const body = bodyOf(name, size);
      const framing: Record<string, string | string[]> =
        type === 'chunked' ? { 'transfer-encoding': 'chunked', 'content-length': [] } : { 'content-type': type };
      const answer = await ask(port, w.tenant.slug, `/uploads/x-${name}`, { method: 'PUT', key, body, headers: framing });
      // What streams cannot be sent twice.
      const repeatable = type !== 'chunked' && size <= 1_048_576;
      assert.equal(answer.status, kind.includes('again') && !repeatable ? 503 : 200, name);
      assert.equal(answer.body, createHash('sha256').update(body).digest('hex'), name);
    }),
  );
  slow.close().closeAllConnections();
});

test('more than 100 MiB is refused by its announcement, and by count when nothing was announced', async () => {
  const upstream = await startUpstream();
  await makeRoute(w, 'limit-100', upstream.url);
  await served(running, w);
  const announced = await exchange(
    port,
    `PUT /limit-100 HTTP/1.1\r\nHost: ${host}\r\nX-Svc-Key: ${key}\r\nContent-Length: 104857601\r\n\r\nx`,
  );
  assert.deepEqual([announced.status, announced.headers['x-svc-error']], [413, 'payload_too_large']);
  const socket = connect(port, '127.0.0.1');
  socket.write(`PUT /limit-100 HTTP/1.1\r\nHost: ${host}\r\nX-Svc-Key: ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const chunk = Buffer.alloc(1024 * 1024);
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  socket.on('error', () => {});
  for (let i = 0; i < 110 && !socket.destroyed && answer === ''; i++) {
    if (!socket.write(Buffer.concat([Buffer.from('100000\r\n'), chunk, Buffer.from('\r\n')])))
      await either(socket, 'drain', 'close', 'data');
  }
  await until(() => answer !== '' || socket.destroyed);
  assert.match(answer, /^HTTP\/1\.1 413 /);
  assert.equal(upstream.seen.length, 0);
});

test('a stream that breaks is cut, not closed, and logged so', async () => {
  let breakOff = () => {};
  await rawUpstream('broken', (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
    breakOff = () => socket.destroy();
  });
  const res = await open('/broken');
  breakOff();
  res.resume();
  const [error] = await once(res, 'error').catch((e: unknown) => [e]);
  assert.match(String((error as Error).message), /aborted/);
  assert.equal(res.complete, false);
  const logged = await row(res.headers['x-svc-request-id'] as string);
  assert.equal(logged.error, 'upstream_stream_failed');
});

test('an upstream that breaks inside a short answer is a refusal, without an upstream status', async () => {
  await rawUpstream('short', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello'));
  const answer = await ask(port, w.tenant.slug, '/short', { key });
  assert.equal(answer.status, 502);
  assert.equal(answer.headers['x-svc-upstream-status'], undefined);
  assert.equal(answer.headers['x-svc-origin'], 'service');
  assert.match(answer.headers['x-svc-upstream-ms'] ?? '', /^\d+$/);
});

test('a caller that goes away takes the upstream request with it', async () => {
  let closed = false;
  const upstream = await startUpstream((req, res) => {
    res.on('close', () => {
      closed = true;
    });
    void req;
  });
  await makeRoute(w, 'hangs', upstream.url);
  await served(running, w);
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET /hangs HTTP/1.1\r\nHost: ${host}\r\nX-Svc-Key: ${key}\r\n\r\n`);
  await until(() => upstream.seen.length === 1);
  socket.destroy();
  await until(() => closed);
  await running.flush();
  const route = await db().routes.findFirstOrThrow({ where: { tenant_id: w.tenant.id, slug: 'hangs' } });
  await until(async () => {
    await running.flush();
    return (await db().request_logs.count({ where: { route_id: route.id } })) === 1;
  });
  const logged = await db().request_logs.findFirstOrThrow({ where: { route_id: route.id } });
  assert.deepEqual([logged.error, logged.status_code], ['client_closed', null]);
  assert.equal(running.runtime.inFlight.get(w.tenant.id), undefined);
});

test('an upstream that is silent, refuses or speaks nonsense is named by class, never by address', async () => {
  await rawUpstream('silent', () => {}, { timeout_ms: 150 });
  await rawUpstream('drip', (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1'), { timeout_ms: 150 });
  await rawUpstream('nonsense', (socket) => socket.end('HELLO\r\n\r\n'));
  await rawUpstream('huge-head', (socket) => socket.end(`HTTP/1.1 200 OK\r\nX-Big: ${'x'.repeat(70_000)}\r\nContent-Length: 0\r\n\r\n`));
  await rawUpstream('resets', (socket) => socket.resetAndDestroy());
  await makeRoute(w, 'nobody', 'http://127.0.0.1:1');
  await served(running, w);
  const cases: [string, number, string][] = [
    ['/silent', 504, 'upstream_timeout'],
    ['/drip', 504, 'upstream_timeout'],
    ['/nonsense', 502, 'upstream_protocol_error'],
    ['/huge-head', 502, 'upstream_protocol_error'],
    ['/resets', 502, 'upstream_unreachable'],
    ['/nobody', 502, 'upstream_unreachable'],
  ];
  for (const [path, status, code] of cases) {
    const answer = await ask(port, w.tenant.slug, path, { key });
    assert.deepEqual([answer.status, answer.headers['x-svc-error']], [status, code], path);
    const { service, error } = answer.json() as unknown as { service: { code: string; latency_ms: number }; error: { type: string } };
    assert.deepEqual([service.code, error.type], [code, code]);
  }
});

test('1xx answers are swallowed, and answers without a body keep their head', async () => {
  await rawUpstream(
    'hints',
    (socket) =>
      void socket.write(
        'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 500\r\n\r\n',
      ),
  );
  const answer = await ask(port, w.tenant.slug, '/hints', { key });
  assert.deepEqual([answer.status, answer.body, answer.headers.etag], [304, '', '"a"']);
  const upstream = await startUpstream((_, res) => res.writeHead(200, { 'content-length': 4_000_000 }).end());
  await makeRoute(w, 'head', upstream.url);
  await served(running, w);
  const head = await ask(port, w.tenant.slug, '/head', { key, method: 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-length'], head.headers['x-svc-latency-phase']], [200, '4000000', 'complete']);
});

test('an unasked 100 Continue is swallowed, whole or in pieces, with others, and on the next call of the same connection', async () => {
  const body = 'HTTP/1.1 100 Continue\r\n\r\n';
  const answer = `HTTP/1.1 200 OK\r\nX-Answer: yes\r\nContent-Length: ${body.length}\r\n\r\n`;
  const parts: Record<string, string[]> = {
    plain: [`HTTP/1.1 100 Continue\r\n\r\n${answer}`, body],
    alone: ['HTTP/1.1 100 Continue\r\n\r\n', answer, body],
    pieces: [...'HTTP/1.1 100 Continue\r\nX-Hint: a\r\n\r\n', answer, body],
    many: [
      'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
      `HTTP/1.0 100\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 P\r\n\r\n${answer}`,
      body,
    ],
    none: [...answer.slice(0, 14), answer.slice(14), body],
  };
  for (const [slug, pieces] of Object.entries(parts)) {
    const upstream = await rawUpstream(`continue-${slug}`, (socket) => {
      const next = (i: number) => {
        if (i === pieces.length) return;
        socket.write(pieces[i] as string, 'latin1');
        setTimeout(next, 1, i + 1);
      };
      next(0);
    });
    for (const n of [1, 2]) {
      const got = await ask(port, w.tenant.slug, `/continue-${slug}`, { key, ...(n === 2 && { method: 'POST', body: 'x' }) });
      // The body is made of the same bytes: only what stands before the answer is taken away.
      assert.deepEqual(
        [got.status, got.body, got.headers['x-answer'], got.headers['x-hint']],
        [200, body, 'yes', undefined],
        `${slug} ${n}`,
      );
    }
    assert.deepEqual([upstream.requests(), upstream.sockets.length], [2, 1], `${slug}: one connection served both`);
  }
});

test('an upstream that never gets beyond informational answers, or bends their form, is refused', async () => {
  const bad: Record<string, string> = {
    flood: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(4_000),
    endless: `HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(100_000)}`,
    'bare-lf': 'HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    upgrade: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  };
  for (const [slug, bytes] of Object.entries(bad)) {
    await rawUpstream(`bad-${slug}`, (socket) => void socket.write(bytes, 'latin1'));
    const answer = await ask(port, w.tenant.slug, `/bad-${slug}`, { key });
    assert.equal(answer.status, 502, slug);
    assert.match(answer.headers['x-svc-error'] ?? '', /^upstream_/, slug);
  }
});

test('a stale kept-alive socket costs an idempotent call nothing, and a POST is not sent twice', async () => {
  const stale = await rawUpstream('stale', (socket, n) => {
    // Every second request finds its connection closed after it was written.
    if (n % 2 === 0) socket.destroy();
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  assert.equal((await ask(port, w.tenant.slug, '/stale', { key })).status, 200);
  const again = await ask(port, w.tenant.slug, '/stale', { key });
  assert.equal(again.status, 200);
  assert.equal(stale.requests(), 3);
  const post = await ask(port, w.tenant.slug, '/stale', { key, method: 'POST', body: '{}' });
  assert.equal(post.status, 502);
  assert.equal(stale.requests(), 4);
});

test('configured retries repeat what may be repeated, and return the last answer', async () => {
  const flaky = (slug: string) =>
    rawUpstream(
      slug,
      (socket, n) =>
        void socket.write(
          n < 3 ? 'HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 4\r\n\r\nbusy' : 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
        ),
      { retry_attempts: 2 },
    );
  const get = await flaky('flaky-get');
  const answer = await ask(port, w.tenant.slug, '/flaky-get', { key });
  assert.deepEqual([answer.status, answer.body, get.requests()], [200, 'ok', 3]);
  const logged = await row(answer.headers['x-svc-request-id']);
  assert.equal(logged.attempts, 3);
  const post = await flaky('flaky-post');
  assert.deepEqual([(await ask(port, w.tenant.slug, '/flaky-post', { key, method: 'POST', body: 'x' })).status, post.requests()], [503, 1]);
  const keyed = await flaky('flaky-keyed');
  assert.deepEqual(
    [
      (await ask(port, w.tenant.slug, '/flaky-keyed', { key, method: 'POST', body: 'x', headers: { 'idempotency-key': 'k' } })).status,
      keyed.requests(),
    ],
    [200, 3],
  );
});

test('100-continue is said only to callers who were let in', async () => {
  const upstream = await startUpstream();
  await makeRoute(w, 'continue', upstream.url);
  await served(running, w);
  const head = (k: string) =>
    `POST /continue HTTP/1.1\r\nHost: ${host}\r\nX-Svc-Key: ${k}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`;
  const refused = await exchange(port, head('tk_live_bad'));
  assert.equal(refused.status, 401);
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  socket.write(head(key));
  await until(() => text.startsWith('HTTP/1.1 100 Continue'));
  socket.write('hi');
  await until(() => text.includes('HTTP/1.1 200'));
  socket.destroy();
  assert.equal(upstream.seen[0]?.body, 'hi');
  assert.equal(upstream.seen[0]?.headers.expect, undefined);
});

test('two calls of different workspaces on one connection do not mix', async () => {
  const upstream = await startUpstream();
  const other = await workspace();
  const { text: otherKey } = await other.key();
  await makeRoute(w, 'mine', `${upstream.url}/mine`);
  await makeRoute(other, 'theirs', `${upstream.url}/theirs`);
  await served(running, w);
  await served(running, other);
  const one = (slug: string, route: string, k: string, end = '') =>
    `GET /${route} HTTP/1.1\r\nHost: ${slug}.localhost\r\nX-Svc-Key: ${k}\r\n${end}\r\n`;
  const both = await exchange(
    port,
    one(w.tenant.slug, 'mine', key) +
      one(other.tenant.slug, 'theirs', otherKey) +
      one(other.tenant.slug, 'theirs', key, 'Connection: close\r\n'),
    Number.POSITIVE_INFINITY,
  );
  assert.deepEqual(
    upstream.seen.map((s) => s.url),
    ['/mine', '/theirs'],
  );
  assert.match(both.body, /invalid_api_key/);
});

test('an upstream that answers in crumbs takes no more memory than it sends', async () => {
  const crumbs = 60_000;
  let [send, left] = [() => {}, () => 0];
  await rawUpstream('crumbs', (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    left = () => socket.writableLength;
    send = () => void socket.end(`${'1\r\nx\r\n'.repeat(crumbs)}0\r\n\r\n`);
  });
  const first = await open('/crumbs'); // what is made once is made now
  send();
  await text(first);
  let most = 0;
  const before = process.memoryUsage().arrayBuffers;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 1);
  const res = await open('/crumbs');
  res.pause(); // and a caller that does not read
  send();
  await untilSteady(left);
  clearInterval(watch);
  res.destroy();
  assert.ok(most < 64 * 1024 * 1024, `${Math.round(most / 1024 / 1024)} MB for ${crumbs} bytes`);
});

test('an answer that its caller does not read counts as running, so that nobody fills memory with them', async () => {
  const size = 1024 * 1024;
  const upstream = await startUpstream((_, res) => res.writeHead(200, { 'content-length': size }).end(Buffer.alloc(size)));
  await makeRoute(w, 'unread', upstream.url);
  await served(running, w);
  const asked = 20; // more than the buffers of a connection hold
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(`GET /unread HTTP/1.1\r\nHost: ${host}\r\nX-Svc-Key: ${key}\r\n\r\n`.repeat(asked));
  await until(() => upstream.seen.length === asked);
  const held = (await untilSteady(() => running.runtime.inFlight.get(w.tenant.id))) ?? 0;
  assert.ok(held > 5 && held <= asked, `${held} of ${asked} count although nothing is read`);
  socket.destroy();
  await until(() => running.runtime.inFlight.get(w.tenant.id) === undefined);
});
