import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import test from 'node:test';
import { until } from '#server/testing/until.ts';
import { bodyFault } from './broken-body.ts';
import { acceptBody, createListener, discardBody, inspectHead, type ListenerOptions } from './listener.ts';
import { exchange, listen } from './raw-client.fixture.ts';
import { readBody } from './request-body.ts';
import { isHandshake } from './websocket/handshake.ts';

/** A server that refuses what inspectHead refuses and otherwise says what it understood. */
async function edge(options: Partial<ListenerOptions> = {}) {
  const served: string[] = [];
  const server = createListener({
    onRequest(req, res) {
      const head = inspectHead(req);
      if (!head.ok) {
        res.writeHead(head.status, { 'x-request-id': 'test' }).end(head.type);
        discardBody(req);
        return;
      }
      served.push(head.target);
      acceptBody(req, res);
      void readBody(req, 1024 * 1024, () => true).then(({ body }) => {
        if (body !== null) return res.end(`${req.method} ${head.target} ${head.host} ${body}`);
        return res.writeHead(bodyFault(req) === 'late' ? 408 : 400, { 'x-request-id': 'test' }).end();
      });
    },
    ...options,
  });
  return { port: await listen(server), served, server };
}
const H = 'Host: acme.localhost\r\n';

test('nothing ambiguous is ever served, and every refusal is one of ours with a request id', async () => {
  const { port, served } = await edge();
  const post = (headers: string, body = '') => `POST / HTTP/1.1\r\n${H}${headers}\r\n${body}`;
  const table: [string, string | Buffer, number][] = [
    ['Content-Length and Transfer-Encoding', post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 400],
    ['Transfer-Encoding and Content-Length', post('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', '0\r\n\r\n'), 400],
    ['two different lengths', post('Content-Length: 1\r\nContent-Length: 2\r\n', 'ab'), 400],
    ['two equal lengths', post('Content-Length: 1\r\nContent-Length: 1\r\n', 'a'), 400],
    ['length +1', post('Content-Length: +1\r\n', 'a'), 400],
    ['length -1', post('Content-Length: -1\r\n', 'a'), 400],
    ['length 0x1', post('Content-Length: 0x1\r\n', 'a'), 400],
    ['length 1,1', post('Content-Length: 1,1\r\n', 'a'), 400],
    ['length beyond 2^64', post('Content-Length: 18446744073709551617\r\n', 'a'), 400],
    ['xchunked', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'), 400],
    ['chunked, identity', post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'), 400],
    ['identity', post('Transfer-Encoding: identity\r\n'), 400],
    ['gzip, chunked', post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'), 400],
    ['chunked, chunked', post('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n'), 400],
    ['doubled TE', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 400],
    ['empty TE', post('Transfer-Encoding:\r\n', '0\r\n\r\n'), 400],
    ['TE with a vertical tab', post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n'), 400],
    ['space before the colon', post('Transfer-Encoding : chunked\r\n', '0\r\n\r\n'), 400],
    ['folded header', post('X-A: b\r\n c\r\n'), 400],
    ['bare LF', `POST / HTTP/1.1\n${H}\n`, 400],
    ['bare CR in a header', post('X-A: b\rc\r\n'), 400],
    ['NUL in a header', post('X-A: b\0c\r\n'), 400],
    ['header without a name', post(': b\r\n'), 400],
    ['chunk size 0x1', post('Transfer-Encoding: chunked\r\n', '0x1\r\na\r\n0\r\n\r\n'), 400],
    ['negative chunk size', post('Transfer-Encoding: chunked\r\n', '-1\r\na\r\n0\r\n\r\n'), 400],
    ['chunk longer than it says', post('Transfer-Encoding: chunked\r\n', '1\r\nab\r\n0\r\n\r\n'), 400],
    ['20 kB chunk extension', post('Transfer-Encoding: chunked\r\n', `1;${'e'.repeat(20_000)}\r\na\r\n0\r\n\r\n`), 400],
    ['TE on HTTP/1.0', `POST / HTTP/1.0\r\n${H}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['no Host on HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', 400],
    ['empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n', 400],
    ['two Hosts', `GET / HTTP/1.1\r\n${H}Host: other.localhost\r\n\r\n`, 400],
    ['two equal Hosts', `GET / HTTP/1.1\r\n${H}${H}\r\n`, 400],
    ['absolute form of another host', `GET http://evil.test/ HTTP/1.1\r\n${H}\r\n`, 400],
    ['absolute form of another port', `GET http://acme.localhost:81/ HTTP/1.1\r\n${H}\r\n`, 400],
    ['absolute form with credentials', `GET http://acme.localhost@evil.test/ HTTP/1.1\r\n${H}\r\n`, 400],
    ['absolute form of another scheme', `GET ftp://acme.localhost/ HTTP/1.1\r\n${H}\r\n`, 400],
    ['asterisk form', `OPTIONS * HTTP/1.1\r\n${H}\r\n`, 400],
    ['no leading slash', `GET foo HTTP/1.1\r\n${H}\r\n`, 400],
    ['fragment', `GET /a#b HTTP/1.1\r\n${H}\r\n`, 400],
    ['space in the target', `GET /a b HTTP/1.1\r\n${H}\r\n`, 400],
    ['tab in the target', `GET /a\tb HTTP/1.1\r\n${H}\r\n`, 400],
    ['8-bit target', Buffer.from(`GET /\xe4 HTTP/1.1\r\n${H}\r\n`, 'latin1'), 400],
    ['HTTP/2.0', `GET / HTTP/2.0\r\n${H}\r\n`, 400],
    ['HTTP/0.9', 'GET /\r\n\r\n', 400],
    ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['unknown method token', `G<T / HTTP/1.1\r\n${H}\r\n`, 400],
    ['TLS hello', Buffer.from('16030100', 'hex'), 400],
    ['two route headers', `GET / HTTP/1.1\r\n${H}X-Svc-Route: a\r\nx-svc-route: b\r\n\r\n`, 400],
    ['two credentials', `GET / HTTP/1.1\r\n${H}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`, 400],
    ['two idempotency keys', `POST / HTTP/1.1\r\n${H}Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 0\r\n\r\n`, 400],
    ['target over 16 KiB', `GET /${'a'.repeat(16 * 1024)} HTTP/1.1\r\n${H}\r\n`, 414],
    ['header block over 32 KiB', `GET / HTTP/1.1\r\n${H}X-A: ${'a'.repeat(33 * 1024)}\r\n\r\n`, 431],
    ['header block over everything', `GET / HTTP/1.1\r\n${H}X-A: ${'a'.repeat(90 * 1024)}\r\n\r\n`, 431],
    ['201 fields', `GET / HTTP/1.1\r\n${'X-A: b\r\n'.repeat(200)}${H}\r\n`, 431],
    ['2,000 fields with Host beyond the thousandth', `GET / HTTP/1.1\r\n${'X-A: b\r\n'.repeat(2_000)}${H}\r\n`, 431],
    ['other expectation', post('Expect: 200-ok\r\nContent-Length: 0\r\n'), 417],
    ['CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n', 405],
  ];
  for (const [name, bytes, status] of table) {
    const before = served.length;
    const answer = await exchange(port, bytes, 30);
    assert.equal(answer.status, status, `${name}: ${answer.head}`);
    assert.ok(answer.headers['x-request-id'], name);
    // A body that breaks while it is read was let in with a sound head; nothing else may get that far.
    if (!/chunk|extension/.test(name) || /TE|xchunked|identity|gzip|doubled|chunked, chunked/.test(name))
      assert.equal(served.length, before, name);
  }
});

test('a request smuggled behind a refused one is never served', async () => {
  const { port, served } = await edge();
  const smuggled = `GET /smuggled HTTP/1.1\r\n${H}\r\n`;
  const carriers = [
    `POST / HTTP/1.1\r\n${H}Content-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `POST / HTTP/1.1\r\n${H}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `POST / HTTP/1.1\r\n${H}Transfer-Encoding: gzip, chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
    `POST / HTTP/1.1\r\n${H}Content-Length: 1\r\nContent-Length: 2\r\n\r\n${smuggled}`,
    `POST / HTTP/1.1\r\n${H}${H}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
  ];
  for (const bytes of carriers) await exchange(port, bytes, 30);
  assert.deepEqual(served, []);
});

test('good requests pass with target and host untouched, also in absolute form of the same host and when pipelined', async () => {
  const { port, served } = await edge();
  assert.match((await exchange(port, `GET //a%2F/../b?x=%zz HTTP/1.1\r\n${H}\r\n`)).body, /^GET \/\/a%2F\/\.\.\/b\?x=%zz acme\.localhost/);
  assert.match((await exchange(port, `GET HTTP://ACME.localhost/x?y HTTP/1.1\r\n${H}\r\n`)).body, /^GET \/x\?y acme/);
  assert.match((await exchange(port, `GET http://acme.localhost?y HTTP/1.1\r\n${H}\r\n`)).body, /^GET \/\?y acme/);
  assert.match((await exchange(port, `POST /c HTTP/1.1\r\n${H}Transfer-Encoding: Chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`)).body, /hi/);
  served.length = 0;
  await exchange(port, `GET /1 HTTP/1.1\r\n${H}\r\nGET /2 HTTP/1.1\r\n${H}\r\n`);
  assert.deepEqual(served, ['/1', '/2']);
});

test('100 Continue is said when the body is wanted, not before', async () => {
  const { port } = await edge();
  const answer = await exchange(port, [`POST / HTTP/1.1\r\n${H}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`, 'hi'], 60, 30);
  assert.match(answer.head, /^HTTP\/1\.1 100 Continue/);
  assert.match(answer.body, /200 OK[\s\S]*hi$/);
  const refused = await exchange(port, `POST /#x HTTP/1.1\r\n${H}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
  assert.equal(refused.status, 400);
});

test('a head that trickles in, or never starts, is cut off after the head timeout', async () => {
  const { port } = await edge({ headersTimeoutMs: 200 });
  const drip = await exchange(port, ['GET / HTTP/1.1\r\n', ...Array.from({ length: 40 }, (_, i) => `X-${i}: a\r\n`)], 60, 50);
  assert.equal(drip.status, 408);
  assert.ok(drip.headers['x-request-id']);
  await once(connect(port, '127.0.0.1').resume(), 'close');
});

test('a body that trickles in is cut off after the request timeout', async () => {
  const { port } = await edge({ headersTimeoutMs: 100, requestTimeoutMs: 300 });
  const parts = [`POST / HTTP/1.1\r\n${H}Content-Length: 100\r\n\r\n`, ...Array.from({ length: 40 }, () => 'a')];
  assert.equal((await exchange(port, parts, 60, 40)).status, 408);
});

test('a parse error while an answer is being sent hangs up and never writes a second answer into the first', async () => {
  const server = createListener({
    onRequest(_, res) {
      res.writeHead(200, { 'content-length': '100' });
      res.write('partial');
    },
  });
  const port = await listen(server);
  const answer = await exchange(port, [`POST / HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n`, 'zz\r\n'], 200, 40);
  assert.equal(answer.status, 200);
  assert.equal(answer.body, 'partial');
});

test('a caller that keeps sending after a refusal still gets to read it', async () => {
  const { port } = await edge();
  const big = Buffer.alloc(700_000, 'a');
  const answer = await exchange(port, [`POST /#x HTTP/1.1\r\n${H}Content-Length: ${big.length}\r\n\r\n`, big], 100);
  assert.equal(answer.status, 400);
});

test('who asked to close gets to read a refusal that came before it had sent its body, and then the connection ends', async () => {
  const { port, server } = await edge();
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const caller = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause();
  const body = Buffer.alloc(700_000, 'a');
  caller.write(`POST /#x HTTP/1.1\r\n${H}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
  const [socket] = await accepted;
  await once(socket, 'finish'); // the refusal is written, and its end
  await new Promise(setImmediate);
  caller.write(body);
  let text = '';
  caller.on('data', (chunk: Buffer) => (text += chunk.toString())).resume();
  await once(caller, 'end'); // and no error
  assert.match(text, /^HTTP\/1\.1 400 .*\r\n\r\n/s);
  assert.match(text, /^connection: close\r$/im);
  if (!socket.closed) await once(socket, 'close');
  caller.end();
});

test('a request behind an answer that closes the connection ends as broken, never as whole', async () => {
  const events: string[] = [];
  const { promise: both, resolve: arrived } = Promise.withResolvers<void>();
  const { promise: gone, resolve: over } = Promise.withResolvers<void>();
  const { port } = await edge({
    onRequest(req, res) {
      if (req.url === '/first') return void both.then(() => res.setHeader('Connection', 'close').end('first'));
      req.on('data', (chunk: Buffer) => events.push(chunk.toString()));
      req.on('end', () => events.push('end'));
      req.on('error', () => events.push('error'));
      req.on('close', over);
      req.once('data', () => arrived());
    },
  });
  const caller = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  caller.on('error', () => undefined);
  caller.write(`GET /first HTTP/1.1\r\n${H}\r\nPOST /second HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n`);
  await once(caller, 'data');
  caller.write('4\r\nmore\r\n0\r\n\r\n');
  await gone;
  assert.deepEqual(events, ['begun', 'error']);
});

test('connections above the cap are closed at once and the others go on', async () => {
  const { port, server } = await edge({ maxConnections: 2 });
  const held = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  const open = () => new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n)));
  await until(async () => (await open()) === 2);
  assert.equal((await exchange(port, `GET / HTTP/1.1\r\n${H}\r\n`)).status, 0);
  held[0]?.destroy();
  await until(async () => (await open()) === 1);
  assert.equal((await exchange(port, `GET / HTTP/1.1\r\n${H}\r\n`)).status, 200);
  held[1]?.destroy();
  assert.equal(server.maxConnections, 2);
});

test('only websocket handshakes reach the upgrade handler; other Upgrade values are ordinary requests', async () => {
  const { port } = await edge({ upgrades: isHandshake, onUpgrade: (_, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n') });
  const ask = (value: string, method = 'GET', version = '13', more = '') =>
    exchange(
      port,
      `${method} / HTTP/1.1\r\n${H}Connection: keep-alive, Upgrade\r\nUpgrade: ${value}\r\nSec-WebSocket-Version: ${version}\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${more}\r\n`,
    );
  assert.equal((await ask('WebSocket')).status, 101);
  assert.equal((await ask('h2c')).status, 200);
  assert.equal((await ask('websocket', 'DELETE')).status, 200);
  assert.equal((await ask('websocket', 'GET', '8')).status, 200);
  assert.equal((await ask('websocket', 'GET', '13', 'Content-Length: 0\r\n')).status, 101);
  const without = await edge();
  assert.equal((await exchange(without.port, `GET / HTTP/1.1\r\n${H}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)).status, 200);
});

test('who never reads its answer is hung up on; who reads slowly, or waits long for an answer, is not', async () => {
  const body = Buffer.alloc(24 * 1024 * 1024, 'a');
  const ended: string[] = [];
  const quietAnswers: ServerResponse[] = [];
  const server = createListener({
    // Longer than a busy machine holds up a process, which is to a slow reader as if it took nothing.
    stalledMs: 1_000,
    onRequest(req, res) {
      const name = req.url ?? '';
      res.on('close', () => ended.push(name));
      if (name.startsWith('/quiet')) {
        res.writeHead(200).write('first');
        quietAnswers.push(res);
      } else res.end(body);
    },
  });
  const port = await listen(server);
  const ask = (name: string) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let bytes = 0;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.write(`GET ${name} HTTP/1.1\r\n${H}\r\n`);
    return { socket, bytes: () => bytes };
  };
  /** Calls that nobody reads the answers of; each ends later than one that waits would, were it taken for one of them. */
  const hungUpOn = async (...names: string[]) => {
    for (const name of names) ask(name).socket.pause();
    await until(() => names.every((name) => ended.includes(name)));
  };
  const slow = ask('/slow');
  const sips = setInterval(() => (slow.socket.isPaused() ? slow.socket.resume() : slow.socket.pause()), 20);
  // Its second request finds the connection as the first one left it.
  const quiet = ask('/quiet1');
  await until(() => quietAnswers.length === 1);
  await hungUpOn('/deaf1', '/deaf2', '/deaf3');
  quietAnswers[0]?.end(' last');
  await until(() => ended.includes('/quiet1'));
  quiet.socket.write(`GET /quiet2 HTTP/1.1\r\n${H}\r\n`);
  await until(() => quietAnswers.length === 2);
  await hungUpOn('/deaf4');
  quietAnswers[1]?.end(' last');
  await until(() => ended.includes('/quiet2'));
  clearInterval(sips);
  assert.ok(slow.bytes() > 0 && !slow.socket.destroyed, 'who reads slowly');
  slow.socket.destroy();
  const others = ended.filter((name) => name !== '/slow');
  assert.deepEqual(others.slice(0, 3).sort(), ['/deaf1', '/deaf2', '/deaf3']);
  assert.deepEqual(others.slice(3), ['/quiet1', '/deaf4', '/quiet2']);
  assert.ok(quiet.bytes() > 200 && !quiet.socket.destroyed, 'who waits');
  quiet.socket.destroy();
});
