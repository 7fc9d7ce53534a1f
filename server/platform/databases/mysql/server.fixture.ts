import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import { freePort } from '#scripts/ports.ts';
import { certificate } from '../certificates.fixture.ts';

const binary = [process.env.MARIADBD, '/usr/sbin/mariadbd', '/usr/local/bin/mariadbd'].find((file) => file && fs.existsSync(file));

/** Why tests with MariaDB are skipped; false when they aren't. */
export const noMariadb: string | false =
  binary === undefined ? 'needs MariaDB: install mariadb-server, or say where mariadbd is in MARIADBD' : false;

export type MariadbServer = {
  port: number;
  query(text: string): Promise<RowDataPacket[]>;
  admin: { username: string; password: string };
  /** SIGKILL, and the same files started again. */
  kill(): Promise<void>;
  start(): Promise<void>;
};

/** A throw-away MariaDB on 127.0.0.1 with TLS (certificate for db.example.com), the database `shop` and an admin with the rights that are asked for. */
export async function mariadbServer(): Promise<MariadbServer> {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sallyport-mariadb-'));
  const data = path.join(directory, 'data');
  const port = await freePort();
  const socket = path.join(directory, 's');
  const { cert, key } = await certificate('db.example.com');
  fs.writeFileSync(path.join(directory, 'server.crt'), cert);
  fs.writeFileSync(path.join(directory, 'server.key'), key, { mode: 0o600 });
  const user = os.userInfo().username;
  const install = [process.env.MARIADB_INSTALL_DB, '/usr/bin/mariadb-install-db'].find((file) => file && fs.existsSync(file));
  const made = spawnSync(
    install ?? 'mariadb-install-db',
    ['--no-defaults', `--datadir=${data}`, `--user=${user}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`mariadb-install-db failed: ${made.stderr}`);

  let child: ReturnType<typeof spawn> | undefined;
  const query = async (text: string) => {
    const connection = await mysql.createConnection({ socketPath: socket, user: 'root', multipleStatements: true });
    try {
      return (await connection.query<RowDataPacket[]>(text))[0];
    } finally {
      await connection.end();
    }
  };
  const start = async () => {
    const log = fs.openSync(path.join(directory, 'log'), 'a');
    child = spawn(
      binary as string,
      [
        ...['--no-defaults', `--datadir=${data}`, `--user=${user}`, `--socket=${socket}`, `--port=${port}`, '--bind-address=127.0.0.1'],
        ...[
          '--skip-name-resolve',
          '--innodb-buffer-pool-size=16M',
          '--innodb-flush-log-at-trx-commit=0',
          `--pid-file=${path.join(directory, 'pid')}`,
        ],
        ...[`--ssl-cert=${path.join(directory, 'server.crt')}`, `--ssl-key=${path.join(directory, 'server.key')}`],
      ],
      { stdio: ['ignore', log, log] },
    );
    fs.closeSync(log);
    for (const late = performance.now() + 120_000; performance.now() < late; ) {
      if (child.exitCode !== null) break;
      try {
        await query('SELECT 1');
        return;
      } catch {
        await sleep(100);
      }
    }
    throw new Error(`mariadbd did not start: ${fs.readFileSync(path.join(directory, 'log'), 'utf8').slice(-2_000)}`);
  };
  const kill = async () => {
    const running = child;
    if (!running || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  };
  after(async () => {
    await kill();
    fs.rmSync(directory, { recursive: true, force: true });
  });
  await start();
  const admin = { username: 'broker', password: "it's a p@ss\\word" };
  await query(`CREATE DATABASE shop; CREATE TABLE shop.orders (id int); INSERT INTO shop.orders VALUES (1);
    CREATE USER 'broker'@'%' IDENTIFIED BY 'it''s a p@ss\\\\word';
    GRANT CREATE USER, PROCESS, CONNECTION ADMIN ON *.* TO 'broker'@'%'; GRANT SELECT ON mysql.user TO 'broker'@'%';
    GRANT SELECT, INSERT, UPDATE, DELETE ON shop.* TO 'broker'@'%' WITH GRANT OPTION`);
  return { port, query, admin, kill, start };
}
