import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import * as routeOps from '#server/domain/routes/operations.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call as http } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { onFileEnd } from '#server/testing/file-end.ts';
import { workspace } from '#server/testing/workspace.ts';
import { leases } from './leases.ts';
import { CAPACITY } from './observations/service.ts';
import * as ops from './operations.ts';

// Interface rule 34 §7, where service.test.ts and the gateway's promoted.test.ts say nothing of it.

await testDatabase();
const HOST = 'api.acme.example';
const ON = { target_base_url: `https://${HOST}/v1`, intercept_enabled: true };

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
const call = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<any> =>
  (await execute(op, { ...ctx, warnings: [] }, input)).output;
const slugs = async (ctx: Ctx, environment?: string): Promise<string[]> =>
  (await call(ops.manifest, ctx, environment ? { environment } : {})).routes.map(({ slug }: { slug: string }) => slug);

async function pendingOpportunity(ctx: Ctx, over: object = {}) {
  const data = { ...{ source: 'gateway_traffic', service: 'acme', destination_host: HOST, confidence: 0.7 }, ...over };
  return db().opportunities.create({ data: { id: newId(), ...own(ctx), ...data, created_at: ctx.now, updated_at: ctx.now } });
}

test('the manifest answers 304 to its own tag however it is listed, and 200 after an edit of a route', async () => {
  const w = await workspace();
  const route = await made(w.live, 'routes.create', { name: 'a', ...ON });
  const { text: key } = await w.key('live', undefined, { rate_limit_requests: 100, rate_limit_window_sec: 3600 });
  const get = (tag?: string) => http('GET', '/wrap/intercept-manifest', { key, ...(tag ? { headers: { 'if-none-match': tag } } : {}) });
  const first = await get();
  const etag = first.headers.get('etag') ?? '';
  assert.deepEqual([first.status, etag], [200, `W/"${first.body.data.version}"`]);
  assert.equal(first.headers.get('cache-control'), 'private, no-cache');
  let left = Number(first.headers.get('x-ratelimit-remaining'));
  for (const tag of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
    const again = await get(tag);
    assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag], tag);
    assert.ok(again.headers.get('x-request-id'), 'a 304 has a request ID');
    assert.equal(Number(again.headers.get('x-ratelimit-remaining')), --left, 'and counts as a call');
  }
  assert.equal((await get('"sha256:00"')).status, 200);
  await call(routeOps.update, w.live, { id: route.id, name: 'renamed', requires_clients: true });
  const after = await get(etag);
  assert.equal(after.status, 200);
  assert.notEqual(after.headers.get('etag'), etag);
});

test('two processes answer with the same tag, before and after an edit', async () => {
  const w = await workspace();
  const route = await made(w.live, 'routes.create', { name: 'a', ...ON });
  await made(w.live, 'routes.create', { name: 'b', ...ON });
  const { text: key } = await w.key();
  const other = fork(new URL('./manifest-process.fixture.ts', import.meta.url));
  onFileEnd(async () => {
    other.kill();
    await once(other, 'exit');
  });
  await once(other, 'message');
  const there = async (tag?: string): Promise<{ status: number; etag: string }> => {
    other.send({ key, tag });
    return (await once(other, 'message'))[0];
  };
  const here = async () => (await http('GET', '/wrap/intercept-manifest', { key })).headers.get('etag') ?? '';
  const before = await here();
  assert.deepEqual(await there(before), { status: 304, etag: before });
  await call(routeOps.update, w.live, { id: route.id, requires_clients: true });
  const after = await here();
  assert.notEqual(after, before);
  assert.deepEqual(await there(before), { status: 200, etag: after });
});

test('a disabled environment, another environment, and the other space are absent', async () => {
  const { live, test: sandbox } = await workspace();
  await made(live, 'environments.create', { name: 'staging', display_name: 'Staging' });
  const route = await made(live, 'routes.create', { name: 'a', ...ON });
  assert.deepEqual([await slugs(live), await slugs(live, 'staging'), await slugs(sandbox)], [['a'], [], []]);
  const id = String(route.id);
  await call(routeOps.putEnvironment, live, { id, env: 'staging', intercept_enabled: true });
  assert.deepEqual(await slugs(live, 'staging'), ['a']);
  await call(routeOps.putEnvironment, live, { id, env: 'staging', enabled: false });
  assert.deepEqual([await slugs(live, 'staging'), await slugs(live)], [[], ['a']]);
});

test('a space holds so many combinations: new ones are dropped for capacity, known ones still count', async () => {
  const { live } = await workspace();
  const at = live.now.toISOString();
  const entry = (host: string) => ({
    ...{ host, first_segment: '/v1', method: 'GET', header_name: 'authorization', count: 1, first_seen: at, last_seen: at },
  });
  const report = (...hosts: string[]) => call(ops.reportEgress, live, { sdk: 'typescript/1.0.0', observations: hosts.map(entry) });
  await sql().query(
    `insert into egress_observations (tenant_id, sandbox, host, first_segment, method, header_name, total_count, first_seen, last_seen, reported_at)
     select $1, false, 'h' || n || '.example.com', '/', 'GET', 'authorization', 1, $2, $2, $2 from generate_series(1, ${CAPACITY - 1}) n`,
    [live.tenant_id, live.now],
  );
  assert.deepEqual(await report('a.acme.example', 'b.acme.example'), { accepted: 1, dropped: 1, reasons: { capacity: 1 } });
  assert.deepEqual(await report('a.acme.example', 'c.acme.example'), { accepted: 1, dropped: 1, reasons: { capacity: 1 } });
  const [known] = await call(ops.observed, live, { host: 'a.acme.example' });
  assert.equal(known.calls, 2);
});

test('a credential without the scope of a call is refused, and nothing changes', async () => {
  const w = await workspace();
  const { id } = await pendingOpportunity(w.live);
  const ask = async (scopes: string[], method: string, path: string, body?: object) => {
    const { text: key } = await w.token({ scopes });
    const answer = await http(method, path, { key, ...(body ? { body } : {}) });
    return `${answer.status} ${answer.body.error?.type ?? ''}`;
  };
  const others = ['routes:read', 'routes:write', 'secrets:read'];
  assert.equal(await ask(others, 'GET', '/opportunities'), '403 forbidden');
  assert.equal(await ask([...others, 'opportunities:read'], 'POST', `/opportunities/${id}/dismiss`, {}), '403 forbidden');
  assert.equal(await ask(['opportunities:write', 'routes:write'], 'POST', `/opportunities/${id}/accept`, {}), '403 forbidden');
  assert.equal(await ask(['opportunities:write', 'secrets:read'], 'POST', `/opportunities/${id}/accept`, {}), '403 forbidden');
  assert.equal(await ask(['opportunities:read'], 'GET', '/wrap/intercept-manifest'), '403 forbidden');
  assert.equal(await ask(['opportunities:read'], 'GET', '/opportunities'), '200 ');
  assert.equal((await db().opportunities.findUniqueOrThrow({ where: { id } })).status, 'pending');
});

test('an acceptance is audited whole, raises its event, and takes the sibling of the same host with it', async () => {
  const { live } = await workspace();
  await made(live, 'secrets.create', { name: 'ACME', value: 'CANARY-VALUE-OF-ACME' });
  await db().event_subscriptions.create({
    data: { ...own(live), id: newId(), channel: 'test', destination_id: newId(), event_types: ['opportunity.accepted'] },
  });
  const { id } = await pendingOpportunity(live);
  const sibling = await pendingOpportunity(live, { source: 'agent_monitor' });
  const { route } = await call(ops.accept, live, { id, secret: 'ACME' });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: live.tenant_id }, orderBy: { created_at: 'asc' } });
  const told = entries.map(({ action, resource_type, resource_id }) => `${action} ${resource_type} ${resource_id}`);
  for (const one of [`create route ${route.id}`, `accept opportunity ${id}`, `accept opportunity ${sibling.id}`])
    assert.ok(told.includes(one), `${one} in ${told.join('; ')}`);
  assert.ok(told.some((one) => one.startsWith('create collection ')));
  assert.ok(!JSON.stringify(entries, (_, v) => (typeof v === 'bigint' ? String(v) : v)).includes('CANARY'));
  const after = await db().opportunities.findMany({ where: own(live) });
  assert.deepEqual(
    after.map(({ status, accepted_route_id }) => [status, accepted_route_id]),
    [
      ['onboarded', route.id],
      ['onboarded', route.id],
    ],
  );
  const events = await db().events.findMany({ where: { ...own(live), type: 'opportunity.accepted' } });
  assert.deepEqual(
    events.map(({ source_id }) => source_id),
    [id],
  );
});

test('an acceptance beyond the plan is refused with plan_limit and writes nothing', async () => {
  const { live } = await workspace({ plan: 'free' });
  await made(live, 'secrets.create', { name: 'ACME', value: 'sk' });
  const { id } = await pendingOpportunity(live);
  for (let n = 0; ; n++) {
    const full = await call(routeOps.create, live, { name: `r${n}`, target_base_url: 'https://api.example.com' }).then(
      () => false,
      (error: { type?: string }) => error.type === 'plan_limit',
    );
    if (full) break;
    assert.ok(n < 100, 'the plan has no limit');
  }
  const [routes, collections] = [await db().routes.count({ where: own(live) }), await db().collections.count({ where: own(live) })];
  await assert.rejects(call(ops.accept, live, { id, secret: 'ACME' }), { type: 'plan_limit' });
  assert.deepEqual(
    [await db().routes.count({ where: own(live) }), await db().collections.count({ where: own(live) })],
    [routes, collections],
  );
  assert.equal((await db().opportunities.findUniqueOrThrow({ where: { id } })).status, 'pending');
});

test('a snooze that is over makes the opportunity pending, and one that was decided meanwhile stays decided', async () => {
  const { live } = await workspace();
  const until = new Date(live.now.getTime() + 2 * 3_600_000);
  const { id } = await pendingOpportunity(live);
  const decided = await pendingOpportunity(live, { destination_host: 'api.other.example' });
  for (const one of [id, decided.id]) await call(ops.snooze, live, { id: one, until: until.toISOString() });
  await call(ops.dismiss, live, { id: decided.id });
  const due = [id, decided.id].map((resource_id) => ({ resource_id })) as never;
  const wake = (now: Date) => db().$transaction((tx) => leases.opportunity?.handle(tx, due, now) as never);
  await wake(new Date(until.getTime() - 1_000));
  assert.equal((await call(ops.list, live, { id }))[0].status, 'snoozed');
  await wake(until);
  assert.deepEqual(
    [(await call(ops.list, live, { id }))[0].status, (await call(ops.list, live, { id: decided.id }))[0].status],
    ['pending', 'dismissed'],
  );
});

test('an ignored host can be shown again, and one that is not ignored is not found', async () => {
  const { live } = await workspace();
  const { id } = await pendingOpportunity(live);
  await call(ops.ignoreHost, live, { host: HOST });
  assert.deepEqual(
    (await call(ops.list, live, { id })).map((row: { status: string; dismiss_reason: string }) => [row.status, row.dismiss_reason]),
    [['dismissed', 'The host is ignored.']],
  );
  assert.deepEqual(await call(ops.showHost, live, { host: `${HOST.toUpperCase()}.` }), { host: HOST, ignored: false });
  await call(ops.reopen, live, { id });
  for (const host of [HOST, 'never.example', '10.0.0.1']) await assert.rejects(call(ops.showHost, live, { host }), { type: 'not_found' });
});
