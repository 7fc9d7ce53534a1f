import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { bucketOf, emptyBuckets, percentile } from './buckets.ts';
import { call } from './call.fixture.ts';
import { LogStats, LogStatsQuery } from './figures.schema.ts';
import { logStats } from './stats.ts';

// The figures of the log are held against the calls themselves.

await testDatabase();
const MINUTE = 60_000;

const w = await workspace();
const now = new Date(Math.floor(Date.now() / MINUTE) * MINUTE);
const routes = await Promise.all(
  Array.from({ length: 12 }, (_, i) => made(w.live, 'routes.create', { name: `route ${i}`, target_base_url: 'http://127.0.0.1:9' })),
);
const [key, client] = [newId(), newId()];
const STATUSES = [200, 204, 301, 404, 429, 500, 502, 101, null];

/** Routes of every share, one gone since, calls without a route, trials, and callers that went away. */
const rows: LogRow[] = Array.from({ length: 900 }, (_, i) =>
  call(w.live, {
    ts: new Date(now.getTime() - ((i * 97) % 1_500) * MINUTE - 1_000).toISOString(),
    route_id:
      i % 31 === 0 ? null : i % 37 === 0 ? '00000000-0000-7000-8000-000000000001' : (routes[Math.floor(Math.sqrt(i)) % 12]?.id ?? null),
    status_code: STATUSES[i % STATUSES.length] ?? null,
    error: i % 11 === 0 ? 'route_rate_limit_exceeded' : null,
    rate_limited: i % 11 === 0,
    environment: i % 2 ? 'production' : 'staging',
    latency_ms: 2 ** (i % 18),
    upstream_ms: i % 3 === 0 ? null : 2 ** (i % 16),
    request_bytes: i * 1_000_000,
    response_bytes: i,
    api_key_id: i % 4 === 0 ? key : null,
    matched_client_id: i % 5 === 0 ? client : null,
    proxy_mode: i % 19 === 0 ? 'test' : 'route',
  }),
);
await insertRows(sql(), rows);
await insertRows(sql(), [call(w.test, { status_code: 500 }), call((await workspace()).live, { api_key_id: key })]);

const sum = (list: readonly LogRow[], of: (row: LogRow) => number) => list.reduce((total, row) => total + of(row), 0);
const classOf = (row: LogRow) => Math.floor((row.status_code ?? 0) / 100);
const failed = (row: LogRow) => (row.error !== null || (row.status_code ?? 0) >= 500 ? 1 : 0);
const quantile = (list: readonly LogRow[], of: (row: LogRow) => number | null, p: number) => {
  const buckets = emptyBuckets();
  for (const ms of list.flatMap((row) => of(row) ?? [])) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1;
  return percentile(buckets, p, Math.max(0, ...list.flatMap((row) => of(row) ?? [])));
};
const exactQuantile = (list: readonly LogRow[], of: (row: LogRow) => number | null, p: number) => {
  const sorted = list.flatMap((row) => of(row) ?? []).sort((a, b) => a - b);
  return sorted[Math.ceil(p * sorted.length) - 1] ?? null;
};
const countsOf = (list: readonly LogRow[]) => ({
  total: list.length,
  ...Object.fromEntries([2, 3, 4, 5].map((one) => [`c${one}xx`, list.filter((row) => classOf(row) === one).length])),
  other: list.filter((row) => ![2, 3, 4, 5].includes(classOf(row))).length,
  errors: sum(list, failed),
});

const exactly = (row: LogRow, status: number) => row.status_code === status;
const questions: [what: string, query: object, passes: (row: LogRow) => boolean][] = [
  ['the last day', {}, () => true],
  [
    'three hours',
    { from: new Date(now.getTime() - 180 * MINUTE).toISOString() },
    (row) => row.ts >= new Date(now.getTime() - 180 * MINUTE).toISOString(),
  ],
  ['a route', { route_id: routes[5]?.id }, (row) => row.route_id === routes[5]?.id],
  ['an environment', { environment: 'staging' }, (row) => row.environment === 'staging'],
  ['an environment nobody called', { environment: "o'brien %" }, () => false],
  ['a key', { api_key_id: key }, (row) => row.api_key_id === key],
  [
    'a client of an environment',
    { client_id: client, environment: 'production' },
    (row) => row.matched_client_id === client && row.environment === 'production',
  ],
  ['a class of status codes', { status_class: '4xx' }, (row) => classOf(row) === 4],
  ['a class of status codes of a key', { status_class: '5xx', api_key_id: key }, (row) => classOf(row) === 5 && row.api_key_id === key],
  ['a status code', { status: 404 }, (row) => exactly(row, 404)],
  ['a status code of a route', { status: 502, route_id: routes[11]?.id }, (row) => exactly(row, 502) && row.route_id === routes[11]?.id],
];

for (const [what, query, passes] of questions)
  test(`the figures of ${what} are those of its calls, and of no trial`, async () => {
    const stats = LogStats.parse(await logStats({ ...w.live, now }, LogStatsQuery.parse(query)));
    const caller = 'api_key_id' in query || 'client_id' in query;
    const of = 'status' in query ? exactQuantile : quantile;
    // Rollups are whole minutes.
    const since = Math.floor(Date.parse(String(stats.from)) / MINUTE) * MINUTE;
    const seen = rows.filter((row) => passes(row) && Date.parse(row.ts) >= since);
    const real = seen.filter((row) => row.proxy_mode !== 'test');
    assert.deepEqual(stats.totals, {
      ...countsOf(real),
      rate_limited: sum(real, (row) => (row.rate_limited ? 1 : 0)),
      bytes_in: sum(real, (row) => row.request_bytes),
      bytes_out: sum(real, (row) => row.response_bytes),
      trials: caller ? 0 : seen.length - real.length,
    });
    const step = stats.step_seconds * 1_000;
    const bars = [...Map.groupBy(real, (row) => Math.floor(Date.parse(row.ts) / step) * step)].sort(([a], [b]) => a - b);
    assert.deepEqual(
      stats.series.map(({ at, ...counts }) => [Date.parse(String(at)), counts]),
      bars.map(([at, list]) => [at, countsOf(list)]),
    );
    for (const [p, name] of [
      [0.5, 'p50'],
      [0.95, 'p95'],
      [0.99, 'p99'],
    ] as const) {
      assert.equal(
        stats.latency[name],
        of(real, (row) => row.latency_ms, p),
      );
      assert.equal(
        stats.upstream_latency[name],
        of(real, (row) => row.upstream_ms, p),
      );
    }
    const top = [...Map.groupBy(real, (row) => row.route_id ?? '00000000-0000-0000-0000-000000000000')]
      .sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
      .slice(0, 10)
      .map(([id, list]) => {
        const known = routes.find((route) => route.id === id);
        const route_id = list[0]?.route_id ?? null;
        return {
          route_id,
          name: known?.name ?? null,
          count: list.length,
          errors: sum(list, failed),
          p95: of(list, (row) => row.latency_ms, 0.95),
        };
      });
    assert.deepEqual(stats.top_routes, top);
    const longest = Math.max(0, ...real.map((row) => row.latency_ms ?? 0));
    assert.ok((stats.latency.p99 ?? 0) <= longest, 'no percentile exceeds the longest call');
  });
