import { once } from 'node:events';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { onFileEnd } from '#server/testing/file-end.ts';

// Raw sockets for the tests of the public edge: an HTTP client would refuse to send most of what is sent here.

/** Listens on a free loopback port, or on a unix socket path, until the file's tests are over. */
export async function listen(server: Server, path?: string): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  onFileEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  if (path === undefined) server.listen(0, '127.0.0.1');
  else server.listen(path);
  await once(server, 'listening');
  return path === undefined ? (server.address() as AddressInfo).port : 0;
}

export type Answer = { status: number; head: string; headers: Record<string, string>; body: string };

/** A look at the socket: quiet is counted in looks, so that a process that was held up doesn't take its own pause for the server's. */
const LOOK_MS = 5;

/** Sends bytes and collects what comes back until the server hangs up or, once all is sent and something came, is quiet for `quietMs`. */
export function exchange(port: number, bytes: string | Buffer | readonly (string | Buffer)[], quietMs = 60, pauseMs = 0): Promise<Answer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    let quiet = 0;
    let sent = false;
    const looks = setInterval(() => {
      if (sent && chunks.length > 0 && ++quiet * LOOK_MS >= quietMs) done();
    }, LOOK_MS);
    const done = () => {
      clearInterval(looks);
      socket.destroy();
      resolve(parse(Buffer.concat(chunks).toString('latin1')));
    };
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      quiet = 0;
    });
    socket.on('error', () => undefined);
    socket.on('close', done);
    socket.on('connect', async () => {
      for (const part of Array.isArray(bytes) ? bytes : [bytes]) {
        if (socket.destroyed) return;
        socket.write(part);
        if (pauseMs > 0) await new Promise((next) => setTimeout(next, pauseMs));
      }
      sent = true;
      quiet = 0;
    });
  });
}

function parse(text: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const headers = Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(head.split(' ')[1] ?? 0), head, headers, body: rest.join('\r\n\r\n') };
}
