import assert from 'node:assert/strict';
import test from 'node:test';
import { isStillMember, sessionOf } from '#server/domain/people/sessions.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

const MINUTE = 60_000;
const after = (minutes: number) => new Date(Date.now() + minutes * MINUTE);

async function owner() {
  const [w, person] = [await workspace(), await dashboardPerson()];
  await person.join(w.tenant.id, 'owner');
  const set = (body: Record<string, unknown>, ip?: string) => person.call('PATCH /admin/settings', body, ip ? { ip } : {});
  return { w, ...person, set };
}

test('a setting is stored only where it differs from its default, and each change is in the audit log', async () => {
  const { w, set, call } = await owner();
  const changed = await set({ session_max_hours: 24, name: 'Renamed' });
  assert.deepEqual([changed.status, changed.body.session_max_hours, changed.body.name], [200, 24, 'Renamed']);
  assert.deepEqual((await db().tenants.findUniqueOrThrow({ where: { id: w.tenant.id } })).settings, { session_max_hours: 24 });
  assert.equal((await set({ session_max_hours: 24 })).status, 200);
  assert.equal((await set({ session_max_hours: null })).body.session_max_hours, null);
  assert.deepEqual((await db().tenants.findUniqueOrThrow({ where: { id: w.tenant.id } })).settings, {});
  assert.equal((await call('GET /admin/settings')).body.name, 'Renamed');
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'update', resource_type: 'tenant' } });
  assert.equal(entries.length, 2, 'a change that changes nothing is not recorded');
});

test('a setting that no part of this release acts on is refused, and nothing is saved', async () => {
  const { w, set } = await owner();
  for (const field of ['support_access', 'capture_ephemeral_responses', 'nonsense']) {
    const answer = await set({ name: 'Not this', [field]: true });
    assert.deepEqual([answer.status, answer.body.code, answer.body.message], [400, 'validation_error', `Unknown field ${field}`]);
  }
  assert.equal((await db().tenants.findUniqueOrThrow({ where: { id: w.tenant.id } })).name, w.tenant.name);
});

test('a session ends at the shortest lifetime that a workspace of the person sets, and one that was idle too long is not revived by a retry', async () => {
  const { w, set, session, user } = await owner();
  const other = await workspace();
  const live = async (at: Date) => (await sessionOf(session.token, at)) !== null;
  assert.ok(await live(after(60)), 'without a cap');
  await set({ session_idle_minutes: 30 });
  await db().sessions.updateMany({ where: { user_id: user.id }, data: { last_seen_at: new Date() } });
  assert.deepEqual([await live(after(31)), await live(after(31)), await live(after(29))], [false, false, true]);
  await set({ session_idle_minutes: null, session_max_hours: 2 });
  const member = { user_id: user.id, session_id: session.id, tenant_id: w.tenant.id, role: 'owner' };
  assert.deepEqual([await isStillMember(member, after(119)), await isStillMember(member, after(121))], [true, false]);
  assert.deepEqual([await live(after(119)), await live(after(121))], [true, false]);
  await db().sessions.updateMany({ where: { user_id: user.id }, data: { scope_tenant_id: other.tenant.id } });
  assert.ok(await live(after(121)), 'a session that is bound to another workspace cannot act here');
});

test('an address list shuts out every other address on the next call, and cannot be saved from outside of it', async () => {
  const { w, set, call } = await owner();
  const locked = await set({ dashboard_ip_allowlist: ['203.0.113.0/24'] });
  assert.deepEqual([locked.status, locked.body.code], [400, 'validation_error']);
  assert.match(locked.body.message, /^dashboard_ip_allowlist: must include your own address \(127\.0\.0\.1\)/);
  const saved = await set({ dashboard_ip_allowlist: ['203.0.113.9/24', '127.0.0.1', '127.0.0.1'] });
  assert.deepEqual(saved.body.dashboard_ip_allowlist, ['203.0.113.0/24', '127.0.0.1']);
  assert.equal((await call('GET /admin/settings', undefined, { ip: '203.0.113.77' })).status, 200);
  for (const http of ['GET /admin/settings', 'GET /admin/plan'] as const) {
    const refused = await call(http, undefined, { ip: '198.51.100.1' });
    assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden']);
  }
  assert.equal((await set({ dashboard_ip_allowlist: [] }, '198.51.100.1')).status, 403, 'not from outside either');
  const elsewhere = await workspace();
  assert.equal(
    (await call('GET /admin/settings', undefined, { workspace: elsewhere.tenant.id, ip: '198.51.100.1' })).body.code,
    'not_a_member',
  );
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'update', resource_type: 'tenant' } }), 1);
});

test('what payloads are kept by default is a setting like any other, off unless somebody turned it on', async () => {
  const { w, set, call } = await owner();
  assert.equal((await call('GET /admin/settings')).body.log_payloads_default, 'off');
  assert.equal((await set({ log_payloads_default: 'errors' })).body.log_payloads_default, 'errors');
  assert.equal((await set({ log_payloads_default: 'some' })).status, 400);
  const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, action: 'update', resource_type: 'tenant' } });
  assert.deepEqual((entry.details as { changes: unknown }).changes, [{ field: 'log_payloads_default', from: 'off', to: 'errors' }]);
});

test('API keys stop working on the Management API once tokens are required, and work again when they are not', async () => {
  const { w, set } = await owner();
  const { text } = await w.key();
  const answered = async () => (await call('GET', '/routes', { key: text })).body.error?.type;
  assert.equal(await answered(), undefined);
  assert.equal((await set({ legacy_key_auth: 'disabled' })).body.legacy_key_auth, 'disabled');
  assert.equal(await answered(), 'use_oauth');
  assert.equal((await set({ legacy_key_auth: 'sometimes' })).status, 400);
  assert.equal((await set({ legacy_key_auth: 'enabled' })).body.legacy_key_auth, 'enabled');
  assert.equal(await answered(), undefined);
  assert.equal((await set({ dpop_nonce_required: true })).body.dpop_nonce_required, true);
});
