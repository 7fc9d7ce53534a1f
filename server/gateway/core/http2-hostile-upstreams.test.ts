import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import test, { after } from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway } from '../gateway.fixture.ts';
import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  fields,
  frame,
  framesOf,
  GOAWAY,
  HEADERS,
  PING,
  PREFACE,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from './http2/frames.fixture.ts';

// Upstreams that answer by HTTP/2 as no library would. None of it reaches a caller as a good answer, nobody waits for ever, and other calls go on.

type Fields = readonly (readonly [string, string])[];
const whole = END_STREAM | END_HEADERS;
const head = (list: Fields, flags: number, stream: number) => frame(HEADERS, flags, stream, fields(list));
const uint32 = (n: number) => [(n >>> 24) & 255, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];
const OK: Fields = [[':status', '200']];
const text = (body: string, flags: number, stream: number) => frame(DATA, flags, stream, Buffer.from(body));

const good = (n: number) => Buffer.concat([head(OK, END_HEADERS, n), text('good', END_STREAM, n)]);
/** What is sent to the next requests, by the number of their stream. */
let reply: (stream: number) => Buffer = good;
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.on('close', () => sockets.delete(socket));
  socket.write(frame(SETTINGS, 0, 0));
  let held = Buffer.alloc(0);
  let begun = false;
  socket.on('data', (bytes) => {
    held = Buffer.concat([held, bytes]);
    if (!begun && held.length >= PREFACE.length) {
      begun = true;
      held = held.subarray(PREFACE.length);
    }
    if (!begun) return;
    const { frames, end } = framesOf(held);
    held = held.subarray(end);
    for (const { type, flags, stream, payload } of frames) {
      if (type === SETTINGS && flags !== ACK) socket.write(frame(SETTINGS, ACK, 0));
      if (type === PING && flags !== ACK) socket.write(frame(PING, ACK, 0, payload));
      if (type !== HEADERS) continue;
      socket.write(reply(stream));
    }
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

await testDatabase();
const running = await startGateway();
const w = await workspace();
const { text: key } = await w.key();
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
await makeRoute(w, 'up', url, { upstream_protocol: 'http2', timeout_ms: 30_000, retry_attempts: 0 } as never);
await served(running, w);
const call = () => ask(running.port, w.tenant.slug, '/up/x', { key });

/** Header blocks of more than one frame. */
const inParts = (block: Buffer, n: number) => {
  const parts = Array.from({ length: Math.ceil(block.length / 16_000) }, (_, i) => block.subarray(i * 16_000, (i + 1) * 16_000));
  return Buffer.concat(parts.map((part, i) => frame(i === 0 ? HEADERS : CONTINUATION, i === parts.length - 1 ? END_HEADERS : 0, n, part)));
};
const REFUSED: [string, (n: number) => Buffer][] = [
  ['DATA before any head', (n) => text('x', END_STREAM, n)],
  ['no status', (n) => head([['x', 'a']], whole, n)],
  ['a status of letters', (n) => head([[':status', 'abc']], whole, n)],
  ['a status of four digits', (n) => head([[':status', '2000']], whole, n)],
  ['two statuses', (n) => head([[':status', '200'], ...OK], whole, n)],
  ['a status behind a field', (n) => head([['x', 'a'], ...OK], whole, n)],
  ['a pseudo-field of requests', (n) => head([...OK, [':path', '/']], whole, n)],
  ['a switch of protocols', (n) => head([[':status', '101']], whole, n)],
  [
    'informational heads and then nothing',
    (n) => Buffer.concat([head([[':status', '103']], END_HEADERS, n), frame(RST_STREAM, 0, n, uint32(8))]),
  ],
  ['an informational head that ends the answer', (n) => head([[':status', '103']], whole, n)],
  ['a name in upper case', (n) => head([...OK, ['X-Upper', 'a']], whole, n)],
  ['Transfer-Encoding', (n) => head([...OK, ['transfer-encoding', 'chunked']], whole, n)],
  ['Connection', (n) => head([...OK, ['connection', 'close']], whole, n)],
  ['a length that is no number', (n) => head([...OK, ['content-length', '1x']], whole, n)],
  ['two lengths', (n) => head([...OK, ['content-length', '1'], ['content-length', '2']], whole, n)],
  ['a length without a body', (n) => head([...OK, ['content-length', '3']], whole, n)],
  [
    'a body shorter than its length',
    (n) => Buffer.concat([head([...OK, ['content-length', '5']], END_HEADERS, n), text('abc', END_STREAM, n)]),
  ],
  ['a head of 80 KB', (n) => inParts(fields([...OK, ...Array.from({ length: 10 }, (_, i) => [`x-${i}`, 'a'.repeat(8_000)] as const)]), n)],
  [
    'CONTINUATION without end',
    (n) => Buffer.concat([head(OK, 0, n), ...Array.from({ length: 3_000 }, () => frame(CONTINUATION, 0, n, fields([['x', 'a']])))]),
  ],
  ['a head whose table is broken', (n) => frame(HEADERS, whole, n, [0xff, 0x80, 0x01])],
  ['a promise', (n) => Buffer.concat([frame(PUSH_PROMISE, END_HEADERS, n, [0, 0, 0, 2]), good(n)])],
  ['an answer to nobody', (n) => Buffer.concat([good(n + 2), good(n)])],
  ['a window beyond 31 bits', (n) => Buffer.concat([frame(WINDOW_UPDATE, 0, 0, uint32(0x7fffffff)), good(n)])],
  ['a SETTINGS of five bytes', (n) => Buffer.concat([frame(SETTINGS, 0, 0, [0, 1, 0, 0, 0]), good(n)])],
  ['GOAWAY of an error', () => frame(GOAWAY, 0, 0, [...uint32(0), ...uint32(2)])],
  ['words of HTTP/1.1', () => Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')],
];

for (const [name, next] of REFUSED)
  test(`is no answer: ${name}`, async () => {
    reply = next;
    const answer = await call();
    assert.equal(answer.status, 502, `${answer.status} ${answer.body}`);
    assert.equal(answer.headers['x-svc-origin'], 'service');
    assert.match(answer.headers['x-svc-error'] ?? '', /^upstream_(?:protocol_error|unreachable)$/);
    reply = good;
    assert.equal((await call()).body, 'good', 'and the next call is answered');
  });

const CUT: [string, (n: number) => Buffer][] = [
  ['a frame larger than was allowed', (n) => Buffer.concat([head(OK, END_HEADERS, n), text('x'.repeat(16_385), END_STREAM, n)])],
  ['trailers with a status', (n) => Buffer.concat([head(OK, END_HEADERS, n), text('half', 0, n), head(OK, whole, n)])],
  ['a second head', (n) => Buffer.concat([head(OK, END_HEADERS, n), text('half', 0, n), head([['x', 'a']], END_HEADERS, n)])],
  ['a reset in the middle', (n) => Buffer.concat([head(OK, END_HEADERS, n), text('half', 0, n), frame(RST_STREAM, 0, n, uint32(2))])],
  ['a reset without an error', (n) => Buffer.concat([head(OK, END_HEADERS, n), text('half', 0, n), frame(RST_STREAM, 0, n, uint32(0))])],
];

for (const [name, next] of CUT)
  test(`never looks whole: ${name}`, async () => {
    reply = next;
    const answer = await call().catch(() => undefined);
    if (answer !== undefined)
      assert.deepEqual([answer.status, answer.headers['x-svc-origin']], [502, 'service'], answer.body.slice(0, 300));
    reply = good;
    assert.equal((await call()).body, 'good', 'and the next call is answered');
  });

test('a body longer than its length is not passed on beyond it', async () => {
  reply = (n) => Buffer.concat([head([...OK, ['content-length', '3']], END_HEADERS, n), text('abcHTTP/1.1 200 OK', END_STREAM, n)]);
  const answer = await call().catch(() => undefined);
  if (answer?.status !== 502) assert.ok(answer === undefined || answer.body === 'abc', answer?.body);
  reply = good;
  assert.equal((await call()).body, 'good');
});

test('fields that are none are left out of an answer, whatever stands in them', async () => {
  reply = (n) =>
    Buffer.concat([
      head([...OK, ['x', 'a\r\nset-cookie: b=1'], ['y\r\nset-cookie: c', '1'], ['z', 'z'], ['x-svc-origin', 'forged']], END_HEADERS, n),
      text('good', END_STREAM, n),
    ]);
  const answer = await call();
  assert.equal(answer.headers['set-cookie'], undefined);
  assert.notEqual(answer.headers['x-svc-origin'], 'forged');
  if (answer.status === 200) assert.deepEqual([answer.body, answer.headers.z, answer.headers.x], ['good', 'z', undefined]);
});

test('what is only unknown is passed over', async () => {
  reply = (n) =>
    Buffer.concat([
      frame(0x42, 255, 0, [1, 2]),
      frame(0x42, 255, n, [1]),
      head(
        [
          [':status', '103'],
          ['link', '</a>'],
        ],
        END_HEADERS,
        n,
      ),
      good(n),
    ]);
  const answer = await call();
  assert.deepEqual([answer.status, answer.body, answer.headers.link], [200, 'good', undefined]);
});
