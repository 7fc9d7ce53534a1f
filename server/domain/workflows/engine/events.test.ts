import assert from 'node:assert/strict';
import test from 'node:test';
import { type EventRow, eventData } from '#server/domain/events/service.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { cancelExecution } from './executions.ts';
import { definitionOf, ended, executionOf, started, stored, working } from './running.fixture.ts';
import { claim } from './store.ts';

await ownDatabase();

test('a cancelled run that a worker is about to claim stays cancelled', async () => {
  const { live } = await workspace();
  const id = await started(live, await stored(live, definitionOf({ a: ['transform', { template: 1 }] }, ['trigger>a'])));
  const holding = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const cancelling = inTransaction(live, async (tx) => {
    await cancelExecution(tx, live, id);
    holding.resolve();
    await release.promise;
  });
  await holding.promise;
  const claiming = claim(sql(), '01a20ae2-e39f-7000-a19e-6509f649428c', 10, new Date());
  await until(async () => {
    const { rows } = await sql().query(
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%workflow_executions%'",
    );
    return rows.length > 0;
  }, 'the claim waits for the row');
  release.resolve();
  await cancelling;
  assert.deepEqual([(await claiming).length, (await executionOf(id)).status], [0, 'cancelled']);
});

test('the end of a run is an event, with what failed and without inputs and outputs; a cancelled run raises none', async () => {
  const { live } = await workspace();
  working();
  await made(live, 'webhooks.create', {
    name: fresh('hook'),
    url: 'https://example.com/hook',
    event_types: ['workflow.execution.completed', 'workflow.execution.failed'],
  });
  const fine = await stored(live, definitionOf({ a: ['transform', { template: '{{trigger.data.private}}' }] }, ['trigger>a']));
  const bad = await stored(
    live,
    definitionOf({ a: ['transform', { template: 1 }], b: ['transform', { template: '{{' }] }, ['trigger>a', 'a>b']),
  );
  const one = await ended(await started(live, fine, { private: 'sensitive-input' }));
  const two = await ended(await started(live, bad));
  const slow = await started(live, await stored(live, definitionOf({ d: ['delay', { amount: 1, unit: 'days' }] }, ['trigger>d'])));
  await until(async () => (await executionOf(slow)).status === 'waiting', 'it waits');
  await inTransaction(live, (tx) => cancelExecution(tx, live, slow));
  const events = (await db().events.findMany({
    where: { tenant_id: live.tenant_id, type: { startsWith: 'workflow.' } },
    orderBy: { occurred_at: 'asc' },
  })) as unknown as EventRow[];
  assert.deepEqual(
    events.map(({ type, source_id }) => [type, source_id]),
    [
      ['workflow.execution.completed', one.id],
      ['workflow.execution.failed', two.id],
    ],
  );
  const [completed, failed] = await Promise.all(events.map(eventData));
  assert.ok(!JSON.stringify(completed).includes('sensitive-input'));
  const { started_at, completed_at, execution_time_ms, ...rest } = failed ?? {};
  assert.deepEqual(rest, {
    execution_id: two.id,
    workflow_id: bad.id,
    workflow_name: bad.name,
    workflow_version: 1,
    status: 'failed',
    trigger_type: 'manual',
    error_message: two.error_message,
    failed_node_id: 'b',
    operations: 2,
  });
  assert.ok(typeof started_at === 'string' && typeof completed_at === 'string' && typeof execution_time_ms === 'number');
  const quiet = await workspace();
  await ended(await started(quiet.live, await stored(quiet.live, definitionOf({ a: ['transform', { template: 1 }] }, ['trigger>a']))));
  assert.equal(await db().events.count({ where: { tenant_id: quiet.tenant.id } }), 0, 'nobody wants it');
});
