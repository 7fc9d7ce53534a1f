import assert from 'node:assert/strict';
import test from 'node:test';
import { capabilitiesOfKey, KEY_ROLES, memberCapabilities } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { memberActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { ApiKey } from './schema.ts';
import * as keys from './service.ts';

await testDatabase();

const roleIds = (name: string) => KEY_ROLES.filter((r) => r.name === name).map((r) => r.id);

/** An access key of a role, narrowed to scopes, as the API recognises it. */
async function scopedCaller(w: Workspace, role: string, scopes: string[]): Promise<Ctx> {
  const { row } = await w.key('live', role, { key_type: 'access_key', scoped: true, scopes });
  const { id, key_id, role_ids } = row;
  return w.ctx('live', { type: 'api_key', id, key_id, label: 'scoped', role_ids, capabilities: capabilitiesOfKey(row) });
}

test('a key narrowed to scopes cannot make one that is wider than itself by leaving the roles out', async () => {
  const w = await workspace();
  const caller = await scopedCaller(w, 'Key - Editor', ['api_keys:write', 'routes:read']);
  await assert.rejects(keys.createApiKey(caller, { name: 'wider', key_type: 'standard' }), { type: 'privilege_escalation' });
  await assert.rejects(keys.createApiKey(caller, { name: 'wider', key_type: 'access_key' }), { type: 'privilege_escalation' });
  await assert.rejects(keys.createApiKey(caller, { name: 'wider', key_type: 'access_key', scopes: ['secrets:write'] }), {
    type: 'privilege_escalation',
  });
  const equal = await keys.createApiKey(caller, { name: 'equal', key_type: 'access_key', scopes: ['routes:read'] });
  assert.deepEqual(equal.scopes, ['routes:read']);
  assert.equal(await db().api_keys.count({ where: { tenant_id: w.tenant.id } }), 2, 'a refusal wrote nothing');
});

test('a key that a tenant policy holds back cannot pass on by inheritance what it was denied', async () => {
  const w = await workspace();
  const key = await w.key('live', 'Key - Editor');
  await db().tenant_policies.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      name: 'no routes for this key',
      actions: ['route:delete'],
      subjects: { api_key_ids: [key.row.id] },
      resources: [],
      space: 'both',
      enabled: true,
    } as never,
  });
  const answer = await call('POST', '/api-keys', { key: key.text, body: { name: 'heir' } });
  assert.equal(answer.status, 403);
  assert.equal(answer.body.error.type, 'privilege_escalation');
  assert.match(answer.body.error.message, /route:delete/);
});

test('a key that was replaced and has ended is not brought back by rotating or changing it', async () => {
  const w = await workspace();
  const old = await w.key('live', 'Key - Editor', { revoke_at: new Date(Date.now() - 1_000) });
  assert.equal((await call('GET', '/account', { key: old.text })).status, 401);
  await assert.rejects(keys.rotateApiKey(w.live, { id: old.row.id, revoke_old_after_sec: 2_592_000 }), { type: 'conflict' });
  await assert.rejects(keys.updateApiKey(w.live, { id: old.row.id, name: 'back' }), { type: 'conflict' });
  assert.equal((await call('GET', '/account', { key: old.text })).status, 401);
});

test('a second rotation never postpones the end that the first one set', async () => {
  const w = await workspace();
  const old = await w.key('live', 'Key - Editor');
  await keys.rotateApiKey(w.live, { id: old.row.id, revoke_old_after_sec: 60 });
  const first = await db().api_keys.findUniqueOrThrow({ where: { id: old.row.id } });
  await keys.rotateApiKey(w.live, { id: old.row.id, revoke_old_after_sec: 2_592_000 });
  const second = await db().api_keys.findUniqueOrThrow({ where: { id: old.row.id } });
  assert.deepEqual(second.revoke_at, first.revoke_at);
});

test('a replaced key says until when it works, and the new one which it replaces', async () => {
  const w = await workspace();
  const old = await w.key('live', 'Key - Editor');
  const told = async (id: string) => {
    const { revoke_at, revoked_at, replaces_key_id, active } = ApiKey.parse(
      JSON.parse(JSON.stringify(await keys.getApiKey(w.live, { id }))),
    );
    return { revoke_at, revoked_at, replaces_key_id, active };
  };
  const fresh = await keys.rotateApiKey(w.live, { id: old.row.id, revoke_old_after_sec: 600 });
  const end = new Date(w.live.now.getTime() + 600_000).toISOString();
  assert.deepEqual(await told(old.row.id), { revoke_at: end, revoked_at: null, replaces_key_id: null, active: true });
  assert.deepEqual(await told(fresh.id), { revoke_at: null, revoked_at: null, replaces_key_id: old.row.key_id, active: true });
  const row = await db().api_keys.findUniqueOrThrow({ where: { id: old.row.id } });
  assert.deepEqual(row.updated_at, w.live.now, 'an edit that began before sees that the key changed');
});

test('of revocations at once one is written down', async () => {
  const w = await workspace();
  const { row } = await w.key('live', 'Key - Editor');
  await Promise.all(Array.from({ length: 6 }, () => keys.revokeApiKey({ ...w.live }, { id: row.id })));
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'revoke', resource_id: row.id } }), 1);
});

test('rotating a key takes what the key can do, not what its roles could', async () => {
  const w = await workspace();
  const stored = await w.key('live', 'Key - Infrastructure', { key_type: 'access_key', scoped: true, scopes: ['routes:read'] });
  const rotated = await keys.rotateApiKey(w.member('editor'), { id: stored.row.id, revoke_old_after_sec: null });
  assert.deepEqual(rotated.scopes, ['routes:read']);
  const infra = await w.key('live', 'Key - Infrastructure');
  await assert.rejects(keys.rotateApiKey(w.member('editor'), { id: infra.row.id, revoke_old_after_sec: null }), {
    type: 'privilege_escalation',
  });
});

test('an Editor who may not reveal makes no key that reads access tokens of connected accounts, and gets the widest of the others', async () => {
  const w = await workspace();
  const actor = memberActor('editor');
  const asEditor = (reveal_secrets: boolean) =>
    w.ctx('live', { ...actor, reveal_secrets, capabilities: memberCapabilities('editor', { reveal_secrets }) } as typeof actor);
  const input = { name: 'heir', key_type: 'standard' as const, role_ids: roleIds('Key - Editor') };
  await assert.rejects(keys.createApiKey(asEditor(false), input), {
    type: 'privilege_escalation',
    message: /secret:read_oauth_token.*ask an Owner or Admin/,
  });
  const inherited = await keys.createApiKey(asEditor(false), { name: 'inherits', key_type: 'standard' });
  assert.deepEqual(inherited.role_ids, roleIds('Key - Read-only'));
  await assert.rejects(
    keys.createApiKey(asEditor(true), input),
    /does not say that its verb may ask/,
    'who may reveal is asked to confirm',
  );
});

test('a caller changes no key that holds more than itself: not its addresses, its roles, its end', async () => {
  const w = await workspace();
  const strong = await w.key('live', 'Key - Infrastructure', { ip_allowlist: ['203.0.113.0/24'] });
  const weak = await w.key('live', 'Key - Editor');
  for (const change of [{ ip_allowlist: [] }, { role_ids: [] }, { name: 'mine' }, { rate_limit_requests: 1 }]) {
    const answer = await call('PATCH', `/api-keys/${strong.row.id}`, { key: weak.text, body: change });
    assert.equal(answer.body.error?.type, 'privilege_escalation', JSON.stringify(change));
    await assert.rejects(keys.updateApiKey(w.member('editor'), { id: strong.row.id, ...change }), { type: 'privilege_escalation' });
  }
  const row = await db().api_keys.findUniqueOrThrow({ where: { id: strong.row.id } });
  assert.deepEqual(
    [row.ip_allowlist, row.role_ids, row.name],
    [['203.0.113.0/24'], roleIds('Key - Infrastructure'), 'Key - Infrastructure'],
  );
  const equal = await w.key('live', 'Key - Editor');
  assert.equal((await call('PATCH', `/api-keys/${equal.row.id}`, { key: weak.text, body: { name: 'renamed' } })).status, 200);
});

test("at the plan's limit a key is still replaced when the old one goes at once, and two rotations of it make one key", async () => {
  const w = await workspace({ plan: 'free' });
  const all = [];
  for (let i = 0; i < 5; i++) all.push(await w.key('live', 'Key - Infrastructure'));
  const leaked = all[0]!.row;
  const caller = all[1]!.text;
  assert.equal((await call('POST', `/api-keys/${leaked.id}/rotate`, { key: caller, body: {} })).status, 402);
  const rotations = await Promise.all(
    [0, 1, 2].map(() => call('POST', `/api-keys/${leaked.id}/rotate`, { key: caller, body: { revoke_old_after_sec: 0 } })),
  );
  assert.deepEqual(rotations.map((r) => r.status).sort(), [201, 409, 409]);
  assert.equal((await call('GET', '/account', { key: all[0]!.text })).status, 401);
  const shown = await call('GET', `/api-keys/${leaked.id}`, { key: caller });
  assert.equal(shown.body.data.active, false);
  assert.ok(shown.body.data.revoked_at && shown.body.data.revoked_by === all[1]!.row.id);
  assert.equal(await db().api_keys.count({ where: { tenant_id: w.tenant.id, active: true } }), 5);
});

test('a key with an end, an address list or a limit gives neither itself nor another key more than that', async () => {
  const w = await workspace();
  const end = new Date(Date.now() + 30 * 24 * 3_600_000);
  const later = new Date(end.getTime() + 3_600_000).toISOString();
  const bounds = { expires_at: end, ip_allowlist: ['127.0.0.0/8'], rate_limit_requests: 100, rate_limit_window_sec: 60 };
  const caller = await w.key('live', 'Key - Editor', { ...bounds, key_type: 'access_key' });
  const equal = await w.key('live', 'Key - Editor', { key_type: 'access_key' });
  const escalates = async (method: string, path: string, body: object) => {
    const answer = await call(method, path, { key: caller.text, body });
    assert.equal(answer.body.error?.type, 'privilege_escalation', `${method} ${path} ${JSON.stringify(body)}`);
  };
  for (const { row } of [caller, equal])
    for (const change of [
      { expires_at: null },
      { expires_at: later },
      { ip_allowlist: [] },
      { ip_allowlist: ['127.0.0.1', '203.0.113.9'] },
      { ip_allowlist: ['126.0.0.0/7'] },
      { rate_limit_requests: null },
      { rate_limit_requests: 101 },
      { rate_limit_requests: 100, rate_limit_window_sec: 59 },
      { rate_limit_requests: 101, rate_limit_window_sec: 3_600 },
    ])
      await escalates('PATCH', `/api-keys/${row.id}`, change);
  await escalates('POST', '/api-keys', { name: 'never ends', never_expires: true });
  await escalates('POST', '/api-keys', { name: 'ends later', key_type: 'access_key', expires_at: later });
  await escalates('POST', '/api-keys', { name: 'from anywhere', key_type: 'access_key', ip_allowlist: [] });
  await escalates('POST', `/api-keys/${equal.row.id}/rotate`, {});

  const heir = await call('POST', '/api-keys', { key: caller.text, body: { name: 'heir', key_type: 'access_key' } });
  assert.equal(heir.status, 201);
  const made = await db().api_keys.findUniqueOrThrow({ where: { id: heir.body.data.id } });
  assert.deepEqual({ ...bounds }, Object.fromEntries(Object.keys(bounds).map((name) => [name, made[name as keyof typeof made]])));
  const narrower = { ip_allowlist: ['127.0.0.1'], rate_limit_requests: 90 };
  assert.equal((await call('PATCH', `/api-keys/${caller.row.id}`, { key: caller.text, body: narrower })).status, 200);
  assert.equal((await call('POST', `/api-keys/${caller.row.id}/rotate`, { key: caller.text, body: {} })).status, 201);
});

/** One bound of a caller, a key of the same space that breaks it, and one that keeps it. */
const BOUNDS = [
  {
    bound: { expires_at: new Date(Date.now() + 86_400_000) },
    loose: { expires_at: null },
    tight: { expires_at: new Date(Date.now() + 3_600_000) },
  },
  { bound: { ip_allowlist: ['127.0.0.0/8'] }, loose: { ip_allowlist: [] }, tight: { ip_allowlist: ['127.0.0.1'] } },
  {
    bound: { rate_limit_requests: 100, rate_limit_window_sec: 60 },
    loose: { rate_limit_requests: null, rate_limit_window_sec: null },
    tight: { rate_limit_requests: 10, rate_limit_window_sec: 60 },
  },
];
const RAISES = [
  { what: 'its roles', weak: { role: 'Key - Read-only' }, raise: { role_ids: roleIds('Key - Editor') } },
  {
    what: 'a role beside its own',
    weak: { role: 'Key - Read-only' },
    raise: { role_ids: [...roleIds('Key - Read-only'), ...roleIds('Key - Invoke')] },
  },
  {
    what: 'its scopes',
    weak: { role: 'Key - Editor', scoped: true, scopes: ['routes:read'] },
    raise: { scopes: ['routes:read', 'routes:write'] },
  },
];
for (const { bound, loose, tight } of BOUNDS)
  for (const { what, weak, raise } of RAISES)
    test(`a key bound by ${Object.keys(bound)[0]} cannot raise ${what} of a key without that bound`, async () => {
      const w = await workspace();
      const caller = await w.key('live', 'Key - Editor', { key_type: 'access_key', ...bound });
      const { role, ...narrowed } = weak;
      const target = (bounds: object) => w.key('live', role, { key_type: 'access_key', ...narrowed, ...bounds });
      const patch = async (id: string, body: object) => (await call('PATCH', `/api-keys/${id}`, { key: caller.text, body })).body;
      const free = (await target(loose)).row;
      const before = await db().api_keys.findUniqueOrThrow({ where: { id: free.id } });
      assert.equal((await patch(free.id, raise)).error?.type, 'privilege_escalation');
      assert.equal((await patch(free.id, { ...raise, name: 'raised' })).error?.type, 'privilege_escalation');
      assert.equal(
        (await call('POST', `/api-keys/${free.id}/rotate`, { key: caller.text, body: {} })).body.error?.type,
        'privilege_escalation',
      );
      assert.deepEqual(await db().api_keys.findUniqueOrThrow({ where: { id: free.id } }), before);
      assert.equal((await patch(free.id, { name: 'renamed' })).error, undefined, 'what adds nothing is allowed');
      assert.equal((await patch((await target(tight)).row.id, raise)).error, undefined, 'within its bounds it may');
    });

test('a key that is being replaced makes no key that outlives it: who stole it has until then', async () => {
  const w = await workspace();
  const stolen = await w.key('live', 'Key - Editor', { revoke_at: new Date(Date.now() + 600_000) });
  for (const [method, path] of [
    ['POST', '/api-keys'],
    ['POST', `/api-keys/${stolen.row.id}/rotate`],
  ] as const) {
    const answer = await call(method, path, {
      key: stolen.text,
      body: path.endsWith('rotate') ? {} : { name: 'heir', never_expires: true },
    });
    assert.equal(answer.body.error?.type, 'privilege_escalation', path);
  }
  const heir = await call('POST', '/api-keys', { key: stolen.text, body: { name: 'heir' } });
  assert.equal(heir.body.data.expires_at, stolen.row.revoke_at?.toISOString());
});
