import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { LogFacetsQuery } from './browse.schema.ts';
import { call } from './call.fixture.ts';
import { logDays } from './days.ts';
import { exportDays } from './days-export.ts';
import { logFacets } from './facets.ts';
import { ExportDays, LogDays, LogDaysQuery, LogTraffic, LogTrafficQuery } from './figures.schema.ts';
import { pruneRequestLogs } from './retention.ts';
import { logTraffic } from './traffic.ts';

await testDatabase();
const DAY = 24 * 3_600_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

const traffic = async (ctx: Ctx, kind: string, ids: string[]) => {
  const now = { ...ctx, now: new Date() };
  return new Map(LogTraffic.parse(await logTraffic(now, LogTrafficQuery.parse({ kind, ids }))).traffic.map((t) => [t.id, t]));
};
const days = async (ctx: Ctx, query: Record<string, string> = {}) =>
  LogDays.parse(await logDays({ ...ctx, now: new Date() }, LogDaysQuery.parse(query)));

test('keys, clients, environments and secrets tell how much they are used, each from its own calls of this space only', async () => {
  const w = await workspace();
  const other = await workspace();
  const [key, client, idle] = [newId(), newId(), newId()];
  const secret = await made(w.live, 'secrets.create', { name: 'TOKEN', value: 'abc' });
  const environments = (await made(w.live, 'environments.list')) as { id: string; name: string }[];
  const environment = environments.find((e) => e.name === 'production')!.id;
  const rows = [
    call(w.live, { api_key_id: key, matched_client_id: client, secrets_used: ['TOKEN'] }),
    call(w.live, { api_key_id: key, status_code: 502, error: 'upstream_unreachable', secrets_used: ['TOKEN', 'GONE'] }),
    call(w.live, { api_key_id: key, ts: ago(3 * DAY) }),
    call(w.live, { api_key_id: key, ts: ago(40 * DAY) }),
    call(w.live, { environment: 'made-up', error: 'environment_not_configured', status_code: 404 }),
    call(w.test, { api_key_id: key, secrets_used: ['TOKEN'] }),
    call(other.live, { api_key_id: key, matched_client_id: client, secrets_used: ['TOKEN'] }),
  ];
  await insertRows(sql(), rows);
  await insertRows(sql(), rows.slice(0, 3)); // replayed after a crash: counted once

  const ofKey = (await traffic(w.live, 'api_key', [key, idle])).get(key)!;
  assert.deepEqual([ofKey.calls_24h, ofKey.errors_24h, ofKey.calls_30d, ofKey.errors_30d], [2, 1, 3, 1]);
  assert.equal(ofKey.last_at, rows[1]!.ts, 'the later of the two of this moment');
  assert.equal((await traffic(w.live, 'api_key', [idle])).size, 0);
  assert.equal((await traffic(w.live, 'client', [client])).get(client)?.calls_24h, 1);
  assert.equal((await traffic(w.live, 'environment', [environment])).get(environment)?.calls_24h, 2, 'no name that callers make up');
  const ofSecret = (await traffic(w.live, 'secret', [secret.id])).get(secret.id)!;
  assert.deepEqual([ofSecret.calls_24h, ofSecret.calls_30d, ofSecret.errors_30d], [null, 2, 1]);
  assert.equal((await traffic(w.test, 'secret', [secret.id])).size, 0, 'an id of the other space answers nothing');
  assert.equal((await traffic(other.live, 'secret', [secret.id])).size, 0, 'nor does one of another workspace');
  assert.equal(LogTrafficQuery.safeParse({ kind: 'api_key', ids: `${key},${client}` }).data?.ids.length, 2);
  assert.equal(LogTrafficQuery.safeParse({ kind: 'api_key', ids: 'x' }).success, false);
});

test('a renamed secret keeps its past, and a new one under the old name begins at none', async () => {
  const w = await workspace();
  const old = await made(w.live, 'secrets.create', { name: 'A', value: 'abc' });
  await insertRows(sql(), [call(w.live, { secrets_used: ['A'] })]);
  await made(w.live, 'secrets.update', { id: old.id, name: 'B' });
  const fresh = await made(w.live, 'secrets.create', { name: 'A', value: 'def' });
  const of = await traffic(w.live, 'secret', [old.id, fresh.id]);
  assert.deepEqual([of.get(old.id)?.calls_30d, of.get(fresh.id)], [1, undefined]);
});

test('the days of a month add up to what the plan counted: refusals and limits are calls, but not counted ones', async () => {
  const w = await workspace();
  const key = await made(w.live, 'api_keys.create', { name: 'worker' });
  const at = '2026-03-05T23:59:59.000Z';
  const refused = { phases_ms: {}, latency_phase: 'complete' as const, request_headers: [], response_headers: [], limits: {} };
  await insertRows(sql(), [
    call(w.live, { ts: at, api_key_id: key.id }),
    call(w.live, { ts: at, api_key_id: key.id, status_code: 500 }),
    call(w.live, { ts: at, status_code: 401, error: 'invalid_api_key', trace: refused }),
    call(w.live, { ts: at, status_code: 429, error: 'route_rate_limit_exceeded', rate_limited: true }),
    call(w.live, { ts: '2026-03-07T00:00:00.000Z', environment: null }),
    call(w.live, { ts: '2026-04-01T00:00:00.000Z' }),
  ]);
  const march = await days(w.live, { from: '2026-03-01', to: '2026-03-31' });
  assert.equal(march.days.length, 31);
  assert.deepEqual(march.days[4], { day: '2026-03-05', calls: 4, errors: 3, counted: 2 });
  assert.deepEqual(march.days[5], { day: '2026-03-06', calls: 0, errors: 0, counted: 0 });
  assert.deepEqual(march.days[6], { day: '2026-03-07', calls: 1, errors: 0, counted: 1 });
  assert.deepEqual(march.routes, [{ id: null, name: null, calls: 5, errors: 3, counted: 3 }]);
  assert.deepEqual(march.api_keys, [{ id: key.id, name: 'worker', calls: 2, errors: 1, counted: 2 }]);
  assert.deepEqual(
    march.environments.map((e) => [e.name, e.calls]),
    [['production', 4]],
  );
  assert.equal((await days(w.test, { from: '2026-03-01', to: '2026-03-31' })).days[4]?.calls, 0);
  assert.equal((await days(w.live)).from.slice(8), '01', 'the month at hand, unless asked otherwise');
  await assert.rejects(days(w.live, { from: '2026-04-01', to: '2026-03-01' }), { type: 'validation_error' });
  await assert.rejects(days(w.live, { from: '2020-01-01', to: '2026-03-01' }), { type: 'validation_error' });
});

test('a split tells the days of its largest, and its table every day, route or caller by line, harmless in a spreadsheet', async () => {
  const w = await workspace();
  const other = await workspace();
  const routes = [];
  for (const name of ['=cmd', 'b', 'c', 'd', 'e', 'f'])
    routes.push(await made(w.live, 'routes.create', { name, target_base_url: 'http://127.0.0.1:9' }));
  const client = newId();
  await insertRows(sql(), [
    ...routes.flatMap(({ id }, i) => Array.from({ length: 6 - i }, () => call(w.live, { ts: '2026-03-05T10:00:00.000Z', route_id: id }))),
    call(w.live, { ts: '2026-03-07T10:00:00.000Z', route_id: routes[0]?.id, matched_client_id: client }),
    call(other.live, { ts: '2026-03-07T10:00:00.000Z', route_id: routes[0]?.id }),
  ]);
  const march = { from: '2026-03-01', to: '2026-03-31' };
  const split = await days(w.live, { ...march, by: 'route' });
  assert.deepEqual(
    split.series.map(({ name, counted }) => [name, counted[4], counted[6]]),
    [
      ['=cmd', 6, 1],
      ['b', 5, 0],
      ['c', 4, 0],
      ['d', 3, 0],
      ['e', 2, 0],
    ],
  );
  assert.deepEqual(
    split.clients.map(({ id, name, calls }) => [id, name, calls]),
    [[client, null, 1]],
  );
  assert.deepEqual((await days(w.live, march)).series, []);
  const table = (await textOf(await exportDays({ ...w.live, now: new Date() }, ExportDays.parse(march)))).trimEnd().split('\r\n');
  assert.equal(table[0], 'day,route,route_id,calls,errors,counted');
  assert.equal(table.length, 1 + 6 + 1);
  assert.equal(table.at(-1), `2026-03-07,'=cmd,${routes[0]?.id},1,0,1`, 'of this workspace only');
  const byClient = await textOf(await exportDays(w.live, ExportDays.parse({ ...march, by: 'client' })));
  assert.match(byClient, new RegExp(`2026-03-07,,${client},1,0,1`));
});

test('days go after 400 days, and not before', async () => {
  const w = await workspace();
  await insertRows(sql(), [call(w.live, { ts: ago(402 * DAY) }), call(w.live, { ts: ago(398 * DAY) })]);
  await pruneRequestLogs([], new Date());
  const { rows } = await sql().query('select distinct day from call_days where tenant_id = $1', [w.tenant.id]);
  assert.equal(rows.length, 1);
});

test('a Member, who sees the log but no keys, learns from no sum what keys are called', async () => {
  const w = await workspace();
  const key = await made(w.live, 'api_keys.create', { name: 'payroll-worker' });
  await insertRows(sql(), [call(w.live, { api_key_id: key.id })]);
  const told = async (ctx: Ctx) => {
    const facet = (await logFacets({ ...ctx, now: new Date() }, LogFacetsQuery.parse({}))).api_key_id[0];
    const share = (await days(ctx)).api_keys[0];
    assert.deepEqual([facet?.value, share?.id], [key.id, key.id]);
    return [facet?.name, share?.name];
  };
  assert.deepEqual(await told(w.member('member')), [null, null]);
  assert.deepEqual(await told(w.member('viewer')), ['payroll-worker', 'payroll-worker']);
});
