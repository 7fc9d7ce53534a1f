import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { scrape } from '#server/platform/telemetry/scrape.fixture.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { leaseKinds } from './leases.ts';
import { measureWorker } from './worker-meters.ts';

await ownDatabase();

/** Made so many seconds ago, and looked at within some minutes. */
const isAbout = (seconds = 0, made: number) => seconds >= made && seconds < made + 600;

test('what waits for workers is counted, with the time of the oldest', async () => {
  const w = await workspace();
  await db().leases.deleteMany();
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const event = { tenant_id: w.tenant.id, sandbox: false, type: 'audit.event', occurred_at: ago(9_000), expires_at: ago(-3_600) };
  const [waiting, done] = [newId(), newId()];
  await db().events.createMany({
    data: [
      { ...event, id: waiting, dispatch_at: ago(9_000) },
      { ...event, id: done, dispatch_at: null },
    ],
  });
  const delivery = { tenant_id: w.tenant.id, sandbox: false, event_id: done, channel: 'webhook', max_attempts: 4 };
  await db().deliveries.createMany({
    data: [
      { ...delivery, id: newId(), destination_id: newId(), next_attempt_at: ago(4_000) },
      { ...delivery, id: newId(), destination_id: newId(), next_attempt_at: ago(-600) },
      { ...delivery, id: newId(), destination_id: newId(), state: 'succeeded' },
    ],
  });
  const [kind = ''] = leaseKinds;
  await db().leases.createMany({
    data: [
      { kind, resource_id: newId(), next_at: ago(2_500) },
      { kind, resource_id: newId(), next_at: ago(-600) },
    ],
  });
  const end = measureWorker();
  const { value } = await scrape();
  end();
  assert.equal(value('sallyport_outbox_events'), 1);
  assert.ok(isAbout(value('sallyport_outbox_age_seconds'), 9_000));
  assert.equal(value('sallyport_deliveries_waiting{state="pending"}'), 2);
  assert.ok(isAbout(value('sallyport_delivery_delay_seconds'), 4_000));
  assert.equal(value('sallyport_leases_due'), 1);
  assert.ok(isAbout(value('sallyport_lease_delay_seconds'), 2_500));
  assert.equal(value('sallyport_jobs_waiting{state="due"}'), 0);
});
