import assert from 'node:assert/strict';
import test from 'node:test';
import type { Attempt } from '#server/domain/deliveries/service.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { joined } from '#server/testing/mailbox.ts';
import { workspace } from '#server/testing/workspace.ts';
import type { Definition } from './definition.shared.ts';
import { definitionOf, ended, runsOf, started, stored, working } from './engine/running.fixture.ts';
import { workflowChannel } from './event-channel.ts';
import { requestIdOf, runsBehind } from './nodes/request-ids.ts';
import { startScheduled } from './schedule-runs.ts';
import { syncSchedule, syncSubscription } from './schedules.ts';

await ownDatabase();

const on = { enabled: true, disabled_reason: null };
const scheduled = (config: Record<string, unknown>): Definition =>
  definitionOf({ a: ['transform', { template: '{{trigger.data}}' }] }, ['trigger>a'], { triggerType: 'schedule', ...config });
const executionsOf = (id: string) => db().workflow_executions.findMany({ where: { workflow_id: id }, orderBy: { created_at: 'asc' } });
const nextOf = async (id: string) => (await db().workflow_schedules.findUnique({ where: { workflow_id: id } }))?.next_fire_at;

test('a schedule starts its workflow once at its time, once after a downtime, and not while a run of it is open', async () => {
  const { live } = await workspace();
  const now = new Date('2027-01-10T12:03:00Z');
  const ctx = { ...live, now };
  const row = await stored(live, scheduled({ cron: '*/15 * * * *' }), on);
  await inTransaction(ctx, (tx) => syncSchedule(tx, ctx, row, 1));
  assert.equal((await nextOf(row.id))?.toISOString(), '2027-01-10T12:15:00.000Z');
  assert.equal(await startScheduled(db(), new Date('2027-01-10T12:14:59Z')), 0);
  assert.deepEqual(
    await Promise.all([1, 2, 3].map(() => startScheduled(db(), new Date('2027-01-10T12:15:01Z')))).then((all) =>
      all.reduce((a, b) => a + b),
    ),
    1,
  );
  assert.equal((await nextOf(row.id))?.toISOString(), '2027-01-10T12:30:00.000Z');
  // The first run is still queued: skipped.
  assert.equal(await startScheduled(db(), new Date('2027-01-10T12:30:01Z')), 0);
  await sql().query("update workflow_executions set status = 'completed', completed_at = now() where workflow_id = $1", [row.id]);
  // A day without workers.
  assert.equal(await startScheduled(db(), new Date('2027-01-11T12:31:00Z')), 1);
  assert.equal((await nextOf(row.id))?.toISOString(), '2027-01-11T12:45:00.000Z');
  assert.deepEqual(
    (await executionsOf(row.id)).map(({ trigger_type, status }) => [trigger_type, status]),
    [
      ['schedule', 'completed'],
      ['schedule', 'queued'],
    ],
  );
});

test('every so many minutes keeps its rhythm, and a workflow that is off has no schedule', async () => {
  const { live } = await workspace();
  const ctx = { ...live, now: new Date('2027-02-01T10:00:00Z') };
  const row = await stored(live, scheduled({ every: { minutes: 20 }, overlap: 'queue' }), on);
  await inTransaction(ctx, (tx) => syncSchedule(tx, ctx, row, 1));
  assert.equal(await startScheduled(db(), new Date('2027-02-01T10:21:00Z')), 1);
  assert.equal(await startScheduled(db(), new Date('2027-02-01T11:05:00Z')), 1, 'a queue takes it, whatever is open');
  assert.equal((await nextOf(row.id))?.toISOString(), '2027-02-01T11:20:00.000Z');
  await db().workflows.update({ where: { id: row.id }, data: { enabled: false, disabled_reason: 'manual' } });
  assert.equal(await startScheduled(db(), new Date('2027-02-01T12:05:00Z')), 0);
  assert.equal(await nextOf(row.id), undefined);
  assert.equal((await executionsOf(row.id)).length, 2);
  const often = await stored(live, scheduled({ every: { minutes: 5 } }), on);
  await assert.rejects(
    inTransaction(ctx, (tx) => syncSchedule(tx, ctx, often, 15)),
    { type: 'validation_error' },
  );
});

test('a due workflow whose stored schedule cannot be read is turned off, audited and reported by mail', async () => {
  const due = new Date('2027-03-01T10:00:00Z');
  for (const broken of [
    { cron: '0 0 L * *' },
    { cron: '0 0 30 2 *' },
    { every: { minutes: 0 } },
    { cron: '0 9 * * *', timezone: 'Mars/Olympus' },
  ]) {
    const w = await workspace();
    const recipient = await joined(w.tenant.id, 'owner');
    const row = await stored(w.live, scheduled(broken), { ...on, published_at: new Date('2027-01-01T00:00:00Z') });
    const place = { tenant_id: w.tenant.id, sandbox: false };
    await db().workflow_schedules.create({
      data: { ...place, workflow_id: row.id, every_minutes: 60, timezone: 'UTC', overlap: 'skip', next_fire_at: due },
    });
    assert.equal(await startScheduled(db(), due), 0);
    const after = await db().workflows.findUniqueOrThrow({ where: { id: row.id } });
    assert.deepEqual([after.enabled, after.disabled_reason, await nextOf(row.id)], [false, 'invalid_definition', undefined]);
    const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: row.id } });
    assert.deepEqual(
      entries.map(({ action, actor_type, details }) => [action, actor_type, (details as { reason?: string }).reason]),
      [['disable', 'system', 'invalid_definition']],
    );
    const [mail] = await db().mails.findMany({ where: { recipient, kind: 'workflow_invalid' } });
    assert.match(mail?.text ?? '', new RegExp(`"${row.name}" was turned off`));
  }
});

const deliver = (workflow: { id: string; tenant_id: string; sandbox: boolean }, data: Record<string, unknown>, id = newId()) => {
  const { tenant_id, sandbox } = workflow;
  const event = { id, type: 'request.server_error', occurred_at: new Date(), data };
  const attempt: Attempt = { delivery_id: newId(), destination_id: workflow.id, tenant_id, sandbox, number: 1, trigger: 'event', event };
  return workflowChannel().deliver(attempt, new AbortController().signal);
};
const listening = (conditions: unknown[] = []) =>
  definitionOf({ a: ['transform', { template: 1 }] }, ['trigger>a'], {
    triggerType: 'proxy_event',
    proxyEventConfig: { eventTypes: ['request.server_error'], conditions },
  });

test('an event starts a workflow once, however often it is delivered, if its conditions hold', async () => {
  const { live } = await workspace();
  const row = await stored(
    live,
    listening([
      { field: 'status', operator: 'gte', value: '500' },
      { field: 'method', operator: 'in', value: ['GET'] },
    ]),
    on,
  );
  const data = { route_name: 'r', request: { method: 'GET', path: '/' }, response: { status: 502 } };
  const id = newId();
  await Promise.all([deliver(row, data, id), deliver(row, data, id)].map((one) => one.catch(() => {})));
  await deliver(row, data, id);
  await deliver(row, { ...data, response: { status: 404 } });
  await deliver(row, { ...data, request: { method: 'POST' } });
  const [one, ...more] = await executionsOf(row.id);
  assert.deepEqual(
    [one?.trigger_type, one?.triggered_by, more.length],
    ['proxy_event', { type: 'system', id: null, label: 'request.server_error' }, 0],
  );
  await db().workflows.update({ where: { id: row.id }, data: { enabled: false, disabled_reason: 'manual' } });
  assert.deepEqual(await deliver(row, data), { result: 'dropped' });
});

test('a call that a run made starts neither its own workflow, nor one that led to it, nor a sixth in a row', async () => {
  const { live } = await workspace();
  const place = { tenant_id: live.tenant_id, sandbox: false };
  const [caller, other] = [await stored(live, listening(), on), await stored(live, listening(), on)];
  const callBy = async (chain: string[]) => {
    const execution = await started(live, caller, null, { chain });
    const run = newId();
    await db().workflow_node_executions.create({
      data: { ...place, id: run, execution_id: execution, node_id: 'r', node_name: 'r', node_type: 'route_request', status: 'succeeded' },
    });
    return { request_id: requestIdOf(run, 3), response: { status: 500 } };
  };
  const count = async () => (await executionsOf(other.id)).length;
  await deliver(caller, await callBy([]));
  assert.equal((await executionsOf(caller.id)).filter(({ trigger_type }) => trigger_type === 'proxy_event').length, 0);
  await deliver(other, await callBy([]));
  assert.equal(await count(), 1);
  await deliver(other, await callBy([other.id]));
  await deliver(other, await callBy([newId(), newId(), newId(), newId(), newId()]));
  assert.equal(await count(), 1);
  await deliver(other, await callBy([newId(), newId(), newId(), newId()]));
  assert.equal(await count(), 2);
  const run = newId();
  for (let attempt = 1; attempt <= 6; attempt++) assert.ok(runsBehind(requestIdOf(run, attempt)).includes(run));
});

test('a workflow that starts more than 600 times in a minute is turned off and audited', async () => {
  const w = await workspace();
  const row = await stored(w.live, listening(), on);
  await inTransaction(w.live, (tx) => syncSubscription(tx, w.live, { ...row, enabled: true }));
  await started(w.live, row);
  await sql().query(
    `insert into workflow_executions (id, tenant_id, sandbox, workflow_id, workflow_version, status, trigger_type, triggered_by, timeout_seconds, value_ct, cek_wrapped, tmk_version)
     select gen_random_uuid(), e.tenant_id, e.sandbox, e.workflow_id, 1, 'completed', 'proxy_event', '{}', 300, '', '', 1 from workflow_executions e cross join generate_series(1, 599) where e.workflow_id = $1`,
    [row.id],
  );
  await deliver(row, { response: { status: 500 } });
  const after = await db().workflows.findUniqueOrThrow({ where: { id: row.id } });
  assert.deepEqual([after.enabled, after.disabled_reason, (await executionsOf(row.id)).length], [false, 'runaway', 600]);
  assert.equal(await db().event_subscriptions.count({ where: { destination_id: row.id } }), 0);
  const [entry] = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: row.id } });
  assert.deepEqual([entry?.action, entry?.actor_type], ['disable', 'system']);
  assert.equal(systemContext(db(), { tenant_id: w.tenant.id, now: new Date(), label: 'x' }).actor.type, 'system');
});

test('a workflow is started without headers and bodies of the call, which people read by a reveal', async () => {
  const { live } = await workspace();
  const row = await stored(live, listening(), on);
  const kept = { headers: { 'x-patient': 'kept of the call' }, body: { patient: 'kept of the call' } };
  await deliver(row, { route_name: 'r', request: { method: 'GET', ...kept }, response: { status: 502, ...kept } });
  const [run] = await executionsOf(row.id);
  assert.ok(run);
  const { stop } = working();
  await ended(run.id);
  await stop();
  const shown = JSON.stringify(await runsOf(live, run.id));
  assert.ok(shown.includes('"status":502') && !shown.includes('kept of the call'), shown);
});
