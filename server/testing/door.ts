import { createServer, type IpcSocketConnectOpts, connect as netConnect, type Socket, type TcpSocketConnectOpts } from 'node:net';

export type Door = {
  port: number;
  /** Ends all connections and takes no more, as a server that is away. */
  shut: () => void;
  open: () => void;
  close: () => void;
};

/** A way to a server that can be shut, on a port of this machine. */
export async function openDoor(target: TcpSocketConnectOpts | IpcSocketConnectOpts): Promise<Door> {
  const sockets = new Set<Socket>();
  let shut = false;
  const server = createServer((inside) => {
    if (shut) return inside.destroy();
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
      shut = true;
      end();
    },
    open() {
      shut = false;
    },
    close() {
      end();
      server.close();
    },
  };
}
