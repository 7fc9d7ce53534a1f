import assert from 'node:assert/strict';
import test from 'node:test';
import {
  alertOf,
  at,
  calls,
  channelOf,
  failing,
  incidentsOf,
  kindsTo,
  look,
  messagesTo,
  stateOf,
} from '#server/domain/alerts/watching.fixture.ts';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { raise } from '#server/domain/events/service.ts';
import { retryUnsentMails } from '#server/domain/mail/service.ts';
import { member } from '#server/domain/notifications/members.fixture.ts';
import { runNotifications } from '#server/domain/notifications/service.ts';
import { answering, statesOf } from '#server/domain/webhooks/receiver.fixture.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { type Death, died } from '#server/testing/dying.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { channels } from './channels.ts';

// Kill -9 of the worker's loops at each statement after which something is different. Deliveries of webhooks have more points: webhooks/killed-worker.test.ts.

await ownDatabase();

const worker = new URL('./killed-worker.fixture.ts', import.meta.url);
const [INCIDENT, ENTRY, EVENT, DELIVERY] = ['alert_incidents', 'alert_incident_entries', 'events', 'deliveries'].map(
  (table) => `insert into "public"."${table}"`,
) as [string, string, string, string];
const failures = { type: 'request_failures', condition: { threshold: 5, window_minutes: 1 } };

/** Of the decision that an incident began, and of the one that it ended. */
const LOOKS: [string, Death, written: boolean][] = [
  ['the look holds its lock', { at: ['pg_try_advisory_lock'], when: 'after' }, false],
  ['the timeline is written', { at: [ENTRY], when: 'after' }, false],
  ['the event is raised', { at: [EVENT], when: 'after' }, false],
  ['the message is queued', { at: [DELIVERY], when: 'after' }, false],
  ['the decision is about to commit', { at: [DELIVERY, 'commit'], when: 'before' }, false],
  ['the decision has committed', { at: [DELIVERY, 'commit'], when: 'after' }, true],
  ['the state is written', { at: ['update alerts a set state'], when: 'after' }, true],
];

for (const [point, death, written] of [['the incident is written', { at: [INCIDENT], when: 'after' }, false] as const, ...LOOKS])
  test(`a worker killed when an alert fires and ${point} leaves all of the decision or nothing, and people are told once`, async () => {
    const w = await workspace();
    const owner = await member(w, 'owner');
    const channel = await channelOf(w.live);
    const { id } = await alertOf(w.live, { ...failures, channel_ids: [channel] });
    await calls(w.live, 5, at(1), failing);
    assert.equal(await died(worker, death, 'alerts', at(1, 30).toISOString()), 'SIGKILL');
    const left = [(await incidentsOf(id)).length, (await messagesTo(channel)).length, await eventsOf(w.tenant.id, 'alert.triggered')];
    assert.deepEqual(left, written ? [1, 1, 1] : [0, 0, 0]);
    await lookAgain(at(1, 40));
    await look(at(1, 50));
    assert.deepEqual([(await incidentsOf(id)).length, await kindsTo(channel), await stateOf(id)], [1, ['opened'], 'firing']);
    assert.equal(await eventsOf(w.tenant.id, 'alert.triggered'), 1);
    assert.equal(await db().alert_incident_entries.count({ where: { tenant_id: w.tenant.id } }), 2, 'opened, and the message');
    await off(id);
    assert.equal(await db().notifications.count({ where: { user_id: owner.id } }), 0, 'that is up to the deliveries');
  });

for (const [point, death, written] of LOOKS)
  test(`a worker killed when an incident ends and ${point} leaves all of the decision or nothing, and people are told once`, async () => {
    const w = await workspace();
    await member(w, 'owner');
    const channel = await channelOf(w.live);
    const { id } = await alertOf(w.live, { ...failures, channel_ids: [channel] });
    await calls(w.live, 5, at(1), failing);
    await look(at(1, 30));
    await look(at(3));
    assert.equal(await died(worker, death, 'alerts', at(4).toISOString()), 'SIGKILL');
    const [left] = await incidentsOf(id);
    assert.deepEqual([left?.state, await kindsTo(channel)], written ? ['resolved', ['opened', 'resolved']] : ['open', ['opened']]);
    await lookAgain(at(4, 30));
    await look(at(5));
    assert.deepEqual(
      (await incidentsOf(id)).map(({ state }) => state),
      ['resolved'],
    );
    assert.deepEqual([await kindsTo(channel), await stateOf(id)], [['opened', 'resolved'], 'ok']);
    assert.equal(await eventsOf(w.tenant.id, 'alert.resolved'), 1);
    await off(id);
  });

/** What the end of an attempt is written with, whatever its channel. */
const [CLAIM, END] = ["update deliveries d set state = 'in_flight'", 'with ends as'];
const ATTEMPTS: [string, Death, times: number][] = [
  ['claimed', { at: [CLAIM, 'commit'], when: 'after' }, 1],
  ['made', { at: [END], when: 'before' }, 2],
  ['recorded', { at: [END, 'commit'], when: 'before' }, 2],
  ['over', { at: [END, 'commit'], when: 'after' }, 1],
];

for (const [point, death, times] of ATTEMPTS)
  test(`a worker killed when a message of an alert is ${point} tells its channel under one ID, and a person once`, async () => {
    const w = await workspace();
    const owner = await member(w, 'owner');
    const { seen, url } = await answering(200);
    const channel = await channelOf(w.live, { kind: 'webhook', url, signing_secret: 'a signing secret of 24 characters' });
    const { id } = await alertOf(w.live, { ...failures, channel_ids: [channel] });
    await calls(w.live, 5, at(1), failing);
    await look(at(1, 30));
    // The message alone: the events of the same decision are not dispatched yet.
    await nothingElseDue(w.tenant.id);
    await sql().query("update events set dispatch_at = now() + interval '1 hour' where dispatch_at is not null");
    assert.equal(await died(worker, death, 'deliveries'), 'SIGKILL');
    await sql().query("update deliveries set locked_until = now() - interval '1 second' where state = 'in_flight'");
    await sql().query('update events set dispatch_at = now() where dispatch_at is not null');
    await delivering(async () => {
      await until(async () => (await statesOf(channel)) === 'succeeded', 'it is told');
      await until(async () => (await db().notifications.count({ where: { user_id: owner.id } })) === 1, 'the owner is told');
    });
    assert.equal(seen.length, times);
    const [message] = await messagesTo(channel);
    assert.deepEqual([...new Set(seen.map(({ headers }) => headers['x-webhook-id']))], [message?.event_id]);
    assert.deepEqual(
      (await db().deliveries.findMany({ where: { destination_id: channel } })).map(({ attempts }) => attempts),
      [1],
    );
    await off(id);
  });

for (const [point, death] of [
  ['written', { at: ['insert into "public"."notifications"'], when: 'after' }],
  ['written and its delivery is not over', { at: ['insert into "public"."notifications"', END, 'commit'], when: 'before' }],
] as [string, Death][])
  test(`a worker killed when the notification of an event is ${point} writes it once`, async () => {
    const w = await workspace();
    const owner = await member(w, 'owner');
    const webhook_id = newId();
    const data = { webhook_id, webhook_name: 'orders', host: 'hooks.example.com', reason: 'gone' };
    await inTransaction(w.live, (tx) => raise(tx, w.live, [{ type: 'webhook.disabled', source_id: webhook_id, data }]));
    await nothingElseDue(w.tenant.id);
    assert.equal(await died(worker, death, 'deliveries'), 'SIGKILL');
    await sql().query("update deliveries set locked_until = now() - interval '1 second' where state = 'in_flight'");
    const done = () => db().deliveries.count({ where: { tenant_id: w.tenant.id, channel: 'inbox', state: 'succeeded' } });
    await delivering(() => until(async () => (await done()) === 1, 'its delivery is over'));
    assert.equal(await db().notifications.count({ where: { user_id: owner.id } }), 1);
  });

for (const [point, death] of [
  ['they are written', { at: ['insert into "public"."notifications"'], when: 'after' }],
  ['the place of the feed has moved', { at: ['update notification_feed'], when: 'after' }],
  ['they are about to commit', { at: ['update notification_feed', 'commit'], when: 'before' }],
  ['they have committed', { at: ['update notification_feed', 'commit'], when: 'after' }],
  ['the mail of them is being written', { at: ['update notifications set mail_at = null'], when: 'after' }],
  ['the mail is about to commit', { at: ['update notifications set mail_at = null', 'commit'], when: 'before' }],
  ['the mail has committed', { at: ['update notifications set mail_at = null', 'commit'], when: 'after' }],
] as [string, Death][])
  test(`a worker killed when entries of the audit log become notifications and ${point} tells and mails a person once`, async () => {
    const w = await workspace();
    const owner = await member(w, 'owner');
    const entry = { action: 'create', resource_type: 'ai_agent', resource_id: newId(), name: 'bot' };
    await mutate(w.live, async () => audited(undefined, entry));
    assert.equal(await died(worker, death, 'notifications'), 'SIGKILL');
    const told = () => db().notifications.findMany({ where: { user_id: owner.id } });
    const mails = () => db().mails.findMany({ where: { recipient: owner.email } });
    await until(async () => {
      await runNotifications(db(), new Date());
      return (await told()).length > 0 && (await told()).every(({ mail_at }) => mail_at === null);
    }, 'the owner is told and mailed');
    await runNotifications(db(), new Date());
    await backgroundSettled();
    await retryUnsentMails(db(), new Date(Date.now() + 3_600_000));
    assert.deepEqual([(await told()).length, (await mails()).length], [1, 1]);
    assert.ok(
      (await mails()).every(({ sent_at }) => sent_at !== null),
      'what a dead worker wrote another sends',
    );
  });

const eventsOf = (tenant_id: string, type: string) => db().events.count({ where: { tenant_id, type } });
/** Later tests look at their own alerts alone. */
const off = (id: string) => db().alerts.update({ where: { id }, data: { enabled: false } });

/** Ends what other tests left on its way: the worker would attempt that as well, and die at the end of an attempt that no test is about. */
async function nothingElseDue(tenant_id: string): Promise<void> {
  await sql().query('update events set dispatch_at = null where tenant_id <> $1 and dispatch_at is not null', [tenant_id]);
  await sql().query(
    `update deliveries set state = 'dropped', finished_at = now(), locked_by = null, locked_until = null
     where tenant_id <> $1 and state in ('pending', 'in_flight')`,
    [tenant_id],
  );
}

/** Looks once the database has noticed that the worker is gone: its connection held the lock of looks. */
async function lookAgain(now: Date): Promise<void> {
  await until(async () => (await look(now)).alerts > 0, 'a look');
}

async function delivering(work: () => Promise<unknown>): Promise<void> {
  const engine = startDeliveries(channels, { pauseMs: 50 });
  try {
    await work();
  } finally {
    await engine.stop();
  }
}
