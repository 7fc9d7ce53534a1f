import assert from 'node:assert/strict';
import test from 'node:test';
import { writeDenials } from '#server/domain/policies/denials.ts';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase({ TRUSTED_PROXIES: '127.0.0.1' });
const running = await startGateway();
const { port, runtime } = running;
const upstream = await startUpstream();

type Given = { name?: string; actions?: string[]; subjects: object; resources?: string[]; space?: string };

async function policy(w: Workspace, { name = 'closed', actions = ['proxy:invoke'], subjects, resources = [], space = 'both' }: Given) {
  const row = await db().tenant_policies.create({
    data: { id: newId(), tenant_id: w.tenant.id, name, actions, subjects, resources, space },
  });
  await runtime.snapshots.refresh(w.tenant.id);
  return row;
}

test('a policy on proxy:invoke stops the keys it names, narrowed to the routes it names', async () => {
  const w = await workspace();
  await makeRoute(w, 'prod-orders', upstream.url);
  await makeRoute(w, 'qa', upstream.url);
  const [bound, free, invoker] = [await w.key(), await w.key(), await w.key('live', 'Key - Invoke')];
  await served(running, w);
  const invokeRole = KEY_ROLES.find(({ name }) => name === 'Key - Invoke')?.id;
  await policy(w, { name: 'no production', subjects: { api_key_ids: [bound.row.id] }, resources: ['prod-*'] });
  await policy(w, { name: 'no invokers', actions: ['proxy:*'], subjects: { roles: [invokeRole] } });
  const status = async (key: string, path: string) => (await ask(port, w.tenant.slug, path, { key })).status;
  const before = upstream.seen.length;
  const denied = await ask(port, w.tenant.slug, '/prod-orders', { key: bound.text });
  assert.equal(denied.status, 403);
  assert.match(denied.body, /denied by tenant policy no production/);
  assert.equal(await status(invoker.text, '/qa'), 403);
  assert.equal(upstream.seen.length, before, 'nothing was sent');
  assert.deepEqual([await status(bound.text, '/qa'), await status(free.text, '/prod-orders')], [200, 200]);
  await writeDenials();
  const counted = await db().policy_denials.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { actor_id: 'asc' } });
  assert.deepEqual(
    counted.map(({ actor_id, calls }) => [actor_id, Number(calls)]).sort(),
    [
      [bound.row.id, 1],
      [invoker.row.id, 1],
    ].sort(),
  );
});

test('a policy on everybody also stops callers that a route knows by their address alone, in its space only', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'known', upstream.url, { requires_clients: true });
  const scope = { tenant_id: w.tenant.id, sandbox: false };
  const client = await db().clients.create({ data: { id: newId(), ...scope, name: 'office', ip_address: '127.0.0.1' } });
  await db().client_credentials.create({
    data: {
      id: newId(),
      ...scope,
      client_id: client.id,
      kind: 'ip',
      ip_range: '127.0.0.1',
      is_primary: true,
      data: { value: '127.0.0.1' },
    },
  });
  await db().route_client_assignments.create({
    data: { ...scope, route_id: route.id, environment_id: route.environment.id, client_id: client.id },
  });
  await makeRoute(w, 'sandbox', upstream.url, {}, { space: 'test' });
  const test = await w.key('test');
  await served(running, w);
  assert.equal((await ask(port, w.tenant.slug, '/known')).status, 200);
  const row = await policy(w, { subjects: { all: true }, space: 'live' });
  assert.equal((await ask(port, w.tenant.slug, '/known')).status, 403);
  assert.equal((await ask(port, `sandbox-${w.tenant.slug}`, '/sandbox', { key: test.text })).status, 200);
  await db().tenant_policies.update({ where: { id: row.id }, data: { enabled: false } });
  await until(async () => (await ask(port, w.tenant.slug, '/known')).status === 200);
});

test('a policy is obeyed by announcement alone', async () => {
  const w = await workspace();
  await makeRoute(w, 'r', upstream.url);
  const { text: key } = await w.key();
  await served(running, w);
  const status = async () => (await ask(port, w.tenant.slug, '/r', { key })).status;
  assert.equal(await status(), 200);
  await db().tenant_policies.create({
    data: { id: newId(), tenant_id: w.tenant.id, name: 'closed', actions: ['proxy:invoke'], subjects: { all: true } },
  });
  await until(async () => (await status()) === 403);
});
