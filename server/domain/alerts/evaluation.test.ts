import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { routeOf } from './routes.fixture.ts';
import { alertOf, at, calls, channelOf, failing, incidentsOf, kindsTo, look, lookFrom, messagesTo, stateOf } from './watching.fixture.ts';

await ownDatabase();

const failures = (over: Record<string, unknown> = {}) => ({
  type: 'request_failures',
  condition: { threshold: 5, window_minutes: 5, ...over },
});

test('an incident opens for a route when its calls reach the threshold, with its peak and calls to look at, and for no other', async () => {
  const w = await workspace();
  const [bad, good] = [await routeOf(w.live), await routeOf(w.live)];
  const { id } = await alertOf(w.live, failures());
  await calls(w.live, 4, at(1), { ...failing, route_id: bad.id });
  await calls(w.live, 4, at(1), { ...failing, route_id: good.id });
  await look(at(1, 30));
  assert.deepEqual(await incidentsOf(id), []);
  const last = await calls(w.live, 3, at(1, 40), { ...failing, route_id: bad.id });
  await look(at(1, 50));
  const [incident, ...more] = await incidentsOf(id);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [incident?.route_id, incident?.subject, incident?.value, incident?.peak, incident?.threshold, incident?.state],
    [bad.id, bad.name, 7, 7, 5, 'open'],
  );
  assert.ok(incident?.sample_request_ids.length === 5 && last.every((one) => incident.sample_request_ids.includes(one)));
  assert.equal(await stateOf(id), 'firing');
  await calls(w.live, 5, at(2), { ...failing, route_id: bad.id });
  await look(at(2, 20));
  assert.deepEqual(
    (await incidentsOf(id)).map(({ peak }) => peak),
    [12],
    'it goes on as one',
  );
});

test('only the statuses that are asked for count, and calls of the Test tab and of the other space never', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, failures({ include_status_codes: [429, 502] }));
  await calls(w.live, 9, at(1), failing);
  await calls(w.live, 9, at(1), { status_code: 404 });
  await calls(w.live, 9, at(1), { status_code: 502, proxy_mode: 'test' });
  await calls(w.test, 9, at(1), { status_code: 502 });
  await calls(w.live, 2, at(1), { status_code: 502 });
  await calls(w.live, 2, at(2), { status_code: 429 });
  await look(at(2, 30));
  assert.deepEqual(await incidentsOf(id), []);
  await calls(w.live, 1, at(2), { status_code: 429 });
  await look(at(2, 40));
  assert.deepEqual(
    (await incidentsOf(id)).map(({ value, subject }) => [value, subject]),
    [[5, 'Calls of no route']],
  );
});

test('a window is whole minutes: what is a second too far apart does not count together', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, failures({ threshold: 2, window_minutes: 2 }));
  await calls(w.live, 1, at(0, 59), failing);
  await calls(w.live, 1, at(2, 0), failing);
  await lookFrom(at(0), at(4));
  assert.deepEqual(await incidentsOf(id), []);
  await calls(w.live, 1, at(10, 0), failing);
  await calls(w.live, 1, at(11, 59), failing);
  await lookFrom(at(9), at(12));
  assert.equal((await incidentsOf(id)).length, 1);
});

test('a burst in the last second of a minute is seen in the next', async () => {
  const w = await workspace();
  const { id } = await alertOf(w.live, failures({ window_minutes: 1 }));
  await look(at(0, 45));
  await calls(w.live, 5, at(0, 59), failing);
  await look(at(1, 15));
  assert.equal((await incidentsOf(id)).length, 1);
});

test('an incident ends after two clean windows, not before, and a relapse begins the count anew', async () => {
  const w = await workspace();
  const channel = await channelOf(w.live);
  const { id } = await alertOf(w.live, { ...failures({ window_minutes: 2 }), channel_ids: [channel] });
  await calls(w.live, 5, at(0, 10), failing);
  await look(at(0, 20));
  // The window that ends with minute 1 has the burst, and is looked at in minute 2. Clean from minute 3 on: over in minute 5.
  await lookFrom(at(0, 50), at(4, 50));
  assert.deepEqual(
    (await incidentsOf(id)).map(({ state }) => state),
    ['open'],
  );
  await calls(w.live, 5, at(5, 0), failing);
  await look(at(5, 5));
  await lookFrom(at(5, 35), at(9, 35));
  assert.deepEqual(
    (await incidentsOf(id)).map(({ state }) => state),
    ['open'],
    'the relapse is the same incident',
  );
  await look(at(10, 10));
  const [incident] = await incidentsOf(id);
  assert.deepEqual([incident?.state, incident?.resolved_at], ['resolved', at(10, 10)]);
  assert.equal(await stateOf(id), 'ok');
  assert.deepEqual(await kindsTo(channel), ['opened', 'resolved'], 'one message at the start, one at the end');
});

test('while it fires people are reminded once a cooldown, and not after somebody acknowledged it', async () => {
  const w = await workspace();
  const channel = await channelOf(w.live);
  const { id } = await alertOf(w.live, { ...failures({ threshold: 1, window_minutes: 1 }), cooldown_minutes: 3, channel_ids: [channel] });
  for (let minute = 0; minute < 12; minute++) await calls(w.live, 1, at(minute), failing);
  await lookFrom(at(0, 5), at(6, 35));
  assert.deepEqual(await kindsTo(channel), ['opened', 'reminder', 'reminder']);
  const [incident] = await incidentsOf(id);
  await made(w.live, 'alerts.acknowledge', { id: incident?.id });
  await lookFrom(at(7, 5), at(11, 35));
  assert.equal((await messagesTo(channel)).length, 3);
  await lookFrom(at(12, 5), at(16));
  assert.deepEqual(await kindsTo(channel), ['opened', 'reminder', 'reminder', 'resolved'], 'the end is told all the same');
});

test('what flaps is told of once a cooldown', async () => {
  const w = await workspace();
  const channel = await channelOf(w.live);
  const { id } = await alertOf(w.live, { ...failures({ threshold: 1, window_minutes: 1 }), cooldown_minutes: 30, channel_ids: [channel] });
  for (const minute of [0, 8, 16]) {
    await calls(w.live, 1, at(minute), failing);
    await lookFrom(at(minute, 5), at(minute + 6));
  }
  assert.deepEqual(
    (await incidentsOf(id)).map(({ state }) => state),
    ['resolved', 'resolved', 'resolved'],
  );
  assert.deepEqual(await kindsTo(channel), ['opened', 'resolved']);
});

test('a muted alert has incidents and tells nobody; what is still on when the mute ends is told then', async () => {
  const w = await workspace();
  const channel = await channelOf(w.live);
  const { id } = await alertOf(w.live, { ...failures({ threshold: 1, window_minutes: 1 }), channel_ids: [channel] });
  await db().alerts.update({ where: { id }, data: { muted_until: at(20) } });
  await calls(w.live, 1, at(0), failing);
  await lookFrom(at(0, 5), at(6));
  assert.deepEqual([(await incidentsOf(id)).map(({ state }) => state), await kindsTo(channel)], [['resolved'], []]);
  for (let minute = 18; minute < 23; minute++) await calls(w.live, 1, at(minute), failing);
  await lookFrom(at(18, 5), at(19, 35));
  assert.deepEqual(await kindsTo(channel), []);
  await lookFrom(at(20, 5), at(22, 35));
  assert.deepEqual(await kindsTo(channel), ['opened']);
});

test('a rate of errors, slow answers, limits and strangers each fire by their own measure, and not below it', async () => {
  const w = await workspace();
  const rate = await alertOf(w.live, { type: 'error_rate', condition: { percent: 50, min_requests: 10, window_minutes: 2 } });
  const slow = await alertOf(w.live, {
    type: 'high_latency',
    condition: { threshold_ms: 900, percentile: 95, min_requests: 10, window_minutes: 2 },
  });
  const limited = await alertOf(w.live, { type: 'rate_limit_exceeded', condition: { threshold: 3, window_minutes: 2 } });
  const strangers = await alertOf(w.live, { type: 'unauthorized_client', condition: { threshold: 3, window_minutes: 2 } });
  const ids = [rate.id, slow.id, limited.id, strangers.id];
  const firing = async () => Promise.all(ids.map(async (id) => (await incidentsOf(id)).length));
  await look(at(0, 10));
  assert.deepEqual(await Promise.all(ids.map(stateOf)), ['no_data', 'no_data', 'ok', 'ok'], 'nothing to measure is not the same as good');
  await calls(w.live, 6, at(0), { latency_ms: 100 });
  await calls(w.live, 3, at(0), { ...failing, latency_ms: 5_000 });
  await calls(w.live, 2, at(0), { status_code: 429, rate_limited: true, error: 'route_rate_limit_exceeded' });
  await calls(w.live, 2, at(0), { status_code: 403, error: 'client_not_authorized' });
  await calls(w.live, 60, at(0), { latency_ms: 50 });
  await look(at(1, 10));
  assert.deepEqual(await firing(), [0, 0, 0, 0]);
  assert.deepEqual(await Promise.all(ids.map(stateOf)), ['ok', 'ok', 'ok', 'ok']);
  await calls(w.live, 60, at(1), { ...failing, latency_ms: 5_000 });
  await calls(w.live, 1, at(1), { status_code: 429, rate_limited: true, error: 'route_rate_limit_exceeded' });
  await calls(w.live, 1, at(1), { status_code: 403, error: 'ip_not_allowed' });
  await look(at(2, 10));
  assert.deepEqual(await firing(), [1, 1, 1, 1]);
  const [ofRate] = await incidentsOf(rate.id);
  const [ofSlow] = await incidentsOf(slow.id);
  assert.ok(ofRate && Math.abs(ofRate.value - (69 / 135) * 100) < 0.01, `${ofRate?.value}`);
  assert.ok(ofSlow && ofSlow.value > 3_600 && ofSlow.value <= 5_000, `${ofSlow?.value}`);
});

test('silence of a route is noticed when it was watched for a window, and traffic ends it', async () => {
  const w = await workspace();
  const route = await routeOf(w.live);
  const [young, all] = [
    await made(w.live, 'alerts.create', { name: 'young', type: 'no_traffic', condition: { window_minutes: 5 } }),
    await alertOf(w.live, { type: 'no_traffic', condition: { window_minutes: 5 }, route_ids: [route.id] }),
  ];
  await db().alerts.update({ where: { id: young.id }, data: { watching_since: at(7) } });
  await calls(w.live, 1, at(4, 30), { route_id: route.id });
  await look(at(9, 50));
  assert.deepEqual([(await incidentsOf(young.id)).length, (await incidentsOf(all.id)).length], [0, 0], 'minutes 4 to 8 have a call');
  await look(at(10, 0));
  assert.deepEqual(
    (await incidentsOf(all.id)).map(({ subject, value }) => [subject, value]),
    [[route.name, 0]],
  );
  assert.equal((await incidentsOf(young.id)).length, 0, 'it has watched for three minutes');
  await look(at(12, 10));
  assert.equal((await incidentsOf(young.id)).length, 1);
  await calls(w.live, 1, at(13), { route_id: route.id });
  await lookFrom(at(14, 10), at(18, 40));
  assert.equal((await incidentsOf(all.id))[0]?.state, 'open');
  await calls(w.live, 1, at(18), { route_id: route.id });
  await look(at(19, 10));
  assert.equal((await incidentsOf(all.id))[0]?.state, 'resolved');
});

test('an alert narrowed to routes and environments sees no other calls', async () => {
  const w = await workspace();
  const [mine, other] = [await routeOf(w.live), await routeOf(w.live)];
  const { id } = await alertOf(w.live, { ...failures(), route_ids: [mine.id], environments: ['staging'] });
  await calls(w.live, 9, at(1), { ...failing, route_id: other.id, environment: 'staging' });
  await calls(w.live, 9, at(1), { ...failing, route_id: mine.id, environment: 'production' });
  await calls(w.live, 4, at(1), { ...failing, route_id: mine.id, environment: 'staging' });
  await look(at(1, 30));
  assert.deepEqual(await incidentsOf(id), []);
  await calls(w.live, 1, at(1), { ...failing, route_id: mine.id, environment: 'staging' });
  await look(at(1, 40));
  assert.deepEqual(
    (await incidentsOf(id)).map(({ value }) => value),
    [5],
  );
});

test('alerts of one workspace see nothing of another', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const { id } = await alertOf(w.live, failures());
  const secrets = await alertOf(w.live, { type: 'secret_expiring', condition: { days: 30 } });
  await calls(other.live, 20, at(1), failing);
  await made(other.live, 'secrets.create', {
    name: `S${newId().slice(0, 8)}`,
    value: 'v',
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  await look(at(1, 30));
  assert.deepEqual([await incidentsOf(id), await incidentsOf(secrets.id)], [[], []]);
});

test('one that is turned off is not looked at, and what was open of it ends without a word', async () => {
  const w = await workspace();
  const channel = await channelOf(w.live);
  const { id } = await alertOf(w.live, { ...failures(), channel_ids: [channel] });
  await calls(w.live, 5, at(1), failing);
  await look(at(1, 30));
  await made(w.live, 'alerts.update', { id, enabled: false });
  await lookFrom(at(2), at(3));
  assert.deepEqual([(await incidentsOf(id)).map(({ state }) => state), await kindsTo(channel)], [['resolved'], ['opened']]);
  const entries = await db().alert_incident_entries.findMany({ where: { incident: { alert_id: id } }, orderBy: { at: 'asc' } });
  assert.equal(entries.at(-1)?.text, 'The alert was turned off.');
});

test('two workers at once open one incident and queue one message', async () => {
  const w = await workspace();
  const channel = await channelOf(w.live);
  const { id } = await alertOf(w.live, { ...failures(), channel_ids: [channel] });
  await calls(w.live, 5, at(1), failing);
  await Promise.all(Array.from({ length: 6 }, () => look(at(1, 30))));
  assert.deepEqual([(await incidentsOf(id)).length, await kindsTo(channel)], [1, ['opened']]);
});

test('events tell of the start and the end, with what the incident was', async () => {
  const w = await workspace();
  await db().event_subscriptions.create({
    data: {
      ...{ id: newId(), tenant_id: w.tenant.id, sandbox: false, channel: 'test', destination_id: newId() },
      event_types: ['alert.triggered', 'alert.resolved'],
    },
  });
  const { id } = await alertOf(w.live, failures({ window_minutes: 1 }));
  await calls(w.live, 5, at(1), failing);
  await lookFrom(at(1, 30), at(6));
  const events = await db().events.findMany({
    where: { tenant_id: w.tenant.id, type: { startsWith: 'alert.' } },
    orderBy: { occurred_at: 'asc' },
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['alert.triggered', 'alert.resolved'],
  );
  const [incident] = await incidentsOf(id);
  assert.ok(events.every(({ source_id }) => source_id === incident?.id));
});
