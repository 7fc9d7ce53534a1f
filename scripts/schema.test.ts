import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
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

test('a server that does not answer is named as such', async () => {
  await assert.rejects(migrationState('postgresql://postgres@127.0.0.1:1/none'), /is not responding/);
});
