import assert from 'node:assert/strict';
import test from 'node:test';
import { REVEALED_BY } from '#server/domain/clients/service.ts';
import { FIELD_ACTIONS } from '#server/domain/routes/actions/rules.shared.ts';
import { revealing, route, withAction } from '#server/domain/routes/samples.fixture.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { ownerOf } from '#server/testing/owner.ts';
import { enrolled, signedInLongAgo, verified } from '#server/testing/step-up.ts';
import { extraOf } from '#server/testing/suites/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';

await testDatabase();

// Where clients are required, the address of one is enough to call a route without a key: nobody with a stolen session gets theirs in, by whichever door.

const asked = (scope: 'protection.loosen' | 'capability.grant') => ({ type: 'step_up_required', extra: extraOf(scope) });

/** An Owner with a second factor, whose session somebody has stolen, and the same person before that. */
async function stolen(w: Workspace, space: Space) {
  const owner = w.member('owner', space);
  await verified(owner, 'mfa.credential');
  return { owner, thief: signedInLongAgo(owner) };
}

const MINE = '198.51.100.66';
const aClient = async (ctx: Ctx, ip_address = MINE) =>
  (await made(ctx, 'clients.create', { name: fresh('client'), ip_address })).id as string;
const assigned = (w: Workspace) => db().route_client_assignments.count({ where: { tenant_id: w.tenant.id } });

test('what a client is granted by a field action is what the action reveals', () => {
  const revealed = Object.entries(FIELD_ACTIONS).flatMap(([name, { effect, capability }]) =>
    effect === 'reveals' ? [[name, capability]] : [],
  );
  assert.deepEqual(REVEALED_BY, Object.fromEntries(revealed));
});

for (const space of ['live', 'test'] as const) {
  test(`a stolen session admits its own address to no route that requires clients (${space})`, async () => {
    const w = await workspace();
    const { thief } = await stolen(w, space);
    const machine = w[space];
    const plain = await made(machine, 'routes.create', { ...(await route(machine)), requires_clients: true });
    const decrypting = await withAction(machine, await revealing(true)(machine));
    await made(machine, 'routes.update', { id: decrypting.id, requires_clients: true });
    const client = await aClient(thief);
    const admit = (id: unknown) =>
      made(thief, 'clients.assign', { id: client, assignments: [{ route_id: id, environment_name: 'production' }] });
    const set = (id: unknown) => made(thief, 'routes.clients.set', { id, env: 'production', client_ids: [client] });
    for (const attempt of [admit, set]) {
      await assert.rejects(attempt(plain.id), asked('protection.loosen'));
      await assert.rejects(attempt(decrypting.id), asked('capability.grant'));
    }
    assert.equal(await assigned(w), 0);
    const [{ text }, person] = [await w.key(space), await ownerOf(w)];
    await enrolled(person.id);
    const path = `/routes/${plain.id}/environments/production/clients`;
    const login = await w.token({ space, person });
    assert.equal((await call('PUT', path, { key: login.text, body: { client_ids: [client] } })).status, 403);
    assert.equal(
      (await call('PUT', path, { key: text, body: { client_ids: [client] } })).status,
      200,
      'machines are judged by their scopes',
    );
  });

  test(`a stolen session lets an assigned address replace the key of no route (${space})`, async () => {
    const w = await workspace();
    const { thief } = await stolen(w, space);
    const machine = w[space];
    const { id } = await made(machine, 'routes.create', await route(machine));
    await made(thief, 'routes.update', { id, requires_clients: true });
    await made(machine, 'routes.update', { id, requires_clients: false });
    await made(machine, 'routes.clients.set', { id, env: 'production', client_ids: [await aClient(thief)] });
    await assert.rejects(made(thief, 'routes.update', { id, requires_clients: true }), asked('protection.loosen'));
    await assert.rejects(
      made(thief, 'routes.environments.put', { id, env: 'production', requires_clients: true }),
      asked('protection.loosen'),
    );
    await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { proxy_require_credential: true } } });
    await made(thief, 'routes.update', { id, requires_clients: true });
  });

  test(`a stolen session widens no client that is assigned already (${space})`, async () => {
    const w = await workspace();
    const { owner, thief } = await stolen(w, space);
    const machine = w[space];
    const { id: route_id } = await made(machine, 'routes.create', { ...(await route(machine)), requires_clients: true });
    const id = await aClient(machine, '203.0.113.7');
    await made(machine, 'clients.assign', { id, assignments: [{ route_id, environment_name: 'production' }] });
    await assert.rejects(made(thief, 'clients.update', { id, ip_address: MINE }), asked('protection.loosen'));
    const another = (ctx: Ctx) => made(ctx, 'clients.create_credential', { id, kind: 'ip', data: { value: MINE } });
    for (const ctx of [thief, owner]) await assert.rejects(another(ctx), asked('protection.loosen'));
    await made(thief, 'clients.update', { id, description: 'renamed', enabled: false });
    await assert.rejects(made(thief, 'clients.update', { id, enabled: true }), asked('protection.loosen'));
  });

  test(`nor by the defaults of a collection that the route joins (${space})`, async () => {
    const w = await workspace();
    const { thief } = await stolen(w, space);
    const machine = w[space];
    const { name } = await made(machine, 'environments.create', { name: fresh('stage') });
    const { id: routeId } = await made(machine, 'routes.create', { ...(await route(machine)), requires_clients: true });
    const { id } = await made(thief, 'collections.create', { name: fresh('Mine') });
    const environments = [{ environment_name: name, base_url: null, default_client_ids: [await aClient(thief)] }];
    await made(thief, 'collections.environment_defaults.put', { id, expected_environments: [name], environments });
    await assert.rejects(made(thief, 'routes.update', { id: routeId, collection_id: id }), asked('protection.loosen'));
    await assert.rejects(made(thief, 'collections.members.move', { id, type: 'route', ids: [routeId] }), asked('protection.loosen'));
    assert.equal(await assigned(w), 0);
    await made(thief, 'routes.create', { ...(await route(thief)), requires_clients: true, collection_id: id });
    assert.equal(await assigned(w), 1, 'a new route is a new decision');
  });

  test(`nor by moving the other space's client or assignment there (to ${space})`, async () => {
    const w = await workspace();
    const from: Space = space === 'live' ? 'test' : 'live';
    const move = space === 'live' ? 'sandbox.promote' : 'sandbox.clone';
    const { thief } = await stolen(w, space);
    const elsewhere = { ...thief, sandbox: from === 'test' };
    const [slug, name, there, here] = [fresh('guarded'), fresh('client'), w[space], w[from]];
    const guarded = { ...(await route(there)), slug, requires_clients: true };
    const target = await made(there, 'routes.create', guarded);
    const client = await made(there, 'clients.create', { name, ip_address: '203.0.113.7' });
    await made(there, 'clients.assign', { id: client.id, assignments: [{ route_id: target.id, environment_name: 'production' }] });
    const mine = await made(elsewhere, 'clients.create', { name, ip_address: MINE });
    await assert.rejects(made(thief, move, { items: [{ type: 'client', id: mine.id }] }), asked('protection.loosen'));
    const source = await made(here, 'routes.create', guarded);
    const other = await aClient(elsewhere);
    await made(here, 'routes.clients.set', { id: source.id, env: 'production', client_ids: [other] });
    await assert.rejects(made(thief, move, { items: [{ type: 'route', id: source.id }] }), asked('protection.loosen'));
    const addresses = await db().clients.findMany({
      where: { tenant_id: w.tenant.id, sandbox: space === 'test' },
      select: { ip_address: true },
    });
    assert.deepEqual(addresses, [{ ip_address: '203.0.113.7' }]);
  });
}
