import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { listen } from '../raw-client.fixture.ts';
import { LIMITS, Tunnel, type TunnelEnd } from './tunnel.ts';

const PING = Buffer.from('898000000000', 'hex');
/** Fits in the buffers of a connection whose other end doesn't read. */
const LAST = Buffer.alloc(256 * 1024, '\x89\x00', 'latin1');

/** Both ends of a connection: the gateway's, and the foreign one, which isn't read yet. */
async function connection(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer({ pauseOnConnect: true });
  const port = await listen(server);
  const far = connect(port, '127.0.0.1').pause();
  onFileEnd(() => void far.destroy());
  far.on('error', () => undefined);
  const [near] = (await once(server, 'connection')) as [Socket];
  return { near, far };
}

/** A tunnel whose timers the test moves. */
async function opened(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [caller, upstream] = [await connection(), await connection()];
  const ends: TunnelEnd[] = [];
  const tunnel = new Tunnel(caller.near, upstream.near, (why) => ends.push(why));
  tunnel.start(Buffer.alloc(0), Buffer.alloc(0));
  return { caller, upstream, tunnel, ends };
}

async function received(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
  return bytes;
}

test('a caller that goes on sending gets all that an upstream said before it hung up, however late it reads', async (t) => {
  const { caller, upstream, tunnel, ends } = await opened(t);
  upstream.far.resume().end(LAST);
  await until(() => upstream.near.closed);
  for (let sent = 1; sent <= 5; sent++) {
    caller.far.write(PING);
    await until(() => tunnel.bytes.up === sent * PING.length);
    t.mock.timers.tick(LIMITS.lingerMs - 1);
  }
  assert.equal(await received(caller.far), LAST.length);
  await until(() => ends.length > 0);
  assert.deepEqual(ends, ['closed']);
});

test('a caller that neither reads nor sends is given up when its upstream has hung up', async (t) => {
  const { caller, upstream, ends } = await opened(t);
  upstream.far.resume().end(LAST);
  await until(() => upstream.near.closed && caller.near.writableFinished);
  t.mock.timers.tick(LIMITS.lingerMs);
  await until(() => ends.length > 0);
  assert.ok(caller.near.destroyed);
});

test('what a caller sends to an upstream that is gone is read off, so that its end comes', async (t) => {
  const { caller, upstream, ends } = await opened(t);
  // More than an upstream that doesn't read can take: the tunnel has stopped to read the caller when it goes.
  const flood = Buffer.alloc(32 * 1024 * 1024, PING);
  caller.far.write(flood);
  await until(() => caller.near.isPaused());
  upstream.far.destroy();
  await until(() => upstream.near.closed);
  caller.far.resume();
  await until(() => ends.length > 0);
  assert.equal(caller.far.bytesWritten, flood.length);
});

test('a tunnel that has to end while one end lingers ends within its grace', async (t) => {
  const { caller, upstream, tunnel, ends } = await opened(t);
  upstream.far.resume().end();
  await until(() => upstream.near.closed && caller.near.writableFinished);
  tunnel.end('revoked');
  t.mock.timers.tick(LIMITS.graceMs);
  await until(() => ends.length > 0);
  assert.deepEqual(ends, ['revoked']);
});
