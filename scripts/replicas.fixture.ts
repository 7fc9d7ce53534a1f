import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { type Database, startDatabase } from './database.ts';
import { migrate } from './schema.ts';

// A primary with a streaming standby, and an address that leads to either, as a DNS name or a virtual address does in a failover.

export type Replicas = { primary: Database; standby: Database };

/** Both with the migrated database `sallyport`. */
export async function startReplicas(directory: string): Promise<Replicas> {
  const [a, b] = [path.join(directory, 'a'), path.join(directory, 'b')];
  const first = await startDatabase(a);
  await first.create('sallyport');
  await migrate(first.url('sallyport'));
  await first.stop();
  // A copy of the files of a stopped server is a base backup.
  execFileSync('cp', ['-a', a, b]);
  fs.writeFileSync(path.join(b, 'data/standby.signal'), '');
  fs.appendFileSync(path.join(b, 'data/postgresql.auto.conf'), `primary_conninfo = 'host=${socketOf(first)} user=postgres'\n`);
  return { primary: await startDatabase(a), standby: await startDatabase(b) };
}

const socketOf = (server: Database): string => new URL(server.url('x')).searchParams.get('host') ?? '';

export type Address = {
  url: string;
  /** From now on new connections go there; open ones stay where they are. */
  leadTo: (server: Database) => void;
  close: () => void;
};

/** A port of the loopback that leads to a server's socket. */
export async function startAddress(server: Database): Promise<Address> {
  let target = socketOf(server);
  const sockets = new Set<net.Socket>();
  const door = net.createServer((inside) => {
    const outside = net.connect(path.join(target, '.s.PGSQL.5432'));
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    inside.pipe(outside).pipe(inside);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const { port } = door.address() as net.AddressInfo;
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/sallyport`,
    leadTo: (next) => {
      target = socketOf(next);
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      door.close();
    },
  };
}
