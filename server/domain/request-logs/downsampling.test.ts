import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { bucketOf, emptyBuckets, percentile } from './buckets.ts';
import { call } from './call.fixture.ts';
import { downsampleRollups } from './downsampling.ts';
import { LogStatsQuery } from './figures.schema.ts';
import { carve, readingOf } from './read-plan.ts';
import { pruneSpace } from './retention.ts';
import { logStats } from './stats.ts';

// Whatever was written late, removed, added up or not yet: the figures are those of the rows that are there.

await testDatabase();
const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
const HOUR = 60 * MINUTE;

const [routes, callers] = [Array.from({ length: 3 }, newId), Array.from({ length: 3 }, newId)];

/** The same numbers in every run. */
function dice(seed: number) {
  let state = seed;
  const upTo = (most: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * most);
  };
  return { upTo, one: <T>(of: readonly T[]): T => of[upTo(of.length)] as T };
}
type Dice = ReturnType<typeof dice>;

const anyCall = (ctx: Ctx, { upTo, one }: Dice, ago: number): LogRow =>
  call(ctx, {
    ts: new Date(Date.now() - ago).toISOString(),
    route_id: one([null, ...routes]),
    api_key_id: one([null, ...callers]),
    environment: one(['production', 'staging']),
    status_code: one([200, 204, 301, 404, 429, 502, null]),
    error: one([null, null, null, 'route_rate_limit_exceeded']),
    latency_ms: 2 ** upTo(17),
    upstream_ms: one([null, 2 ** upTo(17)]),
    request_bytes: upTo(5_000),
    response_bytes: upTo(5_000),
    proxy_mode: one(['route', 'route', 'route', 'test']),
  });

/** As it is after the job was away for hours. */
const unfold = async (hours: number) => {
  for (const table of ['request_quarters', 'caller_quarters', 'request_blocks', 'caller_blocks', 'late_quarters'])
    await sql().query(`delete from ${table}`);
  await sql().query("update folded_quarters set until = date_bin('15 minutes', now() - $1 * interval '1 hour', 'epoch')", [hours]);
};

type Held = Pick<
  LogRow,
  'route_id' | 'environment' | 'status_code' | 'error' | 'latency_ms' | 'upstream_ms' | 'proxy_mode' | 'api_key_id'
> & {
  ts: Date;
  bytes_in: number;
  bytes_out: number;
};

const heldBy = async (ctx: Ctx): Promise<Held[]> =>
  (
    await sql().query<Held>(
      `select ts, route_id, environment, status_code, error, latency_ms, upstream_ms, proxy_mode, api_key_id, request_bytes::float8 as bytes_in,
      response_bytes::float8 as bytes_out from request_logs where tenant_id = $1 and sandbox = $2`,
      [ctx.tenant_id, ctx.sandbox],
    )
  ).rows;

/** Asks for the figures of a span and holds them against a count over the rows. */
async function assertTrue(
  ctx: Ctx,
  rows: readonly Held[],
  from: Date,
  to: Date,
  asked: { route_id?: string; environment?: string; api_key_id?: string },
) {
  const stats = await logStats(ctx, LogStatsQuery.parse({ ...asked, from: from.toISOString(), to: to.toISOString() }));
  // Figures are of whole minutes.
  const [first, last] = [Math.floor(from.getTime() / MINUTE) * MINUTE, Math.ceil(to.getTime() / MINUTE) * MINUTE];
  const seen = rows.filter(
    (row) =>
      row.ts.getTime() >= first &&
      row.ts.getTime() < last &&
      (!asked.route_id || row.route_id === asked.route_id) &&
      (!asked.environment || row.environment === asked.environment) &&
      (!asked.api_key_id || row.api_key_id === asked.api_key_id),
  );
  const real = seen.filter((row) => row.proxy_mode !== 'test');
  const sum = (of: (row: Held) => number) => real.reduce((total, row) => total + of(row), 0);
  const quantiles = (of: (row: Held) => number | null) => {
    const buckets = emptyBuckets();
    const durations = real.flatMap((row) => of(row) ?? []);
    for (const ms of durations) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1;
    const longest = Math.max(0, ...durations);
    return { p50: percentile(buckets, 0.5, longest), p95: percentile(buckets, 0.95, longest), p99: percentile(buckets, 0.99, longest) };
  };
  const { c2xx, c5xx, total, errors, bytes_in, bytes_out, trials } = stats.totals;
  const what = JSON.stringify({ from, to, asked });
  assert.deepEqual(
    { c2xx, c5xx, total, errors, bytes_in, bytes_out, trials },
    {
      c2xx: sum(({ status_code }) => (Math.floor((status_code ?? 0) / 100) === 2 ? 1 : 0)),
      c5xx: sum(({ status_code }) => (Math.floor((status_code ?? 0) / 100) === 5 ? 1 : 0)),
      total: real.length,
      errors: sum(({ error, status_code }) => (error !== null || (status_code ?? 0) >= 500 ? 1 : 0)),
      bytes_in: sum((row) => row.bytes_in),
      bytes_out: sum((row) => row.bytes_out),
      trials: asked.api_key_id ? 0 : seen.length - real.length,
    },
    what,
  );
  assert.equal(
    stats.series.reduce((all, bar) => all + bar.total, 0),
    real.length,
    what,
  );
  assert.deepEqual(
    [stats.latency, stats.upstream_latency],
    [quantiles((row) => row.latency_ms), quantiles((row) => row.upstream_ms)],
    what,
  );
  const inRoutes = [...Map.groupBy(real, (row) => row.route_id).values()].map((list) => list.length).sort((a, b) => b - a);
  assert.deepEqual(
    stats.top_routes.map((route) => route.count),
    inRoutes,
    what,
  );
}

/** Spans of every length, most of which begin and end in the midst of a quarter. */
async function assertSpans(ctx: Ctx, die: Dice, count: number) {
  const rows = await heldBy(ctx);
  for (let i = 0; i < count; i++) {
    const from = Date.now() - die.upTo(die.one([40, 40, 500]) * HOUR) - MINUTE;
    const to = from + 1 + die.upTo(Date.now() - from);
    const asked = die.one([{}, {}, { route_id: routes[0] }, { environment: 'staging' }, { api_key_id: callers[0] }]);
    await assertTrue(ctx, rows, new Date(from), new Date(to), asked);
  }
}

for (const seed of [3, 41])
  test(`figures are those of the rows after any order of writing, writing late, removing and adding up (${seed})`, async () => {
    const [w, die] = [await workspace(), dice(seed)];
    await unfold(30);
    for (let step = 0; step < 24; step++) {
      const ctx = die.one([w.live, w.live, w.test]);
      const write = async (most: number) => {
        const rows = Array.from({ length: 1 + die.upTo(40) }, () => anyCall(ctx, die, die.upTo(most)));
        await insertRows(sql(), rows);
        // A batch replayed after a crash.
        if (die.upTo(3) === 0) await insertRows(sql(), [...rows.slice(0, 5), anyCall(ctx, die, die.upTo(most))]);
      };
      const until = new Date(Math.floor((Date.now() - die.upTo(38 * HOUR)) / MINUTE) * MINUTE);
      const prune = () => pruneSpace(w.tenant.id, ctx.sandbox, until);
      await die.one([
        () => write(4 * MINUTE),
        () => write(2 * HOUR),
        () => write(40 * HOUR),
        () => downsampleRollups(),
        prune,
        () => Promise.all([write(40 * HOUR), downsampleRollups(), write(4 * MINUTE)]),
        async () => {
          await Promise.all([write(40 * HOUR), prune(), downsampleRollups()]);
          // A call of long ago that is written while its minute goes is taken by the next run.
          await prune();
        },
      ])();
      for (const space of [w.live, w.test]) await assertSpans({ ...space, now: new Date() }, die, 2);
    }
    await downsampleRollups();
    for (const table of ['request_quarters', 'caller_quarters', 'request_blocks', 'caller_blocks'])
      assert.ok((await sql().query(`select from ${table}`)).rowCount, `${table} were added up`);
    assert.equal((await sql().query('select from late_quarters')).rowCount, 0, 'no mark is left');
    for (const space of [w.live, w.test]) await assertSpans({ ...space, now: new Date() }, die, 12);
  });

test('what is over is read six hours at once, and what is written late from its minutes until the job comes', async () => {
  const w = await workspace();
  await unfold(32);
  await downsampleRollups();
  const [from, to] = [new Date(Date.now() - 26 * HOUR), new Date()];
  const reading = (ctx = w.live) => read(ctx, (tx) => readingOf(tx, ctx, from, to));
  const length = (spans: readonly { from: number; end: number }[], of: number) =>
    spans.reduce((sum, { from, end }) => sum + (end - from) / of, 0);
  const before = await reading();
  assert.ok(length(before.minutes, MINUTE) <= 15 + 36, 'a quarter at the beginning and what is not settled at the end');
  assert.ok(length(before.quarters, QUARTER) <= 2 * 24);
  assert.ok(length(before.blocks, 6 * HOUR) >= 3);
  const block = before.blocks[0]!.from + 6 * HOUR;
  const quarter = block + 3 * QUARTER;
  await insertRows(sql(), [call(w.live, { ts: new Date(quarter + 7 * MINUTE).toISOString() })]);
  const marked = await reading();
  assert.ok(marked.minutes.some((span) => span.from === quarter && span.end === quarter + QUARTER));
  assert.equal(length(marked.quarters, QUARTER) - length(before.quarters, QUARTER), 23);
  assert.ok(!marked.blocks.some((span) => span.from <= quarter && quarter < span.end));
  assert.deepEqual(await reading(w.test), before, 'of its own space only');
  assert.deepEqual(await reading((await workspace()).live), before, 'and workspace');
  await downsampleRollups();
  assert.deepEqual(await reading(), before);
  for (const table of ['request_quarters', 'request_blocks'])
    assert.deepEqual(
      (await sql().query(`select count::int from ${table} where tenant_id = $1`, [w.tenant.id])).rows,
      [{ count: 1 }],
      table,
    );
});

test('a span is carved into whole cells and what is beside them, without a gap or an overlap', () => {
  const die = dice(11);
  for (let i = 0; i < 500; i++) {
    const from = die.upTo(100);
    const spans = [{ from, end: from + die.upTo(200) }];
    const points = Array.from({ length: die.upTo(5) }, () => die.upTo(400));
    const { whole, rest } = carve(spans, 20, points);
    const sorted = [...whole, ...rest].sort((a, b) => a.from - b.from);
    for (const [n, span] of sorted.entries()) assert.equal(span.from, n === 0 ? spans[0]!.from : sorted[n - 1]!.end);
    if (sorted.length > 0) assert.equal(sorted.at(-1)!.end, spans[0]!.end);
    for (const span of whole) {
      assert.ok(span.from % 20 === 0 && span.end % 20 === 0);
      assert.ok(!points.some((point) => point >= span.from && point < span.end));
    }
  }
});

test('a quarter waits for a writer that may still add to it without a mark', async () => {
  const w = await workspace();
  await unfold(2);
  const writer = await sql().connect();
  await writer.query('begin');
  await writer.query('insert into request_logs (request_id, tenant_id, sandbox, ts) values ($1, $2, false, now())', [newId(), w.tenant.id]);
  const writing = Date.now();
  // A writer cannot be made to hang for a quarter of an hour: instead, quarters count as settled that far before their end.
  await downsampleRollups(-60);
  const until = async () => (await sql().query<{ until: Date }>('select until from folded_quarters')).rows[0]?.until.getTime() ?? 0;
  const held = await until();
  assert.ok(held > writing - HOUR, 'the quarters before it are added up');
  assert.ok(held <= writing, 'its own is not');
  await writer.query('commit');
  writer.release();
  await downsampleRollups(-60);
  assert.ok((await until()) > writing + 30 * MINUTE);
  await unfold(2);
});
