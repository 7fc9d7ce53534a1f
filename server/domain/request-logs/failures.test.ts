import assert from 'node:assert/strict';
import test from 'node:test';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { LogFacets, LogFacetsQuery } from './browse.schema.ts';
import { call } from './call.fixture.ts';
import { logDays } from './days.ts';
import { logFacets } from './facets.ts';
import { logFailures } from './failures.ts';
import { LogDaysQuery, LogFailures, LogFailuresQuery } from './figures.schema.ts';
import { insert, row } from './rows.fixture.ts';

await ownDatabase();
const HOUR = 3_600_000;
const ago = (hours: number) => new Date(Date.now() - hours * HOUR);
const failures = async (ctx: Ctx, query: Record<string, string> = {}) =>
  LogFailures.parse(await logFailures({ ...ctx, now: new Date() }, LogFailuresQuery.parse(query)));
const facets = async (ctx: Ctx, query: Record<string, unknown> = {}) =>
  LogFacets.parse(await logFacets({ ...ctx, now: new Date() }, LogFacetsQuery.parse(query)));

test('failures are grouped by route, status and reason; a kind that is new since the time before is marked, and refusals are counted apart', async () => {
  const w = await workspace();
  const other = await workspace();
  const route = await made(w.live, 'routes.create', { name: 'payments', target_base_url: 'http://127.0.0.1:9' });
  const id = w.tenant.id;
  await insert([
    row(id, { route_id: route.id, status_code: 502, error: 'upstream_unreachable', ts: ago(2) }),
    row(id, { route_id: route.id, status_code: 502, error: 'upstream_unreachable', ts: ago(1) }),
    row(id, { route_id: route.id, status_code: 502, error: 'upstream_unreachable', ts: ago(30) }),
    row(id, { route_id: route.id, status_code: 500, ts: ago(1) }), // the upstream's own answer
    row(id, { status_code: 401, error: 'invalid_api_key', ts: ago(3) }),
    row(id, { status_code: 404, ts: ago(1) }), // an upstream that knows no such thing has not failed
    row(id, { status_code: 401, error: 'invalid_api_key', sandbox: true, ts: ago(1) }),
    row(other.tenant.id, { status_code: 401, error: 'invalid_api_key', ts: ago(1) }),
  ]);
  const { groups, blocked, is_capped, overhead_ms } = await failures(w.live);
  assert.deepEqual(
    groups.map((g) => [g.route_name, g.status_code, g.error, g.count, g.is_new]),
    [
      ['payments', 502, 'upstream_unreachable', 2, false],
      ['payments', 500, null, 1, true],
      [null, 401, 'invalid_api_key', 1, true],
    ],
  );
  assert.ok(groups[0]!.first_at < groups[0]!.last_at);
  assert.deepEqual([blocked, is_capped, overhead_ms], [1, false, { p50: null, p95: null }]);
  await sql().query('alter table request_logs disable trigger user');
  await sql().query('update request_logs set latency_ms = 12, upstream_ms = 9 where tenant_id = $1', [id]);
  await sql().query('alter table request_logs enable trigger user');
  assert.deepEqual((await failures(w.live)).overhead_ms, { p50: 3, p95: 3 });
  await assert.rejects(failures(w.live, { from: ago(-1).toISOString() }), { type: 'validation_error' });
});

test('facets count what each filter would leave, under the filters already chosen, of this space only', async () => {
  const w = await workspace();
  const route = await made(w.live, 'routes.create', { name: 'payments', target_base_url: 'http://127.0.0.1:9' });
  const id = w.tenant.id;
  await insert([
    row(id, { route_id: route.id, method: 'GET' }),
    row(id, { route_id: route.id, method: 'POST', status_code: 502, error: 'upstream_unreachable' }),
    row(id, { method: 'GET', status_code: 404, error: 'route_not_found', environment: null }),
    row(id, { method: 'GET', status_code: null }),
    row(id, { method: 'GET', ts: ago(30) }),
    row(id, { method: 'PUT', sandbox: true }),
  ]);
  const all = await facets(w.live);
  assert.deepEqual([all.total, all.total_is_capped], [4, false]);
  assert.deepEqual(all.method, [
    { value: 'GET', count: 3 },
    { value: 'POST', count: 1 },
  ]);
  assert.deepEqual(all.route_id, [{ value: route.id, name: 'payments', count: 2 }]);
  assert.deepEqual(all.status_class.map((f) => f.value).sort(), ['2xx', '4xx', '5xx']);
  assert.deepEqual(all.environment, [{ value: 'production', count: 3 }]);
  const narrowed = await facets(w.live, { method: 'GET', status_class: '4xx' });
  assert.deepEqual([narrowed.total, narrowed.error], [1, [{ value: 'route_not_found', count: 1 }]]);
  assert.deepEqual(narrowed.method, [{ value: 'GET', count: 1 }], 'how many GET leaves under the other filter');
  const { status_class } = await facets(w.live, { status: 502 });
  assert.deepEqual(status_class.map((f) => f.value).sort(), ['2xx', '4xx', '5xx'], 'what else could be chosen stays in sight');
  assert.equal((await facets(w.test)).total, 1);
});

test('what a key is called is told to those who may list keys; a Member filters by it without its name', async () => {
  const w = await workspace();
  const key = await made(w.live, 'api_keys.create', { name: 'worker' });
  await insertRows(sql(), [call(w.live, { api_key_id: key.id })]);
  assert.deepEqual((await facets(w.member('viewer'))).api_key_id, [{ value: key.id, name: 'worker', count: 1 }]);
  const member = w.member('member');
  assert.deepEqual((await facets(member)).api_key_id, [{ value: key.id, name: null, count: 1 }]);
  const { api_keys } = await logDays({ ...member, now: new Date() }, LogDaysQuery.parse({}));
  assert.deepEqual(
    api_keys.map(({ id, name }) => [id, name]),
    [[key.id, null]],
  );
});
