import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import { call as logged } from '#server/domain/request-logs/call.fixture.ts';
import * as routeOps from '#server/domain/routes/operations.ts';
import * as secretOps from '#server/domain/secrets/operations.ts';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { workspace } from '#server/testing/workspace.ts';
import { refreshOpportunities } from './detection.ts';
import * as ops from './operations.ts';

await testDatabase({ SVC_TEST_MODE: '1', SVC_EGRESS_TEST_HOSTS: 'api.acme.test:443=127.0.0.1,api.other.test:443=127.0.0.1' });

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
const call = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<any> => (await execute(op, ctx, input)).output;
const HOST = 'api.acme.test';

const traffic = (ctx: Ctx, n: number, over: Parameters<typeof logged>[1] = {}) =>
  insertRows(
    sql(),
    Array.from({ length: n }, () => logged(ctx, { proxy_mode: 'ephemeral', upstream_host: HOST, path: '/v1/items', ...over })),
  );
const detected = async (ctx: Ctx, n = 12) => {
  await traffic(ctx, n);
  await refreshOpportunities(ctx, { atMostEvery: 0 });
  return (await call(ops.list, ctx, {}))[0];
};
const secret = (ctx: Ctx, name: string, more: object = {}) => call(secretOps.create, ctx, { name, value: 'sk', ...more });
const later = (ctx: Ctx, ms: number): Ctx => ({ ...ctx, now: new Date(ctx.now.getTime() + ms), warnings: [] });

test('ten answered calls without a route are suggested, with names and counts and no credential', async () => {
  const { live, test: sandbox } = await workspace();
  const events = await watchEvents(live, 'opportunity.created');
  await traffic(live, 9);
  await refreshOpportunities(live, { atMostEvery: 0 });
  assert.deepEqual(await call(ops.list, live, {}), []);
  await traffic(live, 1, { path: '/bot123456:AAE/send', user_agent: 'sk_live_abc' });
  await refreshOpportunities(live, { atMostEvery: 0 });
  const [found] = await call(ops.list, live, {});
  assert.deepEqual(
    [found.destination_host, found.service, found.status, found.source, found.confidence, found.evidence_json.calls_30d],
    [HOST, 'acme', 'pending', 'gateway_traffic', 0.52, 10],
  );
  assert.deepEqual([...found.evidence_json.path_prefixes].sort(), ['/', '/v1']);
  assert.deepEqual(found.evidence_json.agents, []);
  assert.deepEqual(await call(ops.list, sandbox, {}), []);
  assert.deepEqual(await events(), [], 'who subscribed hears of it when it is surer');
});

test('a suggestion with a confidence of at least 0.7 is an event, once', async () => {
  const { live } = await workspace();
  const events = await watchEvents(live, 'opportunity.created');
  for (const days of [0, 1, 2]) await traffic(live, 40, { ts: later(live, -days * 86_400_000).now.toISOString() });
  for (let nth = 0; nth < 2; nth++) await refreshOpportunities(live, { atMostEvery: 0 });
  const [found] = await call(ops.list, live, {});
  assert.ok(found.confidence >= 0.7, String(found.confidence));
  assert.deepEqual(
    (await events()).map(({ about, data }) => [about, data.destination_host]),
    [[found.id, HOST]],
  );
});

test('reading again counts a late row once, and refreshes what is pending only', async () => {
  const { live } = await workspace();
  const { id } = await detected(live, 12);
  await traffic(live, 3);
  await refreshOpportunities(live, { atMostEvery: 0 });
  await refreshOpportunities(live, { atMostEvery: 0 });
  assert.equal((await call(ops.list, live, {}))[0].evidence_json.calls_30d, 15);
  await call(ops.dismiss, live, { id, reason: 'no' });
  await traffic(live, 20);
  await refreshOpportunities(live, { atMostEvery: 0 });
  const rows = await call(ops.list, live, {});
  assert.deepEqual([rows.length, rows[0].status, rows[0].evidence_json.calls_30d], [1, 'dismissed', 15]);
});

test('a snoozed suggestion comes back when three times as many calls are seen', async () => {
  const { live } = await workspace();
  const { id } = await detected(live, 10);
  await assert.rejects(call(ops.snooze, live, { id, until: later(live, 60_000).now.toISOString() }), { type: 'validation_error' });
  await call(ops.snooze, live, { id, until: later(live, 7_200_000).now.toISOString() });
  await traffic(live, 19);
  await refreshOpportunities(live, { atMostEvery: 0 });
  assert.equal((await call(ops.list, live, {}))[0].status, 'snoozed');
  await traffic(live, 1);
  await refreshOpportunities(live, { atMostEvery: 0 });
  assert.equal((await call(ops.list, live, {}))[0].status, 'pending');
});

test('two acceptances at once make one route, which the manifest lists', async () => {
  const { live } = await workspace();
  await secret(live, 'ACME');
  const { id } = await detected(live);
  const results = await Promise.allSettled([1, 2].map(() => call(ops.accept, { ...live, warnings: [] }, { id, secret: 'ACME' })));
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const [lost] = results.filter((r) => r.status === 'rejected');
  assert.equal((lost as PromiseRejectedResult).reason.type, 'conflict');
  const routes = await db().routes.findMany({ where: own(live), include: { configs: true } });
  assert.equal(routes.length, 1);
  const manifest = await call(ops.manifest, live, {});
  assert.deepEqual(
    manifest.routes.map((r: { host: string; base_path: string; slug: string }) => [r.host, r.base_path, r.slug]),
    [[HOST, '/', 'acme']],
  );
  const [row] = await call(ops.list, live, {});
  assert.deepEqual([row.status, row.accepted_route_id], ['onboarded', routes[0]?.id]);
  await traffic(live, 20);
  await refreshOpportunities(live, { atMostEvery: 0 });
  assert.equal((await call(ops.list, live, {})).length, 1);
});

test('once the accepted route was deleted its host is suggested anew, beside what became of the first', async () => {
  const { live } = await workspace();
  await secret(live, 'ACME');
  const first = await detected(live);
  const { route } = await call(ops.accept, live, { id: first.id, secret: 'ACME' });
  // Every call that is counted is older than the route: its end alone makes the difference.
  const shown = async () => {
    await refreshOpportunities(live, { atMostEvery: 0 });
    return (await call(ops.list, live, {})).map((row: { id: string; status: string }) => [row.id === first.id, row.status]).sort();
  };
  await call(routeOps.update, live, { id: route.id, enabled: false });
  assert.deepEqual(await shown(), [[true, 'onboarded']], 'a route that is only switched off still stands for its host');
  await call(routeOps.delete, live, { id: route.id });
  assert.deepEqual(await shown(), [
    [false, 'pending'],
    [true, 'onboarded'],
  ]);
  assert.equal((await shown()).length, 2, 'and once');
  const second = (await call(ops.list, live, { status: 'pending' }))[0];
  const again = await call(ops.accept, live, { id: second.id, secret: 'ACME' });
  assert.notEqual(again.route.id, route.id);
});

test('acceptance binds only a secret that has a value there and may go to the host', async () => {
  const { live } = await workspace();
  const { id } = await detected(live);
  await secret(live, 'PINNED', { allowed_hosts: ['api.other.test'] });
  for (const input of [{}, { secret: 'MISSING' }, { secret: 'PINNED' }])
    await assert.rejects(call(ops.accept, live, { id, ...input }), { type: 'validation_error' });
  assert.equal(await db().routes.count({ where: own(live) }), 0);
  assert.equal(await db().collections.count({ where: own(live) }), 0);
  const escrowed = await secret(live, 'ESCROW', { allowed_hosts: [HOST] });
  await db().secrets.update({ where: { id: escrowed.id }, data: { is_escrow: true } });
  const { route } = await call(ops.accept, live, { id, intercept_enabled: false, base_path: '/v1' });
  const config = await db().route_environment_configs.findFirstOrThrow({ where: { route_id: route.id } });
  assert.deepEqual(config.inject_headers_json, { Authorization: `Bearer {{secret_id:${escrowed.id}}}` });
  assert.equal(config.target_base_url, `https://${HOST}/v1`);
  assert.deepEqual((await call(ops.manifest, live, {})).routes, []);
});

test('the manifest leaves out what no call could be sent through, and its version follows every change', async () => {
  const { live } = await workspace();
  const route = (name: string, target_base_url: string, more: object = {}) =>
    call(routeOps.create, live, { name, target_base_url, intercept_enabled: true, ...more });
  const first = await route('a', `https://${HOST}/v1/`);
  await route('off', `https://${HOST}/v2`, { intercept_enabled: false });
  await route('disabled', `https://${HOST}/v3`, { enabled: false });
  await route('no slug', `https://${HOST}/v4`, { slug: null });
  const before = await call(ops.manifest, live, {});
  assert.deepEqual(
    before.routes.map((r: { base_path: string }) => r.base_path),
    ['/v1'],
  );
  assert.equal((await call(ops.manifest, live, {})).version, before.version);
  await call(routeOps.update, live, { id: first.id, requires_clients: true });
  assert.notEqual((await call(ops.manifest, live, {})).version, before.version);
  await assert.rejects(call(ops.manifest, live, { environment: 'nowhere' }), { type: 'not_found' });
});

test('a report adds up, drops what breaks a rule, and stores nothing else', async () => {
  const { live } = await workspace();
  const at = live.now.toISOString();
  const entry = {
    host: 'api.telegram.org',
    first_segment: '/bot1:AAE',
    method: 'POST',
    header_name: 'x-internal-auth',
    count: 3,
    first_seen: at,
    last_seen: at,
  };
  const report = () =>
    call(ops.reportEgress, live, {
      sdk: 'Bad SDK',
      observations: [{ ...entry, value: 'CANARY-VALUE' }, { ...entry, header_name: '-auth' }, { ...entry, host: '10.0.0.1' }, 7],
    });
  assert.deepEqual(await report(), {
    ...{ accepted: 1, dropped: 3 },
    reasons: { invalid_header_name: 1, ip_literal: 1, invalid_host: 1 },
    redacted: { first_segment_looks_like_credential: 1 },
  });
  await report();
  const rows = await db().egress_observations.findMany({ where: own(live) });
  assert.deepEqual(
    rows.map((r) => [r.host, r.first_segment, Number(r.total_count), r.sdks]),
    [['api.telegram.org', '/', 6, ['unknown']]],
  );
  assert.ok(!JSON.stringify(rows, (_, v) => (typeof v === 'bigint' ? Number(v) : v)).includes('CANARY'));
  await assert.rejects(call(ops.reportEgress, live, { sdk: 'a/1', observations: Array(201).fill(entry) }), { type: 'validation_error' });

  await refreshOpportunities(live, { atMostEvery: 0 });
  const [host] = await call(ops.observed, live, {});
  assert.deepEqual([host.host, host.calls, host.covered_by_route], ['api.telegram.org', 6, null]);
  assert.ok(host.opportunity_id);
  await call(ops.ignoreHost, live, { host: 'API.telegram.org' });
  assert.equal((await call(ops.list, live, { status: 'pending' })).length, 0);
  assert.equal((await call(ops.observed, live, { status: 'ignored' })).length, 1);
});
