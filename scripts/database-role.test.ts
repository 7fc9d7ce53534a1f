import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import pg from 'pg';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { roleProblem } from './database-role.ts';
import { migrate, migrationState } from './schema.ts';

const { url } = await ownDatabase();
const made = `role_${process.pid}`;
after(() => asSuperuser(`drop database if exists ${made} with (force)`, `drop role if exists ${made}`));

async function asSuperuser(...statements: string[]) {
  const client = new pg.Client({ connectionString: process.env.TEST_PG_URL });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

test('a server where the user may make no role is prepared by the very words of the refusal', async () => {
  await asSuperuser(`create role ${made} login`, `create database ${made} owner ${made}`);
  const own = new URL(url);
  own.pathname = `/${made}`;
  own.username = made;
  // The servers of the tests have the role already: only the membership is missing.
  const problem = await roleProblem(own.toString());
  assert.match(problem ?? '', new RegExp(`the database user ${made} can't act as the role sallyport_app. Run as a superuser: GRANT`));
  await assert.rejects(migrate(own.toString()), { message: problem });
  await asSuperuser(problem?.split('superuser: ')[1] ?? '');
  await migrate(own.toString());
  assert.deepEqual(await migrationState(own.toString()), { missing: [], unknown: [] });
  assert.equal(await roleProblem(own.toString()), undefined);
  await asSuperuser(`revoke sallyport_app from ${made}`);
  assert.match((await roleProblem(own.toString())) ?? '', /can't act as the role sallyport_app. Run as a superuser: GRANT/);
});

test('a restore that lost its row policies is told with the way to a whole one; a whole database is not', async () => {
  assert.equal(await roleProblem(url), undefined);
  await sql().query('drop policy own_space on secrets');
  const problem = await roleProblem(url);
  assert.match(problem ?? '', /restored without the role sallyport_app.*CREATE ROLE sallyport_app NOLOGIN; GRANT sallyport_app TO/);
  await assert.rejects(migrate(url), { message: problem });
});

test('a database that does not exist yet is no restore', async () => {
  const none = new URL(url);
  none.pathname = '/not_there_yet';
  assert.equal(await roleProblem(none.toString()), undefined);
});
