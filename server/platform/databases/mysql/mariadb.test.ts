import assert from 'node:assert/strict';
import test from 'node:test';
import { until } from '#server/testing/until.ts';
import { caPem, otherCaPem } from '../certificates.fixture.ts';
import { faultOf, here, mintedName, PASSWORD } from '../databases.fixture.ts';
import type { DatabaseTarget } from '../engine.ts';
import { openDatabase } from '../open.ts';
import { mariadbServer, noMariadb } from './server.fixture.ts';

const server = noMariadb ? undefined : await mariadbServer();
const query = async (text: string) => (await server?.query(text)) ?? [];
const options = { skip: noMariadb };
const target = (more: Partial<DatabaseTarget> = {}): DatabaseTarget => ({
  engine: 'mysql',
  host: 'db.example.com',
  port: server?.port ?? 0,
  database: 'shop',
  username: server?.admin.username ?? '',
  password: server?.admin.password ?? '',
  options: { sslmode: 'verify-full', ca_cert_pem: caPem, statement_timeout_ms: 60_000 },
  ...more,
});
const open = (more: Partial<DatabaseTarget> = {}) => openDatabase(target(more), here);
const as = (username: string, password = PASSWORD) => open({ username, password });
const creation = (username: string, password = PASSWORD, host = '%') => [
  `CREATE USER '${username}'@'${host}' IDENTIFIED BY '${password}' WITH MAX_USER_CONNECTIONS 20`,
  `GRANT SELECT ON \`shop\`.* TO '${username}'@'${host}'`,
];
async function mint(host = '%'): Promise<string> {
  const username = mintedName();
  const session = await open();
  await session.createUser({ username, password: PASSWORD }, creation(username, PASSWORD, host));
  await session.close();
  return username;
}
/** How many sessions are at work on the statement. */
const running = async (statement: string) =>
  (await query(`SELECT ID FROM information_schema.PROCESSLIST WHERE INFO = '${statement.replaceAll("'", "''")}'`)).length;
const exists = async (username: string) => (await query(`SELECT User FROM mysql.user WHERE User = '${username}'`)).length > 0;

test('an admin mints a user who reads, and removes it with its sessions', options, async () => {
  const session = await open();
  assert.match(session.serverVersion, /MariaDB/);
  assert.deepEqual([session.engine, session.hostKey, await session.missingPrivileges('readwrite')], ['mysql', null, []]);
  const username = await mint();
  const user = await as(username);
  assert.deepEqual(await user.run('SELECT id FROM orders'), [{ id: 1 }]);
  assert.equal((await faultOf(user.run('DELETE FROM orders'))).code, '1142');
  assert.deepEqual([await session.userExists(username), await session.mintedUsers()], [true, [username]]);

  await session.dropUser(username, null);
  assert.equal(await exists(username), false);
  await until(async () => (await query(`SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '${username}'`)).length === 0);
  assert.equal((await faultOf(user.run('SELECT 1'))).type, 'database_unreachable');
  const refused = await faultOf(as(username));
  assert.deepEqual([refused.type, refused.stage, refused.code], ['database_error', 'auth', '1045']);
  assert.ok(!refused.text.includes(username) && !refused.text.includes(PASSWORD), refused.text);
  await session.dropUser(username, null);
  assert.deepEqual([await session.userExists(username), await session.mintedUsers()], [false, []]);
  await Promise.all([session.close(), user.close()]);
});

test('a user of another host part is found and removed', options, async () => {
  const username = await mint('127.0.0.%');
  const session = await open();
  await session.dropUser(username, null);
  assert.equal(await exists(username), false);
  await session.close();
});

test('a creation that fails leaves what was done, for the removal to undo', options, async () => {
  const username = mintedName();
  const session = await open();
  const fault = await faultOf(
    session.createUser({ username, password: PASSWORD }, [
      ...creation(username),
      `GRANT NOTHING '${PASSWORD}' ON shop.* TO '${username}'@'%'`,
    ]),
  );
  assert.deepEqual([fault.type, fault.stage, fault.code, fault.statement], ['database_error', 'statement', '1064', 3]);
  assert.ok(!fault.text.includes(PASSWORD.slice(0, 9)) && !fault.text.includes(username), fault.text);
  assert.equal(await exists(username), true);
  await session.dropUser(username, null);
  assert.equal(await exists(username), false);
  await session.close();
});

test('an answer larger than anything that is asked for ends the session', options, async () => {
  const session = await open();
  const fault = await faultOf(session.run("SELECT REPEAT('x', 10000000)"));
  assert.deepEqual([fault.type, fault.stage], ['database_unreachable', 'statement']);
  await session.close();
});

test('exactly one statement is sent, and no file is read, whatever its text holds', options, async () => {
  const session = await open();
  assert.equal((await faultOf(session.run("SELECT 1; CREATE USER 'sneaked'@'%'"))).code, '1064');
  assert.equal(await exists('sneaked'), false);
  const local = await faultOf(session.run("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE orders"));
  assert.equal(local.type, 'database_error');
  await session.close();
});

test('a removal of its own runs first; what it leaves, or can not do, the built-in removal does', options, async () => {
  const session = await open();
  const own = await mint();
  await session.dropUser(own, [`REVOKE SELECT ON shop.* FROM '${own}'@'%'`]);
  assert.equal(await exists(own), false);
  const failing = await mint();
  await session.dropUser(failing, ["DROP USER 'nobody_of_that_name'@'%'", 'nonsense']);
  assert.equal(await exists(failing), false);
  await session.close();
});

test('an admin who may not read mysql.user still removes users of the configured host', options, async () => {
  await query(`CREATE USER 'weak'@'%' IDENTIFIED BY 'weak'; GRANT CREATE USER ON *.* TO 'weak'@'%'`);
  const session = await open({ username: 'weak', password: 'weak', database: null });
  assert.deepEqual(await session.missingPrivileges('readwrite'), [
    'CONNECTION_ADMIN (MySQL 8), CONNECTION ADMIN (MariaDB 10.5) or SUPER ON *.*',
    'PROCESS ON *.*',
    'SELECT ON mysql.user',
  ]);
  const username = await mint();
  await session.dropUser(username, null);
  assert.equal(await exists(username), false);
  assert.equal((await faultOf(session.mintedUsers())).code, '1142');
  await session.close();
});

test('the admin changes its own password, and a renewal needs no statement', options, async () => {
  const session = await open();
  assert.equal(await session.extendUser(mintedName(), new Date()), false);
  await session.setOwnPassword('A-new-password_of-32-characters0');
  await session.close();
  assert.equal((await faultOf(open())).code, '1045');
  const again = await open({ password: 'A-new-password_of-32-characters0' });
  await again.close();
  await query("SET PASSWORD FOR 'broker'@'%' = PASSWORD('it''s a p@ss\\\\word')");
});

test('a statement that takes too long is killed on the server', options, async () => {
  const session = await open({ options: { sslmode: 'disable', statement_timeout_ms: 1_000 } });
  const fault = await faultOf(session.run('SELECT SLEEP(29)'));
  assert.equal(fault.type, 'database_timeout');
  await until(async () => (await running('SELECT SLEEP(29)')) === 0);
  await session.close();
});

test('a removal ends the creation that a lost session left at work', options, async () => {
  const username = mintedName();
  const lost = await open();
  const creating = lost.createUser({ username, password: PASSWORD }, [...creation(username), `SELECT SLEEP(20), '${username}'`]);
  creating.catch(() => undefined);
  await until(async () => (await running(`SELECT SLEEP(20), '${username}'`)) === 1);
  const session = await open();
  await session.dropUser(username, null);
  await faultOf(creating);
  assert.equal(await exists(username), false);
  await Promise.all([session.close(), lost.close()]);
});

test('sslmode decides what certificate is believed', options, async () => {
  const tried = async (host: string, options: DatabaseTarget['options']) => {
    const session = await open({ host, options });
    const [row] = await session.run("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    await session.close();
    return row?.Value !== '';
  };
  assert.equal(await tried('db.example.com', { sslmode: 'disable' }), false);
  assert.equal(await tried('other.example.com', {}), true, 'require is the default and believes any certificate');
  assert.equal(await tried('other.example.com', { sslmode: 'verify-ca', ca_cert_pem: caPem }), true);
  assert.equal(await tried('db.example.com', { sslmode: 'verify-full', ca_cert_pem: caPem }), true);
  const refused: [string, string, DatabaseTarget['options'], RegExp][] = [
    ['another name', 'other.example.com', { sslmode: 'verify-full', ca_cert_pem: caPem }, /for another name/],
    ['an address', '127.0.0.1', { sslmode: 'verify-full', ca_cert_pem: caPem }, /takes a host name/],
    ['another CA', 'db.example.com', { sslmode: 'verify-ca', ca_cert_pem: otherCaPem }, /not issued by a CA/],
    ['the roots of the system', 'db.example.com', { sslmode: 'verify-full' }, /not issued by a CA/],
    ['a CA that is none', 'db.example.com', { sslmode: 'verify-full', ca_cert_pem: 'not a PEM' }, /certificate/],
  ];
  for (const [what, host, options, text] of refused) {
    const fault = await faultOf(tried(host, options));
    assert.deepEqual([what, fault.type, fault.stage], [what, 'database_unreachable', 'tls']);
    assert.match(`${what}: ${fault.text}`, text);
  }
});

test('a creation with a transaction of its own is not repeated from its middle after a deadlock', options, async () => {
  await query('CREATE TABLE shop.a (id int PRIMARY KEY, n int); CREATE TABLE shop.b (id int PRIMARY KEY, n int)');
  const rows = Array.from({ length: 100 }, (_, i) => `(${i + 1}, 0)`).join();
  await query(`INSERT INTO shop.a VALUES (1, 0); INSERT INTO shop.b VALUES ${rows}`);
  const [other, session] = await Promise.all([open(), open()]);
  const username = mintedName();
  const own = ['START TRANSACTION', 'UPDATE shop.a SET n = 1', 'UPDATE shop.b SET n = 1', 'COMMIT'];
  // It has changed more rows, so the server gives up the creation.
  await other.run('START TRANSACTION');
  await other.run('UPDATE shop.b SET n = 2');
  const creating = faultOf(session.createUser({ username, password: PASSWORD }, [...creation(username), ...own], true));
  await until(async () => (await running('UPDATE shop.b SET n = 1')) > 0);
  await other.run('UPDATE shop.a SET n = 2');
  await other.run('COMMIT');
  const fault = await creating;
  assert.deepEqual([fault.type, fault.code, fault.conflict], ['database_error', '1213', true]);
  assert.deepEqual(
    await query('SELECT a.n AS a, b.n AS b FROM shop.a JOIN shop.b ON a.id = b.id'),
    [{ a: 2, b: 2 }],
    'nothing of it is left',
  );
  await session.dropUser(username, null);
  await Promise.all([session.close(), other.close()]);
});
