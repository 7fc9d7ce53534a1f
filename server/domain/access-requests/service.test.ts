import assert from 'node:assert/strict';
import test from 'node:test';
import { readAuditEntries } from '#server/domain/notifications/audit-feed.ts';
import { member } from '#server/domain/notifications/members.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';

await testDatabase();

const asked = { wants: 'editor', reason: 'To mend the payments route' } as const;

test('a request lands in the inbox of Owners and Admins; approved, it gives the role, and whoever asked is told', async () => {
  const w = await workspace();
  const [owner, admin, viewer, other] = [
    await member(w, 'owner'),
    await member(w, 'admin'),
    await member(w, 'viewer'),
    await member(w, 'viewer'),
  ];
  const request = await made(viewer.ctx(), 'access_requests.create', asked);
  await assert.rejects(made(viewer.ctx(), 'access_requests.create', asked), { type: 'conflict' });
  assert.deepEqual(
    [(await made(other.ctx(), 'access_requests.list')).length, (await made(admin.ctx(), 'access_requests.list')).length],
    [0, 1],
  );
  await assert.rejects(made(viewer.ctx(), 'access_requests.decide', { id: request.id, approve: true }), { type: 'role_denied' });
  const titles = async (who: typeof owner) => (await made(who.ctx(), 'notifications.list', {})).map((one: { title: string }) => one.title);
  const told = (who: typeof owner, title: string) =>
    until(async () => {
      await readAuditEntries(db(), new Date());
      return (await titles(who)).includes(title);
    }, title);
  for (const who of [owner, admin]) await told(who, `${viewer.email} asks for the Editor role`);
  const decided = await made(admin.ctx(), 'access_requests.decide', { id: request.id, approve: true });
  assert.deepEqual([decided.state, decided.decided_by], ['approved', admin.email]);
  assert.equal((await db().memberships.findFirstOrThrow({ where: { user_id: viewer.id } })).role, 'editor');
  await told(viewer, 'Your request was approved');
  await assert.rejects(made(owner.ctx(), 'access_requests.decide', { id: request.id, approve: false }), { type: 'conflict' });
});

test('a denied request changes nothing, and the next may be made; a decision is all or nothing', async () => {
  const w = await workspace();
  const [admin, viewer, gone] = [await member(w, 'admin'), await member(w, 'viewer'), await member(w, 'viewer')];
  const first = await made(viewer.ctx(), 'access_requests.create', asked);
  await made(admin.ctx(), 'access_requests.decide', { id: first.id, approve: false });
  assert.equal((await db().memberships.findFirstOrThrow({ where: { user_id: viewer.id } })).role, 'viewer');
  await made(viewer.ctx(), 'access_requests.create', asked);
  const lost = await made(gone.ctx(), 'access_requests.create', asked);
  await db().memberships.updateMany({ where: { user_id: gone.id }, data: { removed_at: new Date() } });
  await assert.rejects(made(admin.ctx(), 'access_requests.decide', { id: lost.id, approve: true }), { type: 'conflict' });
  assert.equal((await db().access_requests.findFirstOrThrow({ where: { id: lost.id } })).state, 'open');
});

test('nobody asks for what they have, and revealing secrets takes an Editor', async () => {
  const w = await workspace();
  const [owner, editor, viewer] = [await member(w, 'owner'), await member(w, 'editor'), await member(w, 'viewer')];
  for (const [who, wants, type] of [
    [owner, 'editor', 'conflict'],
    [owner, 'reveal_secrets', 'conflict'],
    [editor, 'viewer', 'conflict'],
    [viewer, 'reveal_secrets', 'role_denied'],
  ] as const)
    await assert.rejects(made(who.ctx(), 'access_requests.create', { wants, reason: 'x' }), { type });
  const request = await made(editor.ctx(), 'access_requests.create', { wants: 'reveal_secrets', reason: 'x' });
  await made(owner.ctx(), 'access_requests.decide', { id: request.id, approve: true });
  assert.equal((await db().memberships.findFirstOrThrow({ where: { user_id: editor.id } })).reveal_secrets, true);
});
