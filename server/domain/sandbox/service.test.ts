import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { confirmedOwner } from '#server/testing/step-up.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';

// Promote and clone: what moves, what never does, and what stands in the way (interface rule 64 §5).

await testDatabase();
const UPSTREAM = 'http://127.0.0.1:9';
const owner = (w: Workspace, space: 'live' | 'test' = 'test') => w.ctx(space, memberActor('owner'));
type Items = { type: string; id: string }[] | 'all';
const promote = (w: Workspace, items: Items, more: Record<string, unknown> = {}) => made(owner(w), 'sandbox.promote', { items, ...more });
const plan = (w: Workspace, items: Items, more: Record<string, unknown> = {}) => promote(w, items, { dry_run: true, ...more });
const rowsOf = async (w: Workspace, sandbox: boolean) => ({
  routes: await db().routes.count({ where: { tenant_id: w.tenant.id, sandbox } }),
  secrets: await db().secrets.count({ where: { tenant_id: w.tenant.id, sandbox } }),
  clients: await db().clients.count({ where: { tenant_id: w.tenant.id, sandbox } }),
  collections: await db().collections.count({ where: { tenant_id: w.tenant.id, sandbox } }),
  environments: await db().environments.count({ where: { tenant_id: w.tenant.id, sandbox } }),
});
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const itemOf = (answer: any, type: string, name?: string) =>
  answer.items.find((i: { type: string; name: string }) => i.type === type && (name === undefined || i.name === name));

/** A route in Test with everything a route can refer to. */
async function furnished(w: Workspace) {
  const key = await made(w.test, 'secrets.create', { name: 'STRIPE_KEY', value: 'a value of Test 4711', tags: ['billing'] });
  const token = await made(w.test, 'secrets.create', { name: 'TOKEN', value: 'another value 0815' });
  await made(w.test, 'environments.create', { name: 'staging', color: '#123456' });
  await made(w.test, 'secrets.put_value', { id: key.id, environment: 'staging', value: 'a value of staging 1234' });
  const collection = await made(w.test, 'collections.create', { name: 'Billing' });
  await made(w.test, 'collections.variables.create', { id: collection.id, key: 'region', type: 'value', value: 'eu' });
  await made(w.test, 'collections.variables.create', { id: collection.id, key: 'token', type: 'secret', secret_id: token.id });
  const client = await made(w.test, 'clients.create', { name: 'billing-worker', ip_address: '203.0.113.7' });
  await made(w.test, 'clients.create_credential', { id: client.id, kind: 'ip', data: { value: '198.51.100.0/24' } });
  const route = await made(w.test, 'routes.create', {
    name: 'payments',
    collection_id: collection.id,
    target_base_url: UPSTREAM,
    requires_clients: true,
    rate_limit_enabled: true,
    rate_limit_requests: 10,
    rate_limit_window_sec: 60,
    inject_headers_json: { Authorization: `Bearer {{secret_id:${key.id}}}`, 'X-Region': '{{var:region}}' },
    method_configs: [{ method: 'POST', inject_headers_json: { 'X-Token': '{{var:token}}' } }],
  });
  await made(w.test, 'routes.environments.put', {
    id: route.id,
    env: 'staging',
    timeout_ms: 1_000,
    inject_headers_json: { 'X-Named': '{{secret:STRIPE_KEY}}' },
  });
  await made(w.test, 'clients.assign', { id: client.id, assignments: [{ route_id: route.id, environment_name: 'production' }] });
  return { key, token, collection, client, route };
}

test('a dry run writes nothing in either space, and says all that would be made and what is missing', async () => {
  const w = await workspace();
  const { route } = await furnished(w);
  const audits = await db().audit_logs.count({ where: { tenant_id: w.tenant.id } });
  const before = await rowsOf(w, false);
  const answer = await plan(w, [{ type: 'route', id: route.id }]);
  assert.deepEqual(await rowsOf(w, false), before);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), audits);
  assert.deepEqual(answer.summary, { create: 6, update: 0, skip: 0, conflict: 0 });
  assert.deepEqual([answer.from, answer.to, answer.id], ['test', 'live', null]);
  assert.equal(itemOf(answer, 'route').picked, true);
  assert.equal(itemOf(answer, 'route').enabled, false);
  assert.match(itemOf(answer, 'route').reason, /Stays off until/);
  assert.equal(itemOf(answer, 'secret', 'TOKEN').picked, false, 'a secret behind a variable comes along');
  assert.deepEqual(itemOf(answer, 'client').left_behind, ['address 198.51.100.0/24']);
  assert.deepEqual(itemOf(answer, 'route').upstreams, ['127.0.0.1:9']);
  assert.deepEqual(answer.missing_values.map((m: { secret: string; environments: string[] }) => [m.secret, m.environments]).sort(), [
    ['STRIPE_KEY', ['production', 'staging']],
    ['TOKEN', ['production', 'staging']],
  ]);
});

test('a promoted route is the same there, refers to what is there, and is off until its values are', async () => {
  const w = await workspace();
  const { route, key } = await furnished(w);
  const answer = await promote(w, [{ type: 'route', id: route.id }]);
  const live = await made(w.live, 'routes.get', { id: itemOf(answer, 'route').target_id });
  const test = await made(w.test, 'routes.get', { id: route.id });
  assert.equal(live.slug, test.slug);
  assert.equal(live.enabled, false);
  const there = itemOf(answer, 'secret', 'STRIPE_KEY').target_id;
  assert.notEqual(there, key.id);
  assert.equal(live.inject_headers_json.Authorization, `Bearer {{secret_id:${there}}}`);
  for (const field of ['timeout_ms', 'rate_limit_requests', 'method_configs', 'requires_clients', 'configured_environments'])
    assert.deepEqual(live[field], test[field], field);
  assert.equal(live.environments.find((e: { environment_name: string }) => e.environment_name === 'staging').timeout_ms, 1_000);
  assert.equal(live.collection_id, itemOf(answer, 'collection').target_id);
  const admitted = await made(w.live, 'routes.clients.list', { id: live.id, env: 'production' });
  assert.deepEqual(
    admitted.map((c: { name: string }) => c.name),
    ['billing-worker'],
  );
  const credentials = await made(w.live, 'clients.list_credentials', { id: itemOf(answer, 'client').target_id });
  assert.deepEqual(
    credentials.map((c: { is_primary: boolean }) => c.is_primary),
    [true],
    'no credential goes along',
  );
  const usage = await made(w.live, 'secrets.usage', { id: there });
  assert.deepEqual(usage.references.map((r: { environment: string; by: string }) => [r.environment, r.by]).sort(), [
    ['production', 'id'],
    ['staging', 'name'],
  ]);
  // It works as any route of Live: once its values are there it can be switched on.
  const secret = await made(w.live, 'secrets.get', { id: there });
  assert.deepEqual([secret.environment_count, secret.base_environment, secret.tags], [0, null, ['billing']]);
  await made(w.live, 'secrets.put_value', { id: there, environment: 'production', value: 'the live value' });
  assert.equal((await made(w.live, 'routes.update', { id: live.id, enabled: true })).enabled, true);
});

test('no value of a secret moves: no ciphertext, no key of one and no plaintext is in any row that was written', async () => {
  const w = await workspace();
  await furnished(w);
  const values = await db().secret_values.findMany({ where: { tenant_id: w.tenant.id } });
  assert.ok(values.length >= 3 && values.every((v) => v.value_ct && v.cek_wrapped));
  const answer = await promote(w, 'all');
  assert.equal(await db().secret_values.count({ where: { tenant_id: w.tenant.id, sandbox: false } }), 0);
  assert.equal(await db().secret_environments.count({ where: { tenant_id: w.tenant.id, sandbox: false } }), 0);
  assert.equal(await db().client_credentials.count({ where: { tenant_id: w.tenant.id, sandbox: false, is_primary: false } }), 0);
  const tables = await db().$queryRaw<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'tenant_id' and t.table_type = 'BASE TABLE' and c.table_name <> 'secret_values'`;
  const needles = [
    ...['a value of Test 4711', 'another value 0815', 'a value of staging 1234'],
    ...values.flatMap((v) => [
      Buffer.from(v.value_ct as Uint8Array).toString('hex'),
      Buffer.from(v.cek_wrapped as Uint8Array).toString('hex'),
    ]),
  ];
  let scanned = 0;
  for (const { name } of tables) {
    const rows = await db().$queryRawUnsafe<{ text: string }[]>(
      `select t::text as text from "${name}" t where tenant_id = $1::uuid`,
      w.tenant.id,
    );
    scanned += rows.length;
    for (const { text } of rows) for (const needle of needles) assert.ok(!text.includes(needle), `${name} holds ${needle.slice(0, 30)}`);
  }
  assert.ok(scanned > 30, 'there was something to scan');
  for (const needle of needles) assert.ok(!JSON.stringify(answer).includes(needle), 'nor does the answer');
});

test('a second run finds everything there and does nothing', async () => {
  const w = await workspace();
  await furnished(w);
  await promote(w, 'all');
  const [rows, audits] = [await rowsOf(w, false), await db().audit_logs.count({ where: { tenant_id: w.tenant.id } })];
  const again = await promote(w, 'all');
  assert.deepEqual([again.summary.create, again.summary.update, again.summary.conflict, again.id], [0, 0, 0, null]);
  assert.deepEqual(await rowsOf(w, false), rows);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), audits);
});

test('both spaces tell of it, and every thing it made or changed tells which promotion it was', async () => {
  const w = await workspace();
  const { route } = await furnished(w);
  const answer = await promote(w, [{ type: 'route', id: route.id }]);
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, action: { in: ['promote', 'create', 'update'] } },
    orderBy: { seq: 'asc' },
  });
  const ofRun = entries.filter((e) => (e.details as { promotion?: string }).promotion === answer.id);
  assert.deepEqual(
    ofRun.filter((e) => e.action === 'promote').map((e) => [e.sandbox, e.resource_type, (e.details as { direction: string }).direction]),
    [
      [false, 'sandbox', 'test_to_live'],
      [true, 'sandbox', 'test_to_live'],
    ],
  );
  const made_ = ofRun.filter((e) => e.action === 'create');
  assert.deepEqual(made_.map((e) => e.resource_type).sort(), ['client', 'collection', 'environment', 'route', 'secret', 'secret']);
  for (const entry of made_) assert.equal(entry.sandbox, false);
  const told = made_.find((e) => e.resource_type === 'route')?.details as { promoted_from: string } | undefined;
  assert.equal(told?.promoted_from, route.id);
});

test('a route that exists is brought in line, says what differs, and is neither switched on or off nor stripped of what only Live has', async () => {
  const w = await workspace();
  const { route } = await furnished(w);
  const first = await promote(w, [{ type: 'route', id: route.id }]);
  const there = itemOf(first, 'route').target_id;
  const extra = await made(w.live, 'clients.create', { name: 'live-only', ip_address: '203.0.113.99' });
  await made(w.live, 'clients.assign', { id: extra.id, assignments: [{ route_id: there, environment_name: 'production' }] });
  await made(w.live, 'environments.create', { name: 'canary' });
  await made(w.live, 'routes.environments.put', { id: there, env: 'canary', timeout_ms: 777 });
  await made(w.test, 'routes.update', { id: route.id, timeout_ms: 4_000, name: 'payments two' });
  await made(w.test, 'routes.environments.put', { id: route.id, env: 'staging', enabled: false });

  const looked = await plan(w, [{ type: 'route', id: route.id }]);
  const item = itemOf(looked, 'route');
  assert.equal(item.action, 'update');
  assert.deepEqual(
    item.changes.map((c: { environment: string; field: string; from: unknown; to: unknown }) => [c.environment, c.field, c.from, c.to]),
    [
      [null, 'name', 'payments', 'payments two'],
      ['production', 'timeout_ms', 30_000, 4_000],
    ],
    'an environment with a timeout of its own keeps it, and whether one serves is not changed',
  );
  await promote(w, [{ type: 'route', id: route.id }], { fingerprint: looked.fingerprint });
  const after = await made(w.live, 'routes.get', { id: there });
  assert.deepEqual([after.name, after.timeout_ms, after.enabled], ['payments two', 4_000, false]);
  const canary = after.environments.find((e: { environment_name: string }) => e.environment_name === 'canary');
  const staging = after.environments.find((e: { environment_name: string }) => e.environment_name === 'staging');
  assert.deepEqual([canary.timeout_ms, staging.enabled], [777, true]);
  const admitted = await made(w.live, 'routes.clients.list', { id: there, env: 'production' });
  assert.deepEqual(
    admitted.map((c: { name: string }) => c.name),
    ['billing-worker', 'live-only'],
  );
});

test('what differs names secrets as people know them, whichever space has them under which id', async () => {
  const w = await workspace();
  const { route, key } = await furnished(w);
  await promote(w, [{ type: 'route', id: route.id }]);
  await made(w.test, 'secrets.create', { name: 'NEWER', value: 'a newer value' }).then((newer) =>
    made(w.test, 'routes.update', {
      id: route.id,
      inject_headers_json: { Authorization: `Basic {{secret_id:${key.id}}}` },
      inject_body_json: { deep: [`{{secret_id:${newer.id}}}`] },
    }),
  );
  const { changes } = itemOf(await plan(w, [{ type: 'route', id: route.id }]), 'route');
  assert.doesNotMatch(JSON.stringify(changes), /secret_id/);
  const of = (field: string) =>
    changes.find((c: { field: string; environment: string }) => c.field === field && c.environment === 'production');
  assert.equal(of('inject_headers_json').from.Authorization, 'Bearer {{secret:STRIPE_KEY}}');
  assert.deepEqual(of('inject_headers_json').to, { Authorization: 'Basic {{secret:STRIPE_KEY}}' });
  assert.deepEqual(of('inject_body_json').to, { deep: ['{{secret:NEWER}}'] });
});

test('addresses can stay what they are in Live', async () => {
  const w = await workspace();
  const route = await made(w.test, 'routes.create', { name: 'kept', target_base_url: UPSTREAM });
  const first = await promote(w, [{ type: 'route', id: route.id }]);
  const id = itemOf(first, 'route').target_id;
  await made(w.live, 'routes.update', { id, target_base_url: 'http://127.0.0.1:10' });
  await made(w.test, 'routes.update', { id: route.id, timeout_ms: 5_000 });
  const answer = await promote(w, [{ type: 'route', id: route.id }], { keep_target_urls: true });
  assert.deepEqual(
    itemOf(answer, 'route').changes.map((c: { field: string }) => c.field),
    ['timeout_ms'],
  );
  const after = await made(w.live, 'routes.get', { id });
  assert.deepEqual([after.target_base_url, after.timeout_ms], ['http://127.0.0.1:10', 5_000]);
});

test('a promotion widens pins of a secret with a value only when that is confirmed, and gives a first pin freely', async () => {
  const w = await workspace();
  const pair = async (live: string[] | null, ofTest: string[] | null) => {
    const name = fresh('PIN').replaceAll('-', '_');
    const there = await made(w.live, 'secrets.create', { name, value: 'a value of Live', allowed_hosts: live });
    const here = await made(w.test, 'secrets.create', { name, value: 'a value of Test', allowed_hosts: ofTest });
    return { there: there.id, items: [{ type: 'secret', id: here.id }] };
  };
  const pins = async (id: string) => (await made(w.live, 'secrets.get', { id })).allowed_hosts;
  const first = await pair(null, ['api.example.com']);
  await promote(w, first.items);
  assert.deepEqual(await pins(first.there), ['api.example.com']);
  const wider = await pair(['api.example.com'], ['api.example.com', 'collect.example.com']);
  await assert.rejects(promote(w, wider.items), { type: 'mfa_required' });
  assert.deepEqual(await pins(wider.there), ['api.example.com']);
  await made(await confirmedOwner(w, 'credential.move', 'test'), 'sandbox.promote', { items: wider.items });
  assert.deepEqual(await pins(wider.there), ['api.example.com', 'collect.example.com']);
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, action: 'promote', sandbox: false },
    orderBy: { seq: 'desc' },
  });
  const { moved, kept } = (entries[0]?.details ?? {}) as { moved?: string[]; kept?: string[] };
  assert.deepEqual([moved, kept?.length], [['allowed_hosts'], 1]);
});

test('names that are taken are conflicts, what needs them does not go, and the rest does', async () => {
  const w = await workspace();
  const { route } = await furnished(w);
  await made(w.live, 'collections.create', { name: 'Billing', slug: 'other' });
  await made(w.live, 'secrets.create', { name: 'stripe_key', value: 'x' });
  const free = await made(w.test, 'routes.create', { name: 'free', target_base_url: UPSTREAM });
  await made(w.live, 'routes.create', { name: 'taken', slug: 'elsewhere', target_base_url: UPSTREAM });
  const taken = await made(w.test, 'routes.create', { name: 'taken', target_base_url: UPSTREAM });
  const items = [route, free, taken].map(({ id }) => ({ type: 'route', id }));
  const answer = await promote(w, items);
  assert.match(itemOf(answer, 'collection', 'Billing').reason, /this name and the slug other/);
  assert.match(itemOf(answer, 'secret', 'STRIPE_KEY').reason, /differ by more than case/);
  assert.match(itemOf(answer, 'route', 'payments').reason, /Needs the collection Billing/);
  assert.match(itemOf(answer, 'route', 'taken').reason, /another route named taken \(elsewhere\)/);
  assert.equal(itemOf(answer, 'route', 'free').action, 'create');
  const after = await rowsOf(w, false);
  assert.deepEqual(
    [after.routes, after.secrets, after.clients, after.environments],
    [2, 1, 0, 1],
    'nothing comes along for what cannot go',
  );
});

test('clients that cannot be told apart are a conflict, and one of the same name and address is the same one', async () => {
  const w = await workspace();
  const one = await made(w.test, 'clients.create', { name: 'twin', ip_address: '203.0.113.1' });
  await made(w.live, 'clients.create', { name: 'twin', ip_address: '203.0.113.2' });
  await made(w.live, 'clients.create', { name: 'twin', ip_address: '203.0.113.3' });
  assert.equal(itemOf(await plan(w, [{ type: 'client', id: one.id }]), 'client').action, 'conflict');
  await made(w.live, 'clients.create', { name: 'twin', ip_address: '203.0.113.1' });
  assert.equal(itemOf(await plan(w, [{ type: 'client', id: one.id }]), 'client').action, 'skip');
});

test('ids of another workspace, of the wrong space and of another family get one answer, and nothing is done', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const mine = await made(w.test, 'routes.create', { name: 'mine', target_base_url: UPSTREAM });
  const foreign = await made(other.test, 'routes.create', { name: 'foreign', target_base_url: UPSTREAM });
  const live = await made(w.live, 'routes.create', { name: 'live', target_base_url: UPSTREAM });
  for (const wrong of [
    { type: 'route', id: foreign.id },
    { type: 'route', id: live.id },
    { type: 'route', id: crypto.randomUUID() },
    { type: 'secret', id: mine.id },
    { type: 'environment', id: mine.id },
  ])
    for (const dry_run of [true, false])
      await assert.rejects(promote(w, [{ type: 'route', id: mine.id }, wrong], { dry_run }), {
        type: 'validation_error',
        message: `items.1.id: names no ${wrong.type} of the space it comes from`,
      });
  assert.equal((await rowsOf(w, false)).routes, 1);
});

test('whoever may not promote is refused, and Test cannot be reset by an Admin', async () => {
  const w = await workspace();
  for (const role of ['viewer', 'editor', 'member'] as const)
    for (const op of ['sandbox.promote', 'sandbox.clone'])
      await assert.rejects(made(w.ctx('test', memberActor(role)), op, { items: 'all' }), { type: 'role_denied' });
  await assert.rejects(made(w.test, 'sandbox.promote', { items: 'all' }), { type: 'forbidden' }, 'no key may');
  await assert.rejects(made(w.ctx('test', memberActor('admin')), 'sandbox.reset', { confirm_name: w.tenant.name }), {
    type: 'role_denied',
  });
});

test('a tenant policy that denies a change in Live denies promoting one', async () => {
  const w = await workspace();
  await db().tenant_policies.create({
    data: {
      id: crypto.randomUUID(),
      tenant_id: w.tenant.id,
      name: 'freeze',
      actions: ['route:create'],
      subjects: { all: true },
      space: 'live',
    },
  });
  const route = await made(w.test, 'routes.create', { name: 'r', target_base_url: UPSTREAM });
  await assert.rejects(promote(w, [{ type: 'route', id: route.id }]), { type: 'role_denied', message: /freeze/ });
  assert.equal((await rowsOf(w, false)).routes, 0);
});

test('a plan that is no longer true is not carried out: the answer is what the plan is now', async () => {
  const w = await workspace();
  const { route, collection: here } = await furnished(w);
  const items = [
    { type: 'route', id: route.id },
    { type: 'collection', id: here.id },
  ];
  const looked = await plan(w, items);
  await made(w.live, 'collections.create', { name: 'Billing', slug: 'billing' });
  await assert.rejects(
    promote(w, items, { fingerprint: looked.fingerprint }),
    (error: { type: string; extra: { current: typeof looked } }) => {
      assert.equal(error.type, 'conflict');
      assert.notEqual(error.extra.current.fingerprint, looked.fingerprint);
      return true;
    },
  );
  assert.equal((await rowsOf(w, false)).routes, 0);
  const again = await plan(w, items);
  await promote(w, items, { fingerprint: again.fingerprint });
  // Everything a plan was judged by counts: in Live the route, a variable, a value; in Test the route and its clients.
  const there = (await made(w.live, 'routes.list')).at(0);
  const collection = (await made(w.live, 'collections.list')).at(0);
  const [variable] = await made(w.live, 'collections.variables.list', { id: collection.id });
  const secret = (await made(w.live, 'secrets.list')).find((s: { name: string }) => s.name === 'TOKEN');
  const changes: (() => Promise<unknown>)[] = [
    () => made(w.live, 'routes.update', { id: there.id, timeout_ms: 1_234 }),
    () => made(w.live, 'collections.variables.update', { id: collection.id, variableId: variable.id, description: 'changed' }),
    () => made(w.live, 'secrets.put_value', { id: secret.id, environment: 'production', value: 'filled' }),
    () => made(w.test, 'routes.update', { id: route.id, timeout_ms: 4_321 }),
    () => made(w.test, 'routes.clients.set', { id: route.id, env: 'staging', client_ids: [] }),
  ];
  for (const change of changes) {
    const before = await plan(w, items);
    assert.equal((await plan(w, items)).fingerprint, before.fingerprint, 'looking changes nothing');
    await change();
    await assert.rejects(promote(w, items, { fingerprint: before.fingerprint }), { type: 'conflict' }, String(change));
  }
});

test('the plan’s limits count once for the whole run: it is refused as a whole, and the plan said so', async () => {
  const w = await workspace();
  const routes = [];
  for (const name of ['a', 'b', 'c']) routes.push(await made(w.test, 'routes.create', { name, target_base_url: UPSTREAM }));
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'routes', value: 2 } });
  const items = routes.map(({ id }) => ({ type: 'route', id }));
  assert.deepEqual((await plan(w, items)).limits, [{ kind: 'routes', limit: 2, used: 0, more: 3, fits: false }]);
  await assert.rejects(promote(w, items), { type: 'plan_limit', status: 402 });
  assert.equal((await rowsOf(w, false)).routes, 0);
  await promote(w, items.slice(1));
  assert.equal((await rowsOf(w, false)).routes, 2);
});

test('two promotions at once make everything once', async () => {
  const w = await workspace();
  await furnished(w);
  const answers = await Promise.all([promote(w, 'all'), promote(w, 'all'), promote(w, 'all')]);
  assert.equal(answers.filter((a) => a.id !== null).length, 1);
  assert.deepEqual(await rowsOf(w, false), { ...(await rowsOf(w, true)) });
});

test('a promotion beside edits of the same routes ends in one of the two orders, and never with half of one', async () => {
  const w = await workspace();
  const { route } = await furnished(w);
  const there = itemOf(await promote(w, [{ type: 'route', id: route.id }]), 'route').target_id;
  for (let round = 0; round < 5; round++) {
    await made(w.test, 'routes.update', { id: route.id, timeout_ms: 10_000 + round, retry_attempts: round % 3 });
    await Promise.all([
      promote(w, [{ type: 'route', id: route.id }]),
      made(w.live, 'routes.update', { id: there, timeout_ms: 20_000 + round, retry_attempts: 3 }),
      made(w.live, 'environments.create', { name: fresh('env') }),
    ]);
    const { timeout_ms, retry_attempts } = await made(w.live, 'routes.get', { id: there });
    assert.ok(
      [`${10_000 + round}:${round % 3}`, `${20_000 + round}:3`].includes(`${timeout_ms}:${retry_attempts}`),
      `${timeout_ms} with ${retry_attempts}`,
    );
  }
});

test('a copy of Live in Test starts switched off, names the hosts it would call, and leaves Live alone', async () => {
  const w = await workspace();
  await made(w.live, 'secrets.create', { name: 'LIVE_KEY', value: 'the live value' });
  const route = await made(w.live, 'routes.create', {
    name: 'shop',
    target_base_url: UPSTREAM,
    inject_headers_json: { 'X-Key': '{{secret:LIVE_KEY}}' },
  });
  const before = await rowsOf(w, false);
  const answer = await made(owner(w, 'live'), 'sandbox.clone', { items: [{ type: 'route', id: route.id }] });
  assert.deepEqual([answer.from, answer.to], ['live', 'test']);
  assert.deepEqual(itemOf(answer, 'route').upstreams, ['127.0.0.1:9']);
  const copy = await made(w.test, 'routes.get', { id: itemOf(answer, 'route').target_id });
  assert.deepEqual([copy.enabled, copy.slug], [false, 'shop']);
  assert.equal(await db().secret_values.count({ where: { tenant_id: w.tenant.id, sandbox: true } }), 0);
  assert.deepEqual(await rowsOf(w, false), before);
});

test('more routes than one statement has parameters for go in one transaction, each once, and so do as many changes of them', async () => {
  // A configuration has 39 columns, and a statement at most 32,767 parameters.
  const MANY = 850;
  const w = await workspace();
  const { route } = await furnished(w);
  await db().$executeRaw`
    with made as (
      insert into routes (id, tenant_id, sandbox, name, slug, enabled, base_environment_id, collection_id)
      select gen_random_uuid(), tenant_id, sandbox, 'many ' || n, 'many-' || n, true, base_environment_id, collection_id
      from routes, generate_series(1, ${MANY}::int) n where id = ${route.id}::uuid returning id, name)
    insert into route_environment_configs select copy.* from made
      join route_environment_configs c on c.route_id = ${route.id}::uuid
      cross join lateral jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'route_id', made.id)) copy`;
  assert.equal((await promote(w, 'all')).summary.create, MANY + 1 + 5);
  assert.equal((await rowsOf(w, false)).routes, MANY + 1);
  assert.equal(
    await db().secret_references.count({ where: { tenant_id: w.tenant.id, sandbox: false, kind: 'route_environment' } }),
    (MANY + 1) * 2,
  );
  await db()
    .$executeRaw`update route_environment_configs set timeout_ms = 9999 where tenant_id = ${w.tenant.id}::uuid and sandbox and is_base`;
  const changed = await promote(w, 'all');
  assert.equal(changed.summary.update, MANY + 1);
  const [row] = await db().$queryRaw<
    { n: number }[]
  >`select count(*)::int as n from route_environment_configs where tenant_id = ${w.tenant.id}::uuid and not sandbox and timeout_ms = 9999`;
  assert.equal(row?.n, MANY + 1);
  const settled = await promote(w, 'all');
  assert.deepEqual([settled.summary.create, settled.summary.update, settled.id], [0, 0, null]);
});
