import assert from 'node:assert/strict';
import test from 'node:test';
import { acceptPassword, addMembership, createUser } from '#server/domain/people/service.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { browser } from '#server/testing/people.ts';
import { quickPasswords } from '#server/testing/quick-passwords.ts';
import { workspace } from '#server/testing/workspace.ts';
import { frameOf } from '#server/trpc/frame.ts';

await testDatabase();
quickPasswords();

const password = 'a quiet harbour at dusk';
const hash = await acceptPassword(password, 'somebody@example.test', 'password');
let count = 0;

async function signedIn(...tenants: string[]) {
  const email = `prefers${++count}@example.test`;
  const user = await db().$transaction(async (tx) => {
    const row = await createUser(tx, { email, full_name: 'P', password_hash: hash, email_verified: true, now: new Date() });
    for (const tenant_id of tenants)
      await addMembership(tx, { tenant_id, user_id: row.id, role: 'viewer', source: 'signup', now: new Date() });
    return row;
  });
  const b = browser();
  /** In another browser. */
  const signIn = () => browser().post('/auth/login', { email, password });
  const token = String((await b.post('/auth/login', { email, password })).body.token);
  await b.load();
  const frame = async () => (await frameOf(new Headers({ authorization: `Bearer ${token}` })))!;
  const save = (preferences: object) => b.call('PATCH', '/auth/me', { preferences });
  return { ...b, id: user.id, frame, save, signIn };
}

test('preferences are kept per person, only what is named changes, and each change is audited', async () => {
  const w = await workspace();
  const [b, other] = [await signedIn(w.tenant.id), await signedIn(w.tenant.id)];
  assert.equal((await b.frame()).preferences.single_keys, true);
  // Where no mail leaves nobody is asked to prove an address.
  assert.equal((await b.frame()).email_verified, null);
  assert.equal((await b.save({ theme: 'dark' })).status, 200);
  const answer = await b.save({ single_keys: false, times: 'utc' });
  assert.deepEqual((answer.body.user as unknown as { preferences: object }).preferences, (await b.frame()).preferences);
  const { theme, single_keys, times } = (await b.frame()).preferences;
  assert.deepEqual([theme, single_keys, times], ['dark', false, 'utc']);
  assert.equal((await other.frame()).preferences.theme, null);
  const entries = await db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, resource_type: 'user', resource_id: b.id, action: 'update' },
  });
  assert.equal(entries.length, 2);
  assert.ok(entries.every(({ details }) => (details as { field?: string }).field === 'preferences'));
});

test('how the dashboard looks to somebody is noted where they are, their name everywhere, and what changes nothing nowhere', async () => {
  const [first, second] = [await workspace(), await workspace()];
  const b = await signedIn(first.tenant.id, second.tenant.id);
  const noted = async () =>
    (
      await db().audit_logs.findMany({ where: { resource_type: 'user', resource_id: b.id, action: 'update' }, orderBy: { seq: 'asc' } })
    ).map((e) => [e.tenant_id === first.tenant.id ? 'first' : 'second', (e.details as { field?: string }).field]);
  await b.save({ rail_folded: ['settings'] });
  await b.save({ rail_folded: ['settings'] });
  assert.deepEqual(await noted(), [['first', 'preferences']], 'the one joined first, as long as none was chosen');
  assert.equal((await b.call('POST', '/auth/workspaces/select', { tenant_id: second.tenant.id })).status, 200);
  await b.save({ rail_folded: [] });
  await b.call('PATCH', '/auth/me', { date_format: 'iso', locale: 'en-GB' });
  const here = [
    ['first', 'preferences'],
    ['second', 'preferences'],
    ['second', 'profile'],
  ];
  assert.deepEqual(await noted(), here);
  await b.call('PATCH', '/auth/me', { full_name: 'Another Name' });
  assert.deepEqual((await noted()).slice(3).sort(), [
    ['first', 'profile'],
    ['second', 'profile'],
  ]);
});

test('two changes at once both stay', async () => {
  const b = await signedIn((await workspace()).tenant.id);
  await Promise.all([b.save({ theme: 'dark' }), b.save({ density: 'compact' }), b.save({ home_page: 'logs' }), b.save({ times: 'utc' })]);
  const { theme, density, home_page, times } = (await b.frame()).preferences;
  assert.deepEqual([theme, density, home_page, times], ['dark', 'compact', 'logs', 'utc']);
});

test('nothing but a known preference is kept, and what an older release kept takes nothing with it', async () => {
  const b = await signedIn((await workspace()).tenant.id);
  for (const wrong of [{ theme: 'pink' }, { home_page: '//evil.test' }, { home_workspace_id: 'x' }, { unknown: 1 }, { single_keys: 'no' }])
    assert.equal((await b.save(wrong)).status, 400, JSON.stringify(wrong));
  await db().users.update({ where: { id: b.id }, data: { preferences: { theme: 'sepia', times: 'utc', gone: true } } });
  const { theme, times } = (await b.frame()).preferences;
  assert.deepEqual([theme, times], [null, 'utc']);
  assert.equal((await b.get('/auth/me')).status, 200);
});

test('up to six pages are pinned, each once; what another release pinned is left out and takes no other with it', async () => {
  const b = await signedIn((await workspace()).tenant.id);
  const six = ['routes', 'secrets', 'clients', 'logs', 'audit', 'api-keys'];
  assert.equal((await b.save({ pins: six, rail_order: ['observe', 'gateway'], rail_folded: ['settings'] })).status, 200);
  for (const wrong of [
    { pins: [...six, 'usage'] },
    { pins: ['logs', 'logs'] },
    { pins: ['home'] },
    { pins: 'logs' },
    { rail_order: ['observe', 'observe'] },
    { rail_folded: ['home'] },
    { home_hidden: ['../../etc/passwd'] },
    { home_order: [['calls']] },
    { changelog_seen: 'an entry that never was' },
  ])
    assert.equal((await b.save(wrong)).status, 400, JSON.stringify(wrong));
  const { pins, rail_order, rail_folded } = (await b.frame()).preferences;
  assert.deepEqual([pins, rail_order, rail_folded], [six, ['observe', 'gateway'], ['settings']]);
  await db().users.update({ where: { id: b.id }, data: { preferences: { pins: ['logs', 'No page', 7, 'routes'], home_order: null } } });
  const later = (await b.frame()).preferences;
  assert.deepEqual([later.pins, later.home_order], [['logs', 'routes'], []]);
});

test('the dashboard opens where the person chose, and never in a workspace they left', async () => {
  const [first, second] = [await workspace(), await workspace()];
  const b = await signedIn(first.tenant.id, second.tenant.id);
  assert.equal((await b.signIn()).body.redirect_to, `/${first.tenant.slug}/test`);
  const saved = await b.save({ home_workspace_id: second.tenant.id, home_space: 'live', home_page: 'logs' });
  assert.equal(saved.status, 200, saved.text);
  assert.equal((await b.signIn()).body.redirect_to, '/');
  assert.equal((await b.frame()).home, second.tenant.slug);
  await db().memberships.updateMany({ where: { user_id: b.id, tenant_id: second.tenant.id }, data: { removed_at: new Date() } });
  assert.equal((await b.frame()).home, null);
});
