import { createServer, connect as netConnect, type Server, type Socket } from 'node:net';
import { after } from 'node:test';
import pg from 'pg';
import { connection } from '#server/platform/sql.ts';

/** A door between the gateway and its database that can be shut. */
export async function databaseDoor() {
  const options = new pg.Client(connection());
  const sockets = new Set<Socket>();
  let shut = false;
  let left = Number.POSITIVE_INFINITY;
  const door: Server = createServer((inside) => {
    if (shut || left <= 0) return inside.destroy();
    left--;
    const target = options.host.startsWith('/')
      ? { path: `${options.host}/.s.PGSQL.${options.port}` }
      : { host: options.host, port: options.port };
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
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  after(() => {
    for (const socket of sockets) socket.destroy();
    door.close();
  });
  const { port: doorPort } = door.address() as { port: number };
  return {
    url: `postgresql://${options.user}@127.0.0.1:${doorPort}/${options.database}`,
    shut() {
      shut = true;
      for (const socket of sockets) socket.destroy();
    },
    /** For so many connections, or for all that come. */
    open(connections = Number.POSITIVE_INFINITY) {
      shut = false;
      left = connections;
    },
    /** Whether it lets in no more. */
    isFull: () => left <= 0,
  };
}
