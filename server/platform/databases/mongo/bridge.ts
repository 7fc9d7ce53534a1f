import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { BoundedStream } from '../bounded-stream.ts';
import { DatabaseFault } from '../fault.ts';
import { tlsFault } from '../tls.ts';
import { brokenFault } from '../wire.ts';
import { BadFrame, frameCheck } from './frames.ts';
import { asksTooMuch } from './scram.ts';

export type Bridge = {
  /** A unix socket that only this account can reach. */
  path: string;
  /** The first thing that went wrong on the other side. */
  failed: Promise<DatabaseFault>;
  refill(): void;
  close(): void;
};

export type Far = { dial(): Promise<BoundedStream>; tls: ConnectionOptions | null };

/**
 * What the driver connects to in place of a host: it opens its sockets by itself and would go wherever a server tells it. Each connection is carried
 * over a guarded one, encrypted here, to one host.
 */
export async function openBridge(far: Far): Promise<Bridge> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sallyport-'));
  const file = path.join(folder, 'm.sock');
  const open = new Set<Duplex>();
  const streams = new Set<BoundedStream>();
  let fail: (fault: DatabaseFault) => void = () => undefined;
  const failed = new Promise<DatabaseFault>((resolve) => {
    fail = resolve;
  });
  const track = (socket: Duplex) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  };
  const server = createServer((near) => {
    track(near);
    near.on('error', () => undefined);
    carry(near, far, streams, track).catch((error: unknown) => {
      near.destroy();
      fail(tlsFault(error) ?? brokenFault(error, 'tls'));
    });
  });
  server.listen(file);
  await once(server, 'listening');
  return {
    path: file,
    failed,
    refill: () => {
      for (const stream of streams) stream.refill();
    },
    close() {
      server.close();
      for (const socket of open) socket.destroy();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function carry(near: Socket, { dial, tls }: Far, streams: Set<BoundedStream>, track: (socket: Duplex) => void): Promise<void> {
  near.pause();
  const stream = await dial();
  track(stream);
  streams.add(stream);
  stream.on('close', () => streams.delete(stream));
  const socket = tls ? await encrypted(stream, tls) : stream;
  socket.on('error', () => near.destroy());
  socket.on('close', () => near.destroy());
  near.on('close', () => socket.destroy());
  if (near.destroyed) return void socket.destroy();
  const { promise, reject, resolve } = Promise.withResolvers<void>();
  stream.on('error', (error) => reject(error));
  const judge = asksTooMuch();
  const check = frameCheck();
  near.on('data', (chunk: Buffer) => {
    judge.sent(chunk);
    if (!socket.write(chunk)) near.pause();
  });
  socket.on('drain', () => near.resume());
  socket.on('data', (chunk: Buffer) => {
    try {
      if (judge.received(chunk))
        throw new DatabaseFault('database_error', 'auth', 'The database asks for more work at its login than is done.');
      if (!near.write(check(chunk))) socket.pause();
    } catch (error) {
      socket.destroy();
      reject(error instanceof BadFrame ? new DatabaseFault('database_unreachable', 'auth', 'This is not MongoDB.') : error);
    }
  });
  near.on('drain', () => socket.resume());
  socket.on('close', () => resolve());
  near.resume();
  return promise;
}

async function encrypted(stream: BoundedStream, options: ConnectionOptions): Promise<Duplex> {
  const socket = connectTls({ ...options, socket: stream, ...(nameOf(options) === undefined ? {} : { servername: nameOf(options) }) });
  socket.on('error', () => undefined);
  try {
    await once(socket, 'secureConnect');
    return socket;
  } catch (error) {
    stream.destroy();
    throw tlsFault(error) ?? new DatabaseFault('database_unreachable', 'tls', 'The TLS handshake with the database failed.');
  }
}

const nameOf = ({ host }: ConnectionOptions) => (host === undefined || /^[\d.]+$|:/.test(host) ? undefined : host);
