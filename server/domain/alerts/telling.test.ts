import assert from 'node:assert/strict';
import test from 'node:test';
import { alertChannel } from '#server/domain/alert-channels/channel.ts';
import { ALERT_CHANNEL } from '#server/domain/alert-channels/service.ts';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { due, receiver, statesOf } from '#server/domain/webhooks/receiver.fixture.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { alertOf, at, calls, channelOf, failing, incidentsOf, kindsTo, look, messagesTo, stateOf } from './watching.fixture.ts';

await ownDatabase();

const failures = { type: 'request_failures', condition: { threshold: 5, window_minutes: 1 } };
const signing_secret = 'a signing secret of 24 characters';

test('from failing calls to a signed message and back: the receiver hears of the start and of the end, with the same incident', async () => {
  const w = await workspace();
  const { seen, url } = await receiver();
  const channel = await channelOf(w.live, { kind: 'webhook', url, signing_secret });
  const { id } = await alertOf(w.live, { ...failures, channel_ids: [channel] });
  const sent = await calls(w.live, 5, new Date(), failing);
  const engine = startDeliveries({ [ALERT_CHANNEL]: alertChannel() }, { pauseMs: 50 });
  try {
    await look(new Date());
    await until(async () => (await statesOf(channel)) === 'succeeded', 'it is told');
    for (const minutes of [2, 3, 4]) await look(new Date(Date.now() + minutes * 60_000));
    await due(channel);
    await until(async () => (await statesOf(channel)) === 'succeeded,succeeded', 'its end is told');
  } finally {
    await engine.stop();
  }
  const [incident] = await incidentsOf(id);
  assert.deepEqual(
    seen.map(({ envelope: { event, data } }) => [event, data.incident_id, data.peak]),
    [
      ['alert.triggered', incident?.id, 5],
      ['alert.resolved', incident?.id, 5],
    ],
  );
  assert.deepEqual(seen[0]?.envelope.data.sample_request_ids.toSorted(), sent.toSorted());
  const shown = await made(w.live, 'alerts.incident', { id: incident?.id });
  assert.deepEqual(
    shown.timeline.map(({ kind, message, deliveries }: { kind: string; message: string; deliveries: { state: string }[] }) => [
      kind,
      message,
      deliveries.map(({ state }) => state).join(),
    ]),
    [
      ['opened', null, ''],
      ['message', 'opened', 'succeeded'],
      ['resolved', null, ''],
      ['message', 'resolved', 'succeeded'],
    ],
  );
});

test('a crash between the decision and its message leaves neither: the next look decides once, and one message has one ID', async () => {
  const w = await workspace();
  const channel = await channelOf(w.live);
  const { id } = await alertOf(w.live, { ...failures, channel_ids: [channel] });
  await calls(w.live, 5, at(1), failing);
  // The database gives up at each step of the decision in turn, as a process that is killed there would.
  for (const table of ['alert_incident_entries', 'events', 'deliveries']) {
    await sql().query(`create function fail_here() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$`);
    await sql().query(`create trigger fail_here before insert on ${table} for each row execute function fail_here()`);
    const done = await look(at(1, 30));
    await sql().query('drop function fail_here cascade');
    assert.deepEqual([done.opened, (await incidentsOf(id)).length, await messagesTo(channel), await stateOf(id)], [0, 0, [], 'ok'], table);
  }
  await look(at(1, 40));
  await look(at(1, 50));
  const messages = await messagesTo(channel);
  assert.deepEqual([(await incidentsOf(id)).length, messages.length], [1, 1]);
  // The end as well.
  await look(at(3));
  await sql().query(`create function fail_here() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$`);
  await sql().query('create trigger fail_here before insert on deliveries for each row execute function fail_here()');
  await look(at(4));
  await sql().query('drop function fail_here cascade');
  assert.deepEqual([(await incidentsOf(id))[0]?.state, await kindsTo(channel)], ['open', ['opened']]);
  await look(at(4, 30));
  assert.deepEqual([(await incidentsOf(id))[0]?.state, await kindsTo(channel)], ['resolved', ['opened', 'resolved']]);
  assert.equal(new Set((await messagesTo(channel)).map(({ event_id }) => event_id)).size, 2);
});

test('a workspace whose decision fails holds up no other', async () => {
  const [broken, fine] = [await workspace(), await workspace()];
  const ids = [];
  for (const w of [broken, fine]) {
    ids.push((await alertOf(w.live, failures)).id);
    await calls(w.live, 5, at(1), failing);
  }
  await sql().query(`create function fail_here() returns trigger language plpgsql as $$ begin
    if new.tenant_id = '${broken.tenant.id}' then raise exception 'no'; end if; return new; end $$`);
  await sql().query('create trigger fail_here before insert on alert_incidents for each row execute function fail_here()');
  await look(at(1, 30));
  await sql().query('drop function fail_here cascade');
  assert.deepEqual(await Promise.all(ids.map(async (id) => (await incidentsOf(id)).length)), [0, 1]);
});

test('an alert that changes while it is looked at is decided about by its new condition', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, failures);
  await calls(w.live, 5, at(1), failing);
  await look(at(1, 30));
  const updated = await made(w.live, 'alerts.update', { id, condition: { threshold: 50 } });
  assert.deepEqual(
    [updated.condition.threshold, updated.condition.window_minutes, updated.open_incidents, updated.state],
    [50, 1, 0, 'ok'],
  );
  await look(at(1, 50));
  assert.deepEqual(
    (await incidentsOf(id)).map(({ state }) => state),
    ['resolved'],
  );
});

test('an incident shows what was changed just before it, and takes notes', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, failures);
  const environment = await made(w.live, 'environments.create', { name: `e${Date.now()}` });
  await calls(w.live, 5, new Date(), failing);
  await look(new Date(Date.now() + 1_000));
  const [incident] = await incidentsOf(id);
  await made({ ...w.live, now: new Date(Date.now() + 2_000) }, 'alerts.note', { id: incident?.id, text: 'Rolled back to 41.' });
  const shown = await made(w.live, 'alerts.incident', { id: incident?.id });
  assert.ok(shown.changes.some(({ resource_id }: { resource_id: string }) => resource_id === environment.id));
  assert.deepEqual(
    shown.timeline.map(({ kind, text }: { kind: string; text: string | null }) => [kind, text?.slice(0, 11) ?? null]),
    [
      ['opened', '5 or more c'],
      ['note', 'Rolled back'],
    ],
  );
  await made(w.live, 'alerts.acknowledge', { id: incident?.id });
  await assert.rejects(made(w.live, 'alerts.acknowledge', { id: incident?.id }), { type: 'conflict' });
  const audit = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: id, action: 'update' } });
  assert.deepEqual(audit.map(({ details }) => (details as { operation?: string }).operation).sort(), ['acknowledge', 'note']);
});

test('the test of an alert tells each of its channels at once', async () => {
  const w = await workspace();
  const { seen, url } = await receiver();
  const channels = [
    await channelOf(w.live, { kind: 'discord', url }),
    await channelOf(w.live, { kind: 'discord', url: 'http://127.0.0.1:65001/nobody' }),
  ];
  const { id } = await alertOf(w.live, { ...failures, channel_ids: channels });
  const trial = await made(w.live, 'alerts.test', { id });
  const rows = (trial.rows ?? trial) as { channel_id: string; ok: boolean; error: string | null }[];
  assert.deepEqual(
    channels.map((channel) => rows.find(({ channel_id }) => channel_id === channel)?.ok),
    [true, false],
  );
  assert.match(seen[0]?.envelope.embeds[0].title, /^Test: alert/);
  await assert.rejects(made(w.live, 'alerts.test', { id: (await alertOf(w.live, failures)).id }), { type: 'conflict' });
});
