import { createServer, type IpcSocketConnectOpts, connect as netConnect, type Socket, type TcpSocketConnectOpts } from 'node:net';

export type Door = {
  port: number;
  /** Ends all connections and takes no more, as a server that is away. */
  shut: () => void;
  /** For so many connections, or for all that come. */
  open: (connections?: number) => void;
  /** Whether it lets in no more. */
  isFull: () => boolean;
  /** Whatever the server says stays here, and new connections are accepted and never answered, as by a server that is paused. */
  mute: () => void;
  unmute: () => void;
  close: () => void;
};

/** A way to a server that can be shut, or say nothing, on a port of this machine. */
export async function openDoor(target: TcpSocketConnectOpts | IpcSocketConnectOpts): Promise<Door> {
  const sockets = new Set<Socket>();
  const muted = new Set<() => void>();
  let [left, silent] = [Number.POSITIVE_INFINITY, false];
  const server = createServer((inside) => {
    if (left <= 0) return inside.destroy();
    left--;
    keep(inside);
    if (silent) muted.add(() => connect(inside));
    else connect(inside);
  });
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };
  const connect = (inside: Socket) => {
    const outside = netConnect(target);
    keep(outside);
    inside.pipe(outside);
    outside.on('data', (bytes) => {
      if (silent) muted.add(() => inside.write(bytes));
      else inside.write(bytes);
    });
    inside.on('close', () => outside.destroy());
    outside.on('close', () => inside.destroy());
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    shut() {
      left = 0;
      end();
    },
    open(connections = Number.POSITIVE_INFINITY) {
      left = connections;
    },
    isFull: () => left <= 0,
    mute() {
      silent = true;
    },
    unmute() {
      silent = false;
      for (const go of muted) go();
      muted.clear();
    },
    close() {
      end();
      server.close();
    },
  };
}
