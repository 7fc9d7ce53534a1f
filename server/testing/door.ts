import { createServer, type IpcSocketConnectOpts, connect as netConnect, type Socket, type TcpSocketConnectOpts } from 'node:net';

export type Door = {
  port: number;
  /** Ends all connections and takes no more, as a server that is away. */
  shut: () => void;
  /** For so many connections, or for all that come. */
  open: (connections?: number) => void;
  /** Whether it lets in no more. */
  isFull: () => boolean;
  close: () => void;
};

/** A way to a server that can be shut, on a port of this machine. */
export async function openDoor(target: TcpSocketConnectOpts | IpcSocketConnectOpts): Promise<Door> {
  const sockets = new Set<Socket>();
  let left = Number.POSITIVE_INFINITY;
  const server = createServer((inside) => {
    if (left <= 0) return inside.destroy();
    left--;
    const outside = netConnect(target);
    for (const socket of [inside, outside]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    inside.pipe(outside).pipe(inside);
    inside.on('close', () => outside.destroy());
    outside.on('close', () => inside.destroy());
  });
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
    close() {
      end();
      server.close();
    },
  };
}
