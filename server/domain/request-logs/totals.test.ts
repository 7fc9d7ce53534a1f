import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { call } from './call.fixture.ts';
import { maintainPartitions, pruneRequestLogs } from './retention.ts';
import { ListRouteLogs } from './schema.ts';
import { listRouteLogs } from './service.ts';

await ownDatabase();
const DAY = 86_400_000;
const MINUTE = 60_000;

const ENVIRONMENTS = ['production', 'staging', "o'brien", 'größe', '%', '_', "'; drop table request_logs; --"];
const STATUSES = [200, 201, 404, 502, null];
const METHODS = ['GET', 'POST', 'M-SEARCH', 'get'];

/** Calls of every kind, none like its neighbour; each seventh of an environment that the route did not have then. */
const mixed = (ctx: Ctx, route_id: string, count: number, at = Date.now() - 5 * MINUTE): LogRow[] =>
  Array.from({ length: count }, (_, i) =>
    call(ctx, {
      route_id,
      ts: new Date(at - i * 1_000).toISOString(),
      environment: i % 11 === 0 ? null : (ENVIRONMENTS[i % ENVIRONMENTS.length] ?? null),
      status_code: STATUSES[i % STATUSES.length] ?? null,
      method: METHODS[(i * 3 + (i >> 3)) % METHODS.length] ?? 'GET',
      error: i % 7 === 0 ? 'environment_not_configured' : i % 5 === 3 ? 'upstream_unreachable' : null,
      proxy_mode: i % 13 === 0 ? 'test' : 'route',
    }),
  );

const newRoute = (ctx: Ctx, name: string) => made(ctx, 'routes.create', { name, target_base_url: 'http://127.0.0.1:9' });

type Asked = { environment?: string; status_code?: number; method?: string };
/** Every filter, and pairs of them. */
const QUERIES: readonly Asked[] = [
  {},
  ...ENVIRONMENTS.flatMap((environment) => [{ environment }, { environment, status_code: 502 }, { environment, method: 'post' }]),
  ...STATUSES.flatMap((status_code) => (status_code === null ? [] : [{ status_code }, { status_code, method: 'GET' }])),
  ...METHODS.map((method) => ({ method })),
  { environment: 'nowhere' },
  // The gateway keeps nothing that COPY would read otherwise; who asks may write anything.
  { environment: '\\' },
  { method: 'TRACE' },
  { status_code: 599 },
  { environment: 'production', status_code: 200, method: 'GET' },
];
/** One of each kind: where what is counted is at stake, and not how it is asked for. */
const FEW: readonly Asked[] = [{}, { environment: 'production' }, { status_code: 200 }, { method: 'get' }];

/** Each question answers with the rows that the table has for it, and no more. */
async function assertTrue(ctx: Ctx, id: string, queries = FEW) {
  const { rows: held } = await sql().query<Pick<LogRow, 'request_id' | 'environment' | 'status_code' | 'method'>>(
    'select request_id, environment, status_code, method from request_logs where route_id = $1 and sandbox = $2 order by ts desc, id desc',
    [id, ctx.sandbox],
  );
  for (const query of queries) {
    const { environment, status_code, method } = query;
    const wanted = held.filter(
      (row) =>
        (environment === undefined || row.environment === environment) &&
        (status_code === undefined || row.status_code === status_code) &&
        (method === undefined || row.method === method.toUpperCase()),
    );
    for (const page of [1, Math.max(1, Math.ceil(wanted.length / 9))]) {
      const got = await listRouteLogs(ctx, ListRouteLogs.parse({ ...query, id, per_page: 9, page }));
      assert.equal(got.total, wanted.length, JSON.stringify(query));
      assert.deepEqual(
        got.rows.map((row) => row.request_id),
        wanted.slice((page - 1) * 9, page * 9).map((row) => row.request_id),
        JSON.stringify({ query, page }),
      );
    }
  }
  return held.length;
}

const kept = async (tenant: string): Promise<number> =>
  (await sql().query<{ n: number }>('select count(*)::int as n from route_log_totals where tenant_id = $1', [tenant])).rows[0]?.n ?? 0;

test("a route's total is the true count for every filter, of its own calls and space, and a batch replayed after a crash counts once", async () => {
  const w = await workspace();
  const [a, b, tried] = [await newRoute(w.live, 'a'), await newRoute(w.live, 'b'), await newRoute(w.test, 'a')];
  const rows = mixed(w.live, a.id, 400);
  await insertRows(sql(), rows);
  await insertRows(sql(), mixed(w.live, b.id, 60));
  await insertRows(sql(), mixed(w.test, tried.id, 30));
  await insertRows(sql(), [...rows.slice(0, 50), ...mixed(w.live, a.id, 20)]);
  assert.equal(await assertTrue(w.live, a.id, QUERIES), 420);
  assert.equal(await assertTrue(w.live, b.id, QUERIES), 60);
  assert.equal(await assertTrue(w.test, tried.id), 30);
});

test('what retention removes is no longer counted, and a route without calls leaves no total', async () => {
  const w = await workspace();
  const [kept1, gone] = [await newRoute(w.live, 'kept'), await newRoute(w.live, 'gone')];
  await insertRows(sql(), [
    ...mixed(w.live, kept1.id, 100),
    ...mixed(w.live, kept1.id, 90, Date.now() - 40 * DAY),
    ...mixed(w.live, gone.id, 50, Date.now() - 40 * DAY),
  ]);
  assert.equal(await assertTrue(w.live, kept1.id), 190);
  const before = await kept(w.tenant.id);
  assert.equal(await pruneRequestLogs([{ tenant_id: w.tenant.id, log_days: 30, audit_days: 30 }], new Date()), 140);
  assert.equal(await assertTrue(w.live, kept1.id, QUERIES), 100);
  assert.equal(await assertTrue(w.live, gone.id), 0);
  assert.ok((await kept(w.tenant.id)) < before);
  await pruneRequestLogs([{ tenant_id: w.tenant.id, log_days: 30, audit_days: 30 }], new Date(Date.now() + 60 * DAY));
  assert.equal(await kept(w.tenant.id), 0);
});

test('rows that go with their whole day are no longer counted', async () => {
  const w = await workspace();
  const route = await newRoute(w.live, 'orders');
  const windows = [{ tenant_id: w.tenant.id, log_days: 30, audit_days: 30 }];
  // Its day has a partition of its own.
  const at = new Date(Date.now() + 2 * DAY);
  await maintainPartitions(windows, new Date());
  await insertRows(sql(), [...mixed(w.live, route.id, 40, at.getTime()), ...mixed(w.live, route.id, 10)]);
  assert.equal(await assertTrue(w.live, route.id), 50);
  const { dropped } = await maintainPartitions(windows, new Date(at.getTime() + 33 * DAY));
  assert.ok(dropped.length > 0);
  assert.equal(await assertTrue(w.live, route.id), 10);
});

test('writers that name the same routes in any order, and retention beside them, lose no call and never wait for each other in a circle', async () => {
  const w = await workspace();
  const routes = await Promise.all(Array.from({ length: 6 }, (_, i) => newRoute(w.live, `route ${i}`)));
  await insertRows(
    sql(),
    routes.flatMap((route) => mixed(w.live, route.id, 20, Date.now() - 40 * DAY)),
  );
  const write = (round: number) =>
    insertRows(
      sql(),
      routes.map((_, i) =>
        call(w.live, {
          route_id: routes[(i * 5 + round) % routes.length]?.id ?? null,
          status_code: 200 + (round % 3),
          method: METHODS[i % 4] ?? 'GET',
        }),
      ),
    );
  await Promise.all([
    ...Array.from({ length: 40 }, (_, round) => write(round)),
    pruneRequestLogs([{ tenant_id: w.tenant.id, log_days: 30, audit_days: 30 }], new Date()),
  ]);
  for (const route of routes) assert.equal(await assertTrue(w.live, route.id), 40);
});

test('a batch that is rolled back changes no total', async () => {
  const w = await workspace();
  const route = await newRoute(w.live, 'orders');
  await insertRows(sql(), mixed(w.live, route.id, 5));
  await assert.rejects(insertRows(sql(), [...mixed(w.live, route.id, 5), call(w.live, { route_id: route.id, status_code: 1e12 })]));
  assert.equal(await assertTrue(w.live, route.id), 5);
});

test('the calls of a stretch of time are counted truly, be it none of them, a few, half or all but a few', async () => {
  const w = await workspace();
  const route = await newRoute(w.live, 'orders');
  const now = Math.floor(Date.now() / MINUTE) * MINUTE;
  const COUNT = 20_000;
  const at = (i: number) => new Date(now - i * 1_000);
  for (let from = 0; from < COUNT; from += 5_000)
    await insertRows(
      sql(),
      Array.from({ length: 5_000 }, (_, i) => call(w.live, { route_id: route.id, ts: at(from + i).toISOString() })),
    );
  const total = async (query: object) => (await listRouteLogs(w.live, ListRouteLogs.parse({ ...query, id: route.id }))).total;
  for (const [newest, oldest] of [
    [0, COUNT - 1],
    [1, COUNT - 1],
    [0, 30],
    [900, COUNT - 1],
    [1_500, COUNT - 1],
    [0, 999],
    [0, 1_000],
    [5_000, 14_000],
    [9_000, COUNT - 1],
    [600, COUNT - 600],
    [COUNT, COUNT + 5],
    [50, 40],
  ] as const) {
    const wanted = Math.max(0, Math.min(oldest, COUNT - 1) - newest + 1);
    assert.equal(await total({ since: at(oldest).toISOString(), until: at(newest).toISOString() }), wanted, `${newest} to ${oldest}`);
    if (oldest === COUNT - 1) assert.equal(await total({ until: at(newest).toISOString() }), wanted, `up to ${newest}`);
    if (newest === 0) assert.equal(await total({ since: at(oldest).toISOString() }), wanted, `since ${oldest}`);
  }
});
