import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { BrowseLogs, ExportLogs, LogFacetsQuery } from './browse.schema.ts';
import { browseLogs } from './browse.ts';
import { call } from './call.fixture.ts';
import { logDays } from './days.ts';
import { exportLogs } from './export.ts';
import { logFacets } from './facets.ts';
import { logFailures } from './failures.ts';
import { LogDaysQuery, LogFailuresQuery, LogStatsQuery, LogTrafficQuery } from './figures.schema.ts';
import { figuresOfRoutes } from './route-figures.ts';
import { listRouteLogs } from './service.ts';
import { logStats } from './stats.ts';
import { logTraffic } from './traffic.ts';

await testDatabase();
const SECOND = 1_000;
const DAY = 86_400 * SECOND;

/** What each page says of the last 24 hours, asked as it asks. */
async function told(ctx: Ctx, route: string) {
  const stats = await logStats(ctx, LogStatsQuery.parse({}));
  const failures = await logFailures(ctx, LogFailuresQuery.parse({}));
  const figures = (await read(ctx, (tx) => figuresOfRoutes(tx, ctx, [route]))).get(route);
  const [traffic] = (await logTraffic(ctx, LogTrafficQuery.parse({ kind: 'route', ids: [route] }))).traffic;
  const browsed = async (query: object) => (await browseLogs(ctx, BrowseLogs.parse(query))).total;
  return {
    calls: {
      home: stats.totals.total,
      chart: stats.series.reduce((sum, bar) => sum + bar.total, 0),
      route_list: figures?.calls,
      sparkline: figures?.calls_by_hour.reduce((a, b) => a + b, 0),
      detail: traffic?.calls_24h,
      log: await browsed({ proxy_mode: 'route' }),
    },
    errors: {
      home: stats.totals.errors,
      trend: stats.series.reduce((sum, bar) => sum + bar.errors, 0),
      groups: failures.groups.reduce((sum, group) => sum + group.count, 0),
      route_list: figures?.errors,
      log: await browsed({ proxy_mode: 'route', outcome: 'failed' }),
    },
    refused: { home: failures.blocked, log: await browsed({ proxy_mode: 'route', outcome: 'refused' }) },
    trials: { figures: stats.totals.trials, log: await browsed({ proxy_mode: 'test' }) },
  };
}
const same = (told: Record<string, number | null | undefined>, expected: number) =>
  assert.deepEqual(told, Object.fromEntries(Object.keys(told).map((name) => [name, expected])));

test('Home, the list of routes, its sparkline, the chart and the log count the same calls, at every second of a minute', async () => {
  const w = await workspace();
  const { id: route_id } = await made(w.live, 'routes.create', { name: 'payments', target_base_url: 'http://127.0.0.1:9' });
  for (const second of [0, 1, 30, 59]) {
    const now = new Date(Math.floor(Date.now() / (60 * SECOND)) * 60 * SECOND + second * SECOND);
    const at = (ms: number) => new Date(now.getTime() + ms).toISOString();
    await sql().query('delete from request_logs where tenant_id = $1', [w.tenant.id]);
    await sql().query('delete from request_rollups where tenant_id = $1', [w.tenant.id]);
    await insertRows(sql(), [
      ...[-DAY - 90, -DAY - 59, -DAY - 1, -DAY + 1, -DAY + 59, -DAY + 90, -30, -1].map((s) => {
        const ms = s < -1_000 ? -DAY + (s + DAY) * SECOND : s * SECOND;
        return call(w.live, { route_id, ts: at(ms) });
      }),
      call(w.live, { route_id, ts: at(-SECOND), status_code: 429, error: 'route_rate_limit_exceeded', origin: 'service' }),
      call(w.live, { route_id, ts: at(-SECOND), status_code: 502, error: 'upstream_unreachable', origin: 'service' }),
      call(w.live, { route_id, ts: at(-SECOND), status_code: 500 }),
      call(w.live, { route_id, ts: at(-SECOND), status_code: null, error: 'client_closed' }),
    ]);
    const { calls, errors, refused } = await told({ ...w.live, now }, route_id);
    same(calls, calls.home);
    assert.ok(calls.home >= 6 && calls.home <= 12, String(calls.home));
    same(errors, 4);
    same(refused, 1);
  }
});

test('a call of the Test tab stands in the log, marked, and in no figure of the route, its space or the plan', async () => {
  const w = await workspace();
  const { id: route_id } = await made(w.live, 'routes.create', { name: 'payments', target_base_url: 'http://127.0.0.1:9' });
  const secret = await made(w.live, 'secrets.create', { name: 'TOKEN', value: 'abc' });
  const trial: Partial<LogRow> = { route_id, proxy_mode: 'test', identification_method: 'dashboard_user' };
  await insertRows(sql(), [
    call(w.live, { route_id }),
    call(w.live, { ...trial, secrets_used: ['TOKEN'] }),
    call(w.live, { ...trial, status_code: 502, error: 'upstream_unreachable', latency_ms: 90_000 }),
    call(w.live, { ...trial, status_code: 429, error: 'route_rate_limit_exceeded', rate_limited: true }),
  ]);
  const ctx = { ...w.live, now: new Date() };
  const { calls, errors, refused, trials } = await told(ctx, route_id);
  same(calls, 1);
  same(errors, 0);
  same(refused, 0);
  same(trials, 3);
  const stats = await logStats(ctx, LogStatsQuery.parse({}));
  assert.deepEqual([stats.totals.rate_limited, stats.error_codes.length, stats.top_routes[0]?.count], [0, 0, 1]);
  assert.ok((stats.latency.p99 ?? 0) < 1_000, 'a slow trial slows no route');
  const days = await logDays(ctx, LogDaysQuery.parse({}));
  assert.deepEqual(
    days.routes.map(({ calls, errors, counted }) => [calls, errors, counted]),
    [[1, 0, 1]],
  );
  assert.equal((await listRouteLogs(ctx, { id: route_id, page: 1, per_page: 20 })).total, 4, 'the list of the route has every row');
  const { traffic } = await logTraffic(ctx, LogTrafficQuery.parse({ kind: 'secret', ids: [secret.id] }));
  assert.equal(traffic[0]?.calls_30d, 1, 'the secret was used all the same');
  const facets = await logFacets(ctx, LogFacetsQuery.parse({}));
  assert.deepEqual(facets.proxy_mode, [
    { value: 'test', count: 3 },
    { value: 'route', count: 1 },
  ]);
  assert.deepEqual(Object.fromEntries(facets.outcome.map((one) => [one.value, one.count])), { ok: 2, failed: 1, refused: 1 });
});

test('the first successful call is remembered after its row is gone; a test call and a refused call are not one', async () => {
  const w = await workspace();
  const firstDay = async (ctx: Ctx) =>
    (await browseLogs({ ...ctx, now: new Date() }, BrowseLogs.parse({ method: 'PUT' }))).first_success_day;
  await insertRows(sql(), [call(w.live, { proxy_mode: 'test' })]);
  await insertRows(sql(), [call(w.live, { status_code: 401, error: 'authentication_required', ts: '2026-03-04T10:00:00.000Z' })]);
  await insertRows(sql(), [call(w.live, { status_code: 502, ts: '2026-03-04T11:00:00.000Z' })]);
  assert.equal(await firstDay(w.live), null);
  await insertRows(sql(), [call(w.live, { ts: '2026-03-05T10:00:00.000Z' })]);
  await sql().query('delete from request_logs where tenant_id = $1', [w.tenant.id]);
  assert.equal(await firstDay(w.live), '2026-03-05', 'though retention took the row');
  assert.equal(await firstDay(w.test), null);
});

test('a route that was only tried has no figures at all', async () => {
  const w = await workspace();
  const { id: route_id } = await made(w.live, 'routes.create', { name: 'new', target_base_url: 'http://127.0.0.1:9' });
  await insertRows(sql(), [call(w.live, { route_id, proxy_mode: 'test', status_code: 500 })]);
  const stats = await logStats({ ...w.live, now: new Date() }, LogStatsQuery.parse({}));
  assert.deepEqual([stats.series, stats.top_routes, stats.totals.total, stats.totals.trials], [[], [], 0, 1]);
});

test('the export without a span is the list without a span: the last 24 hours', async () => {
  const w = await workspace({ plan: 'pro' });
  const before = new Date(Date.now() - DAY - 90_000).toISOString();
  await insertRows(sql(), [call(w.live, { path: '/now' }), call(w.live, { path: '/before', ts: before })]);
  const lines = (await textOf(await exportLogs({ ...w.live, now: new Date() }, ExportLogs.parse({})))).trimEnd().split('\r\n');
  assert.equal(lines.length, 2, 'a head and one call');
  assert.match(lines[1] ?? '', /\/now/);
});
