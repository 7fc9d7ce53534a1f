import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import { freePort } from '#scripts/ports.ts';
import { isOutage } from '#server/kernel/errors.ts';
import { isOurs } from '#server/kernel/outage.ts';
import { testDatabase } from '#server/testing/database.ts';
import { databaseDoor } from '#server/testing/database-door.ts';
import { until } from '#server/testing/until.ts';
import { openPool } from './healing-pool.ts';
import { connection } from './sql.ts';

await testDatabase();

const failure = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail('it worked'),
    (error: unknown) => error,
  );

test('what a pool of ours meets is marked as ours, and the same of another pool is not', async () => {
  const nobody = { host: '127.0.0.1', port: await freePort(), user: 'x', database: 'x' };
  for (const [open, marked] of [
    [openPool, true],
    [(config: pg.PoolConfig) => new pg.Pool(config), false],
  ] as const) {
    const refused = open(nobody);
    assert.equal(isOurs(await failure(refused.connect())), marked, 'a connection that is refused');
    assert.equal(isOurs(await failure(refused.query('select 1'))), marked, 'and a query that needs one');
    const pool = open({ ...connection(), max: 1 });
    pool.on('error', () => {});
    assert.equal(isOurs(await failure(pool.query('select pg_terminate_backend(pg_backend_pid())'))), marked, 'a connection that ends');
    assert.equal((await pool.query<{ n: number }>('select 1 as n')).rows[0]?.n, 1);
    const lent = await pool.connect();
    const sleeping = failure(lent.query('select pg_sleep(10)'));
    lent.on('error', () => {});
    (lent as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    assert.equal(isOurs(await sleeping), marked, 'one that is cut');
    assert.equal(isOurs(await failure(lent.query('select 1'))), marked, 'a query on it afterwards');
    lent.release(true);
    const slow = await pool.connect();
    assert.equal(
      isOurs(await failure(slow.query({ text: 'select pg_sleep(10)', query_timeout: 1 } as pg.QueryConfig))),
      marked,
      'a statement that takes too long',
    );
    slow.release(true);
    await Promise.all([refused.end(), pool.end()]);
  }
});

test('a server that falls silent ends what waits for it, refuses what comes next at once, and is used again when it answers', {
  timeout: 60_000,
}, async () => {
  const door = await databaseDoor();
  // Their own times are longer than the test.
  const config = { ...connection(), connectionString: door.url, connectionTimeoutMillis: 600_000, query_timeout: 600_000 };
  const [pool, other] = [openPool({ ...config, max: 2 }), openPool({ ...config, max: 2 })];
  const lent = await pool.connect();
  lent.on('error', () => {});
  await other.query('select 1');
  door.mute();
  const waiting = [
    lent.query('select 1'),
    pool.query('select 2'),
    pool.query('select 3'),
    other.query('select 4'),
    other.query('select 5'),
  ];
  for (const error of await Promise.all(waiting.map(failure))) assert.deepEqual([isOurs(error), isOutage(error)], [true, true]);
  lent.release(true);
  for (let i = 0; i < 100; i++) assert.ok(isOutage(await failure((i % 2 ? pool : other).query('select 1'))));
  door.unmute();
  await until(async () => (await pool.query('select 1').catch(() => undefined)) !== undefined, 'the server is used again');
  await Promise.all([pool.end(), other.end()]);
});

test('a statement that takes long on a server that answers goes on', async () => {
  const pool = openPool({ ...connection(), max: 1 });
  const { rows } = await pool.query<{ done: number }>('select 1 as done from pg_sleep(6)');
  assert.equal(rows[0]?.done, 1);
  await pool.end();
});
