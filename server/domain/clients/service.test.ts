import assert from 'node:assert/strict';
import test from 'node:test';
import { setRouteClients } from '#server/domain/routes/clients/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { knownCountries, placeIn } from '#server/platform/geoip.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { assignClient, unassignClient } from './assignments.ts';
import { createCredential, listCredentials, updateCredential } from './credentials.ts';
import { AssignClient, Client, CreateClient, CreateCredential, ListClients, UnassignClient, UpdateClient } from './schema.ts';
import * as clients from './service.ts';

knownCountries({ '203.0.113.0/25': placeIn('DE'), '203.0.113.128/25': placeIn('FR') });
await testDatabase();

const create = (ctx: Ctx, input: Record<string, unknown>) =>
  clients.createClient(ctx, CreateClient.parse({ name: 'c', ip_address: '203.0.113.9', ...input }));
const update = (ctx: Ctx, input: Record<string, unknown>) => clients.updateClient(ctx, UpdateClient.parse(input));
const list = (ctx: Ctx, input: Record<string, unknown> = {}) => clients.listClients(ctx, ListClients.parse(input));
const assign = (ctx: Ctx, id: string, assignments: unknown) => assignClient(ctx, AssignClient.parse({ id, assignments }));
const unassign = (ctx: Ctx, id: string, assignments?: unknown) =>
  unassignClient(ctx, UnassignClient.parse({ id, ...(assignments ? { assignments } : {}) }));

/** A route served in the default environment of the space. */
async function aRoute(ctx: Ctx, name: string) {
  const space = { tenant_id: ctx.tenant_id, sandbox: ctx.sandbox };
  const environment = await db().environments.findFirstOrThrow({ where: { ...space, is_default: true } });
  const route = await db().routes.create({ data: { ...space, id: newId(), name, base_environment_id: environment.id } });
  await db().route_environment_configs.create({
    data: {
      ...space,
      id: newId(),
      route_id: route.id,
      environment_id: environment.id,
      environment_name: environment.name,
      is_base: true,
      target_base_url: 'https://api.example.com',
    },
  });
  return { route_id: route.id, environment_name: environment.name };
}
const versionOf = async (routeId: string) => Number((await db().routes.findUniqueOrThrow({ where: { id: routeId } })).config_version);

test('a client has the country of its address, and of its network when that lies in one', async () => {
  const w = await workspace();
  for (const ip_address of ['203.0.113.9', '203.0.113.128/28', '203.0.113.0/24', '10.0.0.0/8', '8.8.8.8'])
    await create(w.live, { ip_address });
  const { rows } = await list(w.live, { sort: 'created_at', order: 'asc' });
  assert.deepEqual(
    rows.map((row) => Client.parse(JSON.parse(JSON.stringify(row))).ip_country),
    ['DE', 'FR', null, null, null],
  );
  assert.equal((await clients.getClient(w.live, { id: rows[0]?.id ?? '' })).ip_country, 'DE');
});

test('a client is stored with its address in one spelling, mirrored as its primary credential', async () => {
  const w = await workspace();
  const row = await create(w.live, { ip_address: '::ffff:203.0.113.9/120', description: 'x' });
  assert.deepEqual(
    [row.ip_address, row.type, row.enabled, row.ip_notes, row.tenant_id, row.created_by],
    ['203.0.113.0/24', 'server', true, {}, w.tenant.id, w.live.actor.id],
  );
  const [primary, ...others] = await listCredentials(w.live, row);
  assert.deepEqual(
    [primary?.kind, primary?.label, primary?.is_primary, primary?.data, others.length],
    ['ip', 'primary', true, { value: '203.0.113.0/24' }, 0],
  );
  await update(w.live, { id: row.id, ip_address: '2001:DB8::0/64' });
  assert.deepEqual(
    (await listCredentials(w.live, row)).map((c) => c.data.value),
    ['2001:db8::/64'],
  );
});

test('a wide range is accepted with a warning, everyone is refused', async () => {
  const w = await workspace();
  const ctx = w.ctx('live');
  await create(ctx, { ip_address: '10.0.0.0/7' });
  assert.equal(ctx.warnings.length, 1);
  for (const ip_address of ['0.0.0.0/0', '::/0', 'fe80::1%eth0', '224.0.0.1', '0.0.0.0', 'localhost', '1.2.3.4,5.6.7.8'])
    assert.equal(CreateClient.safeParse({ name: 'c', ip_address }).success, false, ip_address);
});

test('notes are an object of at most 4096 bytes that the store can hold', () => {
  const accepts = (ip_notes: unknown) => CreateClient.safeParse({ name: 'c', ip_address: '10.0.0.1', ip_notes }).success;
  for (const notes of [{}, { a: { b: [1, null, 'é'] } }, { t: 'x'.repeat(4_088) }, { t: '\\u0000' }]) assert.ok(accepts(notes));
  for (const notes of [[], 'x', null, { t: 'x'.repeat(4_089) }, { t: '\u0000' }, { '\u0000': 1 }, { t: '\ud800' }])
    assert.equal(accepts(notes), false, JSON.stringify(notes));
});

test('one client read carries its assignments by route and environment name, the list carries counts', async () => {
  const w = await workspace();
  const row = await create(w.live, {});
  const [b, a] = [await aRoute(w.live, 'beta'), await aRoute(w.live, 'alpha')];
  await assign(w.live, row.id, [b, a, a]);
  const found = await clients.getClient(w.live, row);
  assert.deepEqual(
    found.route_assignments.map((r) => [r.route_name, r.environment_name]),
    [
      ['alpha', 'production'],
      ['beta', 'production'],
    ],
  );
  const matchedAt = new Date('2026-11-01T00:00:00Z');
  const [primary] = await listCredentials(w.live, row);
  await db().credential_usage.create({
    data: { id: primary?.id as string, tenant_id: w.tenant.id, sandbox: false, last_used_at: matchedAt },
  });
  const [listed] = (await list(w.live)).rows;
  assert.deepEqual(
    [listed?.credential_count, listed?.credential_kinds, listed?.assigned_route_count, listed?.last_matched_at],
    [1, { ip: 1 }, 2, matchedAt],
  );
});

test('assigning demands a configuration of the route for that environment, all or nothing', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const row = await create(w.live, {});
  const mine = await aRoute(w.live, 'mine');
  const foreign = await aRoute(other.live, 'theirs');
  const test = await aRoute(w.test, 'tests');
  for (const bad of [foreign, test, { ...mine, environment_name: 'nowhere' }, { ...mine, route_id: newId() }])
    await assert.rejects(assign(w.live, row.id, [mine, bad]), { type: 'validation_error' });
  assert.deepEqual((await clients.getClient(w.live, row)).route_assignments, []);
  const theirs = await create(other.live, {});
  await assert.rejects(assign(w.live, theirs.id, [mine]), { type: 'not_found' });
});

test('assignments are taken away one by one or all, and what is not there is no fault', async () => {
  const w = await workspace();
  const row = await create(w.live, {});
  const routes = [await aRoute(w.live, 'a'), await aRoute(w.live, 'b'), await aRoute(w.live, 'c')];
  await assign(w.live, row.id, routes);
  const left = await unassign(w.live, row.id, [routes[0], { ...routes[1], environment_name: 'other' }]);
  assert.deepEqual([left.deleted, left.route_assignments.map((r) => r.route_name)], [true, ['b', 'c']]);
  assert.deepEqual((await unassign(w.live, row.id, [])).route_assignments.length, 2);
  assert.deepEqual((await unassign(w.live, row.id)).route_assignments, []);
  await unassign(w.live, row.id);
});

test('what changes admission raises the version of the routes concerned, and only of those', async () => {
  const w = await workspace();
  const row = await create(w.live, {});
  const [mine, not] = [await aRoute(w.live, 'mine'), await aRoute(w.live, 'not')];
  const steps: [string, () => Promise<unknown>, number][] = [
    ['assign', () => assign(w.live, row.id, [mine]), 1],
    ['assign again', () => assign(w.live, row.id, [mine]), 0],
    ['rename', () => update(w.live, { id: row.id, name: 'n' }), 0],
    ['disable', () => update(w.live, { id: row.id, enabled: false }), 1],
    ['move', () => update(w.live, { id: row.id, ip_address: '10.0.0.1' }), 1],
    ['credential', () => createCredential(w.live, CreateCredential.parse({ id: row.id, kind: 'ip', data: { ip: '10.9.9.9' } })), 1],
    ['delete', () => clients.deleteClient(w.live, row), 1],
  ];
  for (const [name, step, raised] of steps) {
    const before = await versionOf(mine.route_id);
    await step();
    assert.equal((await versionOf(mine.route_id)) - before, raised, name);
  }
  assert.equal(await versionOf(not.route_id), 1);
});

test('deleting a client removes its credentials, assignments, matches and places in collection defaults', async () => {
  const w = await workspace();
  const row = await create(w.live, {});
  await assign(w.live, row.id, [await aRoute(w.live, 'r')]);
  const space = { tenant_id: w.tenant.id, sandbox: false };
  const collection = await db().collections.create({ data: { ...space, id: newId(), name: 'c', slug: 'c' } });
  const kept = newId();
  await db().collection_environment_defaults.create({
    data: { ...space, collection_id: collection.id, environment_name: 'production', default_client_ids: [row.id, kept] },
  });
  const [primary] = await listCredentials(w.live, row);
  await db().credential_usage.create({ data: { ...space, id: primary?.id as string, last_used_at: new Date() } });
  assert.deepEqual(await clients.deleteClient(w.live, row), { deleted: true });
  const where = { tenant_id: w.tenant.id };
  assert.deepEqual(
    await Promise.all([
      db().client_credentials.count({ where }),
      db().route_client_assignments.count({ where }),
      db().credential_usage.count({ where }),
    ]),
    [0, 0, 0],
  );
  assert.deepEqual((await db().collection_environment_defaults.findFirstOrThrow({ where })).default_client_ids, [kept]);
  await assert.rejects(clients.getClient(w.live, row), { type: 'not_found' });
});

test('a client of the other space or of another workspace does not exist', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const { id } = await create(w.live, {});
  const [primary] = await listCredentials(w.live, { id });
  const credentialId = primary?.id as string;
  const collection = await db().collections.create({
    data: { id: newId(), tenant_id: other.tenant.id, sandbox: false, name: 'c', slug: 'c' },
  });
  for (const ctx of [w.test, other.live]) {
    for (const attempt of [
      () => clients.getClient(ctx, { id }),
      () => update(ctx, { id, name: 'x' }),
      () => clients.deleteClient(ctx, { id }),
      () => listCredentials(ctx, { id }),
      () => createCredential(ctx, CreateCredential.parse({ id, kind: 'ip', data: { value: '10.0.0.1' } })),
      () => updateCredential(ctx, { id, credentialId, enabled: false }),
      () => unassign(ctx, id),
    ])
      await assert.rejects(attempt(), { type: 'not_found' });
    assert.equal((await list(ctx)).total, 0);
  }
  await assert.rejects(create(w.live, { collection_id: collection.id }), { type: 'validation_error' });
  await assert.rejects(update(w.live, { id, collection_id: collection.id }), { type: 'validation_error' });
});

test('the list filters, sorts and counts truly; % and _ are letters', async () => {
  const w = await workspace();
  await create(w.live, { name: 'a_b', ip_address: '10.0.0.1' });
  await create(w.live, { name: 'aXb', ip_address: '10.0.0.2', type: 'user', enabled: false });
  await create(w.live, { name: 'zed', ip_address: '2001:db8::1' });
  const names = async (query: Record<string, unknown>) => {
    const page = await list(w.live, query);
    assert.equal(page.total, page.rows.length);
    return page.rows.map((r) => r.name).join();
  };
  assert.equal(await names({}), 'zed,aXb,a_b');
  assert.equal(await names({ q: 'A_B' }), 'a_b');
  assert.equal(await names({ q: '%' }), '');
  assert.equal(await names({ q: '10.0.', sort: 'ip_address', order: 'asc' }), 'a_b,aXb');
  assert.equal(await names({ type: 'user' }), 'aXb');
  assert.equal(await names({ enabled: 'true', sort: 'name', order: 'asc' }), 'a_b,zed');
  for (const bad of [{ sort: 'enabled' }, { order: 'up' }, { type: 'agent' }, { enabled: 'maybe' }])
    assert.equal(ListClients.safeParse(bad).success, false);
});

test('a plan limit holds against parallel creates and answers 403', async () => {
  const w = await workspace({ plan: 'free' });
  const results = await Promise.allSettled(Array.from({ length: 9 }, () => create(w.ctx('live'), {})));
  assert.equal(results.filter((r) => r.status === 'fulfilled').length, 5);
  const refused = results.find((r) => r.status === 'rejected') as PromiseRejectedResult;
  assert.deepEqual([refused.reason.type, refused.reason.status], ['plan_limit', 403]);
});

test('changes of a route and of its clients at once end without a deadlock', async () => {
  const w = await workspace();
  const route = await aRoute(w.live, 'busy');
  const rows = await Promise.all(Array.from({ length: 4 }, () => create(w.live, {})));
  const results = await Promise.allSettled(
    rows.flatMap((row) => [
      assign(w.ctx('live'), row.id, [route]),
      setRouteClients(w.ctx('live'), { id: route.route_id, env: 'production', client_ids: rows.map((r) => r.id) }),
      update(w.ctx('live'), { id: row.id, enabled: false }),
      unassign(w.ctx('live'), row.id),
    ]),
  );
  for (const r of results) assert.equal(r.status, 'fulfilled', r.status === 'rejected' ? String(r.reason) : '');
});

test('every change leaves one audit entry: on the client, or on the route for assignments', async () => {
  const w = await workspace();
  const row = await create(w.live, {});
  await update(w.live, { id: row.id, name: 'n' });
  await update(w.live, { id: row.id, enabled: false });
  await update(w.live, { id: row.id, enabled: true });
  const route = await aRoute(w.live, 'r');
  await assign(w.live, row.id, [route]);
  await unassign(w.live, row.id);
  await unassign(w.live, row.id);
  await assign(w.live, row.id, [route]);
  await clients.deleteClient(w.live, row);
  await assert.rejects(clients.deleteClient(w.live, row), { type: 'not_found' });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    entries.map((e) => `${e.resource_type} ${e.action}`),
    [
      ...['client create', 'client update', 'client disable', 'client enable'],
      ...['route update', 'route update', 'route update', 'client delete', 'route update'],
    ],
  );
  const { environment, assigned, unassigned } = (entries[4]?.details ?? {}) as Record<string, unknown>;
  assert.deepEqual([entries[4]?.resource_id, environment, assigned, unassigned], [route.route_id, 'production', [row.id], []]);
  // Whoever reads the trail of a route sees that a caller of it went with the client.
  const gone = (entries.at(-1)?.details ?? {}) as Record<string, unknown>;
  assert.deepEqual(
    [entries.at(-1)?.resource_id, gone.environment, gone.assigned, gone.unassigned],
    [route.route_id, 'production', [], [row.id]],
  );
});
