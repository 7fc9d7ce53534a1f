import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { keyring } from '#server/platform/keys.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { definitionOf, ended, executionOf, runsOf, started, stored, working } from './running.fixture.ts';

await ownDatabase();
const DAY = 86_400_000;
let ahead = 0;
working({ clock: () => new Date(Date.now() + ahead) });

test('a delay of 30 days holds no worker, and ends when its time has come', async () => {
  const { live } = await workspace();
  const definition = definitionOf(
    { wait: ['delay', { amount: 30, unit: 'days' }], after: ['transform', { template: '{{wait.resumed_at}}' }] },
    ['trigger>wait', 'wait>after'],
  );
  const id = await started(live, await stored(live, definition, { timeout_seconds: 1 }));
  const shorter = definitionOf({ wait: ['delay', { amount: 29, unit: 'days' }] }, ['trigger>wait']);
  const witness = await started(live, await stored(live, shorter));
  for (const one of [id, witness]) await until(async () => (await executionOf(one)).status === 'waiting', 'it waits');
  const asleep = await executionOf(id);
  assert.equal(asleep.locked_by, null);
  assert.ok(Math.abs((asleep.wakes_at?.getTime() ?? 0) - Date.now() - 30 * DAY) < 60_000);
  ahead = 30 * DAY - 120_000;
  await ended(witness);
  assert.equal((await executionOf(id)).status, 'waiting', 'workers have looked for what is due');
  ahead = 30 * DAY + 1_000;
  const execution = await ended(id);
  assert.equal(execution.status, 'completed', 'its second of active time is not used up by the delay');
  assert.ok(String((await runsOf(live, id)).find(({ node_id }) => node_id === 'after')?.output) > asleep.created_at.toISOString());
});

test('a run older than 35 days ends', async () => {
  ahead = 0;
  const { live } = await workspace();
  const definition = definitionOf({ one: ['delay', { amount: 30, unit: 'days' }], two: ['delay', { amount: 30, unit: 'days' }] }, [
    'trigger>one',
    'one>two',
  ]);
  const id = await started(live, await stored(live, definition));
  for (const days of [30.1, 60.2]) {
    await until(async () => (await executionOf(id)).status === 'waiting', 'it waits');
    const before = (await executionOf(id)).wakes_at?.getTime();
    ahead = days * DAY;
    await until(async () => (await executionOf(id)).wakes_at?.getTime() !== before, 'it went on');
  }
  assert.deepEqual([(await ended(id)).status, (await executionOf(id)).error_code], ['failed', 'execution_timeout']);
});

test('a run of a sealed workspace waits for its key, and ends at 35 days with the reason', async () => {
  ahead = 0;
  const { live, tenant } = await workspace();
  const definition = definitionOf({ wait: ['delay', { amount: 30, unit: 'days' }] }, ['trigger>wait']);
  const id = await started(live, await stored(live, definition));
  const cancelled = await started(live, await stored(live, definition));
  for (const one of [id, cancelled]) await until(async () => (await executionOf(one)).status === 'waiting', 'it waits');
  await db().tenant_master_keys.updateMany({ where: { tenant_id: tenant.id }, data: { wrapped_key: null } });
  keyring().evict(tenant.id);
  const before = (await executionOf(id)).wakes_at?.getTime();
  ahead = 30.1 * DAY;
  await until(async () => (await executionOf(id)).wakes_at?.getTime() !== before, 'it was looked at');
  await until(async () => (await executionOf(id)).status === 'waiting', 'it waits for the key');
  await db().workflow_executions.update({ where: { id: cancelled }, data: { status: 'cancelling', locked_until: new Date(0) } });
  assert.equal((await ended(cancelled)).status, 'cancelled', 'one that is to be cancelled is, without its values');
  ahead = 35.1 * DAY;
  const { status, error_code, error_message } = await ended(id);
  assert.deepEqual([status, error_code], ['failed', 'execution_timeout']);
  assert.match(String(error_message), /older than 35 days.*the key of the workspace, which is unavailable: restore the key, then retry/);
  const rows = await db().workflow_node_executions.findMany({ where: { execution_id: id } });
  assert.deepEqual(
    rows.filter((row) => row.status === 'running' || row.status === 'pending'),
    [],
  );
  assert.equal(await db().workflow_timers.count({ where: { execution_id: id } }), 0);
});

test('a delay until a time waits for it, one that is past is over at once, and one beyond 30 days fails', async () => {
  ahead = 0;
  const { live } = await workspace();
  const wait = definitionOf({ wait: ['delay', { until: '{{trigger.data.at}}' }] }, ['trigger>wait']);
  const workflow = await stored(live, wait);
  const at = (ms: number) => started(live, workflow, { at: new Date(Date.now() + ms).toISOString() });
  assert.equal((await ended(await at(-DAY))).status, 'completed');
  assert.equal((await ended(await at(31 * DAY))).error_code, 'invalid_config');
  const later = await at(DAY);
  await until(async () => (await executionOf(later)).status === 'waiting', 'it waits');
  ahead = DAY + 1_000;
  assert.equal((await ended(later)).status, 'completed');
});
