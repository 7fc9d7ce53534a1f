import assert from 'node:assert/strict';
import test from 'node:test';
import { nextStepFor } from '#components/dyn-db/labels.ts';
import { failure, replayServer as replayMongo } from '#server/platform/databases/mongo/replay.fixture.ts';
import { replayServer as replayMssql } from '#server/platform/databases/mssql/replay.fixture.ts';
import { mariadbServer, noMariadb } from '#server/platform/databases/mysql/server.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { answering, created, target } from './target.fixture.ts';

await testDatabase();

/** Tests a connection that the server answers, but whose admin may too little. */
async function tested(input: Record<string, unknown>) {
  const w = await workspace();
  const connection = await created(w.test, { name: fresh('weak'), database_name: 'shop', ...input });
  const found = await made(w.test, 'dyn_db.test', { connection });
  const { status, last_error, orphans_checked_at } = await db().dyn_db_connections.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual([found.ok, status, last_error], [false, 'failing', found.error]);
  assert.ok(found.server_version !== null, 'it was connected');
  return { ...found, orphans_checked_at };
}
const lacking = (...grants: string[]) => [grants, `The admin user lacks: ${grants.join('; ')}.`];

test('a test of PostgreSQL says which grant is missing', async () => {
  const server = await target();
  await server.query(`create role weak login password 'weak'; grant connect on database shop to weak; grant pg_signal_backend to weak;
    grant usage on schema public to weak with grant option; grant select on all tables in schema public to weak with grant option`);
  const found = await tested({ ...(await answering((await workspace()).test)), admin_username: 'weak', admin_password: 'weak' });
  const sequences = 'SELECT ON ALL SEQUENCES IN SCHEMA public WITH GRANT OPTION (1 without)';
  assert.deepEqual(
    [found.missing_privileges, found.error],
    lacking('CREATEROLE', 'CONNECT ON DATABASE "shop" WITH GRANT OPTION', sequences),
  );
  assert.notEqual(found.orphans_checked_at, null);
});

test('a test of MongoDB says which privileges are missing, also when users can not be listed (replayed MongoDB)', async () => {
  const server = await replayMongo();
  server.answer = (name) => {
    if (name === 'usersInfo') return failure(13, 'Unauthorized', 'not authorized on shop to execute command { usersInfo: 1 }');
    if (name !== 'connectionStatus') return undefined;
    const actions = ['createUser', 'dropUser', 'grantRole'];
    const resources = [
      { resource: { db: 'shop', collection: '' }, actions },
      { resource: { cluster: true }, actions: ['killAnySession'] },
    ];
    return { ok: 1, authInfo: { authenticatedUserPrivileges: resources } };
  };
  const admin = { admin_username: 'broker', admin_password: 'admin-password' };
  const found = await tested({ engine: 'mongo', host: '127.0.0.1', port: server.port, ...admin, connect_options: { tls: false } });
  assert.deepEqual([found.missing_privileges, found.error], lacking('viewUser on database shop'));
  assert.deepEqual([found.orphans, found.orphans_checked_at], [[], null]);
});

test('a test of SQL Server says which permissions are missing (replayed SQL Server)', async () => {
  const server = await replayMssql();
  server.answer = (batch) => {
    if (batch.includes('ProductVersion')) return [{ version: '16.0.4135.4' }];
    if (batch.includes('HAS_PERMS_BY_NAME')) return [{ logins: '0', kills: '1', sees: '1', users: '1', owner: '0', db: 'shop' }];
    if (batch.includes('server_principals')) return { error: 229, message: 'The SELECT permission was denied on the object' };
    return undefined;
  };
  const admin = { admin_username: 'broker', admin_password: 'admin-password' };
  const found = await tested({ engine: 'mssql', host: '127.0.0.1', port: server.port, ...admin, connect_options: { sslmode: 'disable' } });
  assert.deepEqual([found.missing_privileges, found.error], lacking('ALTER ANY LOGIN', 'db_owner of database [shop]'));
});

test('a test of MariaDB says which privileges are missing, also when users can not be listed', { skip: noMariadb }, async () => {
  const server = await mariadbServer();
  await server.query("CREATE USER weak@'%' IDENTIFIED BY 'weak'; GRANT CREATE USER ON *.* TO weak@'%'; GRANT SELECT ON shop.* TO weak@'%'");
  const admin = { admin_username: 'weak', admin_password: 'weak' };
  const found = await tested({ engine: 'mysql', host: '127.0.0.1', port: server.port, ...admin });
  const kills = 'CONNECTION_ADMIN (MySQL 8), CONNECTION ADMIN (MariaDB 10.5) or SUPER ON *.*';
  assert.deepEqual(
    [found.missing_privileges, found.error],
    lacking(kills, 'PROCESS ON *.*', 'SELECT ON mysql.user', 'SELECT ON `shop`.* WITH GRANT OPTION'),
  );
});

test('the page says what to do about each kind of failure', () => {
  for (const [error, step] of [
    ['The admin user lacks: CREATEROLE.', /^Run the grants/],
    ['login: 42501 permission denied for database "shop"', /^Run the grants/],
    ['login: 28P01 password authentication failed', /^Check the admin user and its password/],
    ['TCP: nothing answers there', /^Check host and port/],
  ] as const)
    assert.match(nextStepFor(error), step, error);
});
