import assert from 'node:assert/strict';
import test from 'node:test';
import pg from 'pg';
import type { Job } from '#server/kernel/family.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { until } from '#server/testing/until.ts';
import { jobs } from './schedules.ts';
import { startWorker } from './worker.ts';

const { url } = await ownDatabase();

function declare(name: string, run: Job['run']): void {
  Object.assign(jobs, { [name]: { run } });
  onFileEnd(() => Reflect.deleteProperty(jobs, name));
}

/** As scheduled jobs stand in the queue: no two of one name run at once. Answers its ID. */
const addJob = async (name: string) =>
  (await sql().query<{ id: string }>('select id from graphile_worker.add_job($1, queue_name := $1)', [name])).rows[0]?.id;

/** Closed, it lets nobody in, and the worker's connections end. */
async function openDatabase(open: boolean): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.TEST_PG_URL });
  await client.connect();
  const name = new URL(url).pathname.slice(1);
  await client.query(`alter database ${name} allow_connections ${open}`);
  // Until they have ended: a connection on its way out still carries out what it gets.
  const cut = () =>
    client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'sallyport-worker'`, [
      name,
    ]);
  if (!open) await until(async () => (await cut()).rowCount === 0, 'the connections end');
  await client.end();
}

test('a job whose end the database did not take runs again once it is back, and others of its name after it', async (t) => {
  let runs = 0;
  declare('cut_off', async () => {
    if (++runs === 1) await openDatabase(false);
  });
  const failures = t.mock.method(log, 'error', () => {});
  const worker = startWorker();
  t.after(() => worker.stop(20_000));
  await worker.started;
  const id = await addJob('cut_off');
  const refused = ({ arguments: [, message] }: { arguments: unknown[] }) => new RegExp(`complete jobs .*'${id}'`).test(String(message));
  await until(() => failures.mock.calls.some(refused), 'its end was refused');
  await openDatabase(true);
  await until(() => runs === 2, 'it runs again');
  await addJob('cut_off');
  await until(() => runs === 3, 'the next runs');
});

test('a queue that stops has the end of every job written', async () => {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  declare('ends_late', async () => {
    begun.resolve();
    await end.promise;
  });
  const worker = startWorker();
  await worker.started;
  await addJob('ends_late');
  await begun.promise;
  const stopped = worker.stop(20_000);
  end.resolve();
  await stopped;
  const { rows } = await sql().query(`select from graphile_worker.jobs where task_identifier = 'ends_late'`);
  assert.equal(rows.length, 0);
});
