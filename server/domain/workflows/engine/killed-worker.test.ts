import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import test from 'node:test';
import { inTransaction } from '#server/kernel/database.ts';
import { db } from '#server/platform/db.ts';
import { listen } from '#server/platform/http-out/upstream.fixture.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { definitionOf, ended, executionOf, runsOf, started, statesOf, stored, working } from './running.fixture.ts';

await ownDatabase();

const calls: { url: string; key: string }[] = [];
let onCall = () => {};
const port = await listen(
  createServer((req, res) => {
    calls.push({ url: req.url ?? '', key: String(req.headers['idempotency-key']) });
    onCall();
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"n":1}');
  }),
);
const call = (path: string): [string, Record<string, unknown>] => [
  'http_request',
  { method: 'POST', url: `http://127.0.0.1:${port}/${path}`, body: { from: path } },
];
// a, then b and c at once, then an iteration for each of two items, then d.
const definition = definitionOf(
  { a: call('a'), b: call('b'), c: call('c'), each: ['loop', { items: [1, 2] }], x: call('x{{each.index}}'), d: call('d') },
  ['trigger>a', 'a>b', 'a>c', 'b>each', 'c>each', 'each:body>x', 'each:done>d'],
);
const DONE = 'a:succeeded b:succeeded c:succeeded d:succeeded each:0/x:succeeded each:1/x:succeeded each:succeeded';
const lockRunsOut = (id: string) =>
  sql().query("update workflow_executions set locked_until = now() - interval '1 second' where id = $1", [id]);

async function killed(...args: string[]): Promise<void> {
  const worker = fork(new URL('./killed-worker.fixture.ts', import.meta.url), args);
  const [, signal] = await once(worker, 'exit');
  assert.equal(signal, 'SIGKILL');
}

for (const [when, nth] of [1, 2, 3, 4, 5, 6].flatMap((n) => [['before', n] as const, ['after', n] as const]))
  test(`a worker killed ${when} its commit ${nth} loses nothing: the run ends once, and what is called again has the same key`, async () => {
    const { live } = await workspace();
    calls.length = 0;
    const id = await started(live, await stored(live, definition));
    await killed(when, String(nth));
    assert.equal((await executionOf(id)).status, 'running');
    await lockRunsOut(id);
    const worker = working();
    const execution = await ended(id);
    await worker.stop();
    assert.deepEqual([execution.status, await statesOf(live, id)], ['completed', DONE]);
    // Every node once in the log; those that were in flight were called twice, by the same key.
    assert.equal((await runsOf(live, id)).length, 8);
    for (const path of ['a', 'b', 'c', 'd', 'x0', 'x1']) {
      const mine = calls.filter(({ url }) => url === `/${path}`);
      assert.ok(mine.length === 1 || mine.length === 2, `${path} was called ${mine.length} times`);
      assert.equal(new Set(mine.map(({ key }) => key)).size, 1);
    }
    assert.ok(calls.length <= 6 + 2, `${calls.length} calls`);
    assert.equal(execution.operations, 7);
  });

test('a worker killed in the middle of a node makes it again, and a run that loses three workers fails', async () => {
  const { live } = await workspace();
  calls.length = 0;
  const id = await started(live, await stored(live, definitionOf({ a: call('a'), b: call('b') }, ['trigger>a', 'a>b'])));
  for (let n = 1; n <= 3; n++) {
    const worker = fork(new URL('./killed-worker.fixture.ts', import.meta.url), ['never', '0']);
    const dead = once(worker, 'exit');
    onCall = () => void worker.kill('SIGKILL');
    await dead;
    onCall = () => {};
    assert.equal(calls.length, n);
    await lockRunsOut(id);
  }
  const worker = working();
  const execution = await ended(id);
  await worker.stop();
  assert.deepEqual([execution.status, execution.error_code, execution.lost, calls.length], ['failed', 'worker_lost', 3, 3]);
  assert.equal(new Set(calls.map(({ key }) => key)).size, 1);
});

test('an orderly stop gives a run back at once, and counts as no loss', async () => {
  const { live } = await workspace();
  calls.length = 0;
  const hung = Promise.withResolvers<void>();
  const slow = await listen(createServer(() => hung.resolve()));
  const url = `http://127.0.0.1:${slow}/`;
  const id = await started(live, await stored(live, definitionOf({ a: ['http_request', { method: 'GET', url }] }, ['trigger>a'])));
  const first = working();
  await hung.promise;
  await first.stop();
  const left = await executionOf(id);
  assert.deepEqual([left.status, left.locked_by, left.lost], ['running', null, 0]);
  await inTransaction(live, (tx) => tx.workflow_executions.update({ where: { id }, data: { timeout_seconds: 1 }, select: { id: true } }));
  const second = working();
  assert.equal((await ended(id)).error_code, 'execution_timeout');
  await second.stop();
  assert.equal(await db().workflow_timers.count({ where: { execution_id: id } }), 0);
});
