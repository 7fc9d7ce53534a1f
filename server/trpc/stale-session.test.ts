import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { dashboardPerson } from '#server/testing/dashboard.ts';
import { testDatabase } from '#server/testing/database.ts';
import { ageSession, enrolled, verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

/** An Owner whose session is five days old, and a call with it. */
async function staleOwner() {
  const [w, person] = [await workspace(), await dashboardPerson()];
  await person.join(w.tenant.id, 'owner');
  await ageSession(person.session.id);
  return { w, ...person, who: { user_id: person.user.id, session_id: person.session.id } };
}
const settingsOf = async (id: string) => (await db().tenants.findUniqueOrThrow({ where: { id } })).settings;

test('a session of five days loosens nothing and grants nothing without a factor, in Live and Test', async () => {
  const { w, call, user } = await staleOwner();
  assert.equal(
    (await call('PATCH /admin/settings', { details_withheld: true, cli_login_enabled: false, session_max_hours: 240 })).status,
    200,
  );
  const kept = await settingsOf(w.tenant.id);
  for (const body of [
    { details_withheld: false },
    { cli_login_enabled: true },
    { session_max_hours: null },
    { escrow_never_reveal: false },
  ]) {
    const answer = await call('PATCH /admin/settings', body);
    assert.deepEqual([answer.status, answer.body.error, answer.body.allowed_methods], [403, 'step_up_required', ['sign_in']], answer.text);
  }
  for (const space of ['live', 'test'] as const) {
    const answer = await call('POST /admin/agents', { name: 'bridge', mode: 'intercept' }, { space });
    assert.deepEqual([answer.status, answer.body.error, answer.body.allowed_methods], [403, 'step_up_required', ['sign_in']], answer.text);
  }
  const invited = await call('POST /admin/invitations', { email: 'a@example.test', role: 'viewer' });
  assert.deepEqual(
    [invited.status, invited.body.error, invited.body.allowed_methods],
    [403, 'step_up_required', ['sign_in']],
    invited.text,
  );
  await enrolled(user.id);
  for (const [http, body, scope] of [
    ['PATCH /admin/settings', { details_withheld: false }, 'protection.loosen'],
    ['POST /admin/invitations', { email: 'a@example.test', role: 'editor', reveal_secrets: true }, 'capability.grant'],
    ['POST /admin/invitations', { email: 'a@example.test', role: 'viewer' }, 'capability.grant'],
  ] as const) {
    const answer = await call(http, body);
    const { error, requires_step_up, action_scope } = answer.body;
    assert.deepEqual([answer.status, error, requires_step_up, action_scope], [403, 'step_up_required', true, scope], answer.text);
  }
  assert.deepEqual(await settingsOf(w.tenant.id), kept);
  assert.deepEqual(
    [await db().agents.count({ where: { tenant_id: w.tenant.id } }), await db().invitations.count({ where: { tenant_id: w.tenant.id } })],
    [0, 0],
  );
});

test('with a fresh factor one call passes, and its audit entry says how it was confirmed', async () => {
  const { w, call, who } = await staleOwner();
  await call('PATCH /admin/settings', { details_withheld: true });
  await verified(who, 'protection.loosen');
  assert.equal((await call('PATCH /admin/settings', { details_withheld: false })).status, 200);
  const [entry] = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_type: 'tenant' },
    orderBy: { seq: 'desc' },
    take: 1,
  });
  assert.equal((entry?.details as { step_up?: { scope: string } } | undefined)?.step_up?.scope, 'protection.loosen');
  assert.equal(
    (await call('PATCH /admin/settings', { escrow_never_reveal: false })).body.error,
    'step_up_required',
    'one confirmation, one call',
  );
});
