import assert from 'node:assert/strict';
import test from 'node:test';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { rewrap, rotateTenantKey } from '../keys/service.ts';
import { type DomainEvent, eventData, pruneEvents, raise } from './service.ts';

await testDatabase();

const subscribe = (ctx: Ctx, event_types: string[], enabled = true) =>
  db().event_subscriptions.create({
    data: { id: newId(), tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, channel: 'test', destination_id: newId(), event_types, enabled },
  });
const eventsOf = (ctx: Ctx) =>
  db().events.findMany({ where: { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox }, orderBy: { created_at: 'asc' } });
const rotated: DomainEvent = { type: 'secret.rotated', source_id: null, data: { note: 'plain to see' } };

test('an event exists when its transaction commits, and not otherwise', async () => {
  const w = await workspace();
  await subscribe(w.live, ['secret.rotated']);
  await assert.rejects(
    inTransaction(w.live, async (tx) => {
      await raise(tx, w.live, [rotated]);
      throw new Error('changed my mind');
    }),
  );
  assert.deepEqual(await eventsOf(w.live), []);
  await inTransaction(w.live, (tx) => raise(tx, w.live, [rotated]));
  assert.equal((await eventsOf(w.live)).length, 1);
});

test('nothing is written without a matching subscription of the same workspace and space', async () => {
  const [w, other] = [await workspace(), await workspace()];
  await subscribe(w.live, ['secret.expired']);
  await subscribe(w.live, ['secret.rotated'], false);
  await subscribe(w.test, ['secret.rotated', 'audit.event']);
  await subscribe(other.live, ['secret.rotated', 'audit.event']);
  await inTransaction(w.live, (tx) => raise(tx, w.live, [rotated]));
  await mutate(w.live, async () => audited(undefined, { action: 'update', resource_type: 'route', resource_id: null }));
  assert.deepEqual([...(await eventsOf(w.live)), ...(await eventsOf(w.test)), ...(await eventsOf(other.live))], []);
});

test('every audit entry is an event, in the space it is stamped with and in its transaction', async () => {
  const w = await workspace();
  await subscribe(w.live, ['audit.event']);
  await subscribe(w.test, ['audit.event']);
  const entry = { action: 'update', resource_type: 'route', resource_id: newId() };
  await mutate(w.live, async () => audited(undefined, entry, entry));
  await mutate(w.test, async () => audited(undefined, { ...entry, workspace_level: true }));
  await mutate(w.test, async () => audited(undefined, entry));
  await assert.rejects(
    inTransaction(w.live, async (tx) => {
      await mutate({ ...w.live, tx }, async () => audited(undefined, entry));
      throw new Error('changed my mind');
    }),
  );
  assert.deepEqual([(await eventsOf(w.live)).length, (await eventsOf(w.test)).length], [3, 1]);
  const [event] = await eventsOf(w.test);
  const audit = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox: true } });
  assert.deepEqual([event?.type, event?.source_id, event?.payload_ct], ['audit.event', audit.id, null]);
});

test('the data of an event is sealed, and opens after the key of the workspace was rotated', async () => {
  const w = await workspace();
  await subscribe(w.test, ['secret.rotated']);
  await inTransaction(w.test, (tx) => raise(tx, w.test, [rotated]));
  const [before] = await eventsOf(w.test);
  assert.ok(before?.payload_ct && !Buffer.from(before.payload_ct).includes('plain'));
  const { rewrap_lease_id } = await rotateTenantKey(w.member('owner'));
  await rewrap(rewrap_lease_id!, { pause: 0 });
  const [after] = await eventsOf(w.test);
  assert.equal(after?.tmk_version, (before.tmk_version ?? 0) + 1);
  assert.deepEqual(await eventData(after!), rotated.data);
  await assert.rejects(eventData({ ...after!, sandbox: false }), 'it fits its own space only');
});

test('a workspace sees its own events only, and changes none', async () => {
  const [w, other] = [await workspace(), await workspace()];
  for (const { live } of [w, other]) {
    await subscribe(live, ['secret.rotated']);
    await inTransaction(live, (tx) => raise(tx, live, [rotated]));
  }
  assert.equal((await inTransaction(w.live, (tx) => tx.events.findMany())).length, 1);
  assert.equal((await inTransaction(w.test, (tx) => tx.events.findMany())).length, 0);
  await inTransaction(w.live, (tx) => raise(tx, other.live, [rotated]));
  assert.equal((await eventsOf(other.live)).length, 1, 'nothing for another workspace');
  await assert.rejects(
    inTransaction(w.live, (tx) => tx.events.updateMany({ data: { type: 'other' } })),
    /permission denied/,
  );
});

test('a new value of a secret is an event, its first value is not', async () => {
  const w = await workspace();
  await subscribe(w.live, ['secret.rotated']);
  const secret = await made(w.live, 'secrets.create', { name: fresh('ROTATED'), value: 'first' });
  assert.deepEqual(await eventsOf(w.live), []);
  await made(w.live, 'secrets.put_value', { id: secret.id, environment: 'production', value: 'second' });
  const [event] = await eventsOf(w.live);
  assert.equal(event?.source_id, secret.id);
  const data = await eventData(event!);
  assert.deepEqual(data, { id: secret.id, name: secret.name, secret_type: 'string', environment: 'production', value_version: 2 });
});

test('events are deleted with their deliveries when they can no longer be delivered', async () => {
  const w = await workspace();
  const { channel, destination_id } = await subscribe(w.live, ['secret.rotated']);
  await inTransaction(w.live, (tx) => raise(tx, { ...w.live, now: new Date(Date.now() - 15 * 86_400_000) }, [rotated]));
  await inTransaction(w.live, (tx) => raise(tx, w.live, [rotated]));
  const [old, young] = await eventsOf(w.live);
  const own = { tenant_id: w.tenant.id, sandbox: false };
  await db().deliveries.create({ data: { ...own, id: newId(), event_id: old!.id, channel, destination_id, max_attempts: 1 } });
  assert.ok((await pruneEvents(new Date())) >= 1);
  assert.deepEqual(
    (await eventsOf(w.live)).map(({ id }) => id),
    [young!.id],
  );
  assert.equal(await db().deliveries.count({ where: { tenant_id: w.tenant.id } }), 0);
});
