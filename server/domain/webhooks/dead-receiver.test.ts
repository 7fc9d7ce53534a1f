import assert from 'node:assert/strict';
import test from 'node:test';
import { raise } from '#server/domain/events/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { answering, delivering, receiver, webhookTo } from './receiver.fixture.ts';

await ownDatabase();

const WAITING = 2_000;
const EACH = 25;

const rotated = (ctx: Ctx, count: number) =>
  inTransaction(ctx, (tx) =>
    raise(
      tx,
      ctx,
      Array.from({ length: count }, (_, n) => ({ type: 'secret.rotated', source_id: null, data: { n } }) as const),
    ),
  );
const inState = (destination_id: string, state: string) => db().deliveries.count({ where: { destination_id, state } });

test('two thousand deliveries that wait for a dead receiver hold ten attempts, and every other delivery passes them', async () => {
  const [crowded, other] = [await workspace(), await workspace()];
  const dead = await receiver(() => {});
  const { id } = await webhookTo(crowded.live, dead.url, { event_types: ['secret.expired'], timeout_seconds: 60 });
  await inTransaction(crowded.live, (tx) => raise(tx, crowded.live, [{ type: 'secret.expired', source_id: id, data: {} }]));
  await sql().query(
    `insert into deliveries (id, tenant_id, sandbox, event_id, channel, destination_id, max_attempts, trigger)
     select gen_random_uuid(), tenant_id, sandbox, id, 'webhook', $1::uuid, 4, 'redelivery' from events, generate_series(2, ${WAITING}) where source_id = $1::text`,
    [id],
  );
  const good = await answering(200);
  const hooks = [await webhookTo(crowded.live, good.url), await webhookTo(crowded.test, good.url), await webhookTo(other.live, good.url)];
  await delivering(async () => {
    await until(() => dead.seen.length === 10, 'the receiver hangs');
    for (const ctx of [crowded.live, crowded.test, other.live]) await rotated(ctx, EACH);
    await until(
      async () => (await Promise.all(hooks.map((hook) => inState(hook.id, 'succeeded')))).every((n) => n === EACH),
      'the others arrive',
    );
    assert.equal(dead.seen.length, 10, 'no delivery had to wait for the end of a dead one');
    assert.deepEqual([await inState(id, 'in_flight'), await inState(id, 'pending')], [10, WAITING - 10]);
  });
  assert.equal(good.seen.length, hooks.length * EACH);
  assert.equal(await inState(id, 'pending'), WAITING, 'and none of the dead one is lost');
  assert.ok(good.seen.every(({ headers }) => headers['x-webhook-attempt'] === '1'));
});
