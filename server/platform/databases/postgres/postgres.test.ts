import assert from 'node:assert/strict';
import test from 'node:test';
import { until } from '#server/testing/until.ts';
import { caPem, otherCaPem } from '../certificates.fixture.ts';
import { faultOf, hereAt, mintedName, PASSWORD } from '../databases.fixture.ts';
import type { DatabaseTarget } from '../engine.ts';
import { openDatabase } from '../open.ts';
import { postgresServer } from './server.fixture.ts';

const server = await postgresServer();
const target = (more: Partial<DatabaseTarget> = {}): DatabaseTarget => ({
  engine: 'postgres',
  host: 'db.example.com',
  port: null,
  database: 'shop',
  ...server.admin,
  options: { sslmode: 'verify-full', ca_cert_pem: caPem, statement_timeout_ms: 60_000 },
  ...more,
});
const open = (more: Partial<DatabaseTarget> = {}) => openDatabase(target(more), hereAt(server.host));
const as = (username: string, password = PASSWORD) => open({ username, password });
const creation = (username: string, password = PASSWORD) => [
  `CREATE ROLE "${username}" WITH LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE CONNECTION LIMIT 20 PASSWORD '${password}' VALID UNTIL '2099-01-01 00:00:00+00'`,
  `GRANT CONNECT ON DATABASE "shop" TO "${username}"`,
  `GRANT USAGE ON SCHEMA public TO "${username}"`,
  `GRANT SELECT ON ALL TABLES IN SCHEMA public TO "${username}"`,
];
async function mint(): Promise<string> {
  const username = mintedName();
  const session = await open();
  await session.createUser({ username, password: PASSWORD }, creation(username));
  await session.close();
  return username;
}
/** How many sessions but the one that asks are like that. */
const sessions = async (condition: string): Promise<number> =>
  (await server.query(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE ${condition} AND pid <> pg_backend_pid()`)).rows[0]?.n;
const exists = async (username: string) => (await server.query(`SELECT 1 FROM pg_roles WHERE rolname = '${username}'`)).rows.length > 0;

test('an admin that is no superuser mints a user who reads, and removes it with its sessions and objects', async () => {
  const session = await open();
  assert.match(session.serverVersion, /^\d+/);
  assert.deepEqual([session.engine, session.hostKey, await session.missingPrivileges('readwrite')], ['postgres', null, []]);
  const username = await mint();
  await session.run(`GRANT CREATE ON SCHEMA public TO "${username}"`);
  const user = await as(username);
  assert.deepEqual(await user.run('SELECT id FROM orders'), [{ id: 1 }]);
  await user.run(`CREATE TABLE mine_${username} (id int)`);
  assert.deepEqual([await session.userExists(username), await session.mintedUsers()], [true, [username]]);

  await session.dropUser(username, null);
  assert.equal(await exists(username), false);
  await session.run(`DROP TABLE mine_${username}`);
  await until(async () => (await sessions(`usename = '${username}'`)) === 0);
  assert.equal((await faultOf(user.run('SELECT 1'))).type, 'database_unreachable');
  assert.equal((await faultOf(as(username))).code, '28P01');
  await session.dropUser(username, null);
  assert.deepEqual([await session.userExists(username), await session.mintedUsers()], [false, []]);
  await Promise.all([session.close(), user.close()]);
});

test('a user is removed without pg_signal_backend too', async () => {
  const username = await mint();
  const user = await as(username);
  await server.query('REVOKE pg_signal_backend FROM broker');
  const session = await open();
  assert.deepEqual(await session.missingPrivileges('readwrite'), ['pg_signal_backend']);
  await session.dropUser(username, null);
  assert.equal(await exists(username), false);
  await server.query('GRANT pg_signal_backend TO broker');
  await Promise.all([session.close(), user.close()]);
});

test('what the admin lacks is listed', async () => {
  await server.query("CREATE ROLE weak LOGIN PASSWORD 'weak'; GRANT SELECT ON orders TO weak WITH GRANT OPTION");
  const session = await open({ username: 'weak', password: 'weak' });
  assert.deepEqual(await session.missingPrivileges('readwrite'), [
    'CREATEROLE',
    'CONNECT ON DATABASE "shop" WITH GRANT OPTION',
    'USAGE ON SCHEMA public WITH GRANT OPTION',
    'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public WITH GRANT OPTION (2 without)',
    'USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public WITH GRANT OPTION (1 without)',
    'pg_signal_backend',
  ]);
  await session.close();
});

test('an admin who may hand on reading alone makes readers, and no user who should write and could not', async () => {
  const grants = (place: string, rights: string) => `GRANT ${rights} ON ${place} TO reads WITH GRANT OPTION`;
  await server.query(`CREATE ROLE reads LOGIN CREATEROLE PASSWORD 'reads'; GRANT pg_signal_backend TO reads; ${grants('DATABASE shop', 'CONNECT')};
    ${grants('SCHEMA public', 'USAGE')}; ${grants('ALL TABLES IN SCHEMA public', 'SELECT')}; ${grants('ALL SEQUENCES IN SCHEMA public', 'SELECT')}`);
  const session = await open({ username: 'reads', password: 'reads' });
  assert.deepEqual(await session.missingPrivileges('readonly'), []);
  const [tables, sequences, ...others] = await session.missingPrivileges('readwrite');
  assert.match(tables ?? '', /^INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public WITH GRANT OPTION \(\d+ without\)$/);
  assert.match(sequences ?? '', /^USAGE ON ALL SEQUENCES IN SCHEMA public WITH GRANT OPTION \(\d+ without\)$/);
  assert.deepEqual(others, []);

  const username = mintedName();
  const writing = (place: string, rights: string) => [...creation(username), `GRANT ${rights} ON ${place} TO "${username}"`];
  for (const [place, rights, lacked] of [
    [
      'ALL TABLES IN SCHEMA public',
      'SELECT, INSERT, UPDATE, DELETE',
      /can't grant INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public \(/,
    ],
    ['ALL SEQUENCES IN SCHEMA public', 'USAGE, SELECT', /can't grant USAGE ON ALL SEQUENCES IN SCHEMA public \(/],
    ['orders', 'SELECT, INSERT', /for "orders"\. The admin user can't grant what this statement grants: give it that WITH GRANT OPTION/],
  ] as const) {
    const fault = await faultOf(session.createUser({ username, password: PASSWORD }, writing(place, rights)));
    assert.deepEqual([fault.type, fault.code, fault.statement], ['database_error', '01007', 5]);
    assert.match(fault.text, lacked);
    assert.equal(await exists(username), false);
  }
  // What everybody has needs no grant of the admin.
  await server.query('REVOKE GRANT OPTION FOR CONNECT ON DATABASE shop FROM reads; GRANT CONNECT ON DATABASE shop TO PUBLIC');
  await session.createUser({ username, password: PASSWORD }, creation(username));
  await session.dropUser(username, null);
  await server.query('REVOKE CONNECT ON DATABASE shop FROM PUBLIC');
  await session.close();
});

test('a creation that fails leaves nothing, and says which statement, with the name and the password struck out', async () => {
  const username = mintedName();
  const session = await open();
  const fault = await faultOf(
    session.createUser({ username, password: PASSWORD }, [...creation(username), `GRANT "nothing ${PASSWORD}" TO "${username}"`]),
  );
  assert.deepEqual([fault.type, fault.stage, fault.code, fault.statement], ['database_error', 'statement', '42704', 5]);
  assert.equal(fault.text, 'role "nothing ***" does not exist');
  assert.ok(!JSON.stringify([fault.text, fault.message, fault.stack]).includes(PASSWORD.slice(4, 16)), fault.text);
  assert.equal(await exists(username), false);
  const twice = await mint();
  const named = await faultOf(session.createUser({ username: twice, password: PASSWORD }, creation(twice)));
  assert.deepEqual([named.code, named.statement, named.text], ['42710', 1, 'role "***" already exists']);
  await session.dropUser(twice, null);
  await session.close();
});

test('an answer larger than anything that is asked for ends the session', async () => {
  const session = await open();
  const started = process.memoryUsage().rss;
  const fault = await faultOf(session.run("SELECT repeat('x', 1000000) FROM generate_series(1, 200)"));
  assert.deepEqual([fault.type, fault.stage], ['database_unreachable', 'statement']);
  assert.ok(process.memoryUsage().rss - started < 100e6);
  await session.close();
});

test('exactly one statement is sent, whatever its text holds', async () => {
  const session = await open();
  const fault = await faultOf(session.run('SELECT 1; CREATE ROLE sneaked'));
  assert.deepEqual([fault.type, fault.code], ['database_error', '42601']);
  assert.equal(await exists('sneaked'), false);
  await session.close();
});

test('a removal of its own runs first; what it leaves, or can not do, the built-in removal does', async () => {
  const session = await open();
  const own = await mint();
  await session.dropUser(own, [`DROP OWNED BY "${own}"`, `REVOKE CONNECT ON DATABASE shop FROM "${own}"`]);
  assert.equal(await exists(own), false, 'statements that only take rights away');
  const failing = await mint();
  await session.dropUser(failing, ['DROP ROLE "nobody_of_that_name"', 'nonsense']);
  assert.equal(await exists(failing), false, 'statements that fail');
  await session.dropUser(failing, [`DROP ROLE "${failing}"`]);
  const unended = await mint();
  await session.dropUser(unended, ['BEGIN', `DROP OWNED BY "${unended}"`, `DROP ROLE "${unended}"`]);
  await session.close();
  assert.equal(await exists(unended), false, 'statements that leave a transaction open');
});

test('a renewal moves the end, and the admin changes its own password', async () => {
  const username = await mint();
  const session = await open();
  assert.equal(await session.extendUser(username, new Date('2101-02-03T04:05:06.789Z')), true);
  const { rows } = await server.query(
    `SELECT rolvaliduntil::timestamptz AT TIME ZONE 'UTC' = '2101-02-03 04:05:06' AS moved FROM pg_roles WHERE rolname = '${username}'`,
  );
  assert.deepEqual(rows, [{ moved: true }]);
  await session.dropUser(username, null);
  await session.setOwnPassword('A-new-password_of-32-characters0');
  await session.close();
  assert.equal((await faultOf(open())).code, '28P01');
  const again = await open({ password: 'A-new-password_of-32-characters0' });
  await again.close();
  await server.query(`ALTER ROLE broker PASSWORD '${server.admin.password.replaceAll("'", "''")}'`);
});

test('a statement that takes too long ends on the server too', async () => {
  const session = await open({ options: { sslmode: 'disable', statement_timeout_ms: 1_000 } });
  const fault = await faultOf(session.run('SELECT pg_sleep(30)'));
  assert.deepEqual([fault.type, fault.code], ['database_timeout', '57014']);
  // One that switches the server's limit off is stopped by ours.
  await session.run('SET statement_timeout = 0');
  const ours = await faultOf(session.run('SELECT pg_sleep(29)'));
  assert.deepEqual([ours.type, ours.code], ['database_timeout', null]);
  assert.equal((await faultOf(session.run('SELECT 1'))).type, 'database_timeout');
  await until(async () => (await sessions("query LIKE '%pg_sleep(29)%'")) === 0);
  await session.close();
});

test('a removal ends the creation that a lost session left open, so that no user appears afterwards', async () => {
  const username = mintedName();
  const lost = await open();
  const creating = lost.createUser({ username, password: PASSWORD }, [...creation(username), 'SELECT pg_sleep(20)']);
  creating.catch(() => undefined);
  await until(async () => (await sessions("query LIKE '%pg_sleep(20)%' AND state = 'active'")) === 1);
  const session = await open();
  await session.dropUser(username, null);
  assert.equal((await faultOf(creating)).type, 'database_error');
  await until(async () => (await sessions("query LIKE '%pg_sleep(20)%'")) === 0);
  assert.equal(await exists(username), false);
  await Promise.all([session.close(), lost.close()]);
});

test('sslmode decides what certificate is believed', async () => {
  const tried = async (host: string, options: DatabaseTarget['options']) => {
    const session = await open({ host, options });
    const [row] = await session.run('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    await session.close();
    return row?.ssl;
  };
  assert.equal(await tried('db.example.com', { sslmode: 'disable' }), false);
  assert.equal(await tried('other.example.com', {}), true, 'require is the default and believes any certificate');
  assert.equal(await tried('other.example.com', { sslmode: 'verify-ca', ca_cert_pem: caPem }), true);
  assert.equal(await tried('db.example.com', { sslmode: 'verify-full', ca_cert_pem: caPem }), true);
  const refused: [string, string, DatabaseTarget['options'], RegExp][] = [
    ['another name', 'other.example.com', { sslmode: 'verify-full', ca_cert_pem: caPem }, /for another name/],
    ['an address', server.host, { sslmode: 'verify-full', ca_cert_pem: caPem }, /for another name/],
    ['localhost', 'localhost.example.com', { sslmode: 'verify-full', ca_cert_pem: caPem }, /for another name/],
    ['another CA', 'db.example.com', { sslmode: 'verify-ca', ca_cert_pem: otherCaPem }, /not issued by a CA/],
    ['the roots of the system', 'db.example.com', { sslmode: 'verify-full' }, /not issued by a CA/],
    ['a CA that is none', 'db.example.com', { sslmode: 'verify-full', ca_cert_pem: 'not a PEM' }, /certificate/],
  ];
  for (const [what, host, options, text] of refused) {
    const fault = await faultOf(tried(host, options));
    assert.deepEqual([fault.type, fault.stage], ['database_unreachable', 'tls'], `${what}: ${fault.stack}`);
    assert.match(`${what}: ${fault.text} ${fault.code}`, text);
  }
});

test('what a removed user leaves behind gives nobody the rights of the admin that inherits it', async () => {
  const session = await open();
  const [planter, finder] = [await mint(), await mint()];
  await server.query('CREATE TABLE private (id int); INSERT INTO private VALUES (42); GRANT SELECT, INSERT ON private TO broker');
  await session.run(`GRANT CREATE ON SCHEMA public TO "${planter}"`);
  const plants = await as(planter);
  for (const statement of [
    'CREATE FUNCTION planted() RETURNS SETOF int SECURITY DEFINER LANGUAGE plpgsql AS $f$ BEGIN RETURN QUERY EXECUTE $q$ SELECT id FROM private $q$; END $f$',
    `CREATE FUNCTION "odd ""name"(text, int[]) RETURNS text SECURITY DEFINER LANGUAGE sql AS 'SELECT current_user::text'`,
    'CREATE VIEW planted_view AS SELECT id FROM private',
    'CREATE TABLE planted_table (id int)',
    'CREATE RULE planted_rule AS ON INSERT TO planted_table DO ALSO INSERT INTO private VALUES (new.id)',
    `GRANT SELECT, INSERT ON planted_view, planted_table TO "${finder}"`,
  ])
    await plants.run(statement);
  await session.dropUser(planter, null);
  const finds = await as(finder);
  assert.equal((await faultOf(finds.run('SELECT planted()'))).code, '42501');
  assert.deepEqual(await finds.run(`SELECT "odd ""name"('x', '{1}') AS who`), [{ who: finder }]);
  assert.equal((await faultOf(finds.run('SELECT id FROM planted_view'))).code, '42501');
  await finds.run('INSERT INTO planted_table VALUES (7)');
  assert.deepEqual((await server.query('SELECT id FROM private')).rows, [{ id: 42 }]);
  assert.deepEqual((await server.query('SELECT id FROM planted_table')).rows, [{ id: 7 }], 'the data stays, and so does who may use it');
  await session.dropUser(finder, null);
  await Promise.all([session.close(), plants.close(), finds.close()]);
});
