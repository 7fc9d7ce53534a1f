import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { browser } from '#server/testing/people.ts';
import { createTestPerson } from '#server/testing/test-person.ts';
import { workspace } from '#server/testing/workspace.ts';
import { asMember, tokenMailedTo } from './members.fixture.ts';

await testDatabase();

async function invitedBy(email: string, input: Record<string, unknown> = {}) {
  const w = await workspace();
  const owner = await asMember(w.member('owner'));
  const invitation = await made(owner, 'team.invite', { email, role: 'editor', ...input });
  return { w, owner, invitation, token: await tokenMailedTo(email) };
}
const memberships = (tenant_id: string) => db().memberships.findMany({ where: { tenant_id, removed_at: null, role: { not: 'owner' } } });

test('an existing account joins with the role and flag of the invitation, once, and the mail with the link is stored sealed', async () => {
  const person = await createTestPerson({ signedIn: true });
  const { w, token } = await invitedBy(person.email, { reveal_secrets: true });
  const view = (await person.b.get(`/auth/invitations/${token}`)).body as Record<string, unknown>;
  assert.deepEqual([view.state, view.role, view.has_account], ['open', 'editor', true]);
  const stored = await db().mails.findFirstOrThrow({ where: { recipient: person.email, kind: 'invitation' } });
  assert.ok(stored.sealed && !stored.text.includes(token));
  const row = await db().invitations.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
  assert.equal(Buffer.from(row.token_digest).length, 32);
  const joined = await person.b.post(`/auth/invitations/${token}/accept`);
  assert.equal(joined.status, 200, joined.text);
  const [member] = await memberships(w.tenant.id);
  assert.deepEqual([member?.role, member?.reveal_secrets, member?.source], ['editor', true, 'invite']);
  assert.equal((await person.b.post(`/auth/invitations/${token}/accept`)).status, 409);
  const { details } = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: w.tenant.id, action: 'create', resource_type: 'member' },
  });
  assert.equal((details as { via: string }).via, 'invitation');
});

test('the wrong person is refused with the next step, and the link stays good for the right one', async () => {
  const [right, wrong] = [await createTestPerson({ signedIn: true }), await createTestPerson({ signedIn: true })];
  const { w, token } = await invitedBy(right.email);
  const refused = await wrong.b.post(`/auth/invitations/${token}/accept`);
  assert.deepEqual([refused.status, refused.body.code], [403, 'forbidden']);
  assert.match(String(refused.body.message), /Sign out/);
  assert.equal((await memberships(w.tenant.id)).length, 0);
  assert.equal((await right.b.post(`/auth/invitations/${token}/accept`)).status, 200);
});

test('of two who accept at once one joins; after a withdrawal, a replacement or its end nobody does', async () => {
  const person = await createTestPerson({ signedIn: true });
  const first = await invitedBy(person.email);
  const answers = await Promise.all([1, 2, 3, 4].map(() => person.b.post(`/auth/invitations/${first.token}/accept`)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  assert.equal((await memberships(first.w.tenant.id)).length, 1);

  const withdrawn = await invitedBy(person.email);
  await made(withdrawn.owner, 'team.revoke_invitation', { id: withdrawn.invitation.id });
  assert.equal((await person.b.post(`/auth/invitations/${withdrawn.token}/accept`)).status, 409);

  const resent = await invitedBy(person.email);
  await made(resent.owner, 'team.resend_invitation', { id: resent.invitation.id });
  assert.equal((await person.b.post(`/auth/invitations/${resent.token}/accept`)).status, 404, 'a newer mail replaced it');
  const newest = await tokenMailedTo(person.email);
  await made(resent.owner, 'team.invite', { email: person.email, role: 'viewer' });
  assert.equal((await person.b.post(`/auth/invitations/${newest}/accept`)).status, 409, 'a newer invitation replaced it');
  const last = await tokenMailedTo(person.email);
  await db().invitations.updateMany({ where: { tenant_id: resent.w.tenant.id }, data: { expires_at: new Date(Date.now() - 1000) } });
  const expired = await person.b.post(`/auth/invitations/${last}/accept`);
  assert.deepEqual([expired.status, /expired/.test(String(expired.body.message))], [409, true]);
  assert.equal((await memberships(resent.w.tenant.id)).length, 0);
});

test('somebody new signs up through the invitation: verified, signed in and in the workspace; an existing account must sign in', async () => {
  const email = `new-${newId()}@example.test`;
  const { w, token } = await invitedBy(email);
  const b = browser();
  assert.equal((await b.post(`/auth/invitations/${token}/accept`)).status, 401);
  const answer = await b.post(`/auth/invitations/${token}/sign-up`, { full_name: 'New Colleague' });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.redirect_to, `/${w.tenant.slug}/test`);
  const me = (await b.load()).body as unknown as {
    user: { email: string; email_verified_at: string | null };
    workspaces: { slug: string }[];
  };
  assert.deepEqual([me.user.email, me.workspaces[0]?.slug], [email, w.tenant.slug]);
  assert.ok(me.user.email_verified_at);
  const again = await invitedBy(email);
  const refused = await browser().post(`/auth/invitations/${again.token}/sign-up`, { full_name: 'Somebody Else' });
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict']);
});

test('a member is not invited again, and a session bound to another workspace does not join', async () => {
  const person = await createTestPerson({ signedIn: true });
  const { owner, token } = await invitedBy(person.email);
  await db().sessions.updateMany({ where: { user: { email: person.email } }, data: { scope_tenant_id: person.w.tenant.id } });
  assert.equal((await person.b.post(`/auth/invitations/${token}/accept`)).body.code, 'session_scope_mismatch');
  await db().sessions.updateMany({ where: { user: { email: person.email } }, data: { scope_tenant_id: null } });
  assert.equal((await person.b.post(`/auth/invitations/${token}/accept`)).status, 200);
  await assert.rejects(made(owner, 'team.invite', { email: person.email, role: 'viewer' }), { type: 'conflict' });
  assert.ok((await mailsTo(person.email)).length > 0);
});
