import { createServer, connect as netConnect, type Server, type Socket } from 'node:net';
import { after } from 'node:test';
import pg from 'pg';
import { connection } from '#server/platform/sql.ts';

/** A door between the service and its database that can be shut, or say nothing. */
export async function databaseDoor() {
  const options = new pg.Client(connection());
  const sockets = new Set<Socket>();
  const muted = new Set<() => void>();
  let [shut, silent] = [false, false];
  const door: Server = createServer((inside) => {
    if (shut) return inside.destroy();
    inside.on('error', () => {});
    if (silent) muted.add(() => connect(inside));
    else connect(inside);
  });
  const connect = (inside: Socket) => {
    const target = options.host.startsWith('/')
      ? { path: `${options.host}/.s.PGSQL.${options.port}` }
      : { host: options.host, port: options.port };
    const outside = netConnect(target);
    for (const socket of [inside, outside]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    inside.pipe(outside);
    outside.on('data', (bytes) => {
      if (silent) muted.add(() => inside.write(bytes));
      else inside.write(bytes);
    });
    inside.on('close', () => outside.destroy());
    outside.on('close', () => inside.destroy());
  };
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
    open() {
      shut = false;
    },
    /** Whatever the server says stays here, and new connections are accepted and never answered, as by a server that is paused. */
    mute() {
      silent = true;
    },
    unmute() {
      silent = false;
      for (const go of muted) go();
      muted.clear();
    },
  };
}
