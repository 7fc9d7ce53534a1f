import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import test from 'node:test';
import { parseNetworks } from '#server/platform/http-out/networks.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { until } from '#server/testing/until.ts';
import { createListener, inspectHead } from '../listener.ts';
import { listen } from '../raw-client.fixture.ts';
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
  PADDED,
  PING,
  PREFACE,
  PRIORITY,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from './frames.fixture.ts';
import { openHttp2 } from './http2-door.ts';

// Frames that no library writes, from a proxy that is trusted. What breaks the connection (RFC 9113 §5.4.1) ends it; what breaks a request ends that alone; none
// of it is served.

const served: string[] = [];
/** Paths of all calls that began, whether they came to an end or not. */
const begun: string[] = [];
let names: string[] = [];
const server = createListener({ onRequest: () => undefined });
openHttp2(server, {
  trustedProxies: parseNetworks(['127.0.0.1']),
  onRequest(req, res) {
    const head = inspectHead(req);
    begun.push(req.url ?? '');
    let body = '';
    req.on('data', (bytes) => {
      body += bytes;
    });
    // A body that broke off is none that was served.
    req.on('error', () => undefined);
    req.on('end', () => {
      names.push(...req.rawHeaders);
      if (head.ok) served.push(`${req.url} ${body}`.trim());
      res.writeHead(head.ok ? 200 : head.status).end();
    });
  },
});
const port = await listen(server);

type Fields = readonly (readonly [string, string])[];
const request = (path: string): Fields => [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', path],
  [':authority', 'acme.test'],
];
const GOOD = request('/bad');
const whole = END_STREAM | END_HEADERS;
const asked = (list: Fields, flags = whole, stream = 1) => frame(HEADERS, flags, stream, fields(list));
const uint32 = (n: number) => [(n >>> 24) & 255, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];
const setting = (id: number, value: number) => frame(SETTINGS, 0, 0, [0, id, ...uint32(value)]);
/** A request whose head has this after its four fields. */
const withBlock = (bytes: readonly number[]) => frame(HEADERS, whole, 1, Buffer.concat([fields(GOOD), Buffer.from(bytes)]));

/** Sends all of it and then a good request. Tells whether the good one was answered on this connection, or the connection ended. */
async function send(
  bytes: Buffer,
  opening: Buffer = Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, 0)]),
): Promise<'lives' | 'ended'> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  let got = Buffer.alloc(0);
  const end = new Promise<'lives' | 'ended'>((resolve) => {
    socket.on('data', (more: Buffer) => {
      got = Buffer.concat([got, more]);
      if (framesOf(got).frames.some(({ type, stream }) => type === HEADERS && stream === 101)) resolve('lives');
    });
    socket.on('close', () => resolve('ended'));
  });
  socket.write(Buffer.concat([opening, bytes, asked(request('/after'), whole, 101)]));
  const result = await end;
  socket.destroy();
  return result;
}

const BREAKS_THE_CONNECTION: [string, Buffer][] = [
  ['DATA of no stream', frame(DATA, 0, 0, [1])],
  ['DATA of a stream that was never opened', frame(DATA, END_STREAM, 1, [1])],
  ['HEADERS of no stream', asked(GOOD, whole, 0)],
  ['HEADERS of a stream that is not a caller’s', asked(GOOD, whole, 2)],
  ['a frame larger than was allowed', frame(DATA, 0, 1, Buffer.alloc(16_385))],
  [
    'HEADERS larger than was allowed',
    frame(
      HEADERS,
      whole,
      1,
      Buffer.concat([
        fields(GOOD),
        fields([
          ['x', 'a'.repeat(16_000)],
          ['y', 'a'.repeat(500)],
        ]),
      ]),
    ),
  ],
  ['padding longer than its frame', frame(HEADERS, whole | PADDED, 1, Buffer.concat([Buffer.from([255]), fields(GOOD)]))],
  ['SETTINGS of a stream', frame(SETTINGS, 0, 1)],
  ['SETTINGS of five bytes', frame(SETTINGS, 0, 0, [0, 1, 0, 0, 0])],
  ['an acknowledgement with settings in it', frame(SETTINGS, ACK, 0, [0, 1, ...uint32(0)])],
  ['a push that is neither on nor off', setting(2, 2)],
  ['a window beyond 31 bits', setting(4, 0x80000000)],
  ['frames of at most a hundred bytes', setting(5, 100)],
  ['a PING of seven bytes', frame(PING, 0, 0, Buffer.alloc(7))],
  ['a PING of a stream', frame(PING, 0, 1, Buffer.alloc(8))],
  ['a window that grows by nothing', frame(WINDOW_UPDATE, 0, 0, uint32(0))],
  ['a window that grows beyond 31 bits', frame(WINDOW_UPDATE, 0, 0, uint32(0x7fffffff))],
  ['a WINDOW_UPDATE of three bytes', frame(WINDOW_UPDATE, 0, 0, [0, 0, 1])],
  ['a reset of a stream that was never opened', frame(RST_STREAM, 0, 1, uint32(8))],
  ['a reset of three bytes', Buffer.concat([asked(GOOD, END_HEADERS), frame(RST_STREAM, 0, 1, [0, 0, 8])])],
  ['a promise of a caller', Buffer.concat([asked(GOOD, END_HEADERS), frame(PUSH_PROMISE, END_HEADERS, 1, [0, 0, 0, 2])])],
  ['CONTINUATION of nothing', frame(CONTINUATION, END_HEADERS, 1, fields(GOOD))],
  ['another frame inside a head', Buffer.concat([asked(GOOD, END_STREAM), frame(PING, 0, 0, Buffer.alloc(8))])],
  ['another stream inside a head', Buffer.concat([asked(GOOD, END_STREAM), frame(CONTINUATION, END_HEADERS, 3)])],
  ['GOAWAY of a stream', frame(GOAWAY, 0, 1, Buffer.alloc(8))],
  ['a field of the table’s place zero', withBlock([0x80])],
  ['a field beyond the table', withBlock([0xff, 0x80, 0x01])],
  ['a table larger than was allowed', frame(HEADERS, whole, 1, Buffer.concat([Buffer.from([0x3f, 0xe2, 0x1f]), fields(GOOD)]))],
  ['a table whose size changes behind a field', withBlock([0x20])],
  ['a number without an end', withBlock([0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ['a text longer than its block', withBlock([0x00, 0x05, 0x61])],
  ['a text of Huffman codes with a wrong end', withBlock([0x00, 0x81, 0x00, 0x81, 0x00])],
];

for (const [name, bytes] of BREAKS_THE_CONNECTION)
  test(`ends the connection: ${name}`, async () => {
    assert.equal(await send(bytes), 'ended');
    assert.deepEqual(served.splice(0), []);
  });

test('ends the connection: another preface, or a first frame that is not SETTINGS', async () => {
  assert.equal(await send(Buffer.alloc(0), Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n')), 'ended');
  assert.equal(await send(Buffer.alloc(0), Buffer.from(PREFACE)), 'ended');
  assert.deepEqual(served, []);
});

const body = (text: string, flags = END_STREAM) => frame(DATA, flags, 1, Buffer.from(text));
const BREAKS_THE_REQUEST: [string, Buffer][] = [
  ['a name in upper case', asked([...GOOD, ['X-Upper', 'a']])],
  ['Connection', asked([...GOOD, ['connection', 'close']])],
  ['Keep-Alive', asked([...GOOD, ['keep-alive', '5']])],
  ['Upgrade', asked([...GOOD, ['upgrade', 'websocket']])],
  ['Transfer-Encoding', asked([...GOOD, ['transfer-encoding', 'chunked']])],
  ['TE of another coding', asked([...GOOD, ['te', 'gzip']])],
  ['a stream before the last', Buffer.concat([asked(request('/after'), whole, 51), asked(GOOD, whole, 1)])],
  ['no path', asked(GOOD.filter(([name]) => name !== ':path'))],
  ['no method', asked(GOOD.filter(([name]) => name !== ':method'))],
  ['no scheme', asked(GOOD.filter(([name]) => name !== ':scheme'))],
  ['an empty path', asked(request(''))],
  ['a path with a line break', asked(request('/bad HTTP/1.1\r\nHost: other\r\n\r\n'))],
  ['a path with a blank', asked(request('/bad x'))],
  ['two paths', asked([...GOOD, [':path', '/other']])],
  ['two methods', asked([[':method', 'GET'], ...GOOD])],
  ['two authorities', asked([...GOOD, [':authority', 'other.test']])],
  ['an authority and another host', asked([...GOOD, ['host', 'other.test']])],
  ['an authority with a user', asked([...GOOD.slice(0, 3), [':authority', 'acme.test@other.test']])],
  ['a pseudo-field behind others', asked([...GOOD.slice(0, 3), ['x', 'a'], [':authority', 'acme.test']])],
  ['a pseudo-field of answers', asked([...GOOD, [':status', '200']])],
  ['a pseudo-field of nobody', asked([...GOOD, [':more', 'a']])],
  ['a method with a line break', asked([[':method', 'GET / HTTP/1.1\r\nx:'], ...GOOD.slice(1)])],
  ['two lengths', asked([...GOOD, ['content-length', '1'], ['content-length', '2']])],
  ['a length that is no number', asked([...GOOD, ['content-length', '+1']])],
  ['a body shorter than its length', Buffer.concat([asked([...GOOD, ['content-length', '3']], END_HEADERS), body('ab')])],
  ['a body longer than its length', Buffer.concat([asked([...GOOD, ['content-length', '3']], END_HEADERS), body('abcd')])],
  ['no body where one was announced', asked([...GOOD, ['content-length', '3']])],
  ['trailers that end nothing', Buffer.concat([asked(GOOD, END_HEADERS), body('ab', 0), asked([['x', 'a']], END_HEADERS)])],
  ['trailers with a path', Buffer.concat([asked(GOOD, END_HEADERS), body('ab', 0), asked([[':path', '/other']])])],
  ['a window of the request that grows by nothing', Buffer.concat([asked(GOOD, END_HEADERS), frame(WINDOW_UPDATE, 0, 1, uint32(0))])],
  ['a window of the request beyond 31 bits', Buffer.concat([asked(GOOD, END_HEADERS), frame(WINDOW_UPDATE, 0, 1, uint32(0x7fffffff))])],
  ['a reset of the caller', Buffer.concat([asked(GOOD, END_HEADERS), body('ab', 0), frame(RST_STREAM, 0, 1, uint32(8))])],
];

for (const [name, bytes] of BREAKS_THE_REQUEST)
  test(`is not served: ${name}`, async () => {
    const result = await send(bytes);
    const paths = served.splice(0);
    assert.deepEqual(
      paths.filter((path) => path !== '/after'),
      [],
    );
    assert.equal(paths.includes('/after'), result === 'lives');
  });

// node leaves such a field out and keeps the request, where HTTP/1.1 refuses it: what matters is that nothing of it goes on.
const FIELDS_THAT_ARE_NONE: [string, string, string][] = [
  ['a name with a blank', 'x y', 'a'],
  ['a name with a colon', 'x:y', 'a'],
  ['a name of nothing', '', 'a'],
  ['a name with a line break', 'x\r\ny', 'a'],
  ['a value with a line break', 'x', 'a\r\nx-svc-key: b'],
  ['a value with a line feed', 'x', 'a\nb'],
  ['a value with a null', 'x', 'a\0b'],
];

const OF_ALL = new Set(['host', 'acme.test', 'z', 'connection', 'keep-alive', 'transfer-encoding', 'chunked', 'content-length', '0']);

for (const [name, ...field] of FIELDS_THAT_ARE_NONE)
  test(`goes no further: ${name}`, async () => {
    names = [];
    assert.equal(await send(asked([...GOOD, field, ['z', 'z']])), 'lives');
    assert.deepEqual(served.splice(0).sort(), ['/after', '/bad']);
    assert.deepEqual(
      names.filter((text) => !OF_ALL.has(text.toLowerCase())),
      [],
    );
  });

test('what is only unknown, or of no use, is passed over', async () => {
  const unknown = [frame(0x42, 255, 0, [1, 2]), frame(0x42, 255, 7, [1, 2]), setting(0x7f, 1), frame(PRIORITY, 0, 1, [0, 0, 0, 3, 1])];
  const padded = frame(HEADERS, END_HEADERS | PADDED, 1, Buffer.concat([Buffer.from([3]), fields(GOOD), Buffer.alloc(3)]));
  const empty = Array.from({ length: 20 }, () => body('', 0));
  assert.equal(await send(Buffer.concat([...unknown, padded, ...empty, body('ab')])), 'lives');
  assert.deepEqual(served.splice(0).sort(), ['/after', '/bad ab']);
});

test('a head that names one large field ten thousand times is not put together', async () => {
  // 4,000 bytes go into the table once, and each byte after that is one more of them (RFC 7541 §7.3).
  const large = Buffer.concat([
    Buffer.from([0x40, 1, 0x78, 127, ...[((3_900 - 127) & 127) | 128, (3_900 - 127) >> 7]]),
    Buffer.alloc(3_900, 'a'),
  ]);
  const block = Buffer.concat([fields(GOOD), large, Buffer.alloc(10_000, 0x80 | 62)]);
  await send(frame(HEADERS, whole, 1, block));
  assert.deepEqual(
    served.splice(0).filter((path) => path !== '/after'),
    [],
  );
});

const reset = (stream: number) => frame(RST_STREAM, 0, stream, uint32(8));
const streams = (count: number, bytes: (stream: number) => Buffer | readonly Buffer[]) =>
  Buffer.concat(Array.from({ length: count }, (_, i) => bytes(2 * i + 1)).flat());

test('streams that are reset as soon as they are opened cost little, and end the connection (CVE-2023-44487)', async () => {
  const flood = streams(10_000, (stream) => [asked(request('/bad'), whole, stream), reset(stream)]);
  const results = await neverBlocks(() => Promise.all(Array.from({ length: 3 }, () => send(flood))));
  assert.deepEqual(results, ['ended', 'ended', 'ended']);
  // How a flood is cut into reads is the kernel's choice: a stream whose reset comes in a later read was not reset yet.
  served.splice(0);
});

test('a stream whose reset is in the packet that opened it is never begun', async () => {
  begun.splice(0);
  const socket = connect(port, '127.0.0.1');
  const packets = packetsTo(socket);
  await packets.answered(Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, 0)]));
  for (let i = 0; i < 40; i++)
    await packets.answered(
      Buffer.concat(
        [0, 1, 2].map((j) => 2 * (3 * i + j) + 1).flatMap((stream) => [asked(request('/reset'), whole, stream), reset(stream)]),
      ),
    );
  await packets.answered(asked(request('/after'), whole, 301));
  await until(() => begun.includes('/after'), 'the good request is begun');
  assert.ok(!begun.includes('/reset'));
  socket.destroy();
  served.splice(0);
});

/** Sends one packet at a time: each is read, as its PING is answered, before the next is sent, so that none is cut or joined with another. */
function packetsTo(socket: Socket): { answered(bytes: Buffer): Promise<void> } {
  let got = Buffer.alloc(0);
  let pings = 0;
  socket.setNoDelay();
  socket.on('data', (more: Buffer) => {
    got = Buffer.concat([got, more]);
  });
  const acknowledged = () => framesOf(got).frames.filter(({ type, flags }) => type === PING && flags === ACK).length;
  return {
    async answered(bytes) {
      socket.write(Buffer.concat([bytes, frame(PING, 0, 0, Buffer.alloc(8))]));
      pings++;
      await until(() => acknowledged() === pings, 'the packet was read');
    },
  };
}
