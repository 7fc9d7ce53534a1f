import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { DISPATCH_POINTS } from '#server/domain/deliveries/service.ts';
import { raise } from '#server/domain/events/service.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { answering, deliveriesOf, delivering, statesOf, webhookTo } from './receiver.fixture.ts';

await ownDatabase();

for (const [point, twice] of [
  ['claimed', false],
  ['sent', true],
  ['recorded', true],
] as const)
  test(`a worker killed when its attempt is ${point} loses nothing; what comes twice has the same IDs, and one attempt is on record`, async () => {
    const w = await workspace();
    const { seen, url } = await answering(200);
    const { id } = await webhookTo(w.live, url);
    await inTransaction(w.live, (tx) => raise(tx, w.live, [{ type: 'secret.rotated', source_id: null, data: { n: 1 } }]));
    const worker = fork(new URL('./killed-worker.fixture.ts', import.meta.url), [point]);
    const [, signal] = await once(worker, 'exit');
    assert.equal(signal, 'SIGKILL');
    assert.equal(await statesOf(id), 'in_flight');
    assert.equal(await db().webhook_attempts.count({ where: { webhook_id: id } }), 0);
    assert.equal(seen.length, twice ? 1 : 0);
    // The lock of a worker that died runs out by itself, after two minutes.
    await sql().query("update deliveries set locked_until = now() - interval '1 second' where destination_id = $1", [id]);
    await delivering(() => until(async () => (await statesOf(id)) === 'succeeded', 'it is delivered'));
    assert.equal(seen.length, twice ? 2 : 1);
    const ids = seen.map(({ headers }) => [headers['x-webhook-id'], headers['x-webhook-delivery'], headers['x-webhook-attempt']].join());
    assert.equal(new Set(ids).size, 1);
    const [delivery] = await deliveriesOf(id);
    const attempts = await db().webhook_attempts.findMany({ where: { webhook_id: id } });
    assert.deepEqual([delivery?.attempts, attempts.length, attempts[0]?.attempt], [1, 1, 1]);
    const row = await made(w.live, 'webhooks.get', { id });
    assert.deepEqual([row.trigger_count, row.success_count, row.failure_count], [1, 1, 0]);
  });

for (const point of DISPATCH_POINTS)
  test(`a worker killed between an event and its deliveries, at ${point}, neither loses nor doubles them`, async () => {
    const w = await workspace();
    const { seen, url } = await answering(200);
    const hooks = await Promise.all([webhookTo(w.live, url), webhookTo(w.live, url)]);
    await inTransaction(w.live, (tx) =>
      raise(
        tx,
        w.live,
        [1, 2, 3].map((n) => ({ type: 'secret.rotated', source_id: null, data: { n } }) as const),
      ),
    );
    const worker = fork(new URL('./killed-worker.fixture.ts', import.meta.url), [point]);
    const [, signal] = await once(worker, 'exit');
    assert.equal(signal, 'SIGKILL');
    const made = (await Promise.all(hooks.map(({ id }) => deliveriesOf(id)))).flat();
    assert.equal(made.length, point === 'dispatched' ? 6 : 0, 'all of them or none');
    assert.equal(seen.length, 0);
    const allSucceeded = async () => {
      const states = await Promise.all(hooks.map(({ id }) => statesOf(id)));
      return states.every((one) => one === 'succeeded,succeeded,succeeded');
    };
    await delivering(() => until(allSucceeded, 'all are delivered'));
    assert.equal(new Set(seen.map(({ headers }) => headers['x-webhook-delivery'])).size, 6);
    assert.equal(seen.length, 6, 'each once');
  });
