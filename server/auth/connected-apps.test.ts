import assert from 'node:assert/strict';
import test from 'node:test';
import { allow, headersOf, member, pageOf, redeem, set } from '#server/auth/logins.fixture.ts';
import { personOf } from '#server/auth/person.ts';
import { families } from '#server/domain/families.ts';
import { memberCtx } from '#server/domain/people/service.ts';
import { removeMember } from '#server/domain/team/removal.ts';
import { post } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import type { TestPerson } from '#server/testing/test-person.ts';

await testDatabase();

type Person = Pick<TestPerson, 'b'>;
const appsOf = async ({ b }: Person) =>
  ((await b.get('/auth/connected-apps')).body as unknown as { apps: { id: string; client: { name: string } }[] }).apps;

/** A login of the person, with what its client holds. */
async function loggedIn(setting: Awaited<ReturnType<typeof set>>, person: Person) {
  const { handle } = await setting.authorize({ scope: 'routes:read' });
  const { code } = await allow(person.b, handle);
  const { body } = await redeem(setting.client.client_id, String(code));
  const refreshed = () =>
    post('/oauth/token', { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: setting.client.client_id });
  return { body, refreshed };
}

test('a person sees their own logins alone, and ends one with its tokens and its consent', async () => {
  const setting = await set();
  const { who, client } = setting;
  const { body, refreshed } = await loggedIn(setting, who);
  const [app, ...more] = await appsOf(who);
  assert.deepEqual([app?.client.name, more.length], ['Robot', 0]);
  const other = await member(who, 'admin');
  assert.deepEqual(await appsOf(other), []);
  await other.b.load();
  assert.equal((await other.b.call('DELETE', `/auth/connected-apps/${app?.id}`)).status, 404);
  assert.equal((await who.b.call('DELETE', `/auth/connected-apps/${app?.id}`)).status, 200);
  assert.equal((await who.b.call('DELETE', `/auth/connected-apps/${app?.id}`)).status, 404);
  assert.deepEqual(await appsOf(who), []);
  assert.equal((await refreshed()).body.error, 'invalid_grant');
  assert.equal(await db().oauth_access.count({ where: { client_row_id: client.row.id, revoked_at: null } }), 0);
  assert.ok(body.access_token);
});

test('what applications hold in the name of a member ends with the membership', async () => {
  const setting = await set();
  const { who, client } = setting;
  const leaving = await member(who, 'viewer');
  const { refreshed } = await loggedIn(setting, leaving);
  const open = await setting.authorize({ scope: 'routes:read' });
  const { code } = await allow(leaving.b, open.handle);
  const person = await personOf(headersOf(leaving.b));
  assert.ok(person);
  const call = { person, workspace: who.w.tenant.slug, space: 'live', request_id: '', ip: null, user_agent: null } as const;
  const answer = await removeMember(await memberCtx(call), { id: leaving.id, revoke: undefined, revoke_api_keys: false }, families);
  assert.equal(answer.ended.oauth_grants, 1);
  assert.equal((await refreshed()).body.error, 'invalid_grant');
  assert.equal((await redeem(client.client_id, String(code))).body.error, 'invalid_grant');
  assert.equal(await db().oauth_access.count({ where: { client_row_id: client.row.id, revoked_at: null } }), 0);
  const again = await pageOf(leaving.b, (await setting.authorize()).handle);
  assert.ok(again.state === 'ask' && again.view.chosen === null);
});

test('a refresh token that is used twice is told to its person and the Owners, once', async () => {
  const setting = await set();
  const { who } = setting;
  const editor = await member(who, 'editor');
  const { refreshed } = await loggedIn(setting, editor);
  assert.equal((await refreshed()).status, 200);
  assert.equal((await refreshed()).body.error, 'invalid_grant');
  assert.equal((await refreshed()).body.error, 'invalid_grant');
  for (const email of [who.email, editor.email]) {
    const mails = (await mailsTo(email)).filter(({ kind }) => kind === 'oauth_grant_stolen');
    assert.equal(mails.length, 1, email);
    assert.match(mails[0]?.text ?? '', /was used a second time/);
  }
  assert.deepEqual(await appsOf(editor), []);
});
