import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import test, { after } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseNetworks } from '#server/platform/http-out/networks.ts';
import { until, untilSteady } from '#server/testing/until.ts';
import { acceptBody, createListener, discardBody, inspectHead } from '../listener.ts';
import { exchange, listen } from '../raw-client.fixture.ts';
import { frame } from './frames.fixture.ts';
import { type Http2Options, openHttp2 } from './http2-door.ts';

type Handler = Http2Options['onRequest'];
type Seen = { method: string; target: string; host: string; headers: Record<string, unknown>; body: string; trailers: string[] };

/** A port that speaks both, and says what it understood. */
async function edge(options: Partial<Http2Options> = {}) {
  const seen: Seen[] = [];
  const onRequest: Handler = (req, res) => {
    const head = inspectHead(req);
    if (!head.ok) {
      res.writeHead(head.status, { 'x-request-id': 'test' }).end(head.type);
      discardBody(req);
      return;
    }
    acceptBody(req, res);
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      const { method = '', headers, rawTrailers } = req;
      seen.push({ method, target: head.target, host: head.host, headers, body, trailers: rawTrailers });
      res.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'], connection: 'close' });
      res.end(`${method} ${head.target} ${body.length}`);
    });
  };
  const server = createListener({ onRequest });
  const door = openHttp2(server, { onRequest, trustedProxies: parseNetworks(['127.0.0.1']), ...options });
  const port = await listen(server);
  return { port, server, door, seen };
}

const sessions: ClientHttp2Session[] = [];
after(() => {
  for (const session of sessions) session.destroy();
});
function dial(port: number): ClientHttp2Session {
  const session = connect(`http://acme.localhost:${port}`, {
    lookup: (_, __, found) => found(null, [{ address: '127.0.0.1', family: 4 }] as never),
  });
  session.on('error', () => undefined);
  sessions.push(session);
  return session;
}
type Answer = { status: number; headers: Record<string, unknown>; body: string; code: number };
function finished(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve) => {
    let headers: Record<string, unknown> = {};
    let body = '';
    stream.on('response', (got) => {
      headers = got;
    });
    stream.on('data', (chunk) => {
      body += chunk;
    });
    stream.on('error', () => undefined);
    stream.on('close', () => resolve({ status: Number(headers[':status'] ?? 0), headers, body, code: stream.rstCode ?? 0 }));
  });
}
const ask = (session: ClientHttp2Session, headers: OutgoingHttpHeaders | string[], body?: string | Buffer) => {
  const stream = session.request(headers as OutgoingHttpHeaders, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return finished(stream);
};

test('one port speaks HTTP/1.1 and, to a trusted proxy, HTTP/2', async () => {
  const { port, seen } = await edge();
  const session = dial(port);
  const [first, second] = await Promise.all([
    ask(session, { ':path': '/a%2Fb?x=1' }),
    ask(session, { ':path': '/c', ':method': 'POST' }, 'hello'),
  ]);
  assert.equal(first.status, 200);
  assert.equal(first.body, 'GET /a%2Fb?x=1 0');
  assert.deepEqual(first.headers['set-cookie'], ['a=1', 'b=2']);
  assert.equal(first.headers.connection, undefined);
  assert.equal(second.body, 'POST /c 5');
  assert.equal(seen[0]?.host, `acme.localhost:${port}`);
  assert.match((await exchange(port, 'GET /d HTTP/1.1\r\nHost: acme\r\nConnection: close\r\n\r\n')).body, /GET \/d 0/);
});

test('the preface may come byte by byte, and HTTP/1.1 too', async () => {
  const { port } = await edge();
  const socket = connectTcp(port, '127.0.0.1');
  const bytes = collect(socket);
  for (const part of ['P', 'R', 'I * HTTP/2.0\r\n\r\nSM\r\n\r\n']) {
    socket.write(part);
    await untilSteady(() => socket.writableLength);
  }
  socket.write(frame(4, 0, 0));
  await until(() => bytes().length > 3);
  assert.equal(bytes()[3], 4, 'the first frame is SETTINGS');
  socket.destroy();
  assert.match(
    (await exchange(port, ['P', 'O', 'ST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n', 'a'], 60, 20)).body,
    /POST \/x 1/,
  );
});

test('nobody but a trusted proxy is spoken to in HTTP/2', async () => {
  const { port, seen } = await edge({ trustedProxies: parseNetworks(['203.0.113.1']) });
  assert.equal((await exchange(port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).status, 400);
  assert.equal(seen.length, 0);
});

test('a request is judged as one of HTTP/1.1 is: hosts, crumbs, fields, sizes', async () => {
  const { port, seen } = await edge();
  const session = dial(port);
  const base = [':method', 'GET', ':scheme', 'http', ':path', '/'];
  const status = async (headers: string[]) => (await ask(session, headers)).status;
  assert.equal(await status([...base, ':authority', 'a.test', 'host', 'b.test']), 400);
  assert.equal(await status([...base, ':authority', 'a.test', 'host', 'A.test']), 200);
  assert.equal(await status([...base, ':authority', 'a.test', 'cookie', 'a=1', 'cookie', 'b=2', 'te', 'trailers']), 200);
  assert.equal(seen.at(-1)?.headers.cookie, 'a=1; b=2');
  assert.equal(await status([...base, ':authority', 'a.test', 'x-svc-route', 'a', 'x-svc-route', 'b']), 400);
  assert.equal(await status([...base, ':authority', 'a.test', 'x-long', 'a'.repeat(33 * 1024)]), 431);
  assert.equal(await status([...base, ':authority', 'a.test', ...Array.from({ length: 210 }, () => ['x', 'y']).flat()]), 431);
  assert.equal(await status([':method', 'GET', ':scheme', 'http', ':path', '/#x', ':authority', 'a.test']), 400);
  assert.equal(await status([':method', 'CONNECT', ':authority', 'a.test:443']), 405);
  const served = seen.length;
  // Refused by the stream alone: the header list is beyond what was announced.
  assert.notEqual(
    (await ask(session, [...base, ':authority', 'a.test', ...Array.from({ length: 400 }, () => ['x', 'y']).flat()])).status,
    200,
  );
  assert.equal(seen.length, served);
  assert.equal(await status([...base, ':authority', 'a.test']), 200, 'the connection lives on');
});

test('a request cannot be cut in two, whatever it says of its length or its path', async () => {
  const { port, seen } = await edge();
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
  const post = (more: string[], body: string, path = '/') =>
    ask(dial(port), [':method', 'POST', ':scheme', 'http', ':path', path, ':authority', 'a.test', ...more], body);
  // node ends the whole connection over it.
  assert.equal((await post(['content-length', '3'], smuggled)).status, 0);
  assert.equal((await post([], `0\r\n\r\n${smuggled}`)).status, 200);
  assert.notEqual((await post([], smuggled, '/ HTTP/1.1')).status, 200);
  assert.notEqual((await post([], smuggled, '/\r\nX: y')).status, 200);
  assert.deepEqual(
    seen.map(({ target, body }) => [target, body]),
    [['/', `0\r\n\r\n${smuggled}`]],
  );
});

test('trailers of both sides, 100-continue and HEAD go through', async () => {
  const server = createListener({ onRequest: () => undefined });
  const got: string[][] = [];
  openHttp2(server, {
    trustedProxies: parseNetworks(['127.0.0.1']),
    onRequest(req, res) {
      acceptBody(req, res);
      req.resume().on('end', () => {
        got.push(req.rawTrailers);
        res.writeHead(200, { 'content-type': 'text/plain' });
        res.write('x');
        res.addTrailers({ 'x-sum': '1' });
        res.end();
      });
    },
  });
  const session = dial(await listen(server));
  const stream = session.request({ ':method': 'POST', ':path': '/', te: 'trailers', expect: '100-continue' }, { waitForTrailers: true });
  const said = once(stream, 'continue');
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-mine': 'yes' }));
  const trailers = once(stream, 'trailers');
  stream.resume();
  await said;
  stream.end('body');
  assert.equal(((await trailers)[0] as Record<string, string>)['x-sum'], '1');
  assert.deepEqual(got, [['x-mine', 'yes']]);
  const head = await ask(session, { ':method': 'HEAD', ':path': '/' });
  assert.equal(head.status, 200);
  assert.equal(head.body, '');
});

test('a megabyte goes both ways, and a slow reader slows down who writes to it', async () => {
  let written = 0;
  const server = createListener({ onRequest: () => undefined });
  openHttp2(server, {
    trustedProxies: parseNetworks(['127.0.0.1']),
    onRequest(req, res) {
      if (req.url === '/echo') return void req.pipe(res);
      const more = () => {
        while (written < 50_000_000) {
          written += 65_536;
          if (!res.write(Buffer.alloc(65_536))) return void res.once('drain', more);
        }
        res.end();
      };
      more();
    },
  });
  const session = dial(await listen(server));
  const sent = Buffer.alloc(1_000_000, 'abc');
  assert.equal((await ask(session, { ':path': '/echo', ':method': 'POST' }, sent)).body, sent.toString());
  const slow = session.request({ ':path': '/endless' });
  slow.pause();
  await once(slow, 'response');
  await untilSteady(() => written);
  assert.ok(written < 2_000_000, `${written} bytes were written for nobody`);
  slow.close(constants.NGHTTP2_CANCEL);
});

test('a caller who resets a stream is gone for who serves it, and one whose answer breaks sees a reset', async () => {
  const begun: string[] = [];
  const closed: string[] = [];
  const server = createListener({ onRequest: () => undefined });
  openHttp2(server, {
    trustedProxies: parseNetworks(['127.0.0.1']),
    onRequest(req, res) {
      begun.push(req.url ?? '');
      res.on('close', () => closed.push(req.url ?? ''));
      if (req.url !== '/breaks') return;
      res.writeHead(200);
      res.write('half', () => setImmediate(() => res.destroy()));
    },
  });
  const session = dial(await listen(server));
  const stream = session.request({ ':path': '/waits' });
  stream.on('error', () => undefined);
  await until(() => begun.length > 0);
  stream.close(constants.NGHTTP2_CANCEL);
  await until(() => closed.length > 0);
  assert.deepEqual(closed, ['/waits']);
  const broken = await ask(session, { ':path': '/breaks' });
  assert.equal(broken.body, 'half');
  assert.equal(broken.code, constants.NGHTTP2_INTERNAL_ERROR);
});

test('a body that its caller breaks off never looks whole to who serves it', async () => {
  const { port, seen } = await edge();
  const session = dial(port);
  for (const code of [constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_INTERNAL_ERROR]) {
    const stream = session.request({ ':method': 'POST', ':path': '/half' }, { waitForTrailers: true });
    stream.on('error', () => undefined);
    stream.write('half of it');
    // Frames of one connection are read in their order.
    await ask(session, { ':path': '/between' });
    stream.close(code);
    await ask(session, { ':path': '/behind' });
  }
  const other = dial(port);
  other
    .request({ ':method': 'POST', ':path': '/half' })
    .on('error', () => undefined)
    .write('half of it');
  await ask(other, { ':path': '/between' });
  other.destroy();
  await once(other, 'close');
  await ask(session, { ':path': '/behind' });
  assert.deepEqual(new Set(seen.map(({ target }) => target)), new Set(['/between', '/behind']));
});

test('an answer that nobody takes is given up', async () => {
  const server = createListener({ onRequest: () => undefined });
  let closed = false;
  openHttp2(server, {
    trustedProxies: parseNetworks(['127.0.0.1']),
    stalledMs: 100,
    onRequest(_, res) {
      res.on('close', () => {
        closed = true;
      });
      res.end(Buffer.alloc(5_000_000));
    },
  });
  const stream = dial(await listen(server)).request({ ':path': '/' });
  stream.on('error', () => undefined);
  stream.pause();
  await once(stream, 'response');
  await until(() => closed);
});

test('a connection that opens streams to reset them is ended', async () => {
  const { port } = await edge();
  const session = dial(port);
  await once(session, 'connect');
  for (let i = 0; i < 100_000 && !session.destroyed; i++) {
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => undefined);
    stream.close(constants.NGHTTP2_CANCEL);
    if (i % 100 === 99) await nextTurn();
  }
  assert.ok(session.destroyed, 'still open');
});

for (const [name, flood] of [
  ['SETTINGS', () => Buffer.concat(Array.from({ length: 20_000 }, () => frame(4, 0, 0)))],
  ['PING', () => Buffer.concat(Array.from({ length: 20_000 }, () => frame(6, 0, 0, Buffer.alloc(8))))],
  [
    'CONTINUATION',
    () =>
      Buffer.concat([
        frame(1, 0, 1, Buffer.from([0x82])),
        ...Array.from({ length: 20_000 }, () => frame(9, 0, 1, Buffer.from([0x40, 1, 97, 1, 97]))),
      ]),
  ],
] as const)
  test(`a flood of ${name} frames whose answers nobody reads ends the connection`, async () => {
    const { port, seen } = await edge();
    const socket = connectTcp(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)]));
    socket.pause();
    for (let i = 0; i < 10 && !socket.destroyed; i++) {
      socket.write(flood());
      await untilSteady(() => socket.writableLength);
    }
    socket.resume();
    await until(() => socket.closed);
    assert.equal(seen.length, 0);
  });

test('a connection on which nothing happens is closed, one with a call under way is not', async () => {
  const { port } = await edge({ idleMs: 150 });
  const idle = dial(port);
  await once(idle, 'connect');
  await once(idle, 'close');
  const busy = dial(port);
  const stream = busy.request({ ':method': 'POST', ':path': '/' });
  const answer = finished(stream);
  stream.write('a');
  const later = dial(port);
  await once(later, 'connect');
  await once(later, 'close');
  stream.end('b');
  assert.equal((await answer).body, 'POST / 2');
});

test('a gateway that ends says GOAWAY, and what runs finishes', async () => {
  const { port, door } = await edge();
  const session = dial(port);
  const stream = session.request({ ':method': 'POST', ':path': '/' });
  const answer = finished(stream);
  stream.write('a');
  await ask(session, { ':path': '/behind' });
  const told = once(session, 'goaway');
  door.close();
  await told;
  stream.end('b');
  assert.equal((await answer).body, 'POST / 2');
  await once(session, 'close');
});

function collect(socket: Socket): () => Buffer {
  const chunks: Buffer[] = [];
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks);
}
