import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import test from 'node:test';
import { connect as connectTls, createServer as createTls } from 'node:tls';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { generateServer } from '../tls-upstream.fixture.ts';
import { createListener } from './listener.ts';
import { listen } from './raw-client.fixture.ts';

// Bytes that are no HTTP behind requests whose answers are outstanding (RFC 9112 §9.3.2, §9.6): every request that was understood is answered, in order, with what the
// log says; then the connection ends, and nothing else is written on it.

await testDatabase();
const running = await startGateway();
const { port } = running;
const w = await workspace();
const { text: key } = await w.key();
const host = `${w.tenant.slug}.localhost:${port}`;
/** Answers that wait until they are let go, by path. */
const waiting = new Map<string, () => void>();
const upstream = await startUpstream((req, res, body) => {
  const answer = () => res.writeHead(200, { 'content-type': 'text/plain' }).end(`${req.method} ${req.url} ${body}`);
  if (!req.url?.startsWith('/wait')) return void answer();
  waiting.set(req.url, answer);
});
const { id: routeId } = await makeRoute(w, 'plain', upstream.url);
await makeRoute(w, 'buffered', upstream.url, { inject_body_json: { a: 1 } as never });
await served(running, w);

const head = (line: string, lines: readonly string[] = []) =>
  `${line} HTTP/1.1\r\n${[`Host: ${host}`, `X-Svc-Key: ${key}`, ...lines].join('\r\n')}\r\n\r\n`;

/** A connection whose text can be looked at while it is open. */
function dial(socket: Socket = connect(port, '127.0.0.1')) {
  const seen = { socket, text: '', closed: false, write: (text: string) => socket.write(Buffer.from(text, 'latin1')) };
  socket.on('data', (data) => {
    seen.text += data.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('end', () => {
    seen.closed = true;
  });
  socket.on('close', () => {
    seen.closed = true;
  });
  return seen;
}

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
const has = (text: string, name: string, value = '.*') => new RegExp(`\r\n${name}: ${value}\r\n`, 'i').test(text);
const ids = (text: string) => [...text.matchAll(/\r\nX-Svc-Request-Id: (\S+)/gi)].map(([, id]) => id as string);

/** What the log says of the calls whose IDs a caller was told. */
async function logged(text: string): Promise<unknown[]> {
  const wanted = ids(text);
  let rows: { request_id: string; status_code: number | null; error: string | null }[] = [];
  await until(async () => {
    await running.flush();
    rows = await db().request_logs.findMany({
      where: { tenant_id: w.tenant.id, request_id: { in: wanted } },
      select: { request_id: true, status_code: true, error: true },
    });
    return rows.length === wanted.length;
  });
  return wanted.map((id) => {
    const row = rows.find(({ request_id }) => request_id === id);
    return [row?.status_code, row?.error];
  });
}

const TAILS: [string, string][] = [
  ['characters that were not counted', 'XXXX\r\n\r\n'],
  ['binary', '\x00\x01\x02\xff'.repeat(50)],
  ['a TLS hello', '\x16\x03\x01\x02\x00'],
  ['a method that is none', 'G<T /plain/hidden HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a head without a colon', `GET /plain/hidden HTTP/1.1\r\nHost ${host}\r\n\r\n`],
  ['two framings', `POST /plain/hidden HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a length that is none', `POST /plain/hidden HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1x\r\n\r\n`],
  ['a head over the parser’s limit', `GET /plain/hidden HTTP/1.1\r\nX-A: ${'a'.repeat(90_000)}\r\n\r\n`],
];

test('a body longer than announced: the answer is delivered and logged, then the connection ends', async () => {
  for (const close of [true, false])
    for (const [what, tail] of TAILS)
      for (const path of ['/plain/x', '/buffered/x']) {
        const before = upstream.seen.length;
        const caller = dial();
        const type = path === '/plain/x' ? [] : ['Content-Type: application/json'];
        const body = path === '/plain/x' ? 'hello' : '{   }';
        caller.write(`${head(`POST ${path}`, ['Content-Length: 5', ...type, ...(close ? ['Connection: close'] : [])])}${body}${tail}`);
        await until(() => caller.closed);
        const told = `${what}, ${path}, close ${close}: ${caller.text}`;
        assert.deepEqual(statuses(caller.text), [200], told);
        assert.ok(has(caller.text, 'X-Svc-Origin', 'upstream') && has(caller.text, 'Connection', 'close'), told);
        assert.match(caller.text, /POST \/x (?:hello|\{ *"a":1\})(?:\r\n0\r\n\r\n)?$/, told);
        assert.equal(upstream.seen.length, before + 1, 'and nothing of the rest was ever a request');
        assert.deepEqual(await logged(caller.text), [[200, null]], told);
      }
});

test('pipelined requests are all answered, in their order, before the connection ends', async () => {
  const caller = dial();
  caller.write(`${head('GET /plain/wait-1')}${head('POST /plain/wait-2', ['Content-Length: 2'])}hi${head('GET /plain/3')}nonsense\r\n\r\n`);
  await until(() => waiting.has('/wait-1') && waiting.has('/wait-2'));
  waiting.get('/wait-2')?.();
  waiting.get('/wait-1')?.();
  await until(() => caller.closed);
  assert.deepEqual(statuses(caller.text), [200, 200, 200], caller.text);
  assert.match(caller.text, /GET \/wait-1 [\s\S]*POST \/wait-2 hi[\s\S]*GET \/3 /);
  assert.deepEqual(await logged(caller.text), [
    [200, null],
    [200, null],
    [200, null],
  ]);
});

test('bytes that come while an answer is waited for, or is on its way, don’t break it off', async () => {
  const caller = dial();
  caller.write(head('GET /plain/wait-4'));
  await until(() => waiting.has('/wait-4'));
  caller.write('nonsense\r\n\r\n');
  caller.write('and more of it\r\n\r\n');
  const other = dial();
  other.write(head('GET /plain/5', ['Connection: close']));
  await until(() => other.closed);
  assert.deepEqual(statuses(other.text), [200], 'other connections hear nothing of it');
  waiting.get('/wait-4')?.();
  await until(() => caller.closed);
  assert.deepEqual(statuses(caller.text), [200]);
  assert.match(caller.text, /GET \/wait-4 /);
  assert.deepEqual(await logged(caller.text), [[200, null]]);
});

const CHUNKS = ['0x2\r\nhi\r\n', '-2\r\nhi\r\n', '1\r\nhi\r\n', 'g\r\nhi\r\n', '2\nhi\r\n', `2;${'e'.repeat(20_000)}\r\nhi\r\n`];

test('a body whose chunks are broken is refused in the words of the plane, which the log repeats, and never arrives whole', async () => {
  for (const apart of [false, true])
    for (const path of ['/plain/x', '/buffered/x'])
      for (const chunk of CHUNKS) {
        const before = upstream.seen.length;
        const caller = dial();
        const begin = head(`POST ${path}`, ['Transfer-Encoding: chunked', 'Content-Type: application/json']);
        if (apart) {
          caller.write(`${begin}2\r\n{ \r\n`);
          await new Promise((resolve) => setImmediate(resolve));
          caller.write(`${chunk}0\r\n\r\n`);
        } else caller.write(`${begin}${chunk}0\r\n\r\n${head('GET /plain/hidden')}`);
        await until(() => caller.closed);
        const told = `${JSON.stringify(chunk.slice(0, 12))} ${path} ${apart}: ${caller.text}`;
        assert.deepEqual(statuses(caller.text), [400], told);
        assert.ok(
          has(caller.text, 'X-Svc-Error', 'invalid_request') && has(caller.text, 'X-Request-Id') && has(caller.text, 'Connection', 'close'),
          told,
        );
        assert.deepEqual(await logged(caller.text), [[400, 'invalid_request']], told);
        assert.equal(upstream.seen.length, before, told);
      }
});

test('a broken body behind a request that waits for its answer is refused after it', async () => {
  const caller = dial();
  caller.write(`${head('GET /plain/wait-6')}${head('POST /plain/x', ['Transfer-Encoding: chunked'])}zz\r\n`);
  await until(() => waiting.has('/wait-6'));
  waiting.get('/wait-6')?.();
  await until(() => caller.closed);
  assert.deepEqual(statuses(caller.text), [200, 400], caller.text);
  assert.deepEqual(await logged(caller.text), [
    [200, null],
    [400, 'invalid_request'],
  ]);
});

test('what can’t be read before any request was understood is refused with 400, our shape and a request ID', async () => {
  for (const [what, tail] of TAILS) {
    const caller = dial();
    caller.write(tail);
    await until(() => caller.closed);
    assert.deepEqual(statuses(caller.text), [/limit/.test(what) ? 431 : 400], what);
    assert.ok(has(caller.text, 'X-Request-Id'), what);
    assert.match(caller.text, /"error":\{"type":"/);
  }
  const idle = dial();
  idle.write(head('GET /plain/7'));
  await until(() => idle.text.includes('GET /7'));
  idle.write('nonsense\r\n\r\n');
  await until(() => idle.closed);
  assert.deepEqual(statuses(idle.text), [200, 400], 'behind an answer that is out it is a request of its own');
});

test('every public port and TLS in front of it keep to the same', async () => {
  for (const plane of ['api', 'sandbox', 'admin', 'proxy'] as const) {
    const { port: at } = await running.gateway.listen(plane, 0, '127.0.0.1');
    for (const [what, tail] of TAILS) {
      const caller = dial(connect(at, '127.0.0.1'));
      const line = `POST /v1/environments HTTP/1.1\r\nHost: localhost:${at}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
      caller.write(line + tail);
      await until(() => caller.closed);
      assert.equal(statuses(caller.text).length, 1, `${plane}, ${what}: ${caller.text}`);
      assert.ok(has(caller.text, 'X-Request-Id') && !/"The request is not valid HTTP/.test(caller.text), `${plane}, ${what}`);
    }
  }
  const plain = createListener({ onRequest: (_, res) => void setImmediate(() => res.end('answer')) });
  const secure = createTls(await generateServer('localhost'), (socket) => void plain.emit('connection', socket));
  const caller = dial(connectTls({ port: await listen(secure), host: '127.0.0.1', rejectUnauthorized: false }));
  caller.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloXXXX\r\n\r\n`);
  await until(() => caller.closed);
  assert.deepEqual(statuses(caller.text), [200]);
  assert.match(caller.text, /answer$/);
});

test('nothing of a route is logged twice for it', async () => {
  const rows = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id, route_id: routeId }, select: { path: true } });
  assert.equal(rows.filter(({ path }) => path?.includes('hidden')).length, 0);
});
