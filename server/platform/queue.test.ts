import assert from 'node:assert/strict';
import test from 'node:test';
import { runMigrations } from 'graphile-worker';
import { inTransaction } from '#server/kernel/database.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { addJob } from './queue.ts';
import { sql } from './sql.ts';

await ownDatabase();
const jobs = async () =>
  (
    await sql().query<{ task: string }>(
      'select t.identifier as task from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id order by j.id',
    )
  ).rows.map((r) => r.task);

test('without a prepared queue a job is refused and never silently lost', async () => {
  await assert.rejects(addJob(null, 'hello'), /job queue is not prepared/);
});

test('a job exists when the transaction of its cause commits, and not otherwise, under row-level security too', async () => {
  // As two workers that start at once do.
  await Promise.all([runMigrations({ pgPool: sql() }), runMigrations({ pgPool: sql() })]);
  const w = await workspace();
  await inTransaction(w.live, (tx) => addJob(tx, 'kept', { n: 1 }));
  await assert.rejects(
    inTransaction(w.live, async (tx) => {
      await addJob(tx, 'lost');
      throw new Error('changed my mind');
    }),
  );
  await addJob(null, 'direct', {}, { job_key: 'once' });
  await addJob(null, 'direct', {}, { job_key: 'once' });
  assert.deepEqual(await jobs(), ['kept', 'direct']);
});

test('the row-level-security role reaches the queue through enqueue_job only', async () => {
  const w = await workspace();
  await assert.rejects(
    inTransaction(w.live, (tx) => tx.$queryRaw`select count(*) from graphile_worker.jobs`),
    /permission denied/,
  );
});
