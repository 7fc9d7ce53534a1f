import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import pg from 'pg';
import { startDatabase } from '#scripts/database.ts';
import { certificate } from '../certificates.fixture.ts';

export type PostgresServer = {
  /** Of its own on this machine, so that every server has the port that PostgreSQL has. */
  host: string;
  /** As superuser, on the database `shop`. */
  query(text: string): Promise<pg.QueryResult>;
  /** The admin of connections: no superuser. */
  admin: { username: string; password: string };
  stop(): Promise<void>;
};

/**
 * A throw-away embedded PostgreSQL that listens on a loopback address with SCRAM and TLS (certificate for db.example.com), with the database `shop` of two
 * tables and an admin who has exactly the rights that interface rule 44 asks for. Stopped after the file; what starts it inside of a test says when.
 */
export async function postgresServer(atEnd: (stop: () => Promise<void>) => void = after): Promise<PostgresServer> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-pg-'));
  const host = `127.${[...crypto.getRandomValues(new Uint8Array(3))].map((byte) => (byte % 250) + 2).join('.')}`;
  const { cert, key } = await certificate('db.example.com');
  fs.writeFileSync(path.join(directory, 'server.crt'), cert);
  fs.writeFileSync(path.join(directory, 'server.key'), key, { mode: 0o600 });
  const database = await startDatabase(directory, [
    ...['fsync=off', `listen_addresses=${host}`, 'ssl=on'],
    `ssl_cert_file=${path.join(directory, 'server.crt')}`,
    `ssl_key_file=${path.join(directory, 'server.key')}`,
  ]);
  const stop = async () => {
    await database.stop();
    fs.rmSync(directory, { recursive: true, force: true });
  };
  atEnd(stop);
  fs.writeFileSync(path.join(directory, 'data/pg_hba.conf'), 'local all all trust\nhost all all 127.0.0.0/8 scram-sha-256\n');
  const query = async (text: string, name = 'shop') => {
    const client = new pg.Client({ connectionString: database.url(name) });
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  };
  await query('SELECT pg_reload_conf()', 'postgres');
  await query('CREATE DATABASE shop', 'postgres');
  const admin = { username: 'broker', password: "it's a p@ss\\word" };
  await query(`CREATE TABLE orders (id int); CREATE TABLE items (id serial); INSERT INTO orders VALUES (1);
    CREATE ROLE broker WITH LOGIN CREATEROLE PASSWORD ${pg.escapeLiteral(admin.password)};
    GRANT CONNECT, CREATE ON DATABASE shop TO broker WITH GRANT OPTION; GRANT USAGE, CREATE ON SCHEMA public TO broker WITH GRANT OPTION;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO broker WITH GRANT OPTION;
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO broker WITH GRANT OPTION; GRANT pg_signal_backend TO broker`);
  return { host, query, admin, stop };
}
