import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import * as stages from '#server/domain/environments/service.ts';
import { call as logged } from '#server/domain/request-logs/call.fixture.ts';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import type { LogRow } from '#server/gateway/core/log/row.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as ops from './operations.ts';

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });
const HOUR = 3_600_000;
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
const call = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<any> =>
  (await execute(op, { ...ctx, now: new Date() }, input)).output;
const create = (ctx: Ctx, name: string, input: Record<string, unknown> = {}) =>
  call(ops.create, ctx, { name, target_base_url: 'http://127.0.0.1:9', ...input });

/** A finished call as the gateway writes it, so many hours and a minute ago. */
const called = (ctx: Ctx, route_id: string, hours: number, over: Partial<LogRow> = {}): LogRow =>
  logged(ctx, { route_id, ts: new Date(Date.now() - hours * HOUR - 60_000).toISOString(), ...over });

test('a page of routes has its environments and its last day in one answer, hour by hour, and nothing of another space or workspace', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  await stages.createEnvironment(w.live, { name: 'staging' });
  const [busy, quiet] = [await create(w.live, 'busy'), await create(w.live, 'quiet')];
  await call(ops.putEnvironment, w.live, { id: busy.id, env: 'staging', enabled: false });
  await insertRows(sql(), [
    ...Array.from({ length: 5 }, () => called(w.live, busy.id, 0)),
    ...Array.from({ length: 3 }, () => called(w.live, busy.id, 1, { status_code: 502, error: 'upstream_unreachable' })),
    called(w.live, busy.id, 23),
    called(w.live, busy.id, 25),
    called(w.test, busy.id, 0),
  ]);
  const [first, second] = await call(ops.overview, w.live, { ids: [quiet.id, busy.id].join(',') });
  assert.deepEqual([first.route_id, first.calls, first.environments], [quiet.id, 0, [{ name: 'production', enabled: true }]]);
  assert.deepEqual([second.calls, second.errors, second.calls_by_hour.length], [9, 3, 24]);
  assert.deepEqual([second.calls_by_hour[23], second.calls_by_hour[22], second.calls_by_hour[0]], [5, 3, 1]);
  assert.deepEqual(second.environments, [
    { name: 'production', enabled: true },
    { name: 'staging', enabled: false },
  ]);
  for (const stranger of [other.live, w.test]) assert.deepEqual(await call(ops.overview, stranger, { ids: busy.id }), []);
  await assert.rejects(call(ops.overview, w.live, { ids: 'x' }), { type: 'validation_error' });
});

test('before a route is deleted one is told who called it, who is assigned to it and which secrets only it uses', async () => {
  const w = await workspace();
  const secret = (name: string) =>
    db().secrets.create({
      data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name, shortcode_name: name, secret_type: 'string' },
    });
  await secret('ONLY');
  await secret('SHARED');
  const route = await create(w.live, 'used', { inject_headers_json: { A: '{{secret:ONLY}}', B: '{{secret:SHARED}}' } });
  await create(w.live, 'other', { inject_headers_json: { B: '{{secret:SHARED}}' } });
  const { row: key } = await w.key('live');
  const client = await db().clients.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'office', ip_address: '192.0.2.1' },
  });
  await call(ops.setClients, w.live, { id: route.id, env: 'production', client_ids: [client.id] });
  await insertRows(sql(), [
    ...Array.from({ length: 4 }, () => called(w.live, route.id, 0, { api_key_id: key.id })),
    called(w.live, route.id, 2, { matched_client_id: client.id, error: 'upstream_timeout', status_code: 504 }),
    called(w.live, route.id, 30, { api_key_id: key.id }),
  ]);
  const impact = await call(ops.impact, w.live, { id: route.slug });
  assert.deepEqual([impact.calls_24h, impact.errors_24h, impact.assigned_clients, impact.environments], [5, 1, 1, ['production']]);
  assert.deepEqual(impact.callers, [
    { kind: 'api_key', id: key.id, name: key.name, calls: 4 },
    { kind: 'client', id: client.id, name: 'office', calls: 1 },
  ]);
  assert.deepEqual(
    impact.secrets.map((s: { name: string; used_elsewhere: boolean }) => [s.name, s.used_elsewhere]),
    [
      ['ONLY', false],
      ['SHARED', true],
    ],
  );
  await assert.rejects(call(ops.impact, w.test, { id: route.id }), { type: 'not_found' });
});

test('settings of single methods can be read back from an override, inherited or its own', async () => {
  const { live } = await workspace();
  await stages.createEnvironment(live, { name: 'staging' });
  const { id } = await create(live, 'methods', { method_configs: { POST: { timeout_ms: 900 } } });
  await call(ops.putEnvironment, live, { id, env: 'staging', timeout_ms: 700 });
  const rows = () => call(ops.environments, live, { id });
  assert.deepEqual((await rows())[1].method_configs, [{ method: 'POST', timeout_ms: 900 }]);
  await call(ops.putEnvironment, live, { id, env: 'staging', method_configs: { GET: { timeout_ms: 200 } } });
  const [base, staging] = await rows();
  assert.deepEqual(
    [base.method_configs, staging.method_configs],
    [[{ method: 'POST', timeout_ms: 900 }], [{ method: 'GET', timeout_ms: 200 }]],
  );
  assert.ok(staging.overridden_fields.includes('method_configs'));
});
