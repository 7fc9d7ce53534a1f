import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import test, { after } from 'node:test';
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws';
import { revoke } from '#server/domain/api-keys/operations.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { makeRoute, served, startGateway } from '../gateway.fixture.ts';
import { shareSecret } from '../shared-secrets.fixture.ts';
import { called, custodian, routeWith } from './fields/fields.fixture.ts';

// What WebSocket applications are written with: `ws` at both ends, and Python's `websockets`.

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });
const running = await startGateway();
const w = await workspace();
const { text: key } = await w.key();

/** Sends messages back, as they are; `leave` is answered by a close with a code of its own. */
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: { threshold: 0 }, handleProtocols: () => 'chat' });
let begun = 0;
const ends: { code: number; reason: string }[] = [];
server.on('connection', (socket) => {
  begun++;
  socket.on('message', (message, binary) => {
    if (message.toString() === 'leave') socket.close(4002, 'enough');
    else socket.send(message, { binary });
  });
  socket.on('close', (code, reason) => ends.push({ code, reason: reason.toString() }));
});
await once(server, 'listening');
const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
after(() => {
  for (const socket of server.clients) socket.terminate();
  server.close();
});
await makeRoute(w, 'chat', upstream);
await served(running, w);

const address = (path = '/chat/room', label = w.tenant.slug) => `ws://127.0.0.1:${running.port}/p/${label}${path}`;
const dialled = (text: string, options: ClientOptions = {}) =>
  new WebSocket(address(), ['chat', 'other'], { headers: { 'X-Svc-Key': text }, ...options });
async function opened(text = key, options: ClientOptions = {}): Promise<WebSocket> {
  const socket = dialled(text, options);
  await once(socket, 'open');
  return socket;
}
async function echoed(socket: WebSocket, message: string | Buffer): Promise<Buffer> {
  const answer = once(socket, 'message');
  socket.send(message);
  return (await answer)[0] as Buffer;
}
const closed = async (socket: WebSocket) => {
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  return { code, reason: reason.toString() };
};
/** What a handshake is refused with. */
async function refusal(socket: WebSocket): Promise<[number | undefined, unknown, string]> {
  socket.on('error', () => undefined);
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const body = JSON.parse(Buffer.concat(await answer.toArray()).toString()) as { error: { type: string } };
  return [answer.statusCode, answer.headers['x-svc-error'], body.error.type];
}

test('ws at both ends: subprotocol, compression, pieces, pings and messages of any size are the application’s own', async () => {
  const socket = await opened();
  assert.equal(socket.protocol, 'chat');
  assert.match(socket.extensions, /permessage-deflate/);
  for (const message of [
    'hello',
    'ä€😀',
    Buffer.alloc(70_000, 'ab'),
    Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * i) % 251)),
  ])
    assert.deepEqual(await echoed(socket, message), Buffer.from(message));
  const whole = once(socket, 'message');
  for (const piece of ['in ', 'three ']) socket.send(piece, { fin: false });
  socket.send('pieces');
  assert.equal(String((await whole)[0]), 'in three pieces');
  const pong = once(socket, 'pong');
  socket.ping('are you there');
  assert.equal(String((await pong)[0]), 'are you there');
  socket.terminate();
  const plain = await opened(key, { perMessageDeflate: false });
  assert.equal(plain.extensions, '');
  assert.equal(String(await echoed(plain, 'x'.repeat(3_000_000))).length, 3_000_000);
  plain.terminate();
});

test('ws at both ends: a close of either side reaches the other with its code and reason', async () => {
  const first = await opened();
  const asked = ends.length;
  first.close(4001, 'bye');
  assert.deepEqual(await closed(first), { code: 4001, reason: 'bye' });
  await until(() => ends.length > asked);
  assert.deepEqual(ends.at(-1), { code: 4001, reason: 'bye' });
  const second = await opened();
  const ending = closed(second);
  second.send('leave');
  assert.deepEqual(await ending, { code: 4002, reason: 'enough' });
});

test('ws is shown the refusal of any other call', async () => {
  assert.deepEqual(await refusal(dialled('tk_live_wrong')), [401, 'invalid_api_key', 'invalid_api_key']);
  assert.deepEqual(await refusal(new WebSocket(address('/nothing'), { headers: { 'X-Svc-Key': key } })), [
    404,
    'route_not_found',
    'route_not_found',
  ]);
});

test('ws: a key that its owner revokes closes its connections with 1001 at both ends, under load too, and no other', async () => {
  const mine = await w.key();
  await served(running, w);
  const [socket, busy, other] = await Promise.all([opened(mine.text), opened(mine.text), opened()]);
  busy.on('message', () => busy.send('x'.repeat(20_000)));
  busy.send('begin');
  const [ending, busyEnding, asked] = [closed(socket), closed(busy), ends.length];
  await called(revoke, w.live, { id: mine.row.id });
  assert.equal((await ending).code, 1001);
  assert.equal((await busyEnding).code, 1001);
  await until(() => ends.length >= asked + 2);
  assert.ok(
    ends.slice(asked).every(({ code }) => code === 1001),
    JSON.stringify(ends.slice(asked)),
  );
  assert.equal(String(await echoed(other, 'still here')), 'still here');
  other.terminate();
  assert.deepEqual(await refusal(dialled(mine.text)), [401, 'invalid_api_key', 'invalid_api_key']);
});

test('a route with field actions opens none, in whichever direction they are, and neither does a secret that is shared for use only', async () => {
  const c = await custodian();
  const asked = begun;
  for (const direction of ['request', 'response']) {
    const { slug } = await routeWith(running, c, upstream, [{ direction, action: 'mask', selectors: ['$.card'], mask: 'full' }]);
    const socket = new WebSocket(address(`/${slug}`, c.w.tenant.slug), { headers: { 'X-Svc-Key': c.key } });
    assert.deepEqual(await refusal(socket), [424, 'field_action_failed', 'field_action_failed'], direction);
  }
  const { recipient } = await shareSecret({ production: 'a value that is not to be seen' });
  await makeRoute(recipient, 'shared', upstream, { inject_headers_json: { 'x-key': '{{secret:ALIAS}}' } });
  const { text } = await recipient.key();
  await served(running, recipient);
  const socket = new WebSocket(address('/shared', recipient.tenant.slug), { headers: { 'X-Svc-Key': text } });
  assert.deepEqual(await refusal(socket), [424, 'secret_type_not_injectable', 'secret_type_not_injectable']);
  assert.equal(begun, asked);
});

const PYTHON = `
import asyncio, sys
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

async def main(url, key):
    try:
        async with connect(url, additional_headers={'X-Svc-Key': 'tk_live_wrong'}):
            print('let in', flush=True)
    except InvalidStatus as refused:
        print('refused', refused.response.status_code, refused.response.headers['X-Svc-Error'], flush=True)
    async with connect(url, additional_headers={'X-Svc-Key': key}, subprotocols=['chat'], max_size=None) as socket:
        for message in ['hello', '', 'ä€😀', bytes(range(256)) * 1000, 'x' * 3_000_000]:
            await socket.send(message)
            assert await socket.recv() == message
        await socket.send(['in ', 'three ', 'pieces'])
        assert await socket.recv() == 'in three pieces'
        await (await socket.ping(b'are you there'))
        head = socket.response.headers
        print('open', socket.subprotocol, head['X-Svc-Origin'], head['Sec-WebSocket-Extensions'].split(';')[0], flush=True)
        try:
            await socket.recv()
        except ConnectionClosed as closed:
            print('closed', closed.rcvd.code, flush=True)

asyncio.run(main(*sys.argv[1:3]))
`;
const noPython =
  spawnSync('python3', ['-c', 'import websockets.asyncio.client']).status !== 0 &&
  "Python's websockets isn't on this machine (PyPI websockets)";

test('a Python client speaks through the gateway, and hears 1001 when its key is revoked', { skip: noPython }, async () => {
  const mine = await w.key();
  await served(running, w);
  const program = spawn('python3', ['-c', PYTHON, address(), mine.text], { env: { ...process.env, NO_PROXY: '*' } });
  let fault = '';
  program.stderr.on('data', (bytes) => {
    fault += bytes;
  });
  after(() => program.kill());
  const ended = once(program, 'exit');
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  const said = async () => ((await lines.next()).value as string | undefined) ?? fault;
  assert.equal(await said(), 'refused 401 invalid_api_key');
  assert.equal(await said(), 'open chat upstream permessage-deflate');
  await called(revoke, w.live, { id: mine.row.id });
  assert.equal(await said(), 'closed 1001');
  assert.deepEqual(await ended, [0, null], fault);
  await running.flush();
  const where = { tenant_id: w.tenant.id, api_key_id: mine.row.id, error_detail: 'websocket:revoked' };
  await until(async () => {
    await running.flush();
    return (await db().request_logs.count({ where })) === 1;
  });
});
