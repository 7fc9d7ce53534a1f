import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { clickHouseRows, closeClickHouse } from '#server/platform/clickhouse.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { anchorTenant } from '../anchors.ts';
import { BrowsedLogs, BrowseLogs, ExportLogs, LogDetail, LogFacetsQuery } from '../browse.schema.ts';
import { browseLogs, inspectLog } from '../browse.ts';
import { call } from '../call.fixture.ts';
import { exportLogs } from '../export.ts';
import { logFacets } from '../facets.ts';
import { LogProof } from '../proof.schema.ts';
import { proveLog } from '../proof.ts';
import { maintainPartitions, pruneSpace } from '../retention.ts';
import { FollowLogs, ListRouteLogs, RequestLogRecord } from '../schema.ts';
import { followLogs, getLog, listRouteLogs, settledCalls } from '../service.ts';
import { PASSWORD, skip, startClickHouse, USER } from './clickhouse.fixture.ts';
import { copyCalls } from './copying.ts';
import { pastOf } from './past.ts';
import { handOver } from './retention.ts';
import { COLUMNS } from './table.ts';

// Judged by ClickHouse's own engine: what is read from it must be what PostgreSQL answered when it had everything.

const DAY = 86_400_000;
const HOUR = 3_600_000;
/** When everything written now is older than what PostgreSQL keeps. */
const LATER = Date.now() + 9 * DAY;
let clickHouse: Awaited<ReturnType<typeof startClickHouse>>;

if (!skip) {
  clickHouse = await startClickHouse();
  await ownDatabase({ CLICKHOUSE_URL: clickHouse.url, CLICKHOUSE_USER: USER, CLICKHOUSE_PASSWORD: PASSWORD });
  after(async () => {
    await closeClickHouse();
    await clickHouse.close();
  });
}

const NOW = new Date();
const at = (ctx: Ctx): Ctx => ({ ...ctx, now: NOW, warnings: [] });
const HOSTILE = ["'; drop table request_logs; --", '{v0:String}', "\\' or 1=1", '`', 'größe', '%', '_', '/* ', 'a\tb', '\\N', '"', '?'];
/** The log's writer keeps no others there. */
const NAMES = HOSTILE.filter((text) => !/[\\\t]/.test(text));
const PATHS = ['/Orders/42?x=100%_', '/v1/things?q=1', '/ÄRGER', ...HOSTILE.map((text) => `/h/${text}`)];
const ADDRESSES = ['203.0.113.7', '2001:db8::7', 'unknown', null, '203.0.113.200', '::ffff:203.0.113.9'];
const ERRORS = [null, null, 'upstream_timeout', 'client_closed', 'route_rate_limit_exceeded', 'environment_not_configured'];
const STATUSES = [200, 201, 404, 503, null];

const pick = <T>(list: readonly T[], i: number): T => list[i % list.length] as T;

/** Calls of every kind, a minute apart, the newest `from` ago. Several share a moment or a latency. */
const mixed = (ctx: Ctx, count: number, from: number, routes: readonly string[]): LogRow[] =>
  Array.from({ length: count }, (_, i) =>
    call(ctx, {
      ts: new Date(NOW.getTime() - from - Math.floor(i / 2) * 60_000).toISOString(),
      route_id: pick([...routes, null], i),
      matched_client_id: i % 5 === 0 ? '33333333-3333-4333-8333-333333333333' : null,
      api_key_id: i % 4 === 0 ? '44444444-4444-4444-8444-444444444444' : null,
      identification_method: pick(['api_key', 'ip', null], i),
      method: pick(['GET', 'POST', 'M-SEARCH'], i),
      status_code: pick(STATUSES, i),
      src_ip: pick(ADDRESSES, i),
      environment: pick(['production', 'staging', null, ...NAMES], i),
      path: pick(PATHS, i),
      latency_ms: pick([5, 5, 900, null, 30], i),
      error: pick(ERRORS, i),
      rate_limited: pick([false, true, false], i),
      proxy_mode: pick(['route', 'test', 'ephemeral'], i),
      client_origin: pick(['direct', 'sdk_intercept'], i),
      origin: pick(['upstream', 'service', null], i),
      route_name: pick(HOSTILE, i),
      user_agent: pick([...HOSTILE, null], i),
      secrets_used: i % 3 ? [] : [`s"${i}`, 'a,b', '{}'],
      warnings: i % 7 ? [] : ['expired_secret'],
      request_bytes: i % 9 ? 10 : Number.MAX_SAFE_INTEGER,
      signature_valid: pick([true, false, null], i),
    } as Partial<LogRow>),
  );

const ATTACKS: readonly Record<string, unknown>[] = [
  ...HOSTILE.map((text) => ({ q: text.trim() })),
  ...HOSTILE.slice(0, 4).map((text) => ({ environment: text, error: text })),
];

const FILTERS: readonly Record<string, unknown>[] = [
  {},
  { status: 503 },
  { status_class: '2xx' },
  { method: 'm-search' },
  { client_id: '33333333-3333-4333-8333-333333333333' },
  { api_key_id: '44444444-4444-4444-8444-444444444444' },
  { environment: 'staging' },
  { proxy_mode: 'test' },
  { client_origin: 'sdk_intercept' },
  { origin: 'service' },
  { error: 'upstream_timeout' },
  { outcome: 'ok' },
  { outcome: 'failed' },
  { outcome: 'refused' },
  { rate_limited: 'true' },
  { rate_limited: 'false' },
  { min_latency_ms: 30 },
  { src_ip: '203.0.113.7' },
  { src_ip: '203.0.113.99/25' },
  { src_ip: '0.0.0.0/0' },
  { src_ip: '2001:db8::/32' },
  { src_ip: '::/0' },
  { q: 'orders/42' },
  { q: '100%_' },
  { q: 'ärger' },
  { status: 200, method: 'GET', environment: 'production' },
];

type Setting = Awaited<ReturnType<typeof arranged>>;

/** Two batches, of which the second has older and newer calls than the first, in both spaces; a neighbour has the like. */
async function arranged() {
  const [w, neighbour] = [await workspace(), await workspace()];
  const route = await made(w.live, 'routes.create', { name: 'orders', target_base_url: 'http://127.0.0.1:9' });
  const routes = [route.id as string];
  const first = [
    ...mixed(w.live, 150, 30 * HOUR, routes),
    ...mixed(w.live, 40, 10 * DAY, routes),
    ...mixed(w.test, 40, 30 * HOUR, []),
    ...mixed(neighbour.live, 40, 30 * HOUR, [newId()]),
  ];
  const second = [
    ...mixed(w.live, 90, 29 * HOUR, routes),
    ...mixed(w.live, 20, HOUR, routes),
    ...mixed(w.test, 20, HOUR, []),
    ...mixed(neighbour.live, 20, HOUR, []),
  ];
  return { w, neighbour, routes, first, second };
}

const browse = async (ctx: Ctx, query: Record<string, unknown>) =>
  BrowsedLogs.parse(await browseLogs(ctx, BrowseLogs.parse({ from: new Date(NOW.getTime() - 20 * DAY).toISOString(), ...query })));

/** What every reader answers. Cursors are sealed anew each time. */
async function answers({ w, routes, first, second }: Setting, filters = FILTERS) {
  const found: Record<string, unknown> = {};
  const note = (what: string, query: unknown, answer: unknown) => {
    found[`${what} ${JSON.stringify(query)}`] = JSON.parse(
      JSON.stringify(answer, (key, value) => (/cursor$|^place$/.test(key) ? undefined : value)),
    );
  };
  for (const [space, ctx] of [
    ['live', at(w.live)],
    ['test', at(w.test)],
  ] as const) {
    const some = space === 'live' ? filters : filters.slice(0, 2);
    for (const filter of some) note(`${space} browse`, filter, await browse(ctx, { ...filter, per_page: 20 }));
    for (const sort of ['ts', 'latency_ms'])
      for (const order of ['asc', 'desc']) {
        for (const page of space === 'live' ? [14] : [2])
          note(`${space} browse`, { sort, order, page }, await browse(ctx, { sort, order, page }));
        const before = (await browse(ctx, { sort, order, per_page: 33 })).next;
        if (order === 'desc')
          note(`${space} browse`, { sort, order, before }, await browse(ctx, { sort, order, per_page: 40, before: before ?? undefined }));
      }
    for (const filter of some.slice(0, 3)) {
      const query = LogFacetsQuery.parse({ from: new Date(NOW.getTime() - 20 * DAY).toISOString(), ...filter });
      const { total, ...facets } = await logFacets(ctx, query);
      note(`${space} facets`, filter, {
        total,
        facets: Object.entries(facets).map(([name, values]) => [
          name,
          Array.isArray(values) ? values.map((one) => `${one.value} ${one.count}`).sort() : values,
        ]),
      });
    }
    for (const query of [{}, { environment: HOSTILE[0], method: 'get' }, { since: new Date(NOW.getTime() - 3 * DAY).toISOString() }]) {
      const ids: unknown[] = [];
      for (let cursor: string | undefined, i = 0; i < 40; i++) {
        const { rows, meta } = await followLogs(
          ctx,
          FollowLogs.parse({ ...(cursor ? without(query, 'since') : query), limit: 120, cursor }),
        );
        ids.push(...rows, 'gap' in meta);
        cursor = 'since' in query ? undefined : ((meta.next_cursor as string | null) ?? undefined);
        if (!cursor) break;
      }
      note(`${space} follow`, query, ids);
    }
    for (const format of [space === 'live' ? 'csv' : 'ndjson'])
      note(
        `${space} export`,
        format,
        await textOf(await exportLogs(ctx, ExportLogs.parse({ format, from: new Date(NOW.getTime() - 20 * DAY).toISOString() }))),
      );
  }
  for (const query of [
    {},
    { page: 4 },
    { page: 7 },
    { environment: HOSTILE[1] },
    { status_code: 503, method: 'post' },
    { until: new Date(NOW.getTime() - 2 * DAY).toISOString() },
    { since: new Date(NOW.getTime() - 30 * HOUR).toISOString(), status_code: 200 },
  ])
    note('route', query, await listRouteLogs(at(w.live), ListRouteLogs.parse({ id: routes[0], ...query })));
  for (const { request_id, sandbox } of [...first.slice(0, 3), ...first.slice(200, 202), ...second.slice(0, 2)]) {
    const ctx = at(sandbox ? w.test : w.live);
    if (
      first.find((one) => one.request_id === request_id)?.tenant_id !== w.tenant.id &&
      !second.some((one) => one.request_id === request_id)
    )
      continue;
    note(
      'get',
      request_id,
      RequestLogRecord.parse(await getLog(ctx, { request_id }).then((row) => ({ ...row, ts: row.ts.toISOString() }))),
    );
    note('inspect', request_id, LogDetail.parse(await inspectLog(ctx, { request_id })));
    note('proof', request_id, LogProof.parse(await proveLog(ctx, { request_id })));
  }
  return found;
}

const without = (query: Record<string, unknown>, name: string) => Object.fromEntries(Object.entries(query).filter(([key]) => key !== name));

async function assertSame(setting: Setting, expected: Record<string, unknown>, when: string, filters = FILTERS) {
  for (const [what, answer] of Object.entries(await answers(setting, filters)))
    assert.deepEqual(answer, expected[what], `${when}: ${what}`);
}

const stateOf = async () =>
  (
    await sql().query<{ store: string; cut: string; copied: string; failing_since: Date | null; failure: string | null }>(
      'select * from request_log_history',
    )
  ).rows[0]!;
const keptUpToCut = async () =>
  (await sql().query<{ n: number }>('select count(*)::int as n from request_logs where id <= (select cut from request_log_history)'))
    .rows[0]!.n;
async function copyAll() {
  while (await copyCalls());
}

test('every reader answers the same from ClickHouse and PostgreSQL together as PostgreSQL did alone', {
  skip,
  timeout: 240_000,
}, async () => {
  const day = new Date(NOW.getTime() - 11 * DAY);
  await maintainPartitions([], day);
  const setting = await arranged();
  await insertRows(sql(), setting.first);
  await copyAll();
  await insertRows(sql(), setting.second);
  await anchorTenant(setting.w.tenant.id, new Date(Date.now() + HOUR));
  const expected = await answers(setting);
  assert.equal(await pastOf(setting.w.live), null);

  await handOver(new Date(LATER));
  const past = await pastOf(setting.w.live);
  assert.ok(past && past.cut > 0n);
  assert.equal(await keptUpToCut(), setting.first.length, 'PostgreSQL still has what readers may just be reading there');
  await assertSame(setting, expected, 'handed over');

  const dropped = await handOver(new Date(LATER + HOUR));
  assert.ok(dropped.length > 0, 'whole days are dropped');
  assert.equal(await keptUpToCut(), 0);

  // A worker that died after ClickHouse had a batch, and before it could say so, sends it again.
  await copyAll();
  await sql().query('update request_log_history set copied = cut');
  await copyAll();
  const { store } = await stateOf();
  const [rows] = await clickHouseRows<{ n: number; distinct: number }>(`select count() as n, uniqExact(id) as distinct from ${store}`);
  assert.ok(rows!.n > rows!.distinct || rows!.n === setting.first.length + setting.second.length, 'merged already, or there twice');
  await handOver(new Date(LATER + 2 * HOUR));
  await handOver(new Date(LATER + 3 * HOUR));
  assert.equal((await sql().query('select 1 from request_logs')).rowCount, 0, 'PostgreSQL has none of them any more');
  await assertSame(setting, expected, 'sent twice, and all of it handed over', FILTERS.slice(0, 4));
});

test("no filter, cursor or ID reaches a neighbour's calls or the other space", { skip }, async () => {
  const { w, neighbour, first } = await arranged();
  await insertRows(sql(), first);
  await copyAll();
  await handOver(new Date(LATER + 10 * HOUR));
  await handOver(new Date(LATER + 11 * HOUR));
  const theirs = new Set(first.filter((row) => row.tenant_id === neighbour.tenant.id || row.sandbox).map((row) => row.request_id));
  const other = theirs.values().next().value as string;
  for (const filter of [{}, ...ATTACKS])
    for (const { request_id } of (await browse(at(w.live), { ...filter, per_page: 100 })).logs)
      assert.ok(!theirs.has(request_id), JSON.stringify(filter));
  assert.equal((await browse(at(w.live), { q: other })).total, 0);
  for (const read of [getLog, inspectLog, proveLog]) await assert.rejects(read(at(w.live), { request_id: other }), { type: 'not_found' });
  for (const { rows } of [await followLogs(at(w.live), FollowLogs.parse({ limit: 1000 }))])
    for (const { request_id } of rows) assert.ok(!theirs.has(request_id));
  const stranger = await workspace();
  for (const filter of [{}, ...ATTACKS.slice(0, 3)])
    assert.equal((await browse(at(stranger.live), filter)).total, 0, JSON.stringify(filter));
});

test('while ClickHouse is down lists say what they lack, nothing is passed over, and calls are logged and copied later', {
  skip,
  timeout: 60_000,
}, async (t) => {
  const { w, first, second } = await arranged();
  const live = first.filter((row) => row.tenant_id === w.tenant.id && !row.sandbox);
  await insertRows(sql(), live);
  await copyAll();
  await handOver(new Date(LATER + 20 * HOUR));
  await handOver(new Date(LATER + 21 * HOUR));
  const cursor = (await followLogs(at(w.live), FollowLogs.parse({ limit: 5 }))).meta.next_cursor as string;
  await clickHouse.stop();
  t.after(async () => {
    await clickHouse.start();
    await closeClickHouse();
  });
  const newer = second.filter((row) => row.tenant_id === w.tenant.id && !row.sandbox);
  await insertRows(sql(), newer);
  await assert.rejects(copyCalls());
  const failing = await stateOf();
  assert.ok(failing.failing_since && failing.failure, 'the doctor and the metrics know of it');

  const ctx = at(w.live);
  assert.equal((await browse(ctx, {})).total, newer.length);
  assert.match(ctx.warnings.join(), /older calls can't be reached.*may be missing/);
  const today = at(w.live);
  await browse(today, { from: new Date(NOW.getTime() - HOUR / 2).toISOString() });
  assert.deepEqual(today.warnings, [], 'what PostgreSQL has whole lacks nothing');
  const gone = { request_id: live[0]!.request_id };
  for (const read of [getLog, inspectLog, proveLog]) await assert.rejects(read(at(w.live), gone), { type: 'dependency_unavailable' });
  assert.equal((await getLog(at(w.live), { request_id: newer[0]!.request_id })).request_id, newer[0]!.request_id);
  await assert.rejects(followLogs(at(w.live), FollowLogs.parse({ cursor })), { type: 'dependency_unavailable' });
  await assert.rejects(
    db().$transaction((tx) => settledCalls(tx, at(w.live), { after: 0n, limit: 10 })),
    { type: 'dependency_unavailable' },
  );
  await assert.rejects(exportLogs(at(w.live), ExportLogs.parse({ from: new Date(NOW.getTime() - 20 * DAY).toISOString() })), {
    type: 'dependency_unavailable',
  });
  await assert.rejects(pruneSpace(w.tenant.id, false, new Date(NOW.getTime() - 12 * DAY)));

  await clickHouse.start();
  await closeClickHouse();
  await copyAll();
  const { failing_since, failure, copied } = await stateOf();
  assert.deepEqual([failing_since, failure], [null, null]);
  assert.ok(BigInt(copied) > BigInt(failing.copied));
  const again = at(w.live);
  assert.equal((await browse(again, {})).total, live.length + newer.length);
  assert.deepEqual(again.warnings, []);
});

test('retention takes calls out of lists and totals at once, from either store, each once, and out of ClickHouse itself within the day', {
  skip,
  timeout: 60_000,
}, async () => {
  const { w, routes, first, second } = await arranged();
  const mine = (rows: readonly LogRow[]) => rows.filter((row) => row.tenant_id === w.tenant.id && !row.sandbox);
  await insertRows(sql(), mine(first));
  await copyAll();
  await insertRows(sql(), mine(second));
  await copyAll();
  const total = async () => (await listRouteLogs(at(w.live), ListRouteLogs.parse({ id: routes[0] }))).total;
  const held = (from: number) =>
    [...mine(first), ...mine(second)].filter((row) => row.route_id === routes[0] && Date.parse(row.ts) >= from).length;
  assert.equal(await total(), held(0));
  // Copied, and still PostgreSQL's: taken off there.
  const early = Math.floor((NOW.getTime() - 10 * DAY - 10 * 60_000) / 60_000) * 60_000;
  await pruneSpace(w.tenant.id, false, new Date(early));
  assert.equal(await total(), held(early));
  await handOver(new Date(LATER + 30 * HOUR));
  await handOver(new Date(LATER + 31 * HOUR));
  assert.equal(await total(), held(early), 'what was taken off before it was handed over does not come back');
  const later = Math.floor((NOW.getTime() - 5 * DAY) / 60_000) * 60_000;
  await pruneSpace(w.tenant.id, false, new Date(later));
  await pruneSpace(w.tenant.id, false, new Date(later));
  assert.equal(await total(), held(later));
  assert.equal((await browse(at(w.live), { route_id: routes[0] })).total, held(later));
  const { rows } = await sql().query<{ n: number }>('select sum(n)::int as n from route_log_totals where tenant_id = $1', [w.tenant.id]);
  assert.equal(rows[0]?.n, held(later));
  await sql().query('update request_log_history set deleted_at = null');
  await handOver(new Date(LATER + 32 * HOUR));
  const { store } = await stateOf();
  const old = async () =>
    (
      await clickHouseRows<{ n: number }>(
        `select count() as n from ${store} where tenant_id = {t:UUID} and ts < fromUnixTimestamp64Milli({ms:Int64})`,
        { t: w.tenant.id, ms: later },
      )
    )[0]?.n;
  await until(async () => (await old()) === 0, 'the old rows are gone');
});

test("a ClickHouse that isn't this installation's is neither filled nor believed", { skip }, async () => {
  const { store } = await stateOf();
  await sql().query("update request_log_history set store = 'request_logs_elsewhere'");
  await assert.rejects(copyCalls(), /has no table request_logs_elsewhere, which holds the older calls/);
  const [w] = [await workspace()];
  const ctx = at(w.live);
  await browse(ctx, {});
  assert.equal(ctx.warnings.length, 1);
  await sql().query('update request_log_history set store = $1', [store]);
});

test('ClickHouse has every column of the log', { skip }, async () => {
  const { rows } = await sql().query<{ name: string }>(
    "select attname as name from pg_attribute where attrelid = 'request_logs'::regclass and attnum > 0 and not attisdropped and attname <> 'txid'",
  );
  assert.deepEqual([...rows.map(({ name }) => name), 'test'].sort(), Object.keys(COLUMNS).sort());
});
