import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { verified } from '#server/testing/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { forgetRules } from './rule-cache.ts';
import { MAX_NAMED } from './schema.ts';

await ownDatabase();

const run = async (id: string, ctx: Ctx, input: Record<string, unknown> = {}) => {
  if (operationById(id).step_up) await verified(ctx, 'policy.change');
  return made(ctx, id, input);
};
const person = async (w: Workspace, role: string) => {
  const id = newId();
  await db().users.create({ data: { id, email: `${id}@example.test`, full_name: `Person ${role}` } });
  await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: id, role } });
  return id;
};
const POLICY = { name: 'p', actions: ['log:read_payload'], subjects: { all: true } };

test('a change is audited with what it changed, and switching is its own action', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const { id } = await run('policies.create', owner, { ...POLICY, actions: ['route:read', 'client:*', 'route:read'] });
  await run('policies.update', owner, { id, enabled: false });
  await run('policies.update', owner, { id, enabled: true });
  await run('policies.update', owner, { id, actions: ['route:read'], reason: 'privacy' });
  await run('policies.delete', owner, { id });
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'policy' }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['create', 'disable', 'enable', 'update', 'delete'],
  );
  const details = entries[3]?.details as { changes?: unknown } | undefined;
  assert.deepEqual(details?.changes, [
    { field: 'actions', from: ['client:*', 'route:read'], to: ['route:read'] },
    { field: 'reason', from: null, to: 'privacy' },
  ]);
  assert.ok(
    entries.every(({ sandbox }) => !sandbox),
    'entries are of the workspace',
  );
});

test('a rule that would deny policy:update to every Owner is refused, alone and together with others', async () => {
  const w = await workspace();
  const [one, two] = [await person(w, 'owner'), await person(w, 'owner')];
  const owner = w.member('owner');
  const create = (subjects: object, actions = ['policy:*'], space = 'both') =>
    run('policies.create', owner, { name: newId(), subjects, actions, space });
  for (const subjects of [{ all: true }, { roles: ['owner'] }, { user_ids: [one, two] }])
    await assert.rejects(create(subjects), { type: 'validation_error', status: 400, message: /policy:update/ });
  await assert.rejects(create({ all: true }, ['policy:update'], 'test'), { type: 'validation_error' });
  await create({ user_ids: [one] });
  await assert.rejects(create({ user_ids: [two] }), { type: 'validation_error' });
  const asleep = await run('policies.create', owner, {
    name: 'asleep',
    subjects: { user_ids: [two] },
    actions: ['policy:*'],
    enabled: false,
  });
  await assert.rejects(run('policies.update', owner, { id: asleep.id, enabled: true }), { type: 'validation_error' });
  await create({ all: true }, ['policy:list', 'policy:delete']);
});

test('subjects must exist here; who was named before may be gone', async () => {
  const [w, other] = [await workspace(), await workspace()];
  const owner = w.member('owner');
  const [key, foreign] = [await w.key('test'), await other.key()];
  for (const subjects of [
    { api_key_ids: [foreign.row.id] },
    { user_ids: [await person(other, 'viewer')] },
    { oauth_client_ids: [newId()] },
    { oauth_client_ids: [(await other.client()).id] },
  ])
    await assert.rejects(run('policies.create', owner, { ...POLICY, subjects }), {
      type: 'validation_error',
      message: /doesn't exist in this workspace/,
    });
  const client = await w.client('test');
  const named = await run('policies.create', owner, { ...POLICY, name: 'a client', subjects: { oauth_client_ids: [client.id] } });
  assert.deepEqual(named.subjects.oauth_client_ids, [client.id]);
  const { oauth_clients, keys } = await run('policies.candidates', owner, {});
  assert.deepEqual([oauth_clients, keys.length], [[{ id: client.id, name: client.name, space: 'test' }], 1], 'mirrored keys are keys');
  const { id } = await run('policies.create', owner, { ...POLICY, subjects: { api_key_ids: [key.row.id] } });
  await db().api_keys.delete({ where: { id: key.row.id } });
  await run('policies.update', owner, { id, subjects: { api_key_ids: [key.row.id], roles: ['viewer'] } });
});

test('what a rule could not honour is refused', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  for (const [given, message] of [
    [{ actions: ['route:reed'] }, /actions/],
    [{ actions: ['*:*'] }, /actions/],
    [{ actions: [] }, /at least one action/],
    [{ subjects: {} }, /at least one subject/],
    [{ subjects: { all: true, roles: ['viewer'] } }, /can't be combined/],
    [{ subjects: { everyone: true } }, /subjects/],
    [{ subjects: { roles: ['chief'] } }, /role/],
    [{ resources: [] }, /at least one resource/],
    [{ resources: ['prod-*'] }, /can only narrow/],
    [{ space: 'everywhere' }, /space/],
  ] as const)
    await assert.rejects(
      run('policies.create', owner, { ...POLICY, ...given }),
      { type: 'validation_error', message },
      JSON.stringify(given),
    );
  const { id } = await run('policies.create', owner, { ...POLICY, actions: ['route:read'], resources: ['prod-*'] });
  await assert.rejects(run('policies.update', owner, { id, actions: ['billing:read'] }), {
    type: 'validation_error',
    message: /can only narrow/,
  });
  await assert.rejects(run('policies.create', owner, { ...POLICY, name: 'P'.toLowerCase() }), { type: 'conflict' });
});

test('a workspace has at most 200 policies', async () => {
  const w = await workspace();
  const scope = { tenant_id: w.tenant.id, actions: ['route:read'], subjects: { roles: ['viewer'] } };
  await db().tenant_policies.createMany({ data: Array.from({ length: 200 }, (_, i) => ({ id: newId(), name: `p${i}`, ...scope })) });
  await assert.rejects(run('policies.create', w.member('owner'), { ...POLICY, name: 'one more' }), {
    type: 'conflict',
    message: /200 policies/,
  });
});

test('test-as names the layer that decides: capability, policy, person, and what reveals give', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const editor = await person(w, 'editor');
  const key = await w.key('live', 'Key - Invoke');
  const { id } = await run('policies.create', owner, {
    name: 'no prod',
    actions: ['route:*'],
    resources: ['prod-*'],
    subjects: { user_ids: [editor] },
  });
  const verdict = async (input: object) => {
    const { allowed, layer, checks } = await run('policies.test', owner, input as never);
    return [allowed, layer, checks.find((check: { layer: string | null }) => check.layer)?.policy?.id ?? null];
  };
  assert.deepEqual(await verdict({ caller: { role: 'viewer' }, capability: 'route:delete' }), [false, 'missing_capability', null]);
  assert.deepEqual(await verdict({ caller: { user_id: editor }, operation: 'routes.delete', resource: 'prod-orders' }), [
    false,
    'policy',
    id,
  ]);
  assert.deepEqual(await verdict({ caller: { user_id: editor }, operation: 'routes.delete', resource: 'qa' }), [true, null, null]);
  assert.deepEqual(await verdict({ caller: { role: 'editor' }, operation: 'routes.delete', resource: 'prod-orders' }), [true, null, null]);
  assert.deepEqual(await verdict({ caller: { api_key_id: key.row.id }, capability: 'proxy:invoke' }), [true, null, null]);
  assert.deepEqual(await verdict({ caller: { api_key_id: key.row.id }, operation: 'secrets.list' }), [false, 'missing_capability', null]);
  assert.deepEqual(await verdict({ caller: { scopes: ['transit:decrypt'], person_role: 'owner' }, capability: 'transit:decrypt' }), [
    false,
    'person_forbidden',
    null,
  ]);
  assert.deepEqual(await verdict({ caller: { scopes: ['transit:decrypt'] }, capability: 'transit:decrypt' }), [true, null, null]);
  const reveal = await run('policies.test', owner, { caller: { role: 'admin' }, capability: 'log:read_payload' });
  assert.deepEqual([reveal.allowed, reveal.checks[0].held], [true, 'reveal']);
  const draft = { actions: ['log:read_payload'], subjects: { roles: ['admin'] } };
  assert.deepEqual(await verdict({ caller: { role: 'admin' }, capability: 'log:read_payload', draft }), [false, 'policy', null]);
  assert.deepEqual(await verdict({ caller: { user_id: editor }, operation: 'routes.delete', resource: 'prod-x', draft, draft_of: id }), [
    true,
    null,
    null,
  ]);
});

test('test-as agrees with real calls, for every role, operation and a policy in the way', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  await run('policies.create', owner, {
    ...POLICY,
    name: 'some',
    actions: ['secret:*', 'log:list'],
    subjects: { roles: ['editor', 'viewer'] },
  });
  for (const id of ['routes.list', 'secrets.list', 'clients.list', 'logs.browse', 'api_keys.list', 'policies.list', 'audit_logs.export'])
    for (const role of ['admin', 'editor', 'viewer', 'member'] as const) {
      const { allowed } = await run('policies.test', owner, { caller: { role }, operation: id });
      const refused = await perform(operationById(id), w.member(role), {}).then(
        () => false,
        (error: { type: string }) => error.type === 'role_denied',
      );
      assert.equal(allowed, !refused, `${role} ${id}`);
    }
});

test('a preview says who and which calls an unsaved policy would stop', async () => {
  const w = await workspace();
  const [owner, viewer] = [w.member('owner'), await person(w, 'viewer')];
  await person(w, 'owner');
  const key = await w.key('live', 'Key - Invoke');
  const now = new Date();
  const [scope, route_id] = [{ tenant_id: w.tenant.id, sandbox: false }, newId()];
  await db().caller_rollups.create({
    data: { ...scope, caller_id: key.row.id, minute: now, route_id, environment: 'production', status_class: 2, count: 7 },
  });
  await db().caller_blocks.create({
    data: {
      ...scope,
      caller_id: key.row.id,
      block: new Date(now.getTime() - 3 * 86_400_000),
      route_id,
      environment: 'production',
      status_class: 2,
      count: 5,
    },
  });
  await db().api_key_uses.create({ data: { ...scope, api_key_id: key.row.id, capability: 'route:read', last_used_at: now } });
  const preview = (draft: object, days = 7) => run('policies.preview', owner, { draft, days });
  const all = await preview({ actions: ['proxy:invoke', 'route:read', 'audit_log:list'], subjects: { all: true } });
  assert.deepEqual([all.calls.total, all.calls.by_key.map((one: { calls: number }) => one.calls)], [12, [12]]);
  assert.equal((await preview({ actions: ['proxy:invoke'], subjects: { all: true } }, 1)).calls.total, 7);
  assert.deepEqual(
    all.uses.map((use: { capability: string }) => use.capability),
    ['route:read'],
  );
  assert.deepEqual(all.people.find((one: { user_id: string }) => one.user_id === viewer)?.loses, ['audit_log:list', 'route:read']);
  assert.equal(all.locks_out_owners, false);
  assert.equal((await preview({ actions: ['proxy:invoke'], subjects: { all: true }, resources: ['nothing-*'] })).calls.total, 0);
  assert.ok((await preview({ actions: ['policy:*'], subjects: { all: true } })).locks_out_owners);
  assert.equal(await db().tenant_policies.count({ where: { tenant_id: w.tenant.id } }), 0, 'nothing is saved');
});

test('a denied reveal spends no verification, and an Admin is denied like everybody', async () => {
  const w = await workspace();
  const secret = await made(w.live, 'secrets.create', { name: 'token', value: 'v' });
  await run('policies.create', w.member('owner'), {
    name: 'no values',
    actions: ['secret:reveal'],
    subjects: { all: true },
    resources: ['tok*'],
  });
  const admin = w.member('admin');
  await verified(admin, 'plaintext.reveal');
  const op = operationById('secrets.reveal');
  await assert.rejects(perform(op, admin, { id: secret.id }), { type: 'reveal_policy_denied', status: 403 });
  const other = await made(w.live, 'secrets.create', { name: 'other', value: 'v' });
  await perform(op, admin, { id: other.id });
});

test('a custom or member role is no role of a key', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  for (const id of [newId(), '00000000-0000-4000-8000-000000000203']) {
    const answer = await call('POST', '/api-keys', { key, body: { name: 'k', role_ids: [id] } });
    assert.deepEqual([answer.status, answer.body.error.type], [403, 'forbidden']);
  }
  const { body } = await call('GET', '/roles?per_page=100', { key });
  assert.ok(body.data.length > KEY_ROLES.length && body.data.every((role: { seeded: boolean }) => role.seeded));
});

test('while policies cannot be read nothing is allowed: reveals fail their check, other calls are unavailable', async () => {
  const w = await workspace();
  const { text: key } = await w.key();
  const secret = await made(w.live, 'secrets.create', { name: 'token', value: 'v' });
  const admin = w.member('admin');
  await verified(admin, 'plaintext.reveal');
  await db().$executeRaw`alter table tenant_policies rename to tenant_policies_away`;
  try {
    forgetRules(w.tenant.id);
    const answer = await call('GET', '/routes', { key });
    assert.deepEqual([answer.status, answer.body.error.type], [503, 'dependency_unavailable']);
    await assert.rejects(perform(operationById('routes.list'), w.member('owner'), {}), { type: 'dependency_unavailable' });
    await assert.rejects(perform(operationById('secrets.reveal'), admin, { id: secret.id }), { type: 'reveal_check_failed', status: 500 });
  } finally {
    await db().$executeRaw`alter table tenant_policies_away rename to tenant_policies`;
  }
  assert.equal((await call('GET', '/routes', { key })).status, 200, 'a failed read is not kept');
  await perform(operationById('secrets.reveal'), admin, { id: secret.id });
});

test('a policy that names 100 keys still binds the successor of each, is saved as it is, and takes no other', async () => {
  const w = await workspace();
  const owner = w.member('owner');
  const keys = await Promise.all(Array.from({ length: MAX_NAMED }, () => w.key('live', 'Key - Read-only')));
  const ids = keys.map(({ row }) => row.id);
  const { id } = await run('policies.create', owner, { ...POLICY, subjects: { api_key_ids: ids } });
  const named = async () =>
    ((await db().tenant_policies.findUniqueOrThrow({ where: { id } })).subjects as { api_key_ids: string[] }).api_key_ids;
  const rotated = async (key: string, revoke_old_after_sec: number) =>
    (await made(w.live, 'api_keys.rotate', { id: key, revoke_old_after_sec })).id as string;
  const [first = '', second = ''] = ids;
  const heir = await rotated(first, 3_600);
  assert.deepEqual(await named(), [...ids, heir]);
  await run('policies.update', owner, { id, subjects: { api_key_ids: await named() }, reason: 'the same keys' });
  assert.equal((await named()).length, MAX_NAMED + 1);
  const other = (await w.key('live', 'Key - Read-only')).row.id;
  await assert.rejects(run('policies.update', owner, { id, subjects: { api_key_ids: [...(await named()), other] } }), {
    type: 'validation_error',
    message: /at most 100 entries\. Remove some/,
  });
  // Keys that have ended make room for their successors.
  await rotated(second, 0);
  const next = await rotated(heir, 3_600);
  const after = await named();
  assert.ok(after.includes(next) && after.includes(first) && !after.includes(second), String(after));
});
