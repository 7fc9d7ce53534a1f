import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { knownCountries } from '#server/platform/geoip.fixture.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { keyActor, workspace } from '#server/testing/workspace.ts';
import { call } from '../call.fixture.ts';
import { liveCalls } from './calls.ts';
import { LiveCalls, LiveQuery } from './schema.ts';

const berlin = { latitude: 52.5244, longitude: 13.4105, accuracy_radius: 20 };
const sydney = { latitude: -33.8678, longitude: 151.2073, accuracy_radius: 20 };
const placed = (iso_code: string, city: string, location: typeof berlin) => ({
  country: { iso_code, names: { en: iso_code } },
  city: { names: { en: city } },
  location,
});
knownCountries({ '203.0.113.0/24': placed('DE', 'Berlin', berlin), '1.1.1.0/24': placed('AU', 'Sydney', sydney) });
await testDatabase();

const live = async (ctx: Ctx, query: object = {}) => LiveCalls.parse(await liveCalls({ ...ctx, now: new Date() }, LiveQuery.parse(query)));

test('the newest calls come first with the minutes they add up to, without trials, and without places unless they are asked for', async () => {
  const w = await workspace();
  const [route_id, other] = [newId(), newId()];
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
  await insertRows(sql(), [
    ...Array.from({ length: 60 }, (_, i) =>
      call(w.live, { route_id: i % 2 ? route_id : other, ts: ago(i), status_code: i === 3 ? 502 : 200 }),
    ),
    call(w.live, { ts: ago(1), proxy_mode: 'test', status_code: 500 }),
    call(w.live, { ts: ago(20 * 60) }),
    call(w.test, { ts: ago(1) }),
  ]);
  const { calls, minutes, active_routes, places } = await live(w.live);
  assert.equal(calls.length, 40);
  assert.ok(calls.every(({ at }, i) => i === 0 || at <= (calls[i - 1]?.at ?? '')));
  assert.deepEqual([minutes.length, minutes.reduce((sum, one) => sum + one.calls, 0), active_routes], [15, 60, 2]);
  assert.equal(
    minutes.reduce((sum, one) => sum + one.errors, 0),
    1,
  );
  assert.equal(places, 'hidden');
  assert.ok(calls.every(({ from, to }) => from === null && to === null));
});

test('places are told at city level, to who may see who called', async () => {
  const w = await workspace();
  await insertRows(sql(), [
    call(w.live, { ts: new Date().toISOString(), upstream_host: '1.1.1.1' }),
    call(w.live, { src_ip: '10.0.0.1', upstream_host: null }),
  ]);
  // A view doesn't wait until an upstream is looked up: a later one shows its place.
  const { calls, places } = await until(async () => {
    const seen = await live(w.live, { places: 'true' });
    return seen.calls.some(({ to }) => to !== null) && seen;
  }, 'the upstream is looked up');
  assert.equal(places, 'shown');
  assert.deepEqual(
    calls.map(({ from, to }) => [from, to]),
    [
      [
        { lat: 52.5, lon: 13.4, country: 'DE', city: 'Berlin' },
        { lat: -33.9, lon: 151.2, country: 'AU', city: 'Sydney' },
      ],
      [null, null],
    ],
  );
  const blind = { ...w.live, actor: keyActor('Key - Read-only') };
  const told = await live(blind, { places: true });
  assert.deepEqual([told.places, told.calls[0]?.from, told.calls[0]?.to], ['not_allowed', null, null]);
});
