import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { bucketOf, emptyBuckets, percentile } from '../buckets.ts';
import { call } from '../call.fixture.ts';
import { METHODS } from '../rollups.ts';
import { keptAnswer } from './kept-answers.ts';
import { queryAnalytics } from './query.ts';
import { Analytics, AnalyticsQuery } from './schema.ts';
import { type Dimension, METRICS, type Metric } from './words.shared.ts';

// Every metric by every dimension is held against the calls themselves.

await testDatabase();
const MINUTE = 60_000;
const w = await workspace();
const now = new Date(Math.floor(Date.now() / MINUTE) * MINUTE);
const routes = await Promise.all(
  ['orders', 'users', 'mail'].map((name) => made(w.live, 'routes.create', { name, target_base_url: 'http://127.0.0.1:9' })),
);
const key = await made(w.live, 'api_keys.create', { name: 'checkout', permissions: ['proxy:invoke'] });
const [client, other] = [newId(), newId()];
const STATUSES = [200, 204, 301, 404, 429, 500, 502];

const rows: LogRow[] = Array.from({ length: 700 }, (_, i) =>
  call(w.live, {
    ts: new Date(now.getTime() - ((i * 97) % 1_400) * MINUTE - 1_000).toISOString(),
    route_id: i % 13 === 0 ? null : (routes[i % 3]?.id ?? null),
    status_code: STATUSES[i % STATUSES.length] ?? null,
    error: i % 11 === 0 ? 'route_rate_limit_exceeded' : null,
    rate_limited: i % 11 === 0,
    environment: i % 2 ? 'production' : 'staging',
    method: i % 23 === 0 ? `WORD${i}` : i % 3 ? 'GET' : 'POST',
    origin: i % 11 === 0 ? 'service' : 'upstream',
    latency_ms: 2 ** (i % 14),
    upstream_ms: i % 11 === 0 ? null : Math.floor(2 ** (i % 14) * ((i % 10) / 10)),
    request_bytes: i * 1_000,
    response_bytes: i,
    api_key_id: i % 4 === 0 ? key.id : null,
    matched_client_id: i % 5 === 0 ? client : i % 7 === 0 ? other : null,
    proxy_mode: i % 19 === 0 ? 'test' : i % 17 === 0 ? 'ephemeral' : 'route',
  }),
);
await insertRows(sql(), rows);
await insertRows(sql(), [call(w.test, { status_code: 500 }), call((await workspace()).live, { route_id: routes[0]?.id ?? null })]);

const OF: Record<Dimension, (row: LogRow) => string | null> = {
  route: (row) => row.route_id,
  environment: (row) => row.environment,
  client: (row) => row.matched_client_id,
  api_key: (row) => row.api_key_id,
  status_class: (row) => String(Math.floor((row.status_code ?? 0) / 100)),
  method: ({ method }) => (METHODS.includes(method) ? method : 'OTHER'),
  origin: (row) => row.origin,
  plane: (row) => row.proxy_mode,
  error: (row) => row.error,
};
const failed = (row: LogRow) => row.error !== null || (row.status_code ?? 0) >= 500;
const histogram = (values: readonly number[], p: number) => {
  const buckets = emptyBuckets();
  for (const ms of values) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1;
  return percentile(buckets, p, Math.max(0, ...values));
};
const exact = (values: readonly number[], p: number) => values.toSorted((a, b) => a - b)[Math.ceil(p * values.length) - 1] ?? null;
/** The naive metric; percentiles are true to a bucket where rollups answer. */
const naive = (metric: Metric, list: readonly LogRow[], ofRows: boolean): number | null => {
  const ofOverhead = metric.startsWith('overhead');
  const values = list.flatMap(({ latency_ms, upstream_ms }) =>
    ofOverhead ? (upstream_ms === null ? [] : Math.max(0, (latency_ms ?? 0) - upstream_ms)) : (latency_ms ?? 0),
  );
  const p = { p50: 0.5, p95: 0.95, p99: 0.99, overhead_p95: 0.95 }[metric as 'p50'];
  if (p !== undefined) return (ofRows ? exact : histogram)(values, p);
  if (metric.endsWith('_avg')) return values.length === 0 ? null : values.reduce((sum, ms) => sum + ms, 0) / values.length;
  if (metric === 'error_rate') return list.length === 0 ? null : (list.filter(failed).length / list.length) * 100;
  return {
    requests: list.length,
    errors: list.filter(failed).length,
    rate_limited: list.filter((row) => row.rate_limited).length,
    bytes: list.reduce((sum, row) => sum + Number(row.request_bytes) + Number(row.response_bytes), 0),
    unique_clients: new Set(list.flatMap((row) => row.matched_client_id ?? [])).size,
  }[metric as 'requests'];
};
const real = rows.filter((row) => row.proxy_mode !== 'test' && row.ts >= new Date(now.getTime() - 24 * 60 * MINUTE).toISOString());
const ask = async (query: object) => Analytics.parse(await queryAnalytics({ ...w.live, now }, AnalyticsQuery.parse(query)));
const refuses = (asking: () => Promise<unknown>) => assert.rejects(asking, { type: 'validation_error' });
const near = (a: number | null, b: number | null, what: string) =>
  a === null || b === null
    ? assert.equal(a, b, what)
    : assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b)), `${what}: ${a} is not ${b}`);

for (const metric of METRICS)
  test(`${metric} adds up to what the calls say, whole, by each dimension and at each time`, async () => {
    for (const group_by of [
      [],
      ['route'],
      ['environment', 'status_class'],
      ['client'],
      ['api_key'],
      ['method'],
      ['origin', 'plane'],
      ['error', 'route'],
      ['client', 'error'],
      ['method', 'api_key'],
      ['client', 'api_key'],
    ] as Dimension[][]) {
      const answer = await ask({ metric, group_by: group_by.join(',') });
      const ofRows = group_by.includes('api_key') && (group_by.includes('client') || metric === 'unique_clients');
      const what = `${metric} by ${group_by.join(' and ')}`;
      near(answer.totals.value, naive(metric, real, ofRows), what);
      const expected = new Map<string, LogRow[]>();
      for (const row of real) {
        const values = group_by.map((name) => OF[name](row));
        // A caller nobody was is in no series of rollups.
        if (!ofRows && values.some((value, i) => value === null && ['client', 'api_key'].includes(group_by[i] ?? ''))) continue;
        if (!ofRows && metric === 'unique_clients' && row.matched_client_id === null) continue;
        const name = JSON.stringify(values);
        expected.set(name, [...(expected.get(name) ?? []), row]);
      }
      assert.equal(answer.series.length + answer.left_out, expected.size, what);
      for (const { key: parts, total, points } of answer.series) {
        const name = JSON.stringify(parts.map(({ value }) => value));
        const list = expected.get(name) ?? [];
        near(total, naive(metric, list, ofRows), `${what}: ${name}`);
        for (const [at, value] of points) {
          const end = Date.parse(at) + answer.step_seconds * 1_000;
          const within = list.filter(({ ts }) => Date.parse(ts) >= Date.parse(at) && Date.parse(ts) < end);
          near(
            value,
            within.length > 0
              ? naive(metric, within, ofRows)
              : ['requests', 'errors', 'rate_limited', 'bytes', 'unique_clients'].includes(metric)
                ? 0
                : null,
            `${what}: ${name} at ${at}`,
          );
        }
      }
    }
  });

test('series are named as their route, client and key are called today, and calls of no route have no value', async () => {
  const { series } = await ask({ metric: 'requests', group_by: ['route', 'api_key'] });
  assert.ok(series.some(({ key: [route, by] }) => route?.name === 'orders' && by?.name === 'checkout'));
  assert.ok(series.some(({ key: [route] }) => route?.value === null && route.name === null));
});

test('filters narrow the totals and what they are compared with', async () => {
  const { totals } = await ask({ metric: 'requests', route_id: routes[1]?.id, environment: 'staging', status_class: '5xx' });
  const wanted = real.filter((row) => row.route_id === routes[1]?.id && row.environment === 'staging' && (row.status_code ?? 0) >= 500);
  assert.equal(totals.value, wanted.length);
  const half = await ask({ metric: 'requests', from: new Date(now.getTime() - 720 * MINUTE).toISOString(), to: now.toISOString() });
  assert.equal((half.totals.value ?? 0) + (half.compared?.value ?? 0), real.length);
});

test('changes of the configuration stand beside the figures, for who may read the audit log alone', async () => {
  const query = { metric: 'requests', to: new Date(Date.now() + MINUTE).toISOString() };
  const created = (await ask(query)).annotations.filter(({ resource_id }) => routes.some(({ id }) => id === resource_id));
  assert.equal(created.length, 3);
  const blind = { ...w.live, now, actor: { ...w.live.actor, capabilities: new Set(['analytics:read' as const]) } };
  assert.deepEqual((await queryAnalytics(blind, AnalyticsQuery.parse(query))).annotations, []);
});

test('filters by every dimension leave the calls that have it, a word that no rollup knows among them', async () => {
  const errors = { error: 'route_rate_limit_exceeded', plane: 'route', origin: 'service', method: 'GET' };
  const wanted = real.filter((row) => Object.entries(errors).every(([name, value]) => OF[name as Dimension](row) === value));
  assert.ok(wanted.length > 5);
  assert.equal((await ask({ metric: 'requests', ...errors })).totals.value, wanted.length);
  assert.equal(
    (await ask({ metric: 'requests', ...errors, api_key_id: key.id })).totals.value,
    wanted.filter((row) => row.api_key_id).length,
  );
  const [word] = real.filter(({ method }) => method.startsWith('WORD'));
  assert.equal((await ask({ metric: 'requests', method: word?.method })).totals.value, 1);
  const both = { client_id: client, api_key_id: key.id };
  assert.equal(
    (await ask({ metric: 'requests', ...both })).totals.value,
    real.filter((row) => row.matched_client_id === client && row.api_key_id).length,
  );
});

test('what would be too many points, or too long is refused', async () => {
  await refuses(() => ask({ metric: 'requests', from: '2020-01-01T00:00:00Z' }));
  await refuses(() => ask({ metric: 'requests', interval: '1m', from: new Date(now.getTime() - 3 * 86_400_000).toISOString() }));
  assert.equal(AnalyticsQuery.safeParse({ metric: 'requests', group_by: 'route,route' }).success, false);
  assert.equal(AnalyticsQuery.safeParse({ metric: 'requests', group_by: 'route,method,client' }).success, false);
});

test('nothing of another workspace or space is counted', async () => {
  const test_ = Analytics.parse(await queryAnalytics({ ...w.test, now }, AnalyticsQuery.parse({ metric: 'requests' })));
  assert.equal(test_.totals.value, 1);
});

test('the same question has the same answer for 15 seconds, in its own workspace, space and rights alone', async () => {
  const [one, two] = [await workspace(), await workspace()];
  const asked = AnalyticsQuery.parse({ metric: 'requests' });
  const totalAt = async (ctx: Ctx, ms: number) => {
    const at = { ...ctx, now: new Date(now.getTime() + ms) };
    return Analytics.parse(await queryAnalytics(at, asked)).totals.value;
  };
  await insertRows(sql(), [call(one.live, { ts: new Date(now.getTime() - 1_000).toISOString() })]);
  assert.equal(await totalAt(one.live, 0), 1);
  await insertRows(sql(), [call(one.live, { ts: new Date(now.getTime() - 1_000).toISOString() })]);
  assert.equal(await totalAt(one.live, 14_999), 1);
  assert.deepEqual([await totalAt(one.test, 1), await totalAt(two.live, 1), await totalAt(two.test, 1)], [0, 0, 0]);
  const blind = { ...one.live, actor: { ...one.live.actor, capabilities: new Set(['analytics:read' as const]) } };
  assert.equal(await totalAt(blind, 1), 2, 'asked for itself: its answer has no changes');
  assert.equal(await totalAt(one.live, 15_000), 2);
});

test('who asks while it is counted waits for that count, and a failure is not kept', async () => {
  const ctx = { ...(await workspace()).live, now };
  let counts = 0;
  const asking = () => keptAnswer(ctx, [], { of: 'test' }, async () => ++counts);
  assert.deepEqual(await Promise.all([asking(), asking(), asking()]), [1, 1, 1]);
  await assert.rejects(keptAnswer(ctx, [], { of: 'failure' }, () => Promise.reject(new Error('down'))));
  assert.equal(await keptAnswer(ctx, [], { of: 'failure' }, async () => 'up'), 'up');
});
