import assert from 'node:assert/strict';
import test from 'node:test';
import { execute } from '#server/api/perform.ts';
import * as stages from '#server/domain/environments/service.ts';
import * as routes from '#server/domain/routes/operations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import * as ops from './operations.ts';

await testDatabase({ SVC_TEST_MODE: '1', SVC_EGRESS_TEST_HOSTS: 'api.upstream.test:443=127.0.0.1,eu.upstream.test:443=127.0.0.1' });

const TARGET = 'https://api.upstream.test/v1';
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
const call = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<any> => (await execute(op, ctx, input)).output;
const route = (ctx: Ctx, input: Record<string, unknown> = {}) =>
  call(routes.create, ctx, { name: 'Payments', target_base_url: TARGET, ...input });
const secret = (ctx: Ctx, name: string, extra: object = {}) =>
  db().secrets.create({ data: { id: newId(), tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, name, shortcode_name: name, ...extra } });
const client = (ctx: Ctx, name: string, extra: object = {}) =>
  db().clients.create({ data: { id: newId(), tenant_id: ctx.tenant_id, sandbox: ctx.sandbox, name, ip_address: '192.0.2.1', ...extra } });

test('a collection has a name and a slug of its own, the slug written once', async () => {
  const { live } = await workspace();
  const made = await call(ops.create, live, { name: 'Stripe EU' });
  assert.equal(made.slug, 'stripe-eu');
  assert.equal((await call(ops.create, live, { name: 'Stripe-EU' })).slug, 'stripe-eu-2');
  assert.equal((await call(ops.create, live, { name: '日本' })).slug, 'collection');
  await assert.rejects(call(ops.create, live, { name: 'Stripe EU' }), { type: 'conflict' });
  await assert.rejects(call(ops.create, live, { name: 'x', slug: 'stripe-eu' }), { type: 'conflict' });
  await assert.rejects(call(ops.update, live, { id: made.id, slug: 'other' }), { type: 'validation_error' });
  assert.equal((await call(ops.update, live, { id: made.id, name: 'Renamed', description: null })).slug, 'stripe-eu');
  assert.deepEqual(
    (await call(ops.list, live, {})).map((c: { name: string }) => c.name),
    ['日本', 'Renamed', 'Stripe-EU'].sort((a, b) => (a < b ? -1 : 1)),
  );
});

test('deleting a collection keeps its members and frees them', async () => {
  const { live } = await workspace();
  const { id } = await call(ops.create, live, { name: 'c' });
  const [s, k] = await Promise.all([secret(live, 'S', { collection_id: id }), client(live, 'K', { collection_id: id })]);
  const r = await route(live, { collection_id: id });
  const detail = await call(ops.get, live, { id });
  assert.deepEqual([detail.route_count, detail.secret_count, detail.client_count], [1, 1, 1]);
  await call(ops.delete, live, { id });
  assert.equal((await call(routes.get, live, { id: r.id })).collection_id, null);
  assert.equal((await db().secrets.findUniqueOrThrow({ where: { id: s.id } })).collection_id, null);
  assert.equal((await db().clients.findUniqueOrThrow({ where: { id: k.id } })).collection_id, null);
});

test('every member of a deleted collection tells in its own trail that it left, and an edit that began before notices', async () => {
  const { live } = await workspace();
  const { id } = await call(ops.create, live, { name: 'c' });
  const [s, k, alone] = await Promise.all([
    secret(live, 'S', { collection_id: id }),
    client(live, 'K', { collection_id: id }),
    secret(live, 'ALONE'),
  ]);
  const r = await route(live, { collection_id: id });
  const later = { ...live, now: new Date(Date.now() + 1_000) };
  await call(ops.delete, later, { id });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: live.tenant_id, action: 'update' }, orderBy: { seq: 'asc' } });
  const left = [{ field: 'collection_id', from: id, to: null }];
  assert.deepEqual(
    entries.map((e) => [e.resource_type, e.resource_id, (e.details as { changes: object }).changes]),
    [
      ['route', r.id, left],
      ['secret', s.id, left],
      ['client', k.id, left],
    ],
  );
  const when = async (of: string) => (await db().secrets.findUniqueOrThrow({ where: { id: of } })).updated_at;
  assert.deepEqual(await when(s.id), later.now);
  assert.notDeepEqual(await when(alone.id), later.now);
});

test('variables resolve inside their collection, by slug from elsewhere, and not in a URL when secret', async () => {
  const { live } = await workspace();
  const { id, slug } = await call(ops.create, live, { name: 'Stripe' });
  const key = await secret(live, 'KEY');
  await call(ops.createVariable, live, { id, key: 'host', value: 'api' });
  await call(ops.createVariable, live, { id, key: 'auth', type: 'secret', secret_id: key.id });
  assert.equal(await db().secret_references.count({ where: { secret_id: key.id, kind: 'collection_variable' } }), 1);
  await route(live, {
    name: 'in',
    collection_id: id,
    target_base_url: 'https://{{var:host}}.upstream.test',
    inject_headers_json: { A: '{{var:auth}}' },
  });
  await route(live, { name: 'out', inject_headers_json: { A: `{{var:${slug}.auth}}` } });
  await assert.rejects(route(live, { name: 'x', inject_headers_json: { A: '{{var:auth}}' } }), /requires the route to be in a collection/);
  await assert.rejects(route(live, { name: 'x', collection_id: id, inject_headers_json: { A: '{{var:nope}}' } }), /unknown variable/);
  await assert.rejects(route(live, { name: 'x', collection_id: id, target_base_url: 'https://{{var:auth}}.upstream.test' }), /is a secret/);
  await assert.rejects(
    call(routes.update, live, { id: 'stripe-in', collection_id: null }),
    { type: 'validation_error' },
    'its variables would be gone',
  );
});

test('a variable in use is neither deleted nor renamed nor hidden, and neither is its collection', async () => {
  const { live } = await workspace();
  const { id } = await call(ops.create, live, { name: 'Stripe' });
  const key = await secret(live, 'KEY');
  const host = await call(ops.createVariable, live, { id, key: 'host', value: 'api' });
  const other = await call(ops.createVariable, live, { id, key: 'host_2', value: 'x' });
  const used = await route(live, { target_base_url: 'https://{{var:stripe.host}}.upstream.test' });
  await assert.rejects(call(ops.deleteVariable, live, { id, variableId: host.id }), { type: 'in_use' });
  await assert.rejects(call(ops.updateVariable, live, { id, variableId: host.id, key: 'server' }), { type: 'in_use' });
  await assert.rejects(call(ops.delete, live, { id }), { type: 'in_use' });
  await assert.rejects(call(ops.updateVariable, live, { id, variableId: host.id, type: 'secret', secret_id: key.id }), {
    type: 'validation_error',
  });
  assert.equal((await call(ops.updateVariable, live, { id, variableId: host.id, value: 'eu' })).value, 'eu');
  await call(ops.deleteVariable, live, { id, variableId: other.id });
  await call(routes.delete, live, { id: used.id });
  const spaced = await route(live, { inject_body_json: { deep: ['{{ var :\tstripe.host }}'] } });
  await assert.rejects(call(ops.delete, live, { id }), { type: 'in_use' });
  await call(routes.delete, live, { id: spaced.id });
  await call(ops.delete, live, { id });
});

test('a variable holds one kind of content and never a credential', async () => {
  const w = await workspace();
  const { id } = await call(ops.create, w.live, { name: 'c' });
  const [key, cert, foreign] = await Promise.all([
    secret(w.live, 'KEY'),
    secret(w.live, 'CERT', { secret_type: 'certificate' }),
    secret(w.test, 'KEY'),
  ]);
  for (const input of [
    {},
    { value: 'x', secret_id: key.id },
    { type: 'secret' },
    { type: 'secret', value: 'x' },
    { type: 'secret', secret_id: cert.id },
    { type: 'secret', secret_id: foreign.id },
    { value: `sk_live_${'a'.repeat(24)}` },
    { value: 'x'.repeat(8193) },
  ])
    await assert.rejects(call(ops.createVariable, w.live, { id, key: 'k', ...input }), { type: 'validation_error' }, JSON.stringify(input));
  await assert.rejects(call(ops.createVariable, w.live, { id, key: 'bad-key', value: 'x' }), { type: 'validation_error' });
  const made = await call(ops.createVariable, w.live, { id, key: 'k', value: 'x' });
  await assert.rejects(call(ops.createVariable, w.live, { id, key: 'k', value: 'y' }), { type: 'conflict' });
  const switched = await call(ops.updateVariable, w.live, { id, variableId: made.id, type: 'secret', secret_id: key.id });
  assert.deepEqual([switched.value, switched.secret_id], [null, key.id]);
});

test('a route that joins gets the expected environments, targets and clients it lacks', async () => {
  const { live } = await workspace();
  for (const name of ['staging', 'dev']) await stages.createEnvironment(live, { name });
  const { id } = await call(ops.create, live, { name: 'c' });
  const c = await client(live, 'partner');
  await call(ops.putDefaults, live, {
    id,
    expected_environments: ['production', 'staging', 'dev'],
    environments: [{ environment_name: 'staging', base_url: 'https://eu.upstream.test', default_client_ids: [c.id] }],
  });
  const joined = await route(live, { collection_id: id });
  const rows = await call(routes.environments, live, { id: joined.id });
  assert.deepEqual(
    rows.map((r: Record<string, unknown>) => [r.environment_name, r.target_base_url]),
    [
      ['production', TARGET],
      ['dev', TARGET],
      ['staging', 'https://eu.upstream.test'],
    ],
  );
  assert.equal((await call(routes.clients, live, { id: joined.id, env: 'staging' })).length, 1);
  const later = await route(live, { name: 'later' });
  await call(routes.update, live, { id: later.id, collection_id: id });
  assert.equal((await call(routes.get, live, { id: later.id })).configured_environments.length, 3);
});

test('drift is named, and a reset mends it without taking anything away', async () => {
  const { live } = await workspace();
  for (const name of ['staging', 'dev']) await stages.createEnvironment(live, { name });
  const { id } = await call(ops.create, live, { name: 'c' });
  const [wanted, extra, gone] = await Promise.all([client(live, 'wanted'), client(live, 'extra'), client(live, 'gone')]);
  const r = await route(live, { collection_id: id });
  await call(routes.setClients, live, { id: r.id, env: 'production', client_ids: [extra.id] });
  await call(routes.putEnvironment, live, { id: r.id, env: 'dev' });
  await call(ops.putDefaults, live, {
    id,
    expected_environments: ['production', 'staging'],
    environments: [
      { environment_name: 'production', base_url: 'https://eu.upstream.test', default_client_ids: [wanted.id, gone.id] },
      { environment_name: 'staging' },
    ],
  });
  await db().clients.delete({ where: { id: gone.id } });
  const [status] = await call(ops.syncStatus, live, { id });
  assert.deepEqual(await call(ops.syncStatus, live, { id, route_id: status.route_id }), [status], 'a route asks for itself alone');
  assert.deepEqual(await call(ops.syncStatus, live, { id, route_id: wanted.id }), []);
  assert.equal(status.in_sync, false);
  assert.deepEqual(
    status.drift.map((d: Record<string, unknown>) => [d.environment, d.kind, d.expected, d.actual]),
    [
      ['production', 'base_url', 'https://eu.upstream.test', TARGET],
      ['production', 'missing_client', wanted.id, null],
      ['staging', 'missing_environment', 'staging', null],
    ],
  );
  assert.deepEqual((await call(ops.resetRoute, live, { id, routeId: r.id })).drift, []);
  const detail = await call(routes.get, live, { id: r.id });
  assert.deepEqual(
    [detail.target_base_url, detail.configured_environments],
    ['https://eu.upstream.test', ['production', 'dev', 'staging']],
  );
  assert.equal((await call(routes.clients, live, { id: r.id, env: 'production' })).length, 2);
  const outside = await route(live, { name: 'outside' });
  await assert.rejects(call(ops.resetRoute, live, { id, routeId: outside.id }), { type: 'not_found' });
});

test('environment defaults name only what exists and only targets that may be called', async () => {
  const w = await workspace();
  const { id } = await call(ops.create, w.live, { name: 'c' });
  const foreign = await client(w.test, 'x');
  const put = (environments: object[], expected_environments: string[] = []) =>
    call(ops.putDefaults, w.live, { id, expected_environments, environments });
  await assert.rejects(put([], ['nowhere']), { type: 'validation_error' });
  await assert.rejects(put([{ environment_name: 'nowhere' }]), { type: 'validation_error' });
  await assert.rejects(put([{ environment_name: 'production', base_url: 'https://10.0.0.1' }]), { type: 'validation_error' });
  await assert.rejects(put([{ environment_name: 'production', default_client_ids: [foreign.id] }]), { type: 'validation_error' });
  await assert.rejects(put([{ environment_name: 'production' }, { environment_name: 'production' }]), { type: 'validation_error' });
  const { updated_at: _, ...kept } = (await call(ops.defaults, w.live, { id })) as { updated_at: string };
  assert.deepEqual(kept, { expected_environments: [], environments: [] });
});

test('the trail of environment defaults says what they were and what they became', async () => {
  const { live } = await workspace();
  await stages.createEnvironment(live, { name: 'staging' });
  const { id } = await call(ops.create, live, { name: 'c' });
  const staging = { environment_name: 'staging', base_url: 'https://eu.upstream.test', default_client_ids: [] };
  await call(ops.putDefaults, live, { id, expected_environments: ['production'] });
  await call(ops.putDefaults, live, { id, expected_environments: ['production'], environments: [staging] });
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: live.tenant_id, resource_type: 'collection', action: 'update' },
    orderBy: { seq: 'asc' },
  });
  assert.deepEqual(
    entries.map((e) => (e.details as { changes: object }).changes),
    [[{ field: 'expected_environments', from: [], to: ['production'] }], [{ field: 'environments', from: [], to: [staging] }]],
  );
});

test('members move in bulk, all or none', async () => {
  const w = await workspace();
  const { id } = await call(ops.create, w.live, { name: 'c' });
  const [s, foreign, r] = await Promise.all([secret(w.live, 'S'), secret(w.test, 'S'), route(w.live)]);
  const move = (type: string, ids: string[]) => call(ops.moveMembers, w.live, { id, type, ids });
  await assert.rejects(move('secret', [s.id, foreign.id]), { type: 'validation_error' });
  assert.equal((await call(ops.get, w.live, { id })).secret_count, 0);
  assert.deepEqual([(await move('secret', [s.id])).moved, (await move('route', [r.id])).moved], [1, 1]);
  await assert.rejects(move('route', [newId()]), { type: 'validation_error' });
  const detail = await call(ops.get, w.live, { id });
  assert.deepEqual([detail.secret_count, detail.route_count], [1, 1]);
});

test('a moved secret or client tells of it in its own trail: from where, to where, and once', async () => {
  const w = await workspace();
  const [from, to] = await Promise.all(['from', 'to'].map((name) => call(ops.create, w.live, { name })));
  const [s, already, k] = await Promise.all([
    secret(w.live, 'S', { collection_id: from.id }),
    secret(w.live, 'T', { collection_id: to.id }),
    client(w.live, 'K'),
  ]);
  await call(ops.moveMembers, w.live, { id: to.id, type: 'secret', ids: [s.id, already.id] });
  await call(ops.moveMembers, w.live, { id: to.id, type: 'client', ids: [k.id] });
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_id: { in: [s.id, already.id, k.id] } },
    orderBy: { seq: 'asc' },
  });
  const change = (a: string | null) => [{ field: 'collection_id', from: a, to: to.id }];
  assert.deepEqual(
    entries.map((e) => [
      e.action,
      e.resource_type,
      e.resource_id,
      (e.details as { name: string }).name,
      (e.details as { changes: object }).changes,
    ]),
    [
      ['update', 'secret', s.id, 'S', change(from.id)],
      ['update', 'client', k.id, 'K', change(null)],
    ],
  );
});

test('moving members also needs the right to change each kind of member', async () => {
  const w = await workspace();
  const { id } = await call(ops.create, w.live, { name: 'c' });
  const r = await route(w.live);
  const held = new Set(w.live.actor.capabilities);
  held.delete('route:update');
  const actor = { ...w.live.actor, capabilities: held } as Ctx['actor'];
  await assert.rejects(call(ops.moveMembers, { ...w.live, actor }, { id, type: 'route', ids: [r.id] }), { type: 'forbidden' });
});

test('a collection of the other space or of another workspace does not exist', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const { id } = await call(ops.create, w.live, { name: 'c' });
  const { id: variableId } = await call(ops.createVariable, w.live, { id, key: 'k', value: 'v' });
  for (const ctx of [w.test, other.live]) {
    for (const op of [ops.get, ops.delete, ops.variables, ops.defaults, ops.syncStatus])
      await assert.rejects(call(op, ctx, { id }), { type: 'not_found' });
    await assert.rejects(call(ops.update, ctx, { id, name: 'x' }), { type: 'not_found' });
    const { id: own } = await call(ops.create, ctx, { name: 'mine' });
    await assert.rejects(call(ops.updateVariable, ctx, { id: own, variableId, value: 'x' }), { type: 'not_found' });
    await assert.rejects(call(ops.deleteVariable, ctx, { id: own, variableId }), { type: 'not_found' });
  }
});

test('changes of variables reach member routes at once and are audited without values', async () => {
  const { live } = await workspace();
  const { id } = await call(ops.create, live, { name: 'c' });
  const r = await route(live, { collection_id: id });
  const before = await db().routes.findUniqueOrThrow({ where: { id: r.id } });
  const v = await call(ops.createVariable, live, { id, key: 'k', value: 'hunter2' });
  await call(ops.updateVariable, live, { id, variableId: v.id, value: 'hunter3' });
  const after = await db().routes.findUniqueOrThrow({ where: { id: r.id } });
  assert.equal(after.config_version - before.config_version, 2n);
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: live.tenant_id, resource_type: 'collection' },
    orderBy: { seq: 'asc' },
    select: { action: true, details: true },
  });
  assert.deepEqual(
    entries.map((e) => e.action),
    ['create', 'update', 'update'],
  );
  assert.doesNotMatch(JSON.stringify(entries), /hunter/);
});
