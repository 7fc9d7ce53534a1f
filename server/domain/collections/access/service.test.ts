import assert from 'node:assert/strict';
import test from 'node:test';
import { addMembership, createUser } from '#server/domain/people/service.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();
const target_base_url = 'http://127.0.0.1:9';
const access = (ctx: Parameters<typeof made>[0], id: string) => made({ ...ctx, now: new Date() }, 'collections.access', { id });

test('who gets in at each environment follows the rules of the routes, inherited ones included', async () => {
  const w = await workspace();
  const collection = await made(w.live, 'collections.create', { name: fresh('Pay') });
  const inside = { target_base_url, collection_id: collection.id };
  await made(w.live, 'environments.create', { name: 'staging' });
  const open = await made(w.live, 'routes.create', { name: 'a-open', ...inside, allowed_methods: ['GET'], ip_allowlist: ['10.0.0.0/8'] });
  await made(w.live, 'routes.environments.put', { id: open.id, env: 'staging', enabled: false, allowed_methods: null });
  const closed = await made(w.live, 'routes.create', { name: 'b-closed', ...inside, requires_clients: true });
  await made(w.live, 'routes.environments.put', { id: closed.id, env: 'staging', ip_allowlist: ['192.0.2.1'] });
  const office = await made(w.live, 'clients.create', { name: 'Office', ip_address: '203.0.113.7' });
  const off = await made(w.live, 'clients.create', { name: 'Retired', ip_address: '203.0.113.8', enabled: false });
  const mute = await made(w.live, 'clients.create', { name: 'Silent', ip_address: '203.0.113.9' });
  const [primary] = await made(w.live, 'clients.list_credentials', { id: mute.id });
  await made(w.live, 'clients.update_credential', { id: mute.id, credentialId: primary.id, enabled: false });
  await made(w.live, 'routes.clients.set', { id: closed.id, env: 'staging', client_ids: [mute.id, off.id, office.id] });
  await made(w.live, 'routes.create', { name: 'c-off', ...inside, enabled: false });
  await made(w.live, 'routes.create', { name: 'elsewhere', target_base_url });

  const answer = await access(w.live, collection.id);
  assert.equal(answer.route_count, 3);
  assert.deepEqual(
    answer.routes.map(({ name, entrances }: { name: string; entrances: { environment: string }[] }) => [
      name,
      entrances.map((e) => e.environment),
    ]),
    [
      ['a-open', ['production', 'staging']],
      ['b-closed', ['production', 'staging']],
      ['c-off', ['production']],
    ],
  );
  const [a, b, c] = answer.routes.map(({ entrances }: { entrances: object[] }) => entrances);
  const entrance = { off: null, requires_clients: false, clients: [], client_count: 0, client_count_able: 0, methods: null, addresses: [] };
  assert.deepEqual(a[0], { ...entrance, environment: 'production', methods: ['GET'], addresses: ['10.0.0.0/8'] });
  assert.deepEqual(
    [a[1].off, a[1].addresses, a[1].methods],
    ['environment', ['10.0.0.0/8'], ['GET']],
    'what an environment does not say, it inherits',
  );
  assert.deepEqual(b[0], { ...entrance, environment: 'production', requires_clients: true });
  assert.deepEqual(b[1], {
    ...entrance,
    environment: 'staging',
    requires_clients: true,
    addresses: ['192.0.2.1'],
    client_count: 3,
    client_count_able: 1,
    clients: [
      { id: office.id, name: 'Office', may_call: true },
      { id: off.id, name: 'Retired', may_call: false },
      { id: mute.id, name: 'Silent', may_call: false },
    ],
  });
  assert.equal(c[0].off, 'route');
});

test('keys are told by what they may do today, within their scopes; those that ended or belong to the other space are none', async () => {
  const w = await workspace();
  const collection = await made(w.live, 'collections.create', { name: fresh('Keys') });
  await w.key('live', 'Key - Invoke', { name: 'caller', ip_allowlist: ['10.0.0.1/32'] });
  await w.key('live', 'Key - Read-only', { name: 'reader' });
  await w.key('live', 'Key - Editor', { name: 'builder' });
  await w.key('live', 'Key - Editor', { name: 'scoped', scoped: true, scopes: ['routes:write'] });
  await w.key('live', 'Key - Infrastructure', { name: 'scoped caller', scoped: true, scopes: ['proxy:invoke'] });
  await w.key('live', 'Key - Editor', { name: 'revoked', active: false });
  await w.key('live', 'Key - Editor', { name: 'ended', expires_at: new Date(Date.now() - 1_000) });
  await w.key('live', 'Key - Editor', { name: 'replaced', revoke_at: new Date(Date.now() - 1_000) });
  await w.key('test', 'Key - Editor', { name: 'test' });
  const { keys, key_count, key_count_calling, key_always_needed } = await access(w.live, collection.id);
  assert.deepEqual(
    keys.map((key: Record<string, unknown>) => [key.name, key.calls, key.changes, key.addresses]),
    [
      ['builder', true, true, []],
      ['caller', true, false, ['10.0.0.1/32']],
      ['reader', false, false, []],
      ['scoped', false, true, []],
      ['scoped caller', true, false, []],
    ],
  );
  assert.deepEqual([key_count, key_count_calling, key_always_needed], [5, 3, false]);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { proxy_require_credential: true } } });
  assert.equal((await access(w.live, collection.id)).key_always_needed, true);
});

test('people are told by what their role may do, those who left and those of other workspaces not at all', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const collection = await made(w.live, 'collections.create', { name: fresh('People') });
  const join = async (tenant_id: string, role: 'owner' | 'editor' | 'member', full_name: string) => {
    const user = await db().$transaction((tx) =>
      createUser(tx, { email: `${fresh('p')}@example.com`, full_name, password_hash: null, email_verified: true, now: new Date() }),
    );
    return db().$transaction((tx) => addMembership(tx, { tenant_id, user_id: user.id, role, source: 'signup', now: new Date() }));
  };
  await join(w.tenant.id, 'owner', 'Ada');
  for (const name of ['Grace', 'Edsger', 'Barbara', 'Alan', 'Donald', 'Tony']) await join(w.tenant.id, 'editor', name);
  await join(w.tenant.id, 'member', 'Guest');
  const left = await join(w.tenant.id, 'owner', 'Left');
  await db().memberships.update({ where: { id: left.id }, data: { removed_at: new Date() } });
  await join(other.tenant.id, 'owner', 'Stranger');
  const { people } = await access(w.live, collection.id);
  assert.deepEqual(people, [
    { role: 'owner', count: 1, names: ['Ada'], sees: 'all', changes: true, tests: true, sets_values: true },
    {
      role: 'editor',
      count: 6,
      names: ['Alan', 'Barbara', 'Donald', 'Edsger', 'Grace'],
      sees: 'all',
      changes: true,
      tests: true,
      sets_values: true,
    },
    { role: 'member', count: 1, names: ['Guest'], sees: 'names', changes: false, tests: false, sets_values: false },
  ]);
  await assert.rejects(access(other.live, collection.id), { type: 'not_found' });
  await assert.rejects(access(w.test, collection.id), { type: 'not_found' });
});
