import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { confirmedOwner } from '#server/testing/step-up.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';

// A route of Live that is on is never changed into one that fails, whatever it is that moves (interface rule 64 §5).

await testDatabase();
const UPSTREAM = 'http://127.0.0.1:9';
type Items = { type: string; id: string }[] | 'all';
const promote = (w: Workspace, items: Items, more: Record<string, unknown> = {}) =>
  made(w.ctx('test', memberActor('owner')), 'sandbox.promote', { items, ...more });
const plan = (w: Workspace, items: Items) => promote(w, items, { dry_run: true });
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const itemOf = (answer: any, type: string, name?: string) =>
  answer.items.find((i: { type: string; name: string }) => i.type === type && (name === undefined || i.name === name));
const judged = (answer: unknown, type: string, name?: string): [string, string | null] => {
  const { action, reason } = itemOf(answer, type, name);
  return [action, reason];
};

test('a route that serves Live is not changed into one that fails: it waits for the values', async () => {
  const w = await workspace();
  const made_ = await made(w.test, 'routes.create', { name: 'orders', target_base_url: UPSTREAM });
  const first = await promote(w, [{ type: 'route', id: made_.id }]);
  assert.equal(itemOf(first, 'route').enabled, true, 'one that needs no value serves as it does in Test');
  await made(w.test, 'secrets.create', { name: 'ORDERS_KEY', value: 'only in Test' });
  await made(w.test, 'routes.update', { id: made_.id, inject_headers_json: { 'X-Key': '{{secret:ORDERS_KEY}}' } });
  const second = await promote(w, [{ type: 'route', id: made_.id }]);
  assert.equal(itemOf(second, 'route').action, 'skip');
  assert.match(itemOf(second, 'route').reason, /fail because ORDERS_KEY has no value/);
  assert.deepEqual((await made(w.live, 'routes.get', { id: itemOf(first, 'route').target_id })).inject_headers_json, {});
  await made(w.live, 'secrets.put_value', { id: itemOf(second, 'secret').target_id, value: 'the live one', environment: 'production' });
  const third = await promote(w, [{ type: 'route', id: made_.id }]);
  assert.equal(itemOf(third, 'route').action, 'update');
});

test('a variable that routes use in Live does not become a secret without a value there: the collection waits for it', async () => {
  const w = await workspace();
  const billing = await made(w.test, 'collections.create', { name: 'Billing' });
  const variable = await made(w.test, 'collections.variables.create', { id: billing.id, key: 'token', type: 'value', value: 'public' });
  const user = await made(w.test, 'routes.create', {
    name: 'orders',
    target_base_url: UPSTREAM,
    inject_headers_json: { 'X-Token': '{{var:billing.token}}' },
  });
  const first = await promote(w, 'all');
  assert.equal(itemOf(first, 'route').enabled, true);
  const secret = await made(w.test, 'secrets.create', { name: 'TOKEN', value: 'only in Test' });
  const becomes = { id: billing.id, variableId: variable.id, type: 'secret', value: null, secret_id: secret.id };
  await made(w.test, 'collections.variables.update', becomes);
  await made(w.test, 'collections.variables.create', { id: billing.id, key: 'late', type: 'value', value: 'x' });
  await made(w.test, 'routes.update', { id: user.id, inject_query_json: { late: '{{var:billing.late}}' } });

  const waits = await promote(w, 'all');
  const item = itemOf(waits, 'collection');
  assert.equal(item.action, 'skip');
  assert.match(
    item.reason,
    /^Route orders is on in Live, and its calls would fail because TOKEN has no value. Set it, then promote the collection again.$/,
  );
  assert.deepEqual(item.needs_values, [{ secret: 'TOKEN', environment: 'production' }]);
  assert.match(itemOf(waits, 'route').reason, /Resolve the collection’s conflict first/);
  const there = itemOf(waits, 'secret').target_id;
  assert.deepEqual(waits.missing_values, [{ secret: 'TOKEN', secret_id: there, environments: ['production'], routes: ['orders'] }]);
  const collectionThere = itemOf(first, 'collection').target_id;
  const kept = async () => (await made(w.live, 'collections.variables.list', { id: collectionThere })).map((v: { type: string }) => v.type);
  assert.deepEqual(await kept(), ['value'], 'as it was');

  // A route that is off there fails nobody.
  const routeThere = itemOf(first, 'route').target_id;
  await made(w.live, 'routes.update', { id: routeThere, enabled: false });
  assert.equal(itemOf(await plan(w, 'all'), 'collection').action, 'update');
  await made(w.live, 'routes.update', { id: routeThere, enabled: true });
  assert.equal(itemOf(await plan(w, 'all'), 'collection').action, 'skip');

  await made(w.live, 'secrets.put_value', { id: there, value: 'the live one', environment: 'production' });
  await promote(w, 'all');
  assert.deepEqual(await kept(), ['value', 'secret']);

  // Nor does it become another secret, which is not filled either.
  const other = await made(w.test, 'secrets.create', { name: 'OTHER', value: 'only in Test' });
  await made(w.test, 'collections.variables.update', { ...becomes, secret_id: other.id });
  assert.match(itemOf(await plan(w, 'all'), 'collection').reason, /OTHER has no value/);
});

/** A secret of this name in both spaces, and in Live a route that is on and sends it to api.example.com. */
async function served(w: Workspace) {
  const body = { name: 'KEY', allowed_hosts: ['api.example.com', '*.example.net'] };
  const key = await made(w.test, 'secrets.create', { ...body, value: 'of Test' });
  const live = await made(w.live, 'secrets.create', { ...body, value: 'of Live' });
  const route = { name: 'orders', target_base_url: 'https://api.example.com/v1', inject_headers_json: { 'X-Key': '{{secret:KEY}}' } };
  const there = await made(w.live, 'routes.create', route);
  return { key, live, route, there };
}

test('a secret is not kept from a host that a route of Live sends it to, nor made strict once its value there has ended', async () => {
  const w = await workspace();
  const { key, live, there } = await served(w);
  const items = [{ type: 'secret', id: key.id }];
  const pinned = async (allowed_hosts: string[] | null) => {
    await made(await confirmedOwner(w, 'credential.move', 'test'), 'secrets.update', { id: key.id, allowed_hosts });
    return judged(await plan(w, items), 'secret');
  };
  const waits =
    'Route orders is on in Live, and its calls would fail because KEY isn’t allowed for api.example.com. Allow the host here, then promote the secret again.';
  assert.deepEqual(await pinned(['other.example.com']), ['skip', waits]);
  await promote(w, items);
  assert.deepEqual((await made(w.live, 'secrets.get', live)).allowed_hosts, ['api.example.com', '*.example.net'], 'as it was');
  assert.deepEqual((await pinned(['api.example.com']))[0], 'update', 'one that no route calls may go');
  assert.deepEqual((await pinned(null))[0], 'update');

  // Through a variable, and from no pins at all to some.
  await made(await confirmedOwner(w, 'credential.move', 'live'), 'secrets.update', { id: live.id, allowed_hosts: null });
  const billing = await made(w.live, 'collections.create', { name: 'Billing' });
  await made(w.live, 'collections.variables.create', { id: billing.id, key: 'token', type: 'secret', secret_id: live.id });
  await made(w.live, 'routes.update', { id: there.id, inject_headers_json: { 'X-Key': '{{var:billing.token}}' } });
  assert.deepEqual(await pinned(['*.example.net']), ['skip', waits]);
  await made(w.live, 'routes.update', { id: there.id, target_base_url: 'https://api.example.net/' });
  assert.deepEqual((await pinned(['*.example.net']))[0], 'update');
  await made(w.live, 'routes.update', { id: there.id, target_base_url: 'https://api.example.net:8443/' });
  assert.match(
    (await pinned(['*.example.net']))[1] ?? '',
    /isn’t allowed for api\.example\.net/,
    'a pinned value leaves to port 443 alone',
  );
  await made(w.live, 'routes.update', { id: there.id, enabled: false });
  assert.deepEqual((await pinned(['other.example.com']))[0], 'update', 'a route that is off fails nobody');

  await made(w.live, 'routes.update', { id: there.id, enabled: true });
  await made(await confirmedOwner(w, 'credential.move', 'test'), 'secrets.update', {
    id: key.id,
    allowed_hosts: null,
    strict_expiry_enforcement: true,
  });
  const ends = (expires_at: Date | null, expires_at_override: Date | null = null) =>
    db().$transaction([
      db().secrets.update({ where: { id: live.id }, data: { expires_at } }),
      db().secret_environments.updateMany({ where: { secret_id: live.id }, data: { expires_at_override } }),
    ]);
  const [past, future] = [new Date(Date.now() - 1_000), new Date(Date.now() + 86_400_000)];
  for (const end of [ends(past), ends(future, past), ends(null, past)]) {
    await end;
    assert.deepEqual(judged(await plan(w, items), 'secret'), [
      'skip',
      'Route orders is on in Live, and its calls would fail because KEY has expired in production. Set a new value in Live or extend its expiry, then promote the secret again.',
    ]);
  }
  await ends(past, future);
  assert.deepEqual(judged(await plan(w, items), 'secret')[0], 'update');
});

test('a route waits before it calls a host that a secret of Live may not be sent to; a new one starts off', async () => {
  const w = await workspace();
  const { route, there } = await served(w);
  const here = await made(w.test, 'routes.create', { ...route, target_base_url: 'https://api.example.org/' });
  const fresh = await made(w.test, 'routes.create', { ...route, name: 'fresh', target_base_url: 'https://api.example.org/' });
  const answer = await promote(
    w,
    [here, fresh].map(({ id }) => ({ type: 'route', id })),
  );
  assert.deepEqual(judged(answer, 'route', 'orders'), [
    'skip',
    'On in Live, and its calls would fail because KEY isn’t allowed for api.example.org. Allow the host in Live, then promote the route again.',
  ]);
  assert.equal((await made(w.live, 'routes.get', there)).target_base_url, 'https://api.example.com/v1');
  const { action, enabled, reason } = itemOf(answer, 'route', 'fresh');
  assert.deepEqual([action, enabled], ['create', false]);
  assert.match(reason, /^Stays off: its calls would fail because .* Allow the host in Live, then turn it on\.$/);
});

test('what is good only together goes together, and when one half waits so does the other', async () => {
  const w = await workspace();
  const { key, live, there } = await served(w);
  const [billing, theirs] = [
    await made(w.test, 'collections.create', { name: 'Billing' }),
    await made(w.live, 'collections.create', { name: 'Billing' }),
  ];
  const host = await made(w.test, 'collections.variables.create', { id: billing.id, key: 'host', type: 'value', value: 'api.example.org' });
  await made(w.live, 'collections.variables.create', { id: theirs.id, key: 'host', type: 'value', value: 'api.example.com' });
  await made(w.live, 'routes.update', { id: there.id, target_base_url: 'https://{{var:billing.host}}/v1' });
  const collection = { type: 'collection', id: billing.id };
  const both = [collection, { type: 'secret', id: key.id }];
  assert.deepEqual(judged(await plan(w, [collection]), 'collection'), [
    'skip',
    'Route orders is on in Live, and its calls would fail because KEY isn’t allowed for api.example.org. Allow the host in Live, then promote the collection again.',
  ]);
  await made(await confirmedOwner(w, 'credential.move', 'test'), 'secrets.update', {
    id: key.id,
    allowed_hosts: ['api.example.com', 'api.example.org'],
  });
  assert.deepEqual((await plan(w, both)).summary, { create: 0, update: 2, skip: 0, conflict: 0 });

  // The secret waits for another reason, so the host it would have been allowed waits with it.
  await made(w.test, 'secrets.update', { id: key.id, strict_expiry_enforcement: true });
  await db().secrets.update({ where: { id: live.id }, data: { expires_at: new Date(Date.now() - 1_000) } });
  const answer = await promote(w, both);
  assert.match(judged(answer, 'secret')[1] ?? '', /has expired/);
  assert.match(judged(answer, 'collection')[1] ?? '', /isn’t allowed for api\.example\.org/);
  assert.equal(answer.id, null);

  // A variable that becomes a secret whose hosts shrink in the same run.
  await made(await confirmedOwner(w, 'credential.move'), 'secrets.update', { id: live.id, expires_at: null, allowed_hosts: null });
  await made(w.live, 'collections.variables.create', { id: theirs.id, key: 'key', type: 'value', value: 'public' });
  await made(w.live, 'routes.update', {
    id: there.id,
    target_base_url: 'https://api.example.com/',
    inject_headers_json: { 'X-Key': '{{var:billing.key}}' },
  });
  await made(w.test, 'collections.variables.create', { id: billing.id, key: 'key', type: 'secret', secret_id: key.id });
  await made(w.test, 'collections.variables.update', { id: billing.id, variableId: host.id, value: 'api.example.com' });
  await made(await confirmedOwner(w, 'credential.move', 'test'), 'secrets.update', {
    id: key.id,
    allowed_hosts: ['api.example.org'],
    strict_expiry_enforcement: false,
  });
  const shrunk = await plan(w, both);
  assert.match(judged(shrunk, 'secret')[1] ?? '', /isn’t allowed for api\.example\.com/);
  assert.equal(judged(shrunk, 'collection')[0], 'update', 'with the secret as it is');
});

test('a route that moves into another collection is judged by what its variables are in the one it leaves', async () => {
  const w = await workspace();
  const [a, b] = [await made(w.test, 'collections.create', { name: 'A' }), await made(w.test, 'collections.create', { name: 'B' })];
  const secret = await made(w.test, 'secrets.create', { name: 'TOKEN', value: 'only in Test' });
  await made(w.test, 'collections.variables.create', { id: a.id, key: 'token', type: 'value', value: 'public' });
  await made(w.test, 'collections.variables.create', { id: b.id, key: 'token', type: 'secret', secret_id: secret.id });
  const body = { name: 'orders', collection_id: a.id, target_base_url: UPSTREAM, inject_headers_json: { 'X-Token': '{{var:token}}' } };
  const route = await made(w.test, 'routes.create', body);
  assert.equal(itemOf(await promote(w, 'all'), 'route').enabled, true);
  await made(w.test, 'routes.update', { id: route.id, collection_id: b.id });
  assert.deepEqual(judged(await plan(w, 'all'), 'route'), [
    'skip',
    'On in Live, and its calls would fail because TOKEN has no value. Set it, then promote the route again.',
  ]);
});
