import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { textOf } from '#server/kernel/streamed.ts';
import { knownCountries, placeIn } from '#server/platform/places.fixture.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/samples.ts';
import { keyActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { BrowsedLogs, BrowseLogs, ExportLogs, LogDetail, LogFacetsQuery } from './browse.schema.ts';
import { asView, browseLogs, inspectLog } from './browse.ts';
import { call } from './call.fixture.ts';
import { placesFor } from './countries.ts';
import { exportLogs } from './export.ts';
import { logFacets } from './facets.ts';
import { LogStats, LogStatsQuery } from './figures.schema.ts';
import { ListRouteLogs, RouteLog } from './schema.ts';
import { listRouteLogs } from './service.ts';
import { logStats } from './stats.ts';

knownCountries({ '203.0.113.0/24': placeIn('DE', 'Berlin'), '198.51.100.0/24': placeIn('GB') });
await testDatabase();

const stats = async (ctx: Ctx, query: object = {}) =>
  LogStats.parse(await logStats({ ...ctx, now: new Date() }, LogStatsQuery.parse(query))).countries;

test('calls that were made before there was a database have a country in the list, in full and in the list of their route', async () => {
  const w = await workspace();
  const { id: route_id } = await made(w.live, 'routes.create', { name: 'payments', target_base_url: 'http://127.0.0.1:9' });
  const [german, inside] = [call(w.live, { route_id }), call(w.live, { route_id, src_ip: '10.1.2.3' })];
  await insertRows(sql(), [german, inside]);
  const { logs } = BrowsedLogs.parse(JSON.parse(JSON.stringify(await browseLogs({ ...w.live, now: new Date() }, BrowseLogs.parse({})))));
  assert.deepEqual(logs.map((log) => [log.src_ip, log.source_ip_country, log.source_ip_city]).sort(), [
    ['10.1.2.3', null, null],
    ['203.0.113.7', 'DE', 'Berlin'],
  ]);
  const { log } = LogDetail.parse(await inspectLog(w.live, { request_id: german.request_id }));
  assert.deepEqual([log.source_ip_country, log.source_ip_city], ['DE', 'Berlin']);
  const list = async (ctx: Ctx) => (await listRouteLogs(ctx, ListRouteLogs.parse({ id: route_id }))).rows.map((row) => RouteLog.parse(row));
  assert.deepEqual((await list(w.live)).map((row) => row.source_ip_country).sort(), ['DE', null]);
  const blind = { ...w.live, actor: keyActor('Key - Read-only') };
  assert.deepEqual(
    (await list(blind)).map((row) => [row.src_ip, row.source_ip_country, row.source_ip_city]),
    [
      [null, null, null],
      [null, null, null],
    ],
  );
});

test('figures tell where calls came from, of a client or a route alone too, and not where trials did', async () => {
  const w = await workspace();
  const other = await workspace();
  const { id: route_id } = await made(w.live, 'routes.create', { name: 'payments', target_base_url: 'http://127.0.0.1:9' });
  const { id: client } = await made(w.live, 'clients.create', { name: 'Partner', ip_address: '198.51.100.0/24' });
  const from = (src_ip: string | null, over: Partial<LogRow> = {}) => call(w.live, { src_ip, ...over });
  const london = () => from('198.51.100.4', { matched_client_id: client });
  await insertRows(sql(), [
    ...[
      from('203.0.113.1'),
      from('203.0.113.2', { route_id }),
      from('::ffff:203.0.113.3'),
      london(),
      london(),
      from('127.0.0.1'),
      from(null),
    ],
    from('203.0.113.4', { proxy_mode: 'test' }),
    from('203.0.113.4', { ts: new Date(Date.now() - 26 * 3_600_000).toISOString() }),
    ...[call(w.test, {}), call(other.live, {})],
  ]);
  assert.deepEqual(await stats(w.live), {
    calls: [
      { country: 'DE', count: 3 },
      { country: 'GB', count: 2 },
      { country: null, count: 2 },
    ],
    of_newest: 7,
    is_capped: false,
  });
  await sql().query('delete from request_logs where tenant_id = $1 and src_ip is null', [w.tenant.id]);
  assert.deepEqual(
    [(await stats(w.live))?.of_newest, (await stats(w.live))?.is_capped],
    [6, true],
    'when there were more calls it says so',
  );
  const only = async (query: object) => (await stats(w.live, query))?.calls.map(({ country, count }) => `${country} ${count}`);
  assert.deepEqual(await only({ client_id: client }), ['GB 2']);
  assert.deepEqual(await only({ route_id }), ['DE 1']);
  assert.deepEqual(await only({ route_id, client_id: client }), []);
  assert.deepEqual(await only({ environment: 'nowhere' }), []);
  assert.deepEqual(await stats((await workspace()).live), { calls: [], of_newest: 0, is_capped: false });
});

/** Request ids of the exported calls from a country, `most` looked up at once. */
async function exportedFrom(w: Workspace, country: string, most?: number): Promise<string[]> {
  const owner = { ...w.member('owner'), plan: 'pro' as const, now: new Date() };
  const file = await textOf(await exportLogs(owner, ExportLogs.parse({ format: 'ndjson', country }), most));
  const lines = file.trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as LogRow).request_id).sort();
}

test('a country finds the calls whose address is there today and no others, with every other filter, in the list, the counts and the export', async () => {
  const w = await workspace({ plan: 'pro' });
  const from = (src_ip: string | null, over: Partial<LogRow> = {}) => call(w.live, { src_ip, ...over });
  const old = { ts: new Date(Date.now() - 26 * 3_600_000).toISOString() };
  const rows = [from('203.0.113.1'), from('::ffff:203.0.113.2', { status_code: 500 }), from('198.51.100.4'), from('10.1.2.3'), from(null)];
  await insertRows(sql(), [...rows, from('203.0.113.9', old), call(w.test, {})]);
  const ids = (...wanted: LogRow[]) => wanted.map(({ request_id }) => request_id).sort();
  const find = async (query: object) => browseLogs({ ...w.live, now: new Date() }, BrowseLogs.parse(query));
  const [berlin, mapped, london] = rows as [LogRow, LogRow, LogRow];
  for (const [query, wanted] of [
    [{ country: 'DE' }, [berlin, mapped]],
    [{ country: 'gb' }, [london]],
    [{ country: 'FR' }, []],
    [{ country: 'DE', status_class: '5xx' }, [mapped]],
    [{ country: 'DE', src_ip: '203.0.113.1' }, [berlin]],
    [{ country: 'DE', sort: 'latency_ms' }, [berlin, mapped]],
  ] as const) {
    const { logs, total, looked_back_to } = BrowsedLogs.parse(JSON.parse(JSON.stringify(await find(query))));
    assert.deepEqual(logs.map(({ request_id }) => request_id).sort(), ids(...wanted), JSON.stringify(query));
    assert.deepEqual([total, looked_back_to], [wanted.length, null]);
  }
  assert.equal((await find({ country: 'DE', from: new Date(Date.now() - 30 * 3_600_000).toISOString() })).total, 3);
  const facets = await logFacets({ ...w.live, now: new Date() }, LogFacetsQuery.parse({ country: 'GB' }));
  assert.deepEqual(facets.country, [
    { value: 'DE', count: 2 },
    { value: 'GB', count: 1 },
  ]);
  assert.deepEqual([facets.total, facets.status_class], [1, [{ value: '2xx', count: 1 }]]);
  assert.deepEqual(await exportedFrom(w, 'DE'), ids(berlin, mapped));
  for (const country of ['', 'D', 'DEU', "D'", '%%']) assert.ok(!BrowseLogs.safeParse({ country }).success, country);
});

test('a country is sought among so many calls at a time: the list says how far it looked and goes on from there, the export goes on by itself', async () => {
  const w = await workspace({ plan: 'pro' });
  const at = Date.now() - 60_000;
  // Twelve calls of four moments, so that a stretch ends amid those of one.
  const rows = Array.from({ length: 12 }, (_, i) =>
    call(w.live, { src_ip: i % 4 === 1 ? '198.51.100.4' : '203.0.113.9', ts: new Date(at - Math.floor(i / 3) * 1_000).toISOString() }),
  );
  await insertRows(sql(), rows);
  const wanted = rows.filter(({ src_ip }) => src_ip === '198.51.100.4').map(({ request_id }) => request_id);
  const seen: string[] = [];
  const ends: (Date | null)[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page: Awaited<ReturnType<typeof browseLogs>> = await browseLogs(
      { ...w.live, now: new Date() },
      BrowseLogs.parse({ country: 'GB', ...(before ? { before } : {}) }),
      2,
    );
    assert.equal(page.total_is_capped, page.looked_back_to !== null);
    seen.push(...page.logs.map(({ request_id }) => request_id));
    ends.push(page.looked_back_to);
    before = page.next;
  }
  assert.deepEqual([seen.length, new Set(seen)], [wanted.length, new Set(wanted)], 'each once');
  assert.deepEqual([ends.length, ends.at(-1)], [7, null], 'six stretches of two, and nothing behind them');
  const slowest = await browseLogs({ ...w.live, now: new Date() }, BrowseLogs.parse({ country: 'GB', sort: 'latency_ms' }), 2);
  assert.deepEqual([slowest.next, slowest.looked_back_to !== null], [null, true]);
  assert.deepEqual(await exportedFrom(w, 'GB', 2), wanted.toSorted());
});

test('who may not see who called is told no country: not of a row, not in the figures, not by a filter, not live', async () => {
  const w = await workspace();
  await insertRows(sql(), [call(w.live)]);
  for (const actor of [keyActor('Key - Read-only'), keyActor('Key - Editor')]) {
    const blind = { ...w.live, actor };
    assert.equal(await stats(blind), null);
    const now = { ...blind, plan: 'pro' as const, now: new Date() };
    await assert.rejects(browseLogs(now, BrowseLogs.parse({ country: 'DE' })), { type: 'validation_error' });
    await assert.rejects(logFacets(now, LogFacetsQuery.parse({ country: 'DE' })), { type: 'validation_error' });
    await assert.rejects(exportLogs(now, ExportLogs.parse({ country: 'DE' })), { type: 'validation_error' });
    assert.deepEqual((await logFacets(now, LogFacetsQuery.parse({}))).country, []);
    assert.equal(await placesFor(blind), null);
    const { logs } = await browseLogs({ ...blind, now: new Date() }, BrowseLogs.parse({}));
    assert.deepEqual([logs[0]?.source_ip_country, logs[0]?.source_ip_city], [null, null]);
    const [row] = logs;
    assert.ok(row);
    assert.equal(asView(row, await placesFor(blind)).source_ip_country, null);
    assert.equal(asView(row, await placesFor(w.live)).source_ip_country, 'DE');
  }
});

test('both exports tell where each call came from, behind the columns there were', async () => {
  const w = await workspace({ plan: 'pro' });
  const owner = { ...w.member('owner'), plan: 'pro' as const, now: new Date() };
  await insertRows(sql(), [call(w.live), call(w.live, { src_ip: '198.51.100.4' }), call(w.live, { src_ip: '10.1.2.3' })]);
  const lines = async (format: 'csv' | 'ndjson') =>
    (await textOf(await exportLogs(owner, ExportLogs.parse({ format })))).trimEnd().split(/\r?\n/);
  const [head = '', ...rows] = await lines('csv');
  assert.ok(head.endsWith(',sandbox,source_ip_country,source_ip_city'));
  assert.deepEqual(rows.map((row) => row.split(',').slice(-3).join()).sort(), ['false,,', 'false,DE,Berlin', 'false,GB,']);
  const places = (await lines('ndjson')).map((line) => (JSON.parse(line) as { source_ip_country: string | null }).source_ip_country);
  assert.deepEqual(places.sort(), ['DE', 'GB', null]);
});

test('countries follow the status filter of the chart', async () => {
  const w = await workspace();
  await insertRows(sql(), [call(w.live), call(w.live, { status_code: 404, src_ip: '198.51.100.7' })]);
  for (const query of [{ status: 404 }, { status_class: '4xx' }])
    assert.deepEqual((await stats(w.live, query))?.calls, [{ country: 'GB', count: 1 }]);
});
