import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until, untilSteady } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startEchoUpstream } from '../core/websocket/echo-upstream.fixture.ts';
import { makeRoute, makeSecret, served, startGateway } from '../gateway.fixture.ts';

// The callers are undici's WebSocket, which is Node's own, and raw sockets where a caller must misbehave; others are in websocket-clients.test.ts.

await testDatabase();
const running = await startGateway();
const { port } = running;
const upstream = await startEchoUpstream();
const w = await workspace();
const { text: key } = await w.key();
const label = w.tenant.slug;
await makeSecret(w, 'TOKEN', { production: 'the-token-of-the-upstream' });
const route = await makeRoute(w, 'chat', upstream.url, { inject_headers_json: { Authorization: 'Bearer {{secret:TOKEN}}' } });
await served(running, w);

type Options = { key?: string; path?: string };
const dial = async ({ key: text = key, path = '/chat/room?x=1' }: Options = {}) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/p/${label}${path}`, { headers: { 'x-svc-key': text } } as never);
  socket.binaryType = 'arraybuffer';
  const failed = once(socket, 'error').then(([event]) =>
    Promise.reject(new Error(`the handshake failed: ${(event as ErrorEvent).message}`)),
  );
  failed.catch(() => undefined);
  await Promise.race([once(socket, 'open'), failed]);
  return socket;
};
const echoed = async (socket: WebSocket, message: string | Uint8Array) => {
  const answer = once(socket, 'message');
  socket.send(message as never);
  return ((await answer)[0] as MessageEvent).data as string | ArrayBuffer;
};
const closing = async (socket: WebSocket) => ((await once(socket, 'close'))[0] as CloseEvent).code;
const logged = async () => {
  await running.flush();
  return db().request_logs.findMany({ where: { tenant_id: w.tenant.id, route_id: route.id }, orderBy: { id: 'desc' } });
};

test('messages of every size go through and come back, and the call is one row with its bytes', async () => {
  const before = (await logged()).length;
  const socket = await dial();
  assert.equal(await echoed(socket, 'hello'), 'hello');
  assert.equal(await echoed(socket, ''), '');
  for (const size of [125, 126, 65_535, 65_536, 3_000_000]) {
    const bytes = new Uint8Array(size).fill(size % 251);
    assert.deepEqual(new Uint8Array((await echoed(socket, bytes)) as ArrayBuffer), bytes);
  }
  assert.equal((await logged()).length, before, 'a call that is open is not logged yet');
  socket.close(1000);
  assert.equal(await closing(socket), 1000);
  await until(async () => (await logged()).length === before + 1);
  const [row] = await logged();
  assert.equal(row?.status_code, 101);
  assert.equal(row?.error, null);
  assert.ok(Number(row?.request_bytes) > 3_100_000 && Number(row?.response_bytes) > 3_100_000);
});

test('the handshake goes upstream with the secret, without our headers, and its answer has our block and nothing forged', async () => {
  const socket = await dial();
  const seen = upstream.handshakes.at(-1);
  assert.equal(seen?.headers.authorization, 'Bearer the-token-of-the-upstream');
  assert.equal(seen?.headers['x-svc-key'], undefined);
  assert.equal(seen?.url, '/room?x=1');
  socket.close();
  await closing(socket);
  const head = await raw(handshake());
  assert.match(head, /^HTTP\/1\.1 101 /);
  assert.match(head, /x-svc-origin: upstream/i);
  assert.doesNotMatch(head, /forged/);
});

test('what the upstream answers instead of 101 is an ordinary answer', async () => {
  const head = await raw(handshake('/chat/refused'));
  assert.match(head, /^HTTP\/1\.1 403 /);
  assert.match(head, /x-svc-origin: upstream/i);
});

test('who is not admitted gets the refusal of every other call, and no connection', async () => {
  const before = upstream.handshakes.length;
  assert.match(await raw(handshake('/chat/x', 'tk_live_AKEWRONGWRONGWRONG_x')), /^HTTP\/1\.1 401 [\s\S]*invalid_api_key/);
  assert.match(await raw(handshake('/nothing/x')), /^HTTP\/1\.1 404 [\s\S]*route_not_found/);
  assert.equal(upstream.handshakes.length, before);
});

test('another version, a body, or a method but GET is an ordinary request without Upgrade', async () => {
  const asked = handshake()
    .replace('Sec-WebSocket-Version: 13', 'Sec-WebSocket-Version: 8')
    .replace('Connection: Upgrade', 'Connection: Upgrade, close');
  assert.match(await raw(asked), /^HTTP\/1\.1 200 [\s\S]*not a socket/);
});

test('a handshake behind a call that is not answered yet is hung up on', async () => {
  const first = `GET /chat/slow HTTP/1.1\r\nHost: ${label}.localhost:${port}\r\nX-Svc-Key: ${key}\r\n\r\n`;
  const text = await raw(first + handshake());
  assert.doesNotMatch(text, /101 Switching/);
});

test('a key that is revoked closes its WebSockets with 1001, at both ends, between two frames', async () => {
  const { text, row } = await w.key();
  await served(running, w);
  const socket = await dial({ key: text });
  assert.equal(await echoed(socket, 'still here'), 'still here');
  const [closed, asked] = [closing(socket), upstream.closed.length];
  await db().api_keys.update({ where: { id: row.id }, data: { active: false } });
  assert.equal(await closed, 1001);
  await until(() => upstream.closed.length > asked);
  assert.equal(upstream.closed.at(-1), 1001);
  await until(async () => (await logged())[0]?.error_detail === 'websocket:revoked');
});

test('a route that is disabled closes its WebSockets, and one that is changed otherwise does not', async () => {
  const [other, third] = [await makeRoute(w, 'other', upstream.url), await makeRoute(w, 'third', upstream.url)];
  await served(running, w);
  const [socket, checked] = [await dial({ path: '/other/x' }), await dial({ path: '/third/x' })];
  await db().route_environment_configs.updateMany({ where: { route_id: other.id }, data: { timeout_ms: 20_000 } });
  const thirdClosed = closing(checked);
  await db().routes.update({ where: { id: third.id }, data: { enabled: false } });
  await thirdClosed;
  assert.equal(await echoed(socket, 'goes on'), 'goes on');
  const closed = closing(socket);
  await db().routes.update({ where: { id: other.id }, data: { enabled: false } });
  assert.equal(await closed, 1001);
});

test('an upstream that goes away takes the caller along', async () => {
  const socket = await dial();
  const closed = closing(socket);
  for (const one of upstream.sockets) one.destroy();
  assert.equal(await closed, 1006);
});

test('a workspace has a hundred of them open, and another is refused', async () => {
  const sockets = await Promise.all(Array.from({ length: 100 }, () => dial()));
  await until(() => running.runtime.webSockets.size === 100);
  assert.match(await raw(handshake()), /^HTTP\/1\.1 429 [\s\S]*concurrency_limit_exceeded/);
  assert.equal(running.runtime.inFlight.size, 0, 'open ones take none of the places of calls');
  const closed = Promise.all(sockets.map(closing));
  for (const socket of sockets) socket.close();
  await closed;
  await until(() => running.runtime.webSockets.size === 0);
  await (await dial()).close();
});

test('a gateway that ends tells both ends', async () => {
  const own = await startGateway();
  await served(own, w);
  const socket = new WebSocket(`ws://127.0.0.1:${own.port}/p/${label}/chat/x`, { headers: { 'x-svc-key': key } } as never);
  await once(socket, 'open');
  const closed = closing(socket);
  await own.gateway.close(2_000);
  assert.equal(await closed, 1001);
});

const handshake = (path = '/chat/x', text = key) =>
  `GET ${path} HTTP/1.1\r\nHost: ${label}.localhost:${port}\r\nX-Svc-Key: ${text}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

/** What comes until the gateway hangs up or has said what it says, as text. */
async function raw(sent: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  socket.write(sent);
  await until(() => socket.closed || text.includes('\r\n\r\n'));
  await untilSteady(() => text.length);
  socket.destroy();
  return text;
}
