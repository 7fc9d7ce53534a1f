import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseNetworks } from '#server/platform/http-out/networks.ts';
import { until } from '#server/testing/until.ts';
import { createListener, type ListenerOptions } from './listener.ts';
import { listen } from './raw-client.fixture.ts';

const MOST = 20;

/** A port with room for twenty of a network, where /wait is answered when the test says so. */
async function crowded(options: Partial<ListenerOptions> = {}) {
  const waiting: ServerResponse[] = [];
  const server = createListener({
    maxPerNetwork: MOST,
    graceMs: 0,
    onRequest: (req, res) => (req.url === '/wait' ? waiting.push(res) : res.end('answered')),
    ...options,
  });
  const port = await listen(server);
  let [dialed, accepted] = [0, 0];
  server.on('connection', () => accepted++);
  const from = async (localAddress: string, says = '') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    dialed++;
    await once(socket, 'connect');
    if (says) socket.write(says);
    return socket;
  };
  const many = async (n: number, localAddress: string, says?: string) => {
    const sockets: Socket[] = [];
    for (let i = 0; i < n; i++) sockets.push(await from(localAddress, says));
    await until(() => accepted === dialed);
    // What the port hangs up on is known to the other end a few turns later.
    for (let turns = 0; turns < 10; turns++) await nextTurn();
    return sockets;
  };
  return { from, many, waiting, open: () => new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n))) };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const open = (sockets: Socket[]) => sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
const text = async (socket: Socket) => String((await once(socket, 'data'))[0]);

test('one address does not take the places of the others by connections on which nothing happens, and is served itself', async () => {
  const port = await crowded();
  const neighbour = await port.from('127.0.0.2');
  for (const says of ['', 'GET / HT', get('/')]) {
    const greedy = await port.many(MOST * 5, '127.0.0.1', says);
    for (const socket of greedy) socket.resume();
    await until(() => open(greedy) <= MOST, `too many are left of those that said ${JSON.stringify(says)}`);
    assert.ok((await port.open()) <= MOST + 2);
    const fresh = await port.from('127.0.0.1', get('/'));
    assert.match(await text(fresh), /answered/);
  }
  neighbour.write(get('/'));
  assert.match(await text(neighbour), /answered/, 'the only connection of somebody else was left alone');
});

test('a call under way is never cut off, however many connections its network opens', async () => {
  const port = await crowded({ graceMs: 500 });
  const busy = await port.many(MOST * 2, '127.0.0.1', get('/wait'));
  await until(() => port.waiting.length === MOST * 2, 'calls did not arrive');
  await port.many(MOST * 3, '127.0.0.1');
  assert.equal(open(busy), MOST * 2);
  const answers = busy.map(text);
  for (const res of port.waiting) res.end('at last');
  for (const answer of answers) assert.match(await answer, /at last/);
  // Their work is done; now they are idle like all others.
  await until(async () => {
    await port.many(MOST * 4, '127.0.0.1');
    return open(busy) <= MOST;
  }, 'idle ones are left');
});

test('a network that opens all it can at one moment is held to twice its places at once, not only when time has passed', async () => {
  const port = await crowded({ graceMs: 60_000 });
  const flood = await port.many(MOST * 10, '127.0.0.1');
  await until(() => open(flood) <= MOST * 2 + 1, 'too many are left');
});

test('a body that is still coming and a connection that became another protocol are no idle ones', async () => {
  const piped: unknown[] = [];
  const port = await crowded({
    upgrades: () => true,
    onUpgrade: (_req, socket) => {
      piped.push(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    },
  });
  const sending = await port.from('127.0.0.1', 'POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345');
  const upgraded = await port.from('127.0.0.1', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  assert.match(await text(upgraded), /101/);
  await port.many(MOST * 5, '127.0.0.1');
  assert.deepEqual([open([sending]), open([upgraded]), piped.length], [1, 1, 1]);
});

test('the load balancer in front holds as many as it likes', async () => {
  const port = await crowded({ trustedProxies: parseNetworks(['127.0.0.3/32']) });
  const balancer = await port.many(MOST * 3, '127.0.0.3');
  assert.equal(open(balancer), MOST * 3);
  const others = await port.many(MOST * 3, '127.0.0.1');
  await until(() => open(others) <= MOST, 'it alone');
});
