import assert from 'node:assert/strict';
import test from 'node:test';
import { call as logged } from '#server/domain/request-logs/call.fixture.ts';
import { deleteAllResetCalls, deleteResetCalls } from '#server/domain/request-logs/test-reset/service.ts';
import { seedStarter } from '#server/domain/signup/service.ts';
import { insertRows } from '#server/gateway/core/log/insert.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '#server/gateway/gateway.fixture.ts';
import type { Actor } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { quickPasswords } from '#server/testing/quick-passwords.ts';
import { until } from '#server/testing/until.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';

// Resetting Test: all of it goes, nothing of Live does, and what worked there stops at once (interface rule 64 §5).

await testDatabase();
quickPasswords();
const reset = (w: Workspace, more: Record<string, unknown> = {}, actor: Actor = memberActor('owner')) =>
  made(w.ctx('test', actor), 'sandbox.reset', { confirm_name: w.tenant.name, ...more });

/** Tables of a space that hold rows of it, but for the audit log and what belongs to the workspace. */
async function filled(w: Workspace, sandbox: boolean): Promise<Record<string, number>> {
  const tables = await db().$queryRaw<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'sandbox' and t.table_type = 'BASE TABLE'
      and c.table_name not in ('audit_logs', 'row_counts') and c.table_name !~ '^request_logs_'`;
  const found: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await sql().query<{ n: number }>(`select count(*)::int as n from "${name}" where tenant_id = $1 and sandbox = $2`, [
      w.tenant.id,
      sandbox,
    ]);
    if (rows[0]?.n) found[name] = rows[0].n;
  }
  return found;
}

async function furnish(w: Workspace, space: 'live' | 'test') {
  const ctx = w[space];
  const secret = await made(ctx, 'secrets.create', { name: 'KEY', value: 'v' });
  const collection = await made(ctx, 'collections.create', { name: 'C' });
  await made(ctx, 'collections.variables.create', { id: collection.id, key: 'k', type: 'secret', secret_id: secret.id });
  await made(ctx, 'secrets.update', { id: secret.id, collection_id: collection.id });
  await made(ctx, 'environments.create', { name: 'staging' });
  const client = await made(ctx, 'clients.create', { name: 'c', ip_address: '203.0.113.7', collection_id: collection.id });
  const route = await made(ctx, 'routes.create', {
    name: 'r',
    target_base_url: 'http://127.0.0.1:9',
    collection_id: collection.id,
    inject_headers_json: { 'X-Key': '{{secret:KEY}}' },
  });
  await made(ctx, 'clients.assign', { id: client.id, assignments: [{ route_id: route.id, environment_name: 'production' }] });
  await made(ctx, 'crypto_keys.create', { name: 'k' });
  await made(w.ctx(space, memberActor('owner')), 'views.create', { page: 'routes', name: 'V', query: 'enabled=true', shared: true });
  await insertRows(sql(), [logged(ctx, { route_id: route.id })]);
  return { route, secret };
}

test('everything of Test goes but its history, Live keeps every row, and the starter is there again', async () => {
  const [w, other] = [await workspace(), await workspace()];
  for (const one of [w, other]) {
    await furnish(one, 'live');
    await furnish(one, 'test');
    await one.key('test');
  }
  const [live, foreign] = [await filled(w, false), await filled(other, true)];
  const history = await db().audit_logs.count({ where: { tenant_id: w.tenant.id, sandbox: true } });
  const answer = await reset(w);
  await deleteResetCalls(w.tenant.id);
  const things = { routes: 1, secrets: 1, clients: 1, collections: 1, environments: 2, api_keys: 1, crypto_keys: 1 };
  const none = {
    agents: 0,
    ai_agents: 0,
    ai_gateways: 0,
    mcp_servers: 0,
    oauth_clients: 0,
    pki_roots: 0,
    vaults: 0,
    webhooks: 0,
    inbound_webhooks: 0,
    workflows: 0,
  };
  assert.deepEqual(answer.deleted, { ...things, ...none });
  assert.deepEqual(await filled(w, false), live);
  assert.deepEqual(await filled(other, true), foreign);
  // What sign-up leaves in Test, and nothing else.
  const fresh = await workspace();
  await db().$transaction((tx) => seedStarter(tx, fresh.tenant.id, new Date()));
  assert.deepEqual(await filled(w, true), await filled(fresh, true));
  assert.equal(
    (await db().audit_logs.count({ where: { tenant_id: w.tenant.id, sandbox: true } })) - history,
    3,
    'history stays, and grows by the reset',
  );
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'reset' } });
  assert.deepEqual(entries.map((e) => [e.sandbox, e.resource_type]).sort(), [
    [false, 'sandbox'],
    [true, 'sandbox'],
  ]);
  const route = await made(w.test, 'routes.get', { id: answer.starter.route_id });
  assert.deepEqual([route.slug, route.enabled], ['echo', true]);
  await reset(w, {}, memberActor('owner'));
});

test('a process that ends before the calls are forgotten leaves them to the hourly run, and new calls are none of them', async () => {
  const w = await workspace();
  const { route } = await furnish(w, 'test');
  await db().tenants.update({ where: { id: w.tenant.id }, data: { test_reset_at: new Date() } });
  await insertRows(sql(), [logged(w.test, { route_id: route.id, ts: new Date(Date.now() + 120_000).toISOString() })]);
  assert.equal(await deleteAllResetCalls(new Date()), 1);
  assert.equal(await deleteAllResetCalls(new Date()), 0);
  const { rows } = await sql().query('select 1 from request_logs where tenant_id = $1', [w.tenant.id]);
  assert.equal(rows.length, 1);
});

test('it takes the name of the workspace, and a person who has just proved who they are', async () => {
  const w = await workspace();
  await assert.rejects(reset(w, { confirm_name: 'something else' }), { type: 'validation_error', message: /confirm_name/ });
  const stale = { ...memberActor('owner'), signed_in_at: new Date(Date.now() - 11 * 60_000) } as Actor;
  await assert.rejects(reset(w, {}, stale), (error: { type: string; extra: { action_scope: string } }) => {
    assert.deepEqual([error.type, error.extra.action_scope], ['step_up_required', 'sandbox.reset']);
    return true;
  });
  await assert.rejects(reset(w, { password: 'a guess' }, stale), { type: 'invalid_credentials' });
  await assert.rejects(
    reset(w, { password: 'a guess' }),
    { type: 'invalid_credentials' },
    'a wrong password is wrong however fresh the sign-in',
  );
  for (let i = 0; i < 8; i++) await assert.rejects(reset(w, { password: `guess ${i}` }, stale), { type: 'invalid_credentials' });
  await assert.rejects(
    (async () => {
      for (let i = 0; i < 12; i++)
        await reset(w, { password: `guess ${i}` }, stale).catch(
          (e: { type: string }) => e.type !== 'invalid_credentials' && Promise.reject(e),
        );
    })(),
    { type: 'rate_limited' },
  );
  assert.equal(await db().environments.count({ where: { tenant_id: w.tenant.id, sandbox: true } }), 1);
});

test('however often Test is reset, and however long its calls take to go, everybody else is answered as before', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const { route } = await furnish(w, 'test');
  const { text: key } = await other.key('live');
  const slow = await sql().connect();
  await slow.query('begin');
  await slow.query('select 1 from request_logs where route_id = $1 for update', [route.id]);
  try {
    let forgotten = false;
    const forgetting = [];
    for (let i = 0; i < 8; i++) {
      await reset(w);
      forgetting.push(deleteResetCalls(w.tenant.id));
    }
    const all = Promise.all(forgetting).then(() => (forgotten = true));
    assert.equal((await call('GET', '/routes', { key })).status, 200);
    assert.equal(forgotten, false, 'nobody waited for the calls of the old Test');
    await slow.query('rollback');
    await all;
    assert.equal(await db().request_logs.count({ where: { tenant_id: w.tenant.id, sandbox: true } }), 0);
  } finally {
    await slow.query('rollback');
    slow.release();
  }
});

test('writes in Test beside resets, as fast as they can, break none of them and leave nothing half deleted', async () => {
  const w = await workspace();
  let [n, stop] = [0, false];
  const faults: unknown[] = [];
  const tried = (work: () => Promise<unknown>) =>
    work().catch((error: unknown) => {
      if (!(error instanceof Refusal)) faults.push(error);
    });
  const collected = async () => {
    const collection = await made(w.test, 'collections.create', { name: `c${++n}` });
    const secret = await made(w.test, 'secrets.create', { name: `S${++n}`, value: 'a value', collection_id: collection.id });
    await made(w.test, 'collections.variables.create', { id: collection.id, key: 'token', type: 'secret', secret_id: secret.id });
    const headers = { inject_headers_json: { 'X-Token': '{{var:token}}' } };
    await made(w.test, 'routes.create', {
      name: `r${++n}`,
      collection_id: collection.id,
      target_base_url: 'http://127.0.0.1:9',
      ...headers,
    });
  };
  const environments = async () => {
    const row = await made(w.test, 'environments.create', { name: `e${++n}` });
    await made(w.test, 'environments.update', { id: row.id, is_default: true });
  };
  const writers = [collected, collected, environments].map(async (work) => {
    while (!stop) await tried(work);
  });
  for (let i = 0; i < 5; i++) {
    await tried(() => reset(w));
    const before = n;
    await until(() => n > before + 4, 'the writers go on');
  }
  stop = true;
  await Promise.all(writers);
  assert.deepEqual(faults, []);
  assert.equal(await db().environments.count({ where: { tenant_id: w.tenant.id, sandbox: true, is_default: true } }), 1);
});

test('calls that run meanwhile end as calls do, and then both planes refuse the key of the old Test', async () => {
  const [gateway, upstream, w] = [await startGateway(), await startUpstream(), await workspace()];
  await makeRoute(w, 'busy', upstream.url, {}, { space: 'test' });
  const { text: key } = await w.key('test');
  const through = async () => (await ask(gateway.port, `sandbox-${w.tenant.slug}`, '/busy/x', { key })).status;
  await served(gateway, w);
  assert.equal(await through(), 200);
  let stop = false;
  const statuses = { gateway: new Set<number>(), api: new Set<number>() };
  const running = Promise.all([
    ...[1, 2, 3].map(async () => {
      while (!stop) statuses.gateway.add(await through());
    }),
    (async () => {
      while (!stop) statuses.api.add((await call('GET', '/routes', { key })).status);
    })(),
  ]);
  try {
    await reset(w);
    assert.equal((await call('GET', '/routes', { key })).status, 401, 'the next call of the management API');
    await until(async () => (await through()) === 401);
    assert.equal(await through(), 401);
  } finally {
    stop = true;
    await running;
  }
  assert.deepEqual([...statuses.gateway].sort(), [200, 401]);
  assert.deepEqual([...statuses.api].sort(), [200, 401]);
});
