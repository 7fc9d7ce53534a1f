import assert from 'node:assert/strict';
import test from 'node:test';
import { builtInTemplate, DEFAULT_REVOCATION, dryRun } from '#server/domain/dyn-db/templates.shared.ts';
import { isMintedUsername, mintedPassword, mintedUsername } from '#server/domain/dyn-db/usernames.ts';
import { faultOf, here, hereAt } from '#server/platform/databases/databases.fixture.ts';
import type { DatabaseSession, DatabaseTarget } from '#server/platform/databases/engine.ts';
import { mariadbServer, noMariadb } from '#server/platform/databases/mysql/server.fixture.ts';
import { openDatabase } from '#server/platform/databases/open.ts';
import { postgresServer } from '#server/platform/databases/postgres/server.fixture.ts';
import { grantsFor } from './grants.ts';

// The scripts that the page offers, run on real servers: the admin user lacks nothing afterwards, and every built-in template works with it.

const ADMIN = { username: 'sallyport', password: 'password-of-the-admin' };
const script = (engine: 'postgres' | 'mysql', database: string, dialect: string, exists = false) =>
  (
    grantsFor({ engine, iam: false, username: ADMIN.username, database, region: '', exists }).find(({ label }) => label === dialect)
      ?.code ?? ''
  ).replace('CHOOSE A PASSWORD', ADMIN.password);

type Work = {
  engine: 'postgres' | 'mysql';
  database: string;
  open: (who: typeof ADMIN) => Promise<DatabaseSession>;
  access: 'readonly' | 'readwrite';
};

/** Mints by a template, tries to read and to write, and removes by the text that the page shows, twice. */
async function mintAndRemove({ engine, database, open, access }: Work): Promise<void> {
  const admin = await open(ADMIN);
  const user = { username: mintedUsername(access, new Date()), password: mintedPassword() };
  const values = { ...user, database, role: access };
  await admin.createUser(user, dryRun(builtInTemplate(access, engine)?.creation ?? '', engine, values));
  const session = await open(user);
  assert.equal((await session.run('SELECT id FROM orders')).length, 1);
  const write = session.run('INSERT INTO orders VALUES (1)').then(
    () => session.run('DELETE FROM orders').then(() => 'written'),
    () => 'refused',
  );
  assert.equal(await write, access === 'readwrite' ? 'written' : 'refused');
  await session.close();
  for (let time = 0; time < 2; time += 1)
    for (const statement of dryRun(DEFAULT_REVOCATION[engine], engine, values)) await admin.run(statement);
  assert.equal(await admin.userExists(user.username), false);
  assert.equal((await faultOf(open(user))).stage, 'auth');
  await admin.close();
}

test('PostgreSQL: the script gives the admin what built-in templates need, and no superuser', async () => {
  const server = await postgresServer();
  const open = ({ username, password }: typeof ADMIN) => {
    const target: DatabaseTarget = {
      engine: 'postgres',
      host: 'db.example.com',
      port: null,
      database: 'shop',
      username,
      password,
      options: {},
    };
    return openDatabase(target, hereAt(server.host));
  };
  await server.query(script('postgres', 'shop', 'SQL'));
  // Created after the script, by the owner who ran it.
  await server.query('CREATE TABLE later (id int)');
  const admin = await open(ADMIN);
  assert.deepEqual(await admin.missingPrivileges('readwrite'), []);
  assert.deepEqual(await admin.run('SELECT rolsuper, rolcreatedb, rolbypassrls FROM pg_roles WHERE rolname = CURRENT_USER'), [
    { rolsuper: false, rolcreatedb: false, rolbypassrls: false },
  ]);
  await admin.close();
  await mintAndRemove({ engine: 'postgres', database: 'shop', open, access: 'readonly' });
  await mintAndRemove({ engine: 'postgres', database: 'shop', open, access: 'readwrite' });
});

test('PostgreSQL: the script for a user that exists gives it what it lacks, again too', async () => {
  const server = await postgresServer();
  await server.query(`CREATE ROLE ${ADMIN.username} WITH LOGIN PASSWORD '${ADMIN.password}'`);
  const target: DatabaseTarget = { engine: 'postgres', host: 'db.example.com', port: null, database: 'shop', ...ADMIN, options: {} };
  const admin = await openDatabase(target, hereAt(server.host));
  assert.notDeepEqual(await admin.missingPrivileges('readwrite'), []);
  for (let time = 0; time < 2; time += 1) await server.query(script('postgres', 'shop', 'SQL', true));
  assert.deepEqual(await admin.missingPrivileges('readwrite'), []);
  await admin.close();
});

test('MariaDB: the script gives the admin what built-in templates need, on this database and none with a similar name', {
  skip: noMariadb,
}, async () => {
  const server = await mariadbServer();
  const open = ({ username, password }: typeof ADMIN) => {
    const target: DatabaseTarget = {
      engine: 'mysql',
      host: 'db.example.com',
      port: server.port,
      database: 'shop_eu',
      username,
      password,
      options: {},
    };
    return openDatabase(target, here);
  };
  for (const name of ['shop_eu', 'shopXeu'])
    await server.query(`CREATE DATABASE ${name}; CREATE TABLE ${name}.orders (id int); INSERT INTO ${name}.orders VALUES (1)`);
  await server.query(script('mysql', 'shop_eu', 'MariaDB'));
  const admin = await open(ADMIN);
  assert.deepEqual(await admin.missingPrivileges('readwrite'), []);
  const user = { username: mintedUsername('app', new Date()), password: mintedPassword() };
  assert.ok(isMintedUsername(user.username));
  await admin.createUser(user, dryRun(builtInTemplate('readonly', 'mysql')?.creation ?? '', 'mysql', { ...user, database: 'shop_eu' }));
  const session = await open(user);
  assert.deepEqual(await session.run('SELECT id FROM shop_eu.orders'), [{ id: 1 }]);
  assert.equal((await faultOf(session.run('SELECT id FROM shopXeu.orders'))).code, '1142');
  await session.close();
  await admin.dropUser(user.username, null);
  await admin.close();
  await mintAndRemove({ engine: 'mysql', database: 'shop_eu', open, access: 'readonly' });
  await mintAndRemove({ engine: 'mysql', database: 'shop_eu', open, access: 'readwrite' });
});
