import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';

// What no verb of either space would let anybody save, a promotion must not bring about by putting two halves together (interface rule 64 §5).

await testDatabase();
const UPSTREAM = 'http://127.0.0.1:9';
type Items = { type: string; id: string }[] | 'all';
const promote = (w: Workspace, items: Items, more: Record<string, unknown> = {}) =>
  made(w.ctx('test', memberActor('owner')), 'sandbox.promote', { items, ...more });
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const itemOf = (answer: any, type: string) => answer.items.find((i: { type: string }) => i.type === type);

/** A collection of one name in both spaces, with a variable that is a value in Test. */
async function twins(w: Workspace, inLive: 'value' | 'secret') {
  const test = await made(w.test, 'collections.create', { name: 'Billing' });
  const live = await made(w.live, 'collections.create', { name: 'Billing' });
  const secret = await made(w.live, 'secrets.create', { name: 'TOKEN', value: 'a value of Live 0815' });
  await made(w.test, 'collections.variables.create', { id: test.id, key: 'host', type: 'value', value: 'test.example' });
  await made(
    w.live,
    'collections.variables.create',
    inLive === 'value'
      ? { id: live.id, key: 'host', type: 'value', value: 'live.example' }
      : { id: live.id, key: 'host', type: 'secret', secret_id: secret.id },
  );
  return { test, live, secret };
}

test('a target URL is not promoted to where its variable is a secret', async () => {
  const w = await workspace();
  const { test } = await twins(w, 'secret');
  const route = await made(w.test, 'routes.create', { name: 'pay', collection_id: test.id, target_base_url: 'https://{{var:host}}/v1' });
  const answer = await promote(w, [{ type: 'route', id: route.id }]);
  assert.equal(itemOf(answer, 'route').action, 'conflict');
  assert.match(itemOf(answer, 'route').reason, /\{\{var:host\}\} is a secret/);
  assert.equal(await db().routes.count({ where: { tenant_id: w.tenant.id, sandbox: false } }), 0);
});

test('a variable that a target URL of Live uses does not become a secret there', async () => {
  const w = await workspace();
  const { test, live } = await twins(w, 'value');
  await made(w.live, 'routes.create', { name: 'pay', collection_id: live.id, target_base_url: 'https://{{var:host}}/v1' });
  await made(w.live, 'routes.create', { name: 'elsewhere', target_base_url: 'https://{{var:billing.host}}/v1' });
  const variables = await made(w.test, 'collections.variables.list', { id: test.id });
  const secret = await made(w.test, 'secrets.create', { name: 'TOKEN', value: 'a value of Test 4711' });
  await made(w.test, 'collections.variables.update', { id: test.id, variableId: variables[0].id, type: 'secret', secret_id: secret.id });
  const answer = await promote(w, [{ type: 'collection', id: test.id }]);
  assert.equal(itemOf(answer, 'collection').action, 'conflict');
  assert.match(itemOf(answer, 'collection').reason, /host.*(pay|elsewhere)/);
  const held = await db().collection_variables.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox: false, key: 'host' } });
  assert.equal(held.type, 'value');
});

test('settings that contradict each other only in an environment of Live alone are a conflict', async () => {
  const w = await workspace();
  await made(w.live, 'environments.create', { name: 'eu' });
  const live = await made(w.live, 'routes.create', {
    name: 'pay',
    target_base_url: UPSTREAM,
    rate_limit_enabled: true,
    rate_limit_requests: 100,
    rate_limit_window_sec: 60,
  });
  await made(w.live, 'routes.environments.put', { id: live.id, env: 'eu', rate_limit_burst: 900 });
  const route = await made(w.test, 'routes.create', {
    name: 'pay',
    target_base_url: UPSTREAM,
    rate_limit_enabled: true,
    rate_limit_requests: 10,
    rate_limit_window_sec: 60,
  });
  const answer = await promote(w, [{ type: 'route', id: route.id }]);
  assert.equal(itemOf(answer, 'route').action, 'conflict');
  assert.match(itemOf(answer, 'route').reason, /environment eu/);
});

test('an environment of Live alone keeps the variables it names, or the route stays where it is', async () => {
  const w = await workspace();
  const { test, live } = await twins(w, 'value');
  await made(w.live, 'environments.create', { name: 'eu' });
  const there = await made(w.live, 'routes.create', { name: 'pay', collection_id: live.id, target_base_url: UPSTREAM });
  await made(w.live, 'routes.environments.put', { id: there.id, env: 'eu', inject_headers_json: { 'X-Host': '{{var:host}}' } });
  assert.ok(test);
  const route = await made(w.test, 'routes.create', { name: 'pay', slug: there.slug, target_base_url: UPSTREAM });
  const answer = await promote(w, [{ type: 'route', id: route.id }]);
  assert.equal(itemOf(answer, 'route').action, 'conflict');
  assert.match(itemOf(answer, 'route').reason, /Environment eu .*\{\{var:host\}\}/);
});

test('what two spaces hold together keeps to the bounds of each: clients of a route, environments and default clients of a collection', async () => {
  const w = await workspace();
  const at = { tenant_id: w.tenant.id, created_at: new Date(), updated_at: new Date() };
  const crowd = async (sandbox: boolean, prefix: string, n: number) => {
    const rows = Array.from({ length: n }, (_, i) => ({
      ...at,
      sandbox,
      id: crypto.randomUUID(),
      name: `${prefix}-${i}`,
      ip_address: `198.51.100.${i % 250}`,
    }));
    await db().clients.createMany({ data: rows as never });
    return rows.map((row) => row.id);
  };
  const [mine, theirs] = [await crowd(true, 't', 260), await crowd(false, 'l', 260)];
  const live = await made(w.live, 'routes.create', { name: 'pay', target_base_url: UPSTREAM });
  const route = await made(w.test, 'routes.create', { name: 'pay', target_base_url: UPSTREAM });
  const assign = async (sandbox: boolean, route_id: string, ids: string[]) => {
    const { id: environment_id } = await db().environments.findFirstOrThrow({
      where: { tenant_id: w.tenant.id, sandbox, is_default: true },
    });
    await db().route_client_assignments.createMany({
      data: ids.map((client_id) => ({ tenant_id: w.tenant.id, sandbox, route_id, environment_id, client_id, created_at: new Date() })),
    });
  };
  await assign(true, route.id, mine);
  await assign(false, live.id, theirs);
  const answer = await promote(w, [{ type: 'route', id: route.id }]);
  assert.equal(itemOf(answer, 'route').action, 'conflict');
  assert.match(itemOf(answer, 'route').reason, /more than 500 assigned clients/);

  const both = {
    test: await made(w.test, 'collections.create', { name: 'Billing' }),
    live: await made(w.live, 'collections.create', { name: 'Billing' }),
  };
  const defaults = (sandbox: boolean, collection_id: string, default_client_ids: string[]) =>
    db().collection_environment_defaults.create({
      data: { tenant_id: w.tenant.id, sandbox, collection_id, environment_name: 'production', default_client_ids },
    });
  await defaults(true, both.test.id, mine);
  await defaults(false, both.live.id, theirs);
  const picked = [{ type: 'collection', id: both.test.id }];
  assert.match(itemOf(await promote(w, picked, { dry_run: true }), 'collection').reason, /more than 500 default clients/);
  const expecting = (id: string, names: string[]) => db().collections.updateMany({ where: { id }, data: { expected_environments: names } });
  await expecting(
    both.live.id,
    Array.from({ length: 100 }, (_, i) => `of-live-${i}`),
  );
  await expecting(both.test.id, ['production']);
  assert.match(itemOf(await promote(w, picked, { dry_run: true }), 'collection').reason, /more than 100 environments/);
});
