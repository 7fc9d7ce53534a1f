import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { textOf } from '#server/kernel/raw-body.ts';
import { knownCountries, placeIn } from '#server/platform/geoip.fixture.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { keyActor, workspace } from '#server/testing/workspace.ts';
import { BrowsedLogs, BrowseLogs, ExportLogs, LogDetail } from './browse.schema.ts';
import { asView, browseLogs, inspectLog } from './browse.ts';
import { call } from './call.fixture.ts';
import { placesFor } from './countries.ts';
import { exportLogs } from './export.ts';
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

test('a caller who may not see IP addresses sees no country: not in a row, not in the figures, not live', async () => {
  const w = await workspace();
  await insertRows(sql(), [call(w.live)]);
  for (const actor of [keyActor('Key - Read-only'), keyActor('Key - Editor')]) {
    const blind = { ...w.live, actor };
    assert.equal(await stats(blind), null);
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
