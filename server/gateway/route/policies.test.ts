import assert from 'node:assert/strict';
import test from 'node:test';
import { writeDenials } from '#server/domain/policies/denials.ts';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../gateway.fixture.ts';

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

test('a policy that hides a secret from a caller keeps it from naming it in a body; what the route itself sends stays', async () => {
  const w = await workspace();
  await makeSecret(w, 'STRIPE_KEY', { production: 'hidden-value' });
  await makeSecret(w, 'OTHER', { production: 'open-value' });
  await makeRoute(w, 'fills', upstream.url);
  await makeRoute(w, 'injects', upstream.url, { inject_headers_json: { 'X-Key': '{{secret:STRIPE_KEY}}' }, body_placeholders: 'off' });
  const [bound, free] = [await w.key(), await w.key()];
  const token = await w.token({ of: await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: bound.row.id } }) });
  await served(running, w);
  await policy(w, { name: 'no stripe', actions: ['secret:read'], subjects: { api_key_ids: [bound.row.id] }, resources: ['STRIPE_*'] });
  const send = async (key: string, name: string) => {
    const body = `{"x":"{{secret:${name}}}"}`;
    const answer = await ask(port, w.tenant.slug, '/fills', { key, method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return [answer.status, answer.status === 200 ? upstream.seen.at(-1)?.body : answer.headers['x-svc-error']];
  };
  assert.deepEqual(await send(free.text, 'STRIPE_KEY'), [200, '{"x":"hidden-value"}']);
  assert.deepEqual(await send(bound.text, 'STRIPE_KEY'), [403, 'forbidden']);
  assert.deepEqual(await send(token.text, 'STRIPE_KEY'), [403, 'forbidden']);
  assert.deepEqual(await send(bound.text, 'OTHER'), [200, '{"x":"open-value"}']);
  assert.equal((await ask(port, w.tenant.slug, '/injects', { key: bound.text })).status, 200);
  assert.equal(upstream.seen.at(-1)?.headers['x-key'], 'hidden-value');
  await policy(w, { name: 'no secrets', actions: ['secret:*'], subjects: { all: true } });
  assert.deepEqual(await send(free.text, 'OTHER'), [403, 'forbidden']);
  await writeDenials();
  const counted = await db().policy_denials.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual([...new Set(counted.map(({ capability }) => capability))], ['secret:read']);
});
