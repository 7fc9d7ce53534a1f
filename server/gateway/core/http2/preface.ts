import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** With what a connection of HTTP/2 begins (RFC 9113 §3.4); its first three bytes are a method that HTTP/1.1 doesn't have. */
const PREFACE = 'PRI';
/** As for the head of a request. */
const SILENT_MS = 10_000;

export type Sorting = {
  /** Whether the first bytes of a connection are looked at. All others are the server's at once. */
  mayBeHttp2(socket: Socket): boolean;
  http2(socket: Socket): void;
};

/** Hands on connections of HTTP/2 that come to a server of HTTP/1.1, by their first bytes. */
export function sortConnections(server: Server, { mayBeHttp2, http2 }: Sorting): void {
  // The first is node's own; what else listens only watches.
  const [serve, ...watchers] = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (mayBeHttp2(socket)) sort(socket, (isHttp2) => (isHttp2 ? http2(socket) : serve?.call(server, socket)));
    else serve?.call(server, socket);
  });
  for (const watcher of watchers) server.on('connection', watcher);
}

function sort(socket: Socket, decided: (isHttp2: boolean) => void): void {
  const hangUp = () => socket.destroy();
  const late = setTimeout(hangUp, SILENT_MS);
  const done = () => {
    clearTimeout(late);
    socket.off('readable', look);
    socket.off('end', hangUp);
    socket.off('close', done);
    socket.off('error', hangUp);
  };
  let read: Buffer = Buffer.alloc(0);
  const look = () => {
    const bytes: Buffer | null = socket.read();
    if (bytes === null) return;
    read = read.length === 0 ? bytes : Buffer.concat([read, bytes]);
    const start = read.toString('latin1', 0, PREFACE.length);
    if (start !== PREFACE && PREFACE.startsWith(start)) return;
    done();
    socket.unshift(read);
    decided(start === PREFACE);
  };
  socket.on('readable', look);
  socket.once('end', hangUp);
  socket.once('close', done);
  socket.once('error', hangUp);
}
