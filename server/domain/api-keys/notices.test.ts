import assert from 'node:assert/strict';
import test from 'node:test';
import { addMembership, createUser } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { sweepKind } from '#server/testing/leases.ts';
import { confirming } from '#server/testing/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import * as keys from './service.ts';

await ownDatabase();
const DAY = 24 * 3_600_000;

async function person(w: Workspace, role: 'owner' | 'admin', extra: { removed?: boolean; disabled?: boolean } = {}): Promise<string> {
  const email = `${role}-${newId()}@example.test`;
  const now = new Date();
  await db().$transaction(async (tx) => {
    const user = await createUser(tx, { email, full_name: role, password_hash: null, email_verified: true, now });
    const { id } = await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role, source: 'invite', now });
    if (extra.removed) await tx.memberships.update({ where: { id }, data: { removed_at: now } });
    if (extra.disabled) await tx.users.update({ where: { id: user.id }, data: { disabled_at: now } });
  });
  return email;
}

async function mailsTo(email: string) {
  await backgroundSettled();
  return db().mails.findMany({ where: { recipient: email }, orderBy: { created_at: 'asc' } });
}

test('the Owners are told of a new access key and of any key made by a key, in words that name it and never show it', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  const [owner, second, admin, foreign, removed, disabled] = await Promise.all([
    person(w, 'owner'),
    person(w, 'owner'),
    person(w, 'admin'),
    person(other, 'owner'),
    person(w, 'owner', { removed: true }),
    person(w, 'owner', { disabled: true }),
  ]);
  const access = await keys.createApiKey(await confirming(w.member('owner'), 'api_key.create', 'capability.grant'), {
    name: 'Deploy <b>',
    key_type: 'access_key',
  });
  await keys.createApiKey(await confirming(w.member('owner'), 'capability.grant', 'api_key.create'), {
    name: 'by a person',
    key_type: 'standard',
  });
  const maker = await w.key('test');
  const made = await call('POST', '/api-keys', { key: maker.text, body: { name: 'by a key' } });
  assert.equal(made.status, 201);
  for (const to of [owner, second]) {
    const mails = await mailsTo(to);
    assert.deepEqual(
      mails.map((m) => m.kind),
      ['api_key_made', 'api_key_made'],
    );
    assert.match(mails[0]!.text, new RegExp(access.key_id));
    assert.match(mails[1]!.text, /by another API key/);
    assert.match(mails[1]!.text, new RegExp(`/${w.tenant.slug}/test/api-keys`));
    for (const m of mails)
      for (const secret of [access.api_key, made.body.data.api_key, maker.text]) assert.ok(!`${m.text}${m.html}`.includes(secret));
    assert.doesNotMatch(mails[0]!.html ?? '', /<b>/);
  }
  for (const to of [admin, foreign, removed, disabled]) assert.deepEqual(await mailsTo(to), []);
});

test('a rotated access key is told of, and a key that was refused leaves no mail', async () => {
  const w = await workspace();
  const owner = await person(w, 'owner');
  const stored = await w.key('live', 'Key - Editor', { key_type: 'access_key' });
  await assert.rejects(keys.rotateApiKey({ ...w.member('owner'), plan: 'pro' }, { id: stored.row.id, revoke_old_after_sec: null }), {
    type: 'plan_feature',
  });
  assert.equal((await mailsTo(owner)).length, 0);
  await keys.rotateApiKey(await confirming(w.member('owner'), 'capability.grant'), { id: stored.row.id, revoke_old_after_sec: null });
  assert.equal((await mailsTo(owner)).length, 1);
});

test('a key in a loop does not fill the mailbox, and every key is in the audit log all the same', async () => {
  const w = await workspace();
  const owner = await person(w, 'owner');
  for (let i = 0; i < 24; i++) await keys.createApiKey(w.live, { name: `k${i}`, key_type: 'standard' });
  assert.equal((await mailsTo(owner)).length, 20);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id, resource_type: 'api_key', action: 'create' } }), 24);
});

test('the owner of an access key hears 14 and 3 days before its end and at its end, each once; a moved end starts over', async () => {
  const w = await workspace();
  const owner = await person(w, 'owner');
  const now = Date.now();
  const { id } = await keys.createApiKey(await confirming(w.member('owner'), 'api_key.create', 'capability.grant'), {
    name: 'ending',
    key_type: 'access_key',
    expires_at: new Date(now + 20 * DAY).toISOString(),
  });
  const at = async (days: number) => {
    await sweepKind('api_key', new Date(now + days * DAY));
    return (await mailsTo(owner)).filter((m) => m.kind === 'api_key_ending').length;
  };
  assert.equal(await at(5), 0);
  assert.equal(await at(6.1), 1);
  assert.equal(await at(7), 1, 'once');
  assert.equal(await at(17.5), 2);
  assert.equal(await at(19), 2);
  await keys.updateApiKey(await confirming(w.member('owner'), 'protection.loosen'), {
    id,
    expires_at: new Date(now + 40 * DAY).toISOString(),
  });
  assert.equal(await at(21), 2);
  assert.equal(await at(38), 3, 'the run in between was missed: one mail, the nearer one');
  assert.equal(await at(40.1), 4);
  assert.equal(await at(41), 4);
  const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, action: 'disable', resource_id: id } });
  assert.equal((entry.details as { reason: string }).reason, 'expired');
  assert.equal((await mailsTo(owner)).at(-1)?.subject, `An API key in ${w.tenant.name} has expired`);
});

test('a workspace reaches the Owners of no other workspace, whatever it asks the database', async () => {
  const [w, other] = await Promise.all([workspace(), workspace()]);
  await person(other, 'owner');
  const { read } = await import('#server/kernel/database.ts');
  await assert.rejects(
    read(w.live, (tx) => tx.$queryRaw`select mail_roles(${other.tenant.id}::uuid, '{owner}', 'k', 's', 't', 'h', now())::text`),
    /another workspace/,
  );
  await assert.rejects(
    read(w.live, (tx) => tx.$queryRaw`select 1 from mails`),
    /permission denied/,
  );
});
