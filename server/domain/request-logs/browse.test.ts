import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { keyActor, workspace } from '#server/testing/workspace.ts';
import { BrowsedLogs, BrowseLogs, ExportLogs, LogDetail } from './browse.schema.ts';
import { browseLogs, inspectLog } from './browse.ts';
import { call } from './call.fixture.ts';
import { exportLogs } from './export.ts';
import { LogStats, LogStatsQuery } from './figures.schema.ts';
import * as ops from './operations.ts';
import { insert, row } from './rows.fixture.ts';
import { ListRouteLogs, RouteLog } from './schema.ts';
import { listRouteLogs } from './service.ts';
import { logStats } from './stats.ts';
import { subscribe, type TailBatch } from './tail.ts';

await testDatabase();
const browse = async (ctx: Ctx, query: Record<string, unknown> = {}) =>
  BrowsedLogs.parse(await browseLogs({ ...ctx, now: new Date() }, BrowseLogs.parse(query)));
const HOUR = 3_600_000;

async function route(ctx: Ctx, slug: string) {
  const environment = await db().environments.findFirstOrThrow({ where: { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox } });
  return db().routes.create({
    data: { id: newId(), tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, name: slug, slug, base_environment_id: environment.id },
  });
}

/** What the gateway hands to its writer, an hour ago. */
const written = (ctx: Ctx, over: Partial<LogRow>): LogRow =>
  call(ctx, { ts: new Date(Date.now() - HOUR).toISOString(), trace: null as never, ...over });

test('every filter of the table finds its rows and no others', async () => {
  const w = await workspace();
  const routeId = newId();
  const special = row(w.tenant.id, {
    route_id: routeId,
    status_code: 503,
    method: 'POST',
    path: '/Orders/42?x=100%_',
    environment: 'staging',
    src_ip: '2001:db8::7',
    latency_ms: 900,
    error: 'upstream_timeout',
  });
  await insert([
    row(w.tenant.id),
    special,
    row(w.tenant.id, { src_ip: 'unknown' }),
    row(w.tenant.id, { sandbox: true }),
    row(w.tenant.id, { ts: new Date(Date.now() - 30 * HOUR) }),
  ]);
  assert.equal((await browse(w.live)).total, 3, 'the last 24 hours of this space');
  for (const query of [
    { status: 503 },
    { status_class: '5xx' },
    { method: 'post' },
    { route_id: routeId },
    { environment: 'staging' },
    { error: 'upstream_timeout' },
    { min_latency_ms: 900 },
    { src_ip: '2001:db8::/32' },
    { src_ip: '2001:db8:0:0::7' },
    { q: 'orders/42' },
    { q: '100%_' },
    { q: special.request_id },
  ]) {
    const { logs } = await browse(w.live, query);
    assert.deepEqual(
      logs.map((l) => l.request_id),
      [special.request_id],
      JSON.stringify(query),
    );
  }
  assert.equal((await browse(w.live, { q: '%' })).total, 1, 'no wildcards in what people type');
  assert.equal((await browse(w.live, { from: new Date(Date.now() - 40 * HOUR).toISOString() })).total, 4);
  assert.ok(!BrowseLogs.safeParse({ src_ip: "1.2.3.4' or true" }).success);
  assert.equal((await browse((await workspace()).live)).total, 0);
});

test('pages by keyset neither repeat nor miss a row, by time and by latency, ties included', async () => {
  const w = await workspace();
  const ts = new Date(Date.now() - 60_000);
  const rows = Array.from({ length: 23 }, (_, i) => row(w.tenant.id, { ts, latency_ms: i % 3 ? 5 : null }));
  await insert(rows);
  for (const query of [{}, { sort: 'latency_ms' }, { order: 'asc' }, { sort: 'latency_ms', order: 'asc' }]) {
    const seen: string[] = [];
    for (let before: string | undefined, i = 0; i < 5; i++) {
      const page = await browse(w.live, { ...query, per_page: 5, ...(before ? { before } : {}) });
      seen.push(...page.logs.map((l) => l.request_id));
      before = page.next ?? undefined;
      if (!before) break;
    }
    assert.equal(new Set(seen).size, 23, JSON.stringify(query));
    assert.equal(seen.length, 23);
  }
  assert.equal((await browse(w.live, { per_page: 10, page: 3 })).logs.length, 3);
});

test('a call is inspected with its key, its route and what was done to the route around it', async () => {
  const w = await workspace();
  const [r, key] = [await route(w.live, 'payments'), await w.key()];
  const call = written(w.live, {
    route_id: r.id,
    api_key_id: key.row.id,
    secrets_used: ['stripe'],
  });
  await insertRows(sql(), [call]);
  const ctx = { ...w.live, now: new Date(Date.now() - HOUR) };
  await mutate(ctx, async () => audited(undefined, { action: 'update', resource_type: 'route', resource_id: r.id }));
  const detail = LogDetail.parse(await inspectLog(w.member('viewer'), { request_id: call.request_id }));
  assert.deepEqual(
    [detail.api_key?.name, detail.route?.slug, detail.related.map((e) => e.action), detail.log.secrets_used],
    ['Key - Infrastructure', 'payments', ['update'], ['stripe']],
  );
  assert.deepEqual([detail.payload, detail.payload_withheld, detail.payload_meta.captured], [null, true, false]);
  // Who may list calls but neither keys nor the audit log learns of them here no more than there.
  const lesser = LogDetail.parse(await inspectLog(w.member('member'), { request_id: call.request_id }));
  assert.deepEqual([lesser.api_key, lesser.client, lesser.related, lesser.route?.slug], [null, null, [], 'payments']);
  for (const other of [w.test, (await workspace()).live])
    await assert.rejects(inspectLog(other, { request_id: call.request_id }), { type: 'not_found' });
  await assert.rejects(inspectLog(w.live, { request_id: 'nonsense' }), { type: 'not_found' });
});

test("a route's list finds it by id or slug and its total is the true count, with a batch replayed after a crash", async () => {
  const w = await workspace();
  const r = await route(w.live, 'orders');
  const rows = Array.from({ length: 30 }, (_, i) =>
    written(w.live, { route_id: r.id, ts: new Date(Date.now() - i * 40_000).toISOString(), status_code: i % 5 ? 200 : 500 }),
  );
  await insertRows(sql(), rows);
  await insertRows(sql(), rows.slice(0, 10));
  const list = (ctx: Ctx, query: Record<string, unknown>) => listRouteLogs(ctx, ListRouteLogs.parse(query));
  for (const id of [r.id, r.id.toUpperCase(), 'orders']) {
    const page = await list(w.live, { id, per_page: 7, page: 5 });
    assert.deepEqual([page.total, page.rows.length, page.total_pages], [30, 2, 5]);
  }
  assert.equal((await list(w.live, { id: 'orders', status_code: 500 })).total, 6);
  const [first] = (await list(w.live, { id: 'orders', per_page: 1 })).rows;
  assert.equal(first?.request_id, rows[0]?.request_id, 'newest first');
  const blind = RouteLog.parse((await list({ ...w.live, actor: keyActor('Key - Read-only') }, { id: 'orders', per_page: 1 })).rows[0]);
  assert.deepEqual([blind.src_ip, blind.source_ip_country], [null, null]);
  await assert.rejects(list(w.test, { id: r.id }), { type: 'not_found' });
  await assert.rejects(list(w.live, { id: 'nowhere' }), { type: 'not_found' });
});

test('figures add up: series, classes, percentiles, top routes and error codes', async () => {
  const w = await workspace();
  const r = await route(w.live, 'top');
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  await insertRows(sql(), [
    ...Array.from({ length: 90 }, () => written(w.live, { route_id: r.id, ts: at(10), latency_ms: 20 })),
    ...Array.from({ length: 10 }, () => written(w.live, { ts: at(70), latency_ms: 2000, status_code: 502, error: 'upstream_unreachable' })),
  ]);
  const stats = LogStats.parse(await logStats({ ...w.live, now: new Date() }, LogStatsQuery.parse({})));
  assert.deepEqual(
    [stats.totals.total, stats.totals.c2xx, stats.totals.c5xx, stats.totals.errors, stats.step_seconds],
    [100, 90, 10, 10, 900],
  );
  assert.equal(
    stats.series.reduce((sum, s) => sum + s.total, 0),
    100,
  );
  assert.ok(
    stats.latency.p50! > 14 && stats.latency.p50! < 28 && stats.latency.p99! > 1400 && stats.latency.p99! < 2800,
    JSON.stringify(stats.latency),
  );
  assert.deepEqual(
    stats.top_routes.map((t) => [t.name, t.count]),
    [
      ['top', 90],
      [null, 10],
    ],
  );
  assert.deepEqual(stats.error_codes, [{ error: 'upstream_unreachable', count: 10 }]);
  const hour = LogStats.parse(await logStats({ ...w.live, now: new Date() }, LogStatsQuery.parse({ from: at(60), route_id: r.id })));
  assert.deepEqual([hour.totals.total, hour.step_seconds, hour.error_codes], [90, 60, []]);
  const empty = LogStats.parse(await logStats(w.test, LogStatsQuery.parse({})));
  assert.deepEqual([empty.totals.total, empty.latency.p50, empty.series], [0, null, []]);
  await assert.rejects(logStats(w.live, LogStatsQuery.parse({ from: at(-10) })), { type: 'validation_error' });
});

test('a key and a client have figures of their own, of this space only, and a batch replayed after a crash counts once', async () => {
  const w = await workspace();
  const other = await workspace();
  const r = await route(w.live, 'callers');
  const [key, client, stranger] = [newId(), newId(), newId()];
  const ts = new Date(Date.now() - 10 * 60_000).toISOString();
  const call = (over: Partial<LogRow>) => written(w.live, { ts, route_id: r.id, ...over });
  const rows = [
    ...Array.from({ length: 6 }, () => call({ api_key_id: key, matched_client_id: client })),
    ...Array.from({ length: 3 }, () => call({ api_key_id: key, status_code: 429, error: 'rate_limit_exceeded', rate_limited: true })),
    call({ api_key_id: key, sandbox: true }),
    call({ api_key_id: stranger, status_code: 502, error: 'upstream_unreachable' }),
    call({}),
    written(other.live, { ts, api_key_id: key }),
  ];
  await insertRows(sql(), rows);
  await insertRows(sql(), rows.slice(0, 4));
  const stats = async (ctx: Ctx, query: Record<string, unknown>) =>
    LogStats.parse(await logStats({ ...ctx, now: new Date() }, LogStatsQuery.parse(query)));
  const ofKey = await stats(w.live, { api_key_id: key });
  assert.deepEqual([ofKey.totals.total, ofKey.totals.c4xx, ofKey.totals.errors, ofKey.totals.rate_limited], [9, 3, 3, 3]);
  assert.deepEqual(
    ofKey.top_routes.map((t) => [t.name, t.count, t.errors]),
    [['callers', 9, 3]],
  );
  assert.deepEqual(ofKey.error_codes, [{ error: 'rate_limit_exceeded', count: 3 }]);
  assert.ok(ofKey.latency.p50! > 14 && ofKey.latency.p50! < 28, 'a histogram of its own');
  const ofClient = await stats(w.live, { client_id: client, route_id: r.id, environment: 'production' });
  assert.deepEqual([ofClient.totals.total, ofClient.totals.errors, ofClient.error_codes], [6, 0, []]);
  assert.equal((await stats(w.live, { client_id: client, environment: 'staging' })).totals.total, 0);
  assert.equal((await stats(w.test, { api_key_id: key })).totals.total, 1);
  assert.equal((await stats(other.live, { api_key_id: key })).totals.total, 1, 'the same id elsewhere is somebody else');
  assert.equal((await browse(w.live, { api_key_id: key })).total, 9);
  await assert.rejects(stats(w.live, { api_key_id: key, client_id: client }), { type: 'validation_error' });
});

test('an export is recorded, gated by the plan, and holds every row once in a form no spreadsheet runs', async () => {
  const w = await workspace({ plan: 'pro' });
  const owner = { ...w.member('owner'), plan: 'pro' as const };
  await insert(Array.from({ length: 1500 }, (_, i) => row(w.tenant.id, { path: i ? `/${i}` : '=cmd()' })));
  const csv = (await textOf(await exportLogs(owner, ExportLogs.parse({})))).trimEnd().split('\r\n');
  assert.equal(csv.length, 1501);
  assert.ok(csv.some((line) => line.includes("'=cmd()")));
  const ndjson = (await textOf(await exportLogs(owner, ExportLogs.parse({ format: 'ndjson', q: '/14' }))))
    .trimEnd()
    .split('\n')
    .map((l) => JSON.parse(l) as { path: string });
  assert.equal(ndjson.length, 111);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'export', resource_type: 'request_log' } }), 2);
  await assert.rejects(perform(ops.exported, { ...owner, plan: 'starter' }, {}), { type: 'plan_feature' });
});

async function take(batches: AsyncGenerator<TailBatch>, rows: number): Promise<TailBatch[]> {
  const taken: TailBatch[] = [];
  for await (const batch of batches) {
    taken.push(batch);
    if (taken.reduce((n, b) => n + b.rows.length, 0) >= rows) break;
  }
  return taken;
}

test('a live view gets what is written after it opened, in its own space, at most 50 rows a second, and is told how many were held back', async (t) => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  await insert([row(w.tenant.id, { path: '/before' })]);
  const view = await subscribe(w.live, null, t.signal);
  const first = take(view, 1);
  await insert([row(other.tenant.id), row(w.tenant.id, { sandbox: true }), row(w.tenant.id, { path: '/after' })]);
  assert.deepEqual(
    (await first).flatMap((b) => b.rows.map((r) => r.path)),
    ['/after'],
  );

  const burst = await subscribe(w.live, null, t.signal);
  const next = async () => {
    const { value } = await burst.next();
    return value && { newest: value.rows[0]?.path, shown: value.rows.length, held_back: value.held_back };
  };
  await insert(Array.from({ length: 200 }, (_, i) => row(w.tenant.id, { path: `/${i}` })));
  assert.deepEqual(await next(), { newest: '/199', shown: 25, held_back: 175 });
  const began = performance.now();
  await insert(Array.from({ length: 100 }, (_, i) => row(w.tenant.id, { path: `/more/${i}` })));
  assert.deepEqual(await next(), { newest: '/more/99', shown: 25, held_back: 75 });
  // A busy machine makes the pause longer, never shorter.
  assert.ok(performance.now() - began >= 490, 'half a second is between two flushes');
  await burst.return(undefined);
});

test('a live view that was cut off resumes after the last row it had', async (t) => {
  const w = await workspace();
  const ids = await insert([row(w.tenant.id, { path: '/1' }), row(w.tenant.id, { path: '/2' }), row(w.tenant.id, { path: '/3' })]);
  const got = await take(await subscribe(w.live, ids[0]!, t.signal), 2);
  assert.deepEqual(
    got.flatMap((b) => b.rows.map((r) => r.path)),
    ['/3', '/2'],
  );
});
