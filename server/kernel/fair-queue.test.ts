import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { memberActor, workspace } from '#server/testing/workspace.ts';
import { CONNECTIONS, patience, runInFairQueue } from './fair-queue.ts';

// The connections to the database belong to all workspaces: calls of one that wait for each other must not hold up the others.

const outside = { ...patience }; // of tests
await testDatabase();

test('calls of a workspace that wait for their turn leave connections for every other workspace', async () => {
  const [busy, others] = [await workspace(), [await workspace(), await workspace()]];
  const holder = await sql().connect();
  const lock = `${busy.tenant.id}:environments:false`;
  await holder.query('select pg_advisory_lock(hashtextextended($1, 0))', [lock]);
  const waiting = Array.from({ length: 40 }, (_, i) =>
    made(busy.live, 'environments.create', { name: `e${i}` }).catch((error: Error) => error),
  );
  const blocked = async () =>
    (
      await holder.query<{ n: number }>(
        `select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted and (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 0)`,
        [lock],
      )
    ).rows[0]?.n;
  await until(async () => ((await blocked()) ?? 0) >= CONNECTIONS / 2);
  try {
    for (const w of others) await made(w.ctx('live', memberActor('owner')), 'collections.create', { name: 'served' });
  } finally {
    await holder.query('select pg_advisory_unlock_all()');
    holder.release();
    await Promise.all(waiting);
  }
});

test('alone an owner gets half of the connections, beside others a fair share, each in the order it came', async () => {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    began.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const all = Array.from({ length: 8 }, (_, i) => runInFairQueue('a', work(`a${i}`)));
  all.push(
    ...['b', 'c', 'd', 'e', 'f'].flatMap((owner) => [runInFairQueue(owner, work(`${owner}0`)), runInFairQueue(owner, work(`${owner}1`))]),
  );
  await Promise.resolve();
  assert.equal(began.length, CONNECTIONS);
  assert.deepEqual(
    began.filter((name) => name.startsWith('a')),
    ['a0', 'a1', 'a2', 'a3', 'a4'],
  );
  assert.ok(
    ['b0', 'c0', 'd0'].every((name) => began.includes(name)),
    began.join(),
  );
  for (let at = 0; at < 18; at++) {
    while (ends.length <= at) await new Promise(setImmediate);
    ends[at]?.();
    await new Promise(setImmediate);
    assert.ok(began.length - at - 1 <= CONNECTIONS);
  }
  await Promise.all(all);
  assert.deepEqual(
    began.filter((name) => name.startsWith('a')),
    Array.from({ length: 8 }, (_, i) => `a${i}`),
  );
  assert.ok(began.indexOf('f0') < began.indexOf('a6'), `the others first: ${began.join()}`);
});

test('whoever waits for more than five seconds is told so, and nothing of theirs is done', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  patience.ms = outside.ms;
  const ends: (() => void)[] = [];
  const long = Array.from({ length: 5 }, () => runInFairQueue('slow', () => new Promise<void>((resolve) => ends.push(resolve))));
  let done = false;
  const late = runInFairQueue('slow', async () => {
    done = true;
  });
  t.mock.timers.tick(5_001);
  await assert.rejects(late, { type: 'dependency_unavailable', status: 503, retryAfter: 5 });
  for (const end of ends) end();
  await Promise.all(long);
  assert.equal(done, false);
  await runInFairQueue('slow', async () => {
    done = true;
  });
  assert.equal(done, true);
});
