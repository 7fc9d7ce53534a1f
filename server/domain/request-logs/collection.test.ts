import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import { inTransaction } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { BrowseLogs, ExportLogs, LogFacetsQuery } from './browse.schema.ts';
import { browseLogs } from './browse.ts';
import { call } from './call.fixture.ts';
import { exportLogs } from './export.ts';
import { logFacets } from './facets.ts';
import { LogStatsQuery } from './figures.schema.ts';
import { logStats } from './stats.ts';

await testDatabase();
const MINUTE = 60_000;

test('the calls of a collection are those of its routes of this moment, in every reader of the log and nobody else’s', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const collection = await made(w.live, 'collections.create', { name: fresh('Payments') });
  const target_base_url = 'http://127.0.0.1:9';
  const inside: { id: string }[] = [];
  for (let i = 0; i < 3; i++)
    inside.push(await made(w.live, 'routes.create', { name: fresh('in'), target_base_url, collection_id: collection.id }));
  const outside = await made(w.live, 'routes.create', { name: fresh('out'), target_base_url });
  const first = inside[0]?.id ?? '';
  const at = (i: number) => new Date(Date.now() - i * MINUTE).toISOString();
  const of = (route_id: string | null, i: number, more = {}) => call(w.live, { route_id, ts: at(i), trace: null as never, ...more });
  const rows = Array.from({ length: 23 }, (_, i) =>
    of(inside[i % 2]?.id ?? null, i + 2, i === 5 ? { status_code: 502, error: 'upstream_timeout' } : {}),
  );
  await insertRows(sql(), [...rows, ...Array.from({ length: 40 }, (_, i) => of(outside.id, i)), of(null, 1)]);
  const now = new Date();
  const live = { ...w.live, now };
  const collection_id: string = collection.id;
  const browse = (query: object, ctx = live) => browseLogs(ctx, BrowseLogs.parse({ collection_id, ...query }));

  const seen: string[] = [];
  for (let before: string | undefined, pages = 0; pages < 9; pages++) {
    const page = await browse({ per_page: 5, ...(before ? { before } : {}) });
    assert.equal(page.total, 23);
    seen.push(...page.logs.map((log) => log.request_id));
    if (!page.next) break;
    before = page.next;
  }
  assert.deepEqual(
    seen,
    rows.map((one) => one.request_id),
    'newest first over all routes, none twice, none missed',
  );
  assert.deepEqual(
    (await browse({ per_page: 5, page: 2 })).logs.map((log) => log.request_id),
    seen.slice(5, 10),
  );
  assert.deepEqual(
    (await browse({ per_page: 9, order: 'asc' })).logs.map((log) => log.request_id),
    seen.toReversed().slice(0, 9),
  );
  assert.equal((await browse({ sort: 'latency_ms', per_page: 50 })).logs.length, 23);
  assert.equal((await browse({ status: 502 })).logs[0]?.request_id, rows[5]?.request_id);
  assert.equal((await browse({ route_id: first })).total, 12, 'with the filter of a route both hold');
  assert.equal((await browse({ route_id: outside.id })).total, 0);

  const facets = await logFacets(live, LogFacetsQuery.parse({ collection_id, status: 502 }));
  assert.deepEqual(
    [facets.total, facets.status_class],
    [
      1,
      [
        { value: '2xx', count: 22 },
        { value: '5xx', count: 1 },
      ],
    ],
  );
  const stats = await logStats(live, LogStatsQuery.parse({ collection_id }));
  assert.deepEqual(
    [stats.totals.total, stats.totals.errors, stats.error_codes, stats.top_routes.length],
    [23, 1, [{ error: 'upstream_timeout', count: 1 }], 2],
  );
  const csv = await textOf(await exportLogs(live, ExportLogs.parse({ format: 'csv', collection_id })));
  assert.equal(csv.trim().split('\r\n').length, 24);

  for (const ctx of [
    { ...other.live, now },
    { ...w.test, now },
  ]) {
    assert.equal((await browse({}, ctx)).total, 0);
    assert.equal((await logStats(ctx, LogStatsQuery.parse({ collection_id }))).totals.total, 0);
  }
  assert.equal((await browse({ collection_id: newId() })).total, 0, 'a collection that is nobody’s has no calls');
  await made(w.live, 'routes.update', { id: first, collection_id: null });
  assert.equal((await browse({})).total, 11, 'a route that left takes its calls along');
});

test('a quiet collection beside a busy route is read from the index of its routes, and not searched for', async () => {
  const w = await workspace();
  const collection = await made(w.live, 'collections.create', { name: fresh('Quiet') });
  const quiet = await made(w.live, 'routes.create', {
    name: fresh('q'),
    target_base_url: 'http://127.0.0.1:9',
    collection_id: collection.id,
  });
  const busy = newId();
  await sql().query(
    `insert into request_logs (request_id, tenant_id, sandbox, route_id, ts, method, status_code, client_origin)
     select gen_random_uuid(), $1, false, case when n % 2000 = 0 then $2::uuid else $3::uuid end, now() - n * interval '100 ms', 'GET', 200, 'direct'
     from generate_series(1, 20000) n`,
    [w.tenant.id, quiet.id, busy],
  );
  await sql().query('analyze request_logs');
  const ctx = { ...w.live, now: new Date() };
  const read = () => browseLogs(ctx, BrowseLogs.parse({ collection_id: collection.id, per_page: 5 }));
  assert.equal((await read()).total, 10);
  const touched = await inTransaction(ctx, async (tx) => {
    const count = async () =>
      (
        await tx.$queryRaw<
          { n: number }[]
        >`select coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::float8 as n from pg_stat_xact_user_tables where relname like 'request_logs%'`
      )[0]?.n ?? 0;
    const before = await count();
    await browseLogs({ ...ctx, tx }, BrowseLogs.parse({ collection_id: collection.id, per_page: 5 }));
    return (await count()) - before;
  });
  assert.ok(touched > 0 && touched < 200, `${touched} rows were read for a page of five`);
});
