import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Socket, type Server as TcpServer } from 'node:net';
import { onFileEnd } from '#server/testing/file-end.ts';
import type { UpstreamFault } from './faults.ts';
import { createResolver, type ResolveFamily } from './resolver.ts';
import { egressSettings } from './settings.ts';
import type { UpstreamRequest } from './upstream-call.ts';
import { createUpstreamPools, type PoolKey } from './upstream-pool.ts';

// What the tests of this folder share: real servers on loopback, closed when the file is done, and one way to call them.

export const loopback = egressSettings({ privateAllowlist: [{ cidr: '127.0.0.0/8' }] });
export const toLoopback: ResolveFamily = async (_, family) =>
  family === 4 ? [{ address: '127.0.0.1', ttl: 60 }] : Promise.reject(new Error('ENODATA'));

export function poolsOf(options: Partial<Parameters<typeof createUpstreamPools>[0]> = {}) {
  const pools = createUpstreamPools({ resolver: createResolver({ settings: loopback, resolve: toLoopback }), ...options });
  onFileEnd(() => pools.close());
  return pools;
}

/** Listens on a free loopback port until the file's tests are over. */
export async function listen(server: TcpServer | Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  onFileEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A server that answers every connection's first bytes with fixed bytes; `then` decides what happens to the socket. */
export function raw(answer: string | Buffer, then: 'end' | 'keep' | 'reset' = 'end'): TcpServer {
  return createTcp((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      socket.write(answer);
      if (then === 'end') socket.end();
      if (then === 'reset') void afterRead().then(() => socket.resetAndDestroy());
    });
  });
}

/** A reset drops what the other end, which is in this process, hasn't read: some turns of the event loop later it has. */
async function afterRead(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate);
}

export const keyOf = (port: number, more: Partial<PoolKey> = {}): PoolKey => ({
  tenant: 't1',
  space: 'live',
  scheme: 'http',
  host: '127.0.0.1',
  port,
  ...more,
});

export type Outcome = { status?: number; body: string; fault?: UpstreamFault };

/** One request, collected; resolves on success and on failure, when the socket is free for the next. */
export function call(pools: ReturnType<typeof poolsOf>, key: PoolKey, request: Partial<UpstreamRequest> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const outcome: Outcome = { body: '' };
    pools.get(key).send(
      { path: '/', method: 'GET', headers: ['host', key.host], ...request },
      {
        onHead(status) {
          outcome.status = status;
        },
        onData(bytes) {
          outcome.body += bytes.toString('latin1');
        },
        onEnd: () => void setTimeout(resolve, 5, outcome),
        onFault: (fault) => resolve({ ...outcome, fault }),
      },
    );
  });
}
