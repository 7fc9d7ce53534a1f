import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { constants, createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import test, { after } from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { until, untilSteady } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, served, startGateway } from '../gateway.fixture.ts';

// A route whose upstream speaks HTTP/2, called by HTTP/1.1.

await testDatabase();
const running = await startGateway();
const w = await workspace();
const { text: key } = await w.key();
const host = `${w.tenant.slug}.localhost:${running.port}`;
await makeSecret(w, 'TOKEN', { production: 'the-token-of-the-upstream' });

type Serve = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, n: number) => void;
async function startHttp2(slug: string, serve: Serve, config: object = {}, settings: object = {}) {
  const server = createServer({ settings });
  const sessions: ServerHttp2Session[] = [];
  const seen: IncomingHttpHeaders[] = [];
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    serve(stream, headers, seen.push(headers));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await makeRoute(w, slug, url, { upstream_protocol: 'http2', ...config } as never);
  await served(running, w);
  return { seen, sessions };
}
const call = (path: string, more: Parameters<typeof ask>[3] = {}) => ask(running.port, w.tenant.slug, path, { key, ...more });

test('calls share one connection, go out with secrets and without what is ours, and come back with the block', async () => {
  const { seen, sessions } = await startHttp2(
    'plain',
    (stream) => {
      let body = '';
      stream.on('data', (chunk) => {
        body += chunk;
      });
      stream.on('end', () => {
        stream.respond({ ':status': 201, 'content-type': 'text/plain', 'x-svc-origin': 'forged', 'set-cookie': ['a=1', 'b=2'] });
        stream.end(`got ${body.length}`);
      });
    },
    { inject_headers_json: { Authorization: 'Bearer {{secret:TOKEN}}' } },
  );
  const big = Buffer.alloc(3_000_000, 'x');
  const answers = await Promise.all([
    ...Array.from({ length: 40 }, (_, i) => call(`/plain/a%2Fb//${i}?q=${i}`)),
    call('/plain/up', { method: 'POST', body: big }),
  ]);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.equal(answers.at(-1)?.body, 'got 3000000');
  assert.equal(answers[0]?.headers['x-svc-origin'], 'upstream');
  assert.equal(answers[0]?.headers['x-svc-upstream-status'], '201');
  assert.deepEqual(answers[0]?.headers['set-cookie'], ['a=1', 'b=2']);
  assert.equal(sessions.length, 1);
  const first = seen.find((headers) => headers[':path'] === '/a%2Fb//7?q=7');
  assert.equal(first?.authorization, 'Bearer the-token-of-the-upstream');
  assert.equal(first?.via, '1.1 svc-gateway');
  assert.equal(
    Object.keys(first ?? {}).some((name) => name.startsWith('x-svc-') || name === 'host' || name === 'connection'),
    false,
  );
});

test('answers without a body, heads alone, and bodies of known and unknown length end where they end', async () => {
  await startHttp2('shapes', (stream, headers) => {
    if (headers[':path'] === '/204') stream.respond({ ':status': 204 }, { endStream: true });
    else if (headers[':path'] === '/304') stream.respond({ ':status': 304, etag: '"a"' }, { endStream: true });
    else if (headers[':path'] === '/empty') stream.respond({ ':status': 200 }, { endStream: true });
    else if (headers[':method'] === 'HEAD') stream.respond({ ':status': 200, 'content-length': '12' });
    else {
      stream.respond({ ':status': 200, ...(headers[':path'] === '/known' && { 'content-length': '3' }) });
      stream.end('abc');
    }
  });
  for (const [path, status, body] of [
    ['/204', 204, ''],
    ['/304', 304, ''],
    ['/empty', 200, ''],
    ['/known', 200, 'abc'],
    ['/unknown', 200, 'abc'],
  ] as const) {
    const answer = await call(`/shapes${path}`);
    assert.deepEqual([answer.status, answer.body], [status, body], path);
  }
  const head = await call('/shapes/x', { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-length']], [200, '12']);
});

test('a slow reader slows the upstream down, and a caller who goes away ends the stream alone', async () => {
  let written = 0;
  let aborted = 0;
  const { sessions } = await startHttp2('slow', (stream, headers) => {
    stream.on('aborted', () => aborted++);
    stream.respond({ ':status': 200 });
    if (headers[':path'] === '/ok') return void stream.end('ok');
    const more = () => {
      while (written < 60_000_000 && !stream.destroyed) {
        written += 65_536;
        if (!stream.write(Buffer.alloc(65_536))) return void stream.once('drain', more);
      }
    };
    more();
  });
  const { connect } = await import('node:net');
  const socket = connect(running.port, '127.0.0.1');
  socket.pause();
  socket.write(`GET /slow/x HTTP/1.1\r\nHost: ${w.tenant.slug}.localhost\r\nX-Svc-Key: ${key}\r\n\r\n`);
  await until(() => written > 0);
  await untilSteady(() => written);
  assert.ok(written > 0 && written < 20_000_000, `${written} bytes were taken for nobody`);
  socket.destroy();
  await until(() => aborted === 1);
  assert.equal((await call('/slow/ok')).body, 'ok');
  assert.equal(sessions.length, 1);
});

test('a stream that was refused unprocessed is sent again, a POST too; one that broke is not', async () => {
  const { seen } = await startHttp2('refuses', (stream, headers, n) => {
    if (headers[':path'] === '/breaks') return void stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    if (n % 2 === 1) return void stream.close(constants.NGHTTP2_REFUSED_STREAM);
    stream.respond({ ':status': 200 });
    stream.end('second');
  });
  assert.equal((await call('/refuses/a', { method: 'POST', body: 'x' })).body, 'second');
  assert.equal(seen.length, 2);
  assert.equal((await call('/refuses/b')).body, 'second');
  const broken = await call('/refuses/breaks', { method: 'POST', body: 'x' });
  assert.deepEqual([broken.status, broken.headers['x-svc-error']], [502, 'upstream_unreachable']);
  assert.equal(seen.length, 5);
});

test('more calls than the upstream takes at a time wait or get another connection, and all are answered', async () => {
  const { sessions } = await startHttp2(
    'narrow',
    (stream) => {
      setTimeout(() => {
        stream.respond({ ':status': 200 });
        stream.end('x');
      }, 20);
    },
    {},
    { maxConcurrentStreams: 2 },
  );
  const answers = await Promise.all(Array.from({ length: 60 }, () => call('/narrow/x')));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.ok(sessions.length <= 10, `${sessions.length} connections`);
});

test('a body that breaks off in the middle is cut for the caller too', async () => {
  let breakOff = () => {};
  await startHttp2('cut', (stream, headers) => {
    // With trailers to come, node's server doesn't end the stream before it resets it.
    stream.respond({ ':status': 200, ...(headers[':path'] === '/known' && { 'content-length': '10' }) }, { waitForTrailers: true });
    stream.write('half');
    breakOff = () => {
      if (headers[':path'] === '/gone') stream.session?.socket.destroy();
      else stream.close(headers[':path'] === '/known' ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_INTERNAL_ERROR);
    };
    if (headers[':path'] === '/known') breakOff();
  });
  for (const path of ['/reset', '/gone', '/reset']) {
    const req = request({ port: running.port, host: '127.0.0.1', path: `/cut${path}`, headers: { host, 'x-svc-key': key } }).end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    breakOff();
    await assert.rejects(text(res), path);
  }
  assert.equal((await call('/cut/known')).headers['x-svc-origin'], 'service', 'a short answer is awaited whole');
});

test('an upstream that is silent is given up after the time of the route', async () => {
  await startHttp2('silent', () => undefined, { timeout_ms: 150 });
  const answer = await call('/silent/x');
  assert.deepEqual([answer.status, answer.headers['x-svc-error']], [504, 'upstream_timeout']);
});
