import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp2, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import test, { after } from 'node:test';
import { until } from '#server/testing/until.ts';
import type { UpstreamFault } from './faults.ts';
import { Http2Pool, type Http2PoolOptions } from './http2-pool.ts';
import type { UpstreamHandler } from './upstream-call.ts';

const sockets = new Set<Socket>();
after(() => {
  for (const socket of sockets) socket.destroy();
});

async function listening(server: ReturnType<typeof createServer>): Promise<number> {
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return (server.address() as AddressInfo).port;
}

function poolTo(port: number, more: Partial<Http2PoolOptions> = {}): Http2Pool {
  const dial = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const options = { scheme: 'http', host: 'upstream.test', connections: 2, idleMs: 100, maxAgeMs: 60_000 } as const;
  return new Http2Pool({ connect: dial, ...options, ...more });
}

type Outcome = { status: number; body: string; fault: UpstreamFault | undefined };
function ask(pool: Http2Pool): Promise<Outcome> {
  return new Promise((resolve) => {
    let status = 0;
    let body = '';
    const handler: UpstreamHandler = {
      onHead: (code) => {
        status = code;
      },
      onData: (bytes) => {
        body += bytes;
      },
      onEnd: () => resolve({ status, body, fault: undefined }),
      onFault: (fault) => resolve({ status, body, fault }),
    };
    pool.send({ method: 'GET', path: '/', headers: ['Host', 'upstream.test'] }, handler);
  });
}

const frame = (type: number, flags = 0, stream = 0, payload = Buffer.alloc(0)) => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};

test('an upstream that gives no sign of life loses its calls, and one that never says a word of HTTP/2 is told so', async () => {
  const silent = await listening(
    createServer((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .write(frame(4)),
    ),
  );
  const { fault } = await ask(poolTo(silent, { pingMs: 200 }));
  assert.equal(fault?.type, 'upstream_unreachable');
  const other = await listening(
    createServer((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    ),
  );
  const spoken = await ask(poolTo(other));
  assert.deepEqual([spoken.fault?.type, spoken.fault?.phase], ['upstream_protocol_error', 'connect']);
});

test('idle and old connections are let go, and a pool that is closed lets running calls finish', async () => {
  const server = createHttp2();
  let sessions = 0;
  let open = 0;
  server.on('session', (session) => {
    sessions++;
    open++;
    session.once('close', () => open--);
  });
  const asked: ServerHttp2Stream[] = [];
  const answer = async () => {
    await until(() => asked.length > 0);
    const stream = asked.shift();
    stream?.respond({ ':status': 200 });
    stream?.end('x');
  };
  server.on('stream', (stream) => asked.push(stream));
  const port = await listening(server as unknown as ReturnType<typeof createServer>);
  const pool = poolTo(port, { maxAgeMs: 3_600_000 });
  const counts = () => {
    const counted = { used: 0, idle: 0, opening: 0, waiting: 0 };
    pool.countInto(counted);
    return counted;
  };
  for (let i = 0; i < 2; i++) assert.equal((await Promise.all([ask(pool), answer()]))[0].body, 'x');
  assert.deepEqual([sessions, open], [1, 1]);
  await until(() => counts().idle === 1);
  pool.sweep(performance.now() + 200);
  await until(() => open === 0, 'it was idle');
  const running = ask(pool);
  await until(() => asked.length === 1);
  const closed = pool.close();
  await answer();
  assert.equal((await running).body, 'x');
  await closed;
  const { used, opening, waiting } = counts();
  assert.deepEqual([used, opening, waiting], [0, 0, 0]);
});
