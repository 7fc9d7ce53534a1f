import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { connection } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { withPooledClient } from './pooled-client.ts';

await testDatabase();

test('a connection that is cut while it is lent fails the work, not the process, and is not lent again', async () => {
  const pool = new pg.Pool({ ...connection(), max: 1 });
  pool.on('error', () => {});
  const killer = new pg.Pool({ ...connection(), max: 1 });
  killer.on('error', () => {});
  const pid = async (client: pg.PoolClient) => (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  let first: number | undefined;
  const cut = withPooledClient(pool, async (client) => {
    first = await pid(client);
    const sleeping = client.query('select pg_sleep(10)');
    await Promise.all([sleeping, killer.query('select pg_terminate_backend($1)', [first])]);
  });
  await assert.rejects(cut, /terminat/);
  assert.notEqual(await withPooledClient(pool, pid), first);
  await Promise.all([pool.end(), killer.end()]);
});

test('a transaction that failed is not left open for the next borrower', async () => {
  const pool = new pg.Pool({ ...connection(), max: 1 });
  pool.on('error', () => {});
  await assert.rejects(
    withPooledClient(pool, async (client) => {
      await client.query('begin');
      await client.query('select 1 / 0');
    }),
    /division/,
  );
  assert.equal((await withPooledClient(pool, (client) => client.query<{ n: number }>('select 1 as n'))).rows[0]?.n, 1);
  await pool.end();
});

test('every pool gives up a statement whose server hangs', () => {
  assert.equal(connection().query_timeout, 600_000);
});
