import assert from 'node:assert/strict';
import test from 'node:test';
import { perform } from '#server/api/perform.ts';
import { isStillMember } from '#server/domain/people/service.ts';
import { memberCapabilities } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made, operationById } from '#server/testing/factories.ts';
import { enrolled, verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { asMember, colleague } from './members.fixture.ts';

await testDatabase();

const run = (ctx: Ctx, id: string, input: Record<string, unknown>) => perform(operationById(id), { ...ctx, warnings: [] }, input);
const owner = async (w: Awaited<ReturnType<typeof workspace>>) => asMember(w.member('owner'));
const entries = (tenant_id: string, action: string, resource_type: string) =>
  db().audit_logs.findMany({ where: { tenant_id, action, resource_type } });
const refusal = (type: string) => (error: unknown) => {
  assert.equal((error as { type?: string }).type, type, String(error));
  return true;
};

test('the last Owner cannot leave, be removed or be demoted, and can after a transfer', async () => {
  const w = await workspace();
  const only = await owner(w);
  const id = only.actor.id;
  await assert.rejects(run(only, 'team.delete', { id }), refusal('last_owner'));
  const heir = await colleague(only);
  await verified(only, 'tenant.transfer');
  await run(only, 'team.transfer_ownership', { id: heir.id });
  const roles = await db().memberships.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { role: 'asc' } });
  assert.deepEqual(
    roles.map(({ user_id, role }) => [user_id, role]),
    [
      [id, 'admin'],
      [heir.id, 'owner'],
    ],
  );
  assert.equal((await entries(w.tenant.id, 'transfer', 'tenant')).length, 1);
  const asAdmin = {
    ...w.member('admin'),
    actor: { ...only.actor, role: 'admin', capabilities: memberCapabilities('admin', { reveal_secrets: false }) },
  };
  await run(asAdmin as Ctx, 'team.delete', { id });
  assert.equal(await db().memberships.count({ where: { tenant_id: w.tenant.id, removed_at: null } }), 1);
});

for (const [name, id, input] of [
  ['remove', 'team.delete', {}],
  ['demote', 'team.update', { role: 'viewer' }],
] as const)
  test(`of two Owners who ${name} each other at once one is refused: a workspace keeps an Owner`, async () => {
    for (let round = 0; round < 3; round++) {
      const w = await workspace();
      const [a, b] = [await owner(w), await owner(w)];
      const results = await Promise.allSettled([run(a, id, { ...input, id: b.actor.id }), run(b, id, { ...input, id: a.actor.id })]);
      const lost = results.filter((one) => one.status === 'rejected');
      assert.equal(lost.length, 1);
      refusal('last_owner')((lost[0] as PromiseRejectedResult).reason);
      assert.equal(await db().memberships.count({ where: { tenant_id: w.tenant.id, removed_at: null, role: 'owner' } }), 1);
    }
  });

test('nobody changes their own role, Admins manage those below them, and granting Admin takes a step-up', async () => {
  const w = await workspace();
  const [boss, admin] = [await owner(w), await asMember(w.member('admin'))];
  const [editor, peer] = [await colleague(w.live, 'editor'), await colleague(w.live, 'admin')];
  await assert.rejects(run(boss, 'team.update', { id: boss.actor.id, role: 'viewer' }), refusal('role_denied'));
  await assert.rejects(run(admin, 'team.update', { id: peer.id, role: 'viewer' }), refusal('role_denied'));
  await assert.rejects(run(admin, 'team.delete', { id: peer.id }), refusal('role_denied'));
  await assert.rejects(run(admin, 'team.update', { id: editor.id, migration_reviewer: false }), refusal('role_denied'));
  await verified(admin, 'member.role');
  await assert.rejects(run(admin, 'team.update', { id: editor.id, role: 'admin' }), refusal('role_denied'));
  await enrolled(String((await asMember(boss)).actor.id));
  await assert.rejects(run(boss, 'team.update', { id: editor.id, role: 'admin' }), refusal('step_up_required'));
  await verified(boss, 'member.role');
  assert.equal(((await run(boss, 'team.update', { id: editor.id, role: 'admin' })).output as { role: string }).role, 'admin');
  const viewer = await asMember(w.member('viewer'));
  await assert.rejects(run(viewer, 'team.delete', { id: editor.id }), refusal('role_denied'));
  await run(viewer, 'team.delete', { id: viewer.actor.id });
});

test('the reveal flag is an Editor’s alone, and goes with the role', async () => {
  const w = await workspace();
  const [boss, person] = [await owner(w), await colleague(w.live, 'viewer')];
  await assert.rejects(run(boss, 'team.update', { id: person.id, reveal_secrets: true }), refusal('validation_error'));
  const editor = (await run(boss, 'team.update', { id: person.id, role: 'editor', reveal_secrets: true })).output as Record<
    string,
    unknown
  >;
  assert.equal(editor.reveal_secrets, true);
  const viewer = (await run(boss, 'team.update', { id: person.id, role: 'viewer' })).output as Record<string, unknown>;
  assert.equal(viewer.reveal_secrets, false);
  const back = (await run(boss, 'team.update', { id: person.id, role: 'editor' })).output as Record<string, unknown>;
  assert.equal(back.reveal_secrets, false, 'it has to be given again');
});

test('a role that changed mid-session applies to the next request, and a live view of before ends', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const person = await dashboardPerson();
  await person.join(w.tenant.id, 'editor');
  const member = { user_id: person.user.id, session_id: person.session.id, tenant_id: w.tenant.id, role: 'editor' };
  assert.ok(await isStillMember(member, new Date()));
  assert.equal((await person.call('GET /admin/members')).status, 200);
  await run(boss, 'team.update', { id: person.user.id, role: 'member' });
  const denied = await person.call('GET /admin/members');
  assert.deepEqual([denied.status, denied.body.code], [403, 'role_denied']);
  assert.equal(await isStillMember(member, new Date()), false);
});

test('removal ends session access, step-ups, private views and, when asked, API keys at once; the rest stays for review', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const person = await dashboardPerson();
  await person.join(w.tenant.id, 'editor');
  const other = await workspace();
  await person.join(other.tenant.id, 'viewer');
  const { user, session } = person;
  await db().sessions.update({ where: { id: session.id }, data: { active_tenant_id: w.tenant.id } });
  await verified({ user_id: user.id, session_id: session.id }, 'member.role');
  const created_by = { kind: 'user', id: user.id, label: user.email };
  const keys = {
    live: await w.key('live', 'Key - Read-only', { created_by, made_by: user.id }),
    test: await w.key('test', 'Key - Read-only', { created_by, made_by: user.id }),
  };
  await db().saved_views.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: true, page: 'routes', name: 'v', query: '', owner_id: user.id, owner_label: 'P' },
  });
  assert.equal((await person.call('GET /admin/members')).status, 200);
  const impact = (await run(boss, 'team.impact', { id: user.id })).output as { sessions: number; made: { id: string }[] };
  assert.deepEqual([impact.sessions, impact.made.length], [1, 2]);

  const answer = (await run(boss, 'team.delete', { id: user.id, revoke_api_keys: true })).output as Record<string, never>;
  assert.deepEqual(answer.ended, { sessions: 1, saved_views: 1 });
  const gone = await person.call('GET /admin/members', undefined, { workspace: w.tenant.slug });
  assert.deepEqual([gone.status, gone.body.code], [403, 'not_a_member']);
  assert.equal((await person.call('GET /admin/members', undefined, { workspace: other.tenant.slug })).status, 200, 'elsewhere they go on');
  assert.equal(await db().step_up_verifications.count({ where: { user_id: user.id, consumed_at: null } }), 0);
  for (const space of ['live', 'test'] as const)
    assert.equal((await call('GET', '/account', { key: keys[space].text, space })).status, 401);
  assert.equal((await entries(w.tenant.id, 'revoke', 'api_key')).length, 2);
  const [entry] = await entries(w.tenant.id, 'delete', 'member');
  assert.equal((entry?.details as { by_self: boolean } | undefined)?.by_self, false);
});

test('a session bound to the workspace ends with the membership, and keys stay unless asked for', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const person = await dashboardPerson();
  await person.join(w.tenant.id, 'editor');
  await db().sessions.update({ where: { id: person.session.id }, data: { scope_tenant_id: w.tenant.id } });
  const key = await w.key('live', 'Key - Read-only', { made_by: person.user.id });
  const answer = (await run(boss, 'team.delete', { id: person.user.id })).output as { made: { id: string; revoked: boolean }[] };
  assert.deepEqual(
    answer.made.map(({ id, revoked }) => [id, revoked]),
    [[key.row.id, false]],
  );
  assert.equal((await person.call('GET /admin/members')).body.code, 'not_authenticated');
  assert.equal((await call('GET', '/account', { key: key.text })).status, 200);
});

test('the plan’s limit counts members and pending invitations: of ten at once those that fit pass', async () => {
  const w = await workspace({ plan: 'free' });
  const boss = { ...(await owner(w)), plan: 'free' as const };
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, i) => run(boss, 'team.invite', { email: `p${i}-${newId()}@example.test`, role: 'viewer' })),
  );
  const lost = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  assert.equal(results.length - lost.length, 2, 'three seats, one taken by the Owner');
  for (const reason of lost) refusal('plan_limit')(reason);
  assert.equal((lost[0] as { status: number }).status, 402);
  const { data } = { data: await made(boss, 'team.invitations') };
  await run(boss, 'team.revoke_invitation', { id: data[0].id });
  await run(boss, 'team.invite', { email: `again-${newId()}@example.test`, role: 'viewer' });
});

test('a second factor that the workspace requires is asked for everywhere but at enrolment', async () => {
  const w = await workspace();
  const [boss, admin] = [await owner(w), await asMember(w.member('admin'))];
  await assert.rejects(run(admin, 'account.update_settings', { require_mfa: true }), refusal('role_denied'));
  await assert.rejects(run(boss, 'account.update_settings', { require_mfa: true }), refusal('mfa_required'));
  await enrolled(String(boss.actor.id));
  await run(boss, 'account.update_settings', { require_mfa: true });
  const person = await dashboardPerson();
  await person.join(w.tenant.id, 'viewer');
  for (const http of ['GET /admin/members', 'GET /admin/settings', `DELETE /admin/members/${person.user.id}`] as const) {
    const { status, body } = await person.call(http, http.startsWith('GET') ? undefined : {});
    assert.deepEqual([status, body.code], [403, 'mfa_required'], http);
    assert.match(body.enroll_url, /\/me\/security$/);
  }
  await enrolled(person.user.id);
  assert.equal((await person.call('GET /admin/members')).status, 200);
});

test('an Owner signs a member out of this workspace alone', async () => {
  const w = await workspace();
  const boss = await owner(w);
  const [here, there] = [await dashboardPerson(), await dashboardPerson()];
  await here.join(w.tenant.id, 'viewer');
  await there.join(w.tenant.id, 'viewer');
  await there.join((await workspace()).tenant.id, 'viewer');
  await db().sessions.update({ where: { id: here.session.id }, data: { active_tenant_id: w.tenant.id } });
  assert.equal((await made(boss, 'team.end_sessions', { id: here.user.id })).revoked, 1);
  assert.equal((await made(boss, 'team.end_sessions', { id: there.user.id })).revoked, 0);
  assert.equal((await here.call('GET /admin/members')).body.code, 'not_authenticated');
});
