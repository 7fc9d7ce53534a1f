import assert from 'node:assert/strict';
import test from 'node:test';
import { faultOf, here, hereAt, mintedName, PASSWORD } from './databases.fixture.ts';
import type { DatabaseSession, DatabaseTarget } from './engine.ts';
import { replayServer as replayMongo } from './mongo/replay.fixture.ts';
import { replayServer as replayMssql } from './mssql/replay.fixture.ts';
import { mariadbServer, noMariadb } from './mysql/server.fixture.ts';
import { openDatabase } from './open.ts';
import { postgresServer } from './postgres/server.fixture.ts';

// Names and passwords that would end the quotes they stand in. The service makes its own and checks them at minting; here they are checked once more, so
// that a row that was changed, or a later caller, opens nothing.

const NAMES: readonly string[] = [
  ...[
    '',
    ' ',
    'a b',
    "a'b",
    "a''b",
    'a"b',
    'a""b',
    'a`b',
    'a``b',
    'a]b',
    'a]]b',
    'a\\',
    "a\\'b",
    'a\0b',
    'a\nb',
    'a;b',
    'a--',
    'a/*',
    'a#',
    'a$$b',
    'a$a$b',
  ],
  ...[
    'a%',
    'a-b',
    'A',
    'ä',
    'a\u0027',
    'a\u02bcb',
    'a\uff07b',
    'a\u2019b',
    'a\ufeff',
    'a\u00a0b',
    '\ud800',
    'a'.repeat(64),
    'a{{password}}',
    '$a$',
    'a.b',
    'a@b',
  ],
  ...[
    `x"; DROP TABLE orders; --`,
    `x'; DROP TABLE orders; --`,
    'x`; DROP TABLE orders; -- ',
    `x]; DROP TABLE orders; --`,
    `x' END $a$; DROP TABLE orders; DO $a$ BEGIN PERFORM '`,
    `x'@'%' IDENTIFIED BY ''; DROP TABLE orders; -- `,
    `x\\'; DROP TABLE orders; -- `,
    `x\u0000'; DROP TABLE orders; --`,
    '{"$gt":""}',
  ],
];
const PASSWORDS: readonly string[] = [
  ...[
    '',
    'short',
    `${PASSWORD}'`,
    `${PASSWORD}"`,
    `${PASSWORD}\\`,
    `${PASSWORD}\0`,
    `${PASSWORD}\n`,
    `${PASSWORD};`,
    `${PASSWORD} `,
    `${PASSWORD}ä`,
    `${PASSWORD}$$`,
  ],
  ...[`${PASSWORD}'; DROP TABLE orders; --`, `${PASSWORD}' OR '1'='1`, 'a'.repeat(129)],
];

/** Every way a name or password gets into a statement. */
async function attacked(session: DatabaseSession, sent: () => Promise<number> | number): Promise<void> {
  const before = await sent();
  for (const name of NAMES) {
    const ways = [
      () => session.createUser({ username: name, password: PASSWORD }, ['SELECT 1']),
      () => session.dropUser(name, null),
      () => session.dropUser(name, ['SELECT 1']),
      () => session.userExists(name),
      ...(session.engine === 'postgres' ? [() => session.extendUser(name, new Date())] : []),
    ];
    for (const way of ways) await assert.rejects(async () => way(), TypeError, JSON.stringify(name));
  }
  for (const password of PASSWORDS) {
    await assert.rejects(
      async () => session.createUser({ username: mintedName(), password }, ['SELECT 1']),
      TypeError,
      JSON.stringify(password),
    );
    await assert.rejects(async () => session.setOwnPassword(password), TypeError, JSON.stringify(password));
  }
  assert.equal(await sent(), before, 'nothing was sent');
}

test('PostgreSQL: no name or password ends its quotes', async () => {
  const server = await postgresServer();
  const target: DatabaseTarget = { engine: 'postgres', host: 'db.example.com', port: null, database: 'shop', ...server.admin, options: {} };
  const session = await openDatabase(target, hereAt(server.host));
  const last = async () => {
    const { rows } = await server.query(
      "SELECT extract(epoch FROM query_start)::float8 AS at FROM pg_stat_activity WHERE application_name = 'sallyport'",
    );
    return Number(rows[0]?.at);
  };
  await attacked(session, last);
  assert.deepEqual(await session.run('SELECT id FROM orders'), [{ id: 1 }]);
  // Shadows of what the removal calls, in a schema that comes first.
  const username = mintedName();
  await session.createUser({ username, password: PASSWORD }, [`CREATE ROLE "${username}" LOGIN PASSWORD '${PASSWORD}'`]);
  await server.query(`CREATE FUNCTION public.pg_terminate_backend(int) RETURNS bool LANGUAGE sql AS $$ SELECT 1/0 = 1 $$;
    CREATE VIEW public.pg_roles AS SELECT ''::name AS rolname WHERE false; ALTER ROLE broker SET search_path = public, pg_catalog`);
  const shadowed = await openDatabase(target, hereAt(server.host));
  assert.equal(await shadowed.userExists(username), true);
  await shadowed.dropUser(username, null);
  assert.deepEqual((await server.query(`SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = '${username}'`)).rows, []);
  await Promise.all([session.close(), shadowed.close()]);
});

test('MariaDB: no name or password ends its quotes, nor does the host of an account', { skip: noMariadb }, async () => {
  const server = await mariadbServer();
  const target: DatabaseTarget = {
    engine: 'mysql',
    host: 'db.example.com',
    port: server.port,
    database: 'shop',
    ...server.admin,
    options: {},
  };
  const session = await openDatabase(target, here);
  const questions = async () => {
    const [row] = await server.query(
      "SELECT SUM(VARIABLE_VALUE) AS n FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('COM_ALTER_USER', 'COM_CREATE_USER', 'COM_DROP_USER', 'COM_DROP_TABLE', 'COM_SET_OPTION')",
    );
    return Number(row?.n);
  };
  await attacked(session, questions);
  const username = mintedName();
  for (const host of [`a\\'b`, 'a"b', 'a`b', 'a\\\\b', `\\' OR 1=1 -- `, 'x; DROP TABLE shop.orders'])
    await server.query(`CREATE USER '${username}'@'${host}'`);
  // A role's own statements may change what a backslash means.
  await session.dropUser(username, ["SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'"]);
  assert.deepEqual(await server.query(`SELECT Host FROM mysql.user WHERE User = '${username}'`), []);
  assert.equal((await server.query("SELECT COUNT(*) AS n FROM mysql.user WHERE User IN ('root', 'broker')"))[0]?.n > 0, true);
  assert.deepEqual(await session.run('SELECT id FROM orders'), [{ id: 1 }]);
  await session.close();
});

test('SQL Server: no name or password ends its quotes, and an old password or a name is doubled (replayed SQL Server)', async () => {
  const server = await replayMssql();
  server.password = "it's ]a[ p@ss''";
  const session = await openDatabase(
    {
      engine: 'mssql',
      host: 'db.example.com',
      port: server.port,
      database: 'shop',
      username: "a]'b",
      password: server.password,
      options: { sslmode: 'disable' },
    },
    here,
  );
  await attacked(session, () => server.batches.length);
  await session.setOwnPassword(PASSWORD);
  assert.equal(server.batches.at(-1), `ALTER LOGIN [a]]'b] WITH PASSWORD = N'${PASSWORD}' OLD_PASSWORD = N'it''s ]a[ p@ss'''''`);
  await session.close();
});

test('MongoDB: no name is another value than a text (replayed MongoDB)', async () => {
  const server = await replayMongo();
  const session = await openDatabase(
    {
      engine: 'mongo',
      host: 'db.example.com',
      port: server.port,
      database: 'shop',
      username: 'broker',
      password: 'admin-password',
      options: { tls: false },
    },
    here,
  );
  await attacked(session, () => server.commands.length);
  const fault = await faultOf(session.createUser({ username: mintedName(), password: PASSWORD }, ['{"__proto__":{"roles":["root"]}}']));
  assert.equal(fault.type, 'database_error');
  await session.close();
});
