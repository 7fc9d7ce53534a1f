import { after } from 'node:test';
import pg from 'pg';
import { connection } from '#server/platform/sql.ts';
import { openDoor } from '#server/testing/door.ts';

/** A door between the service and its database that can be shut, or say nothing. */
export async function databaseDoor() {
  const options = new pg.Client(connection());
  const door = await openDoor(
    options.host.startsWith('/') ? { path: `${options.host}/.s.PGSQL.${options.port}` } : { host: options.host, port: options.port },
  );
  after(door.close);
  return { url: `postgresql://${options.user}@127.0.0.1:${door.port}/${options.database}`, ...door };
}
