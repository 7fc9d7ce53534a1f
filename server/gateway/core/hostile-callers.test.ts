import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import test from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { exchange, listen } from './raw-client.fixture.ts';

// The call as odd and hostile callers make it, on sockets of their own (interface rule 12 §8, §11; the hostile peers of the test plan).

await testDatabase();
const running = await startGateway();
const { port } = running;
const w = await workspace();
const { text: key } = await w.key();
const host = `${w.tenant.slug}.localhost:${port}`;
const upstream = await startUpstream();
await makeRoute(w, 'plain', upstream.url);
await served(running, w);
const last = () => upstream.seen.at(-1) ?? assert.fail('nothing arrived');
const head = (method: string, path: string, lines: readonly string[] = [], version = '1.1') =>
  `${method} ${path} HTTP/${version}\r\n${[`Host: ${host}`, `X-Svc-Key: ${key}`, ...lines].join('\r\n')}\r\n\r\n`;

async function byHand(slug: string, serve: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => serve(socket));
  });
  await makeRoute(w, slug, `http://127.0.0.1:${await listen(server)}`);
  await served(running, w);
}

/** A socket whose text and end can be looked at while it is open. */
function dial(allowHalfOpen = false) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
  const seen = { socket, text: '', closed: false };
  socket.on('data', (data) => {
    seen.text += data.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    seen.closed = true;
  });
  return seen;
}

test('every method of the table arrives as it is, with its body; others are refused with Allow', async () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await exchange(port, `${head(method, '/plain/x', ['Content-Length: 2'])}hi`);
    assert.deepEqual([answer.status, last().method, last().url, last().body], [200, method, '/x', 'hi'], method);
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
    if (method === 'HEAD') assert.equal(answer.body, '');
  }
  const preflight = await exchange(
    port,
    `OPTIONS /plain HTTP/1.1\r\nHost: ${host}\r\nOrigin: https://x.example\r\nAccess-Control-Request-Method: PUT\r\n\r\n`,
  );
  assert.equal(preflight.status, 401, 'a preflight is a call like any other');
  for (const method of ['TRACE', 'PROPFIND', 'LINK']) {
    const answer = await exchange(port, head(method, '/plain'));
    assert.deepEqual(
      [answer.status, answer.headers['x-svc-error'], answer.headers.allow],
      [405, 'method_not_allowed', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
      method,
    );
  }
});

test('a request in chunks loses its trailers, and no trailer becomes a header', async () => {
  const chunks = '2\r\nhi\r\n0\r\nX-T: 1\r\nX-Svc-Route: other\r\nAuthorization: Bearer late\r\n\r\n';
  const answer = await exchange(port, head('POST', '/plain', ['Transfer-Encoding: chunked', 'Trailer: X-T']) + chunks);
  assert.deepEqual(
    [answer.status, last().body, last().headers.trailer, last().headers['x-t'], last().headers.authorization],
    [200, 'hi', undefined, undefined, undefined],
  );
  await byHand('trailing', (socket) =>
    socket.end(
      'HTTP/1.1 200 OK\r\nTrailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\nX-Svc-Origin: forged\r\n\r\n',
    ),
  );
  const trailing = await exchange(port, head('GET', '/trailing'));
  assert.deepEqual([trailing.status, trailing.headers.trailer, trailing.body], [200, undefined, '2\r\nok\r\n0\r\n\r\n']);
});

test('a caller of HTTP/1.0 gets no chunks, and the end of a long answer is the end of its connection', async () => {
  const short = await exchange(port, head('GET', '/plain', [], '1.0'));
  assert.deepEqual(
    [short.status, short.headers['content-length'], short.headers.connection, short.body],
    [200, '11', 'close', '{"ok":true}'],
  );
  await byHand('in-chunks', (socket) =>
    socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3\r\nend\r\n0\r\n\r\n'),
  );
  const long = await exchange(port, head('GET', '/in-chunks', [], '1.0'));
  assert.deepEqual([long.status, long.headers['transfer-encoding'], long.body], [200, undefined, 'okend']);
  await byHand('until-close', (socket) => socket.end('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil close'));
  const old = await ask(port, w.tenant.slug, '/until-close', { key });
  assert.deepEqual([old.status, old.body, old.headers['x-svc-latency-phase']], [200, 'until close', 'first-byte']);
});

test('compressed bodies pass both ways byte for byte, with what describes them', async () => {
  const zipped = gzipSync('hello '.repeat(1000));
  const mirror = await startUpstream((req, res, body) => {
    res.writeHead(206, {
      'content-encoding': req.headers['content-encoding'] ?? '',
      'content-length': body.length,
      etag: 'W/"e"',
      vary: 'accept-encoding',
      'content-range': 'bytes 0-1/2',
    });
    res.end(body);
  });
  await makeRoute(w, 'mirror', mirror.url);
  await served(running, w);
  const headers = {
    host,
    'x-svc-key': key,
    'content-encoding': 'gzip',
    'content-type': 'application/json',
    'content-length': zipped.length,
  };
  const got = await new Promise<{ bytes: Buffer; status: number; headers: Record<string, unknown> }>((resolve, reject) => {
    const req = request({ port, host: '127.0.0.1', method: 'POST', path: '/mirror', headers }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => resolve({ bytes: Buffer.concat(chunks), status: res.statusCode ?? 0, headers: res.headers }));
    });
    req.on('error', reject);
    req.end(zipped);
  });
  assert.ok(got.bytes.equals(zipped) && gunzipSync(got.bytes).length === 6000);
  assert.deepEqual(
    [got.status, got.headers['content-encoding'], got.headers.etag, got.headers.vary, got.headers['content-range']],
    [206, 'gzip', 'W/"e"', 'accept-encoding', 'bytes 0-1/2'],
  );
});

test('an upstream that answers before the body is there is heard, and what is left of the body is not read for ever', async () => {
  await byHand('early', (socket) => void socket.write('HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\n\r\nnope'));
  const endless = dial();
  endless.socket.write(head('POST', '/early', [`Content-Length: ${90 * 1024 * 1024}`]));
  const chunk = Buffer.alloc(64 * 1024, 97);
  let sent = 0;
  for (; !endless.closed && sent < 60 * 1024 * 1024; sent += chunk.length)
    if (!endless.socket.write(chunk)) await until(() => endless.closed || !endless.socket.writableNeedDrain);
  assert.match(endless.text, /^HTTP\/1\.1 401 [\s\S]*nope$/);
  assert.ok(endless.closed, `hung up before ${sent} bytes were taken`);
  // A short rest is read off, and the connection serves the next call.
  const short = dial();
  short.socket.write(head('POST', '/early', ['Content-Length: 100000']) + 'x'.repeat(70_000));
  await until(() => short.text.includes('nope'));
  short.socket.write('x'.repeat(30_000) + head('GET', '/plain'));
  await until(() => short.text.includes('HTTP/1.1 200'));
  short.socket.destroy();
  assert.equal(running.runtime.inFlight.get(w.tenant.id), undefined);
});

test('a caller that stops in the middle of its upload takes the upstream request with it, read first or streamed', async () => {
  let [arrived, aborted] = [0, 0];
  const waits = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => arrived++).on('close', () => aborted++);
  });
  await makeRoute(w, 'uploads', `http://127.0.0.1:${await listen(waits)}`);
  await makeRoute(w, 'merges', upstream.url, { inject_body_json: { a: 1 } });
  await served(running, w);
  const before = upstream.seen.length;
  const streamed = dial();
  streamed.socket.write(head('PUT', '/uploads', ['Content-Length: 10000000']) + 'x'.repeat(200_000));
  await until(() => arrived > 0);
  streamed.socket.resetAndDestroy();
  await until(() => aborted === 1);
  const read = dial();
  read.socket.write(`${head('POST', '/merges', ['Content-Type: application/json', 'Content-Length: 100'])}{"half":`);
  await until(() => running.runtime.inFlight.get(w.tenant.id) === 1);
  read.socket.resetAndDestroy();
  await until(() => running.runtime.inFlight.get(w.tenant.id) === undefined);
  assert.equal(upstream.seen.length, before, 'half a body reaches nobody');
  await until(async () => {
    await running.flush();
    return (await db().request_logs.count({ where: { tenant_id: w.tenant.id, error: 'client_closed', status_code: null } })) === 2;
  });
});

test('a caller that closes its half after the request is one that went away: nothing hangs, and the log says so', async () => {
  await byHand('slow', () => undefined);
  const half = dial(true);
  half.socket.end(head('GET', '/slow'));
  await until(() => half.closed || half.text.length > 0);
  half.socket.destroy();
  await until(() => running.runtime.inFlight.get(w.tenant.id) === undefined);
});

test('calls sent in one go on one connection are answered in their order, whatever the upstream does first', async () => {
  const before = upstream.seen.length;
  const first = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst';
  await byHand('later', (socket) => void until(() => upstream.seen.length > before).then(() => socket.end(first)));
  const both = await exchange(
    port,
    head('GET', '/later') + head('GET', '/plain') + head('GET', '/nowhere', ['Connection: close']),
    Number.POSITIVE_INFINITY,
  );
  const whole = `${both.head}\r\n\r\n${both.body}`;
  assert.deepEqual(whole.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404']);
  assert.ok(whole.indexOf('first') < whole.indexOf('{"ok":true}'));
});
