import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });
const TARGET = 'http://127.0.0.1:9';
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
type Any = any;
const call = async (ctx: Ctx, id: string, input: Record<string, unknown> = {}): Promise<Any> =>
  (await execute(operationById(id), { ...ctx, now: new Date() }, input)).output;
/** What each environment of a route does, by name. */
const settings = async (ctx: Ctx, id: string): Promise<Map<string, Any>> =>
  new Map(
    (await call(ctx, 'routes.environments.list', { id })).map(({ environment_name, ...rest }: Any): [string, Any] => [
      environment_name,
      rest,
    ]),
  );
const environmentNamed = async (ctx: Ctx, name: string): Promise<string> =>
  (await call(ctx, 'environments.list')).find((one: Any) => one.name === name).id;
const without = ({ overridden_fields: _, ...rest }: Any) => rest;

test('in the copy every route does what it does in the original: overrides, pauses, methods, lists', async () => {
  const { live } = await workspace();
  const staging = await made(live, 'environments.create', { name: 'staging', color: '#123456', description: 'before production' });
  await made(live, 'secrets.create', { name: 'EU_KEY', value: 'never copied', environment: 'staging' });
  const plain = await made(live, 'routes.create', { name: 'plain', target_base_url: TARGET });
  const rich = await made(live, 'routes.create', { name: 'rich', target_base_url: TARGET, timeout_ms: 4_000 });
  const staged = await made(live, 'routes.create', {
    name: 'staged',
    target_base_url: TARGET,
    base_environment: 'staging',
    timeout_ms: 900,
    inject_headers_json: { 'X-Key': '{{secret:EU_KEY}}' },
  });
  await made(live, 'routes.create', { name: 'elsewhere', target_base_url: TARGET });
  await call(live, 'routes.environments.put', { id: plain.id, env: 'staging' });
  await call(live, 'routes.environments.put', { id: staged.id, env: 'staging', enabled: false });
  await call(live, 'routes.environments.put', {
    id: rich.id,
    env: 'staging',
    enabled: false,
    inject_headers_json: { Authorization: 'Bearer {{secret:EU_KEY}}' },
    allowed_methods: ['GET', 'POST'],
    ip_allowlist: ['203.0.113.0/24'],
    method_configs: [{ method: 'POST', timeout_ms: 1_000 }],
  });
  const copy = await call(live, 'environments.duplicate', { id: staging.id, name: 'eu-staging' });
  assert.deepEqual(
    [copy.name, copy.display_name, copy.color, copy.description, copy.is_default, copy.copied],
    ['eu-staging', 'Eu Staging', '#123456', 'before production', false, { routes: 3, assignments: 0 }],
  );
  for (const { id } of [plain, rich]) {
    const all = await settings(live, id);
    assert.deepEqual(all.get('eu-staging'), all.get('staging'));
  }
  const ofBase = await settings(live, staged.id);
  assert.deepEqual(without(ofBase.get('eu-staging')), without(ofBase.get('staging')), 'a paused base is paused in its copy');
  assert.deepEqual(ofBase.get('eu-staging').overridden_fields, ['enabled'], 'the rest is inherited');
  await call(live, 'routes.update', { id: staged.id, timeout_ms: 950 });
  assert.equal((await settings(live, staged.id)).get('eu-staging').timeout_ms, 950);
  assert.equal((await call(live, 'routes.get', { id: staged.id })).base_environment, 'staging');

  const [secret] = await call(live, 'secrets.list');
  assert.deepEqual(secret.environment_names, ['staging'], 'values of secrets stay behind');
  const uses = await db().secret_references.findMany({
    where: { secret_id: secret.id },
    orderBy: [{ referrer_id: 'asc' }, { referrer_env: 'asc' }],
  });
  assert.deepEqual(
    uses.map((one) => [one.referrer_id, one.referrer_env]),
    [
      [rich.id, 'eu-staging'],
      [rich.id, 'staging'],
      [staged.id, 'staging'],
    ],
    'the secret knows that the copy needs it; what a copy inherits it names not itself',
  );
});

test('assignments come along on request; without them it is said that nobody is admitted', async () => {
  const { live } = await workspace();
  const id = await environmentNamed(live, 'production');
  const route = await made(live, 'routes.create', { name: 'guarded', target_base_url: TARGET, requires_clients: true });
  const client = await made(live, 'clients.create', { name: 'worker', ip_address: '203.0.113.7' });
  await call(live, 'routes.clients.set', { id: route.id, env: 'production', client_ids: [client.id] });
  live.warnings.length = 0;
  assert.deepEqual((await call(live, 'environments.duplicate', { id, name: 'bare' })).copied, { routes: 1, assignments: 0 });
  assert.match(live.warnings.join(), /One route requires an assigned client and has none in bare/);
  live.warnings.length = 0;
  assert.deepEqual((await call(live, 'environments.duplicate', { id, name: 'full', include_clients: true })).copied, {
    routes: 1,
    assignments: 1,
  });
  assert.deepEqual(live.warnings, []);
  assert.deepEqual(
    (await call(live, 'routes.clients.list', { id: route.id, env: 'full' })).map((one: Any) => one.client_id),
    [client.id],
  );
});

test('the trail names the copy and every route it changed; a refused copy leaves neither trail nor rows', async () => {
  const w = await workspace({ plan: 'free' });
  const id = await environmentNamed(w.live, 'production');
  const route = await made(w.live, 'routes.create', { name: 'r', target_base_url: TARGET });
  await made(w.live, 'environments.create', { name: 'taken' });
  const trail = () => db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } });
  const before = (await trail()).length;
  await assert.rejects(call(w.live, 'environments.duplicate', { id, name: 'taken' }), { type: 'conflict' });
  assert.equal((await trail()).length, before);
  const copy = await call(w.live, 'environments.duplicate', { id, name: 'third' });
  const added = (await trail()).slice(before) as Any[];
  assert.deepEqual(
    added.map((one) => [one.action, one.resource_type, one.resource_id]),
    [
      ['create', 'environment', copy.id],
      ['create', 'environment_config', route.id],
    ],
  );
  assert.deepEqual(added[0].details.copied, { routes: 1, assignments: 0 });
  assert.deepEqual([added[1].details.environment, added[1].details.copied_from], ['third', 'production']);
  await assert.rejects(call(w.live, 'environments.duplicate', { id, name: 'fourth' }), { type: 'plan_limit' });
  assert.deepEqual([...(await settings(w.live, route.id)).keys()].sort(), ['production', 'third']);
});

test('nothing of another workspace or of the other space is copied', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const id = await environmentNamed(w.live, 'production');
  await made(w.live, 'routes.create', { name: 'mine', target_base_url: TARGET });
  for (const ctx of [w.test, other.live]) {
    await assert.rejects(call(ctx, 'environments.duplicate', { id, name: 'copy' }), { type: 'not_found' });
    await assert.rejects(call(ctx, 'environments.impact', { id }), { type: 'not_found' });
  }
});

test('routes, clients and settings that go or change beside a copy neither break it nor wait for it for ever', async () => {
  const { live } = await workspace();
  const id = await environmentNamed(live, 'production');
  for (let round = 0; round < 4; round++) {
    const routes: Any[] = [];
    for (const name of ['a', 'b', 'c'])
      routes.push(await made(live, 'routes.create', { name: `${name}${round}`, target_base_url: TARGET }));
    const client = await made(live, 'clients.create', { name: `c${round}`, ip_address: '203.0.113.7' });
    for (const route of routes) await call(live, 'routes.clients.set', { id: route.id, env: 'production', client_ids: [client.id] });
    const results = await Promise.allSettled([
      call(live, 'environments.duplicate', { id, name: `copy-${round}`, include_clients: true }),
      call(live, 'routes.delete', { id: routes[0].id }),
      call(live, 'clients.delete', { id: client.id }),
      call(live, 'routes.environments.put', { id: routes[1].id, env: 'production', timeout_ms: 1_234 }),
      call(live, 'environments.duplicate', { id, name: `twin-${round}` }),
    ]);
    assert.deepEqual(
      results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : [])),
      [],
    );
  }
});

test('what uses an environment is counted exactly: routes, those with settings of their own, secrets, clients', async () => {
  const { live, test: sandbox } = await workspace();
  const staging = await made(live, 'environments.create', { name: 'staging' });
  const routes: Any[] = [];
  for (const name of ['one', 'two', 'three']) routes.push(await made(live, 'routes.create', { name, target_base_url: TARGET }));
  await call(live, 'routes.environments.put', { id: routes[0].id, env: 'staging' });
  await call(live, 'routes.environments.put', { id: routes[1].id, env: 'staging', timeout_ms: 1_000 });
  await made(live, 'secrets.create', { name: 'KEY', value: 'v', environment: 'staging' });
  const client = await made(live, 'clients.create', { name: 'worker', ip_address: '203.0.113.7' });
  for (const route of routes.slice(0, 2)) await call(live, 'routes.clients.set', { id: route.id, env: 'staging', client_ids: [client.id] });
  await made(sandbox, 'routes.create', { name: 'other space', target_base_url: TARGET });

  const usage = new Map((await call(live, 'environments.usage')).map((one: Any) => [one.id, one]));
  assert.deepEqual(usage.get(staging.id), { id: staging.id, routes: 2, overrides: 1, secrets: 1, clients: 1 });
  const production = await environmentNamed(live, 'production');
  assert.deepEqual(usage.get(production), { id: production, routes: 3, overrides: 0, secrets: 0, clients: 0 });
  const impact = await call(live, 'environments.impact', { id: staging.id });
  assert.deepEqual([impact.routes, impact.overrides, impact.secrets, impact.clients], [2, 1, 1, 1]);
  assert.deepEqual(
    [impact.some_routes, impact.some_secrets, impact.some_clients].map((list: Any[]) => list.map((one) => one.name)),
    [['one', 'two'], ['KEY'], ['worker']],
  );
});
