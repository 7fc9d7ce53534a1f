import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { until } from '../server/testing/until.ts';
import { migrate, migrationState } from './schema.ts';

test('two installers at once bring a missing database to the current schema, each migration once', async (t) => {
  const server = new URL(process.env.TEST_PG_URL ?? '');
  const name = `installer_${process.pid}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  t.after(async () => {
    const admin = new pg.Client({ connectionString: server.toString() });
    await admin.connect();
    await admin.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
    await admin.end();
  });
  assert.ok((await migrationState(url.toString())).missing.length > 0);
  await Promise.all([migrate(url.toString()), migrate(url.toString())]);
  assert.deepEqual(await migrationState(url.toString()), { missing: [], unknown: [] });
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  const { rows } = await client.query<{ names: number; rows: number }>(
    'select count(distinct migration_name)::int as names, count(*)::int as rows from _prisma_migrations',
  );
  await client.end();
  assert.equal(rows[0]?.names, rows[0]?.rows);
});

test('a migration that waits for a table lets other calls through, and is applied once the table is free', async (t) => {
  const url = new URL(process.env.TEST_PG_URL ?? '');
  const name = `locked_${process.pid}`;
  const connect = async (address: URL) => {
    const client = new pg.Client({ connectionString: address.toString() });
    await client.connect();
    return client;
  };
  const admin = await connect(url);
  url.pathname = `/${name}`;
  t.after(async () => {
    await admin.query(`drop database if exists ${pg.escapeIdentifier(name)} with (force)`);
    await admin.end();
  });
  await admin.query(`create database ${name} template ${process.env.TEST_PG_TEMPLATE ?? ''}`);
  const [reader, caller] = [await connect(url), await connect(url)];
  // As it was before one of the migrations.
  await caller.query(`alter table oauth_auth_requests drop column confirm; alter table oauth_device_codes drop column confirm;
    delete from _prisma_migrations where migration_name = '20261130024001_oauth_grants_confirmed_logins'`);
  await reader.query('begin');
  await reader.query('select from oauth_device_codes limit 1');
  const applied = migrate(url.toString());
  const waits = `select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock' and query ilike '%alter table%confirm%'`;
  const waiting = () => admin.query(waits, [name]);
  await until(async () => (await waiting()).rowCount === 1, 'the migration waits');
  // Both come after the migration in the queue of the lock; the limit is for a migration that never gives up.
  await caller.query(`set statement_timeout = '60s'`);
  try {
    await caller.query('select from oauth_device_codes limit 1');
    await caller.query('select from oauth_auth_requests limit 1');
  } finally {
    await reader.query('commit');
    await applied;
  }
  assert.deepEqual(await migrationState(url.toString()), { missing: [], unknown: [] });
  await Promise.all([reader.end(), caller.end()]);
});

test('a server that does not answer is named as such', async () => {
  await assert.rejects(migrationState('postgresql://postgres@127.0.0.1:1/none'), /is not responding/);
});
