import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { families } from '#server/domain/families.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyPersonOperation } from '#server/kernel/operation.ts';
import { makeClient, makeCode, redeem } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { browser } from '#server/testing/people.ts';
import { personRequest } from '#server/testing/suites/person-request.ts';
import { subjectOf } from '#server/testing/suites/subject.ts';
import { createTestPerson, type TestPerson } from '#server/testing/test-person.ts';

await testDatabase();

// A session that only the identity provider of one workspace vouched for reaches that workspace: 22 §3.3.

/** What such a session may call, and why it reaches nothing else. All other operations of a session are refused. */
const WITHIN: Readonly<Record<string, string>> = {
  'auth.logout': 'ends itself',
  'auth.me': 'reads the account, and of workspaces its own',
  'auth.me.update':
    'how the dashboard looks; name and photo only of somebody who is in no other workspace; company details of its own workspace',
  'auth.sessions.list': 'those bound to its workspace',
  'auth.sessions.delete-others': 'those bound to its workspace, and applications there',
  'auth.sessions.delete': 'one of those bound to its workspace',
  'auth.workspaces.list': 'its own',
  'auth.workspaces.select': 'its own',
  'auth.avatars.upload': 'an upload that nobody sees until it is used',
  'auth.avatars.get': 'those that its workspace shows',
  'account.deleted': 'its own',
  'account.restore': 'its own',
  'secrets.complete_oauth2': 'what the same session began',
  'mcp_servers.connect_page': 'servers of its workspace',
  'mcp_servers.callback': 'what the same session began',
  'auth.complete-onboarding': 'its own workspace; the name as in auth.me.update',
  'auth.starter-key': 'its own workspace',
  'connected-apps.list': 'those of its workspace',
  'connected-apps.delete': 'those of its workspace',
  'factors.passkeys.list': 'reads: the factors confirm in its workspace, too',
};
/** What proves the account itself, without which nothing changes. */
const PROVEN_BY: Readonly<Record<string, string>> = {
  'auth.password.change': 'the current password',
  'auth.email.change': 'the password or a second factor',
  'factors.totp.set-up': 'a second factor, or a mailed code',
  'factors.totp.enable': 'the setup, which was proven',
  'factors.totp.disable': 'a second factor',
  'factors.recovery-codes.replace': 'a second factor',
  'factors.step-up.code': 'a second factor',
  'factors.step-up.options': 'is a step of the next',
  'factors.step-up.passkey': 'a second factor',
  'factors.passkeys.challenge': 'is a step of the next: it mails the code',
  'factors.passkeys.options': 'a second factor, or a mailed code',
  'factors.passkeys.create': 'the options, which were proven',
  'factors.passkeys.delete': 'a second factor',
  'factors.recovery.challenge': 'a recovery code at sign-in, and it mails a code',
  'factors.recovery.reset': 'a recovery code at sign-in, and a mailed code',
};

const subjects = await Promise.all(families.map(subjectOf));
const rows = subjects.flatMap(({ ofPerson }) => ofPerson).filter(({ needs }) => needs === 'session');
const samples = Object.assign({}, ...subjects.map(({ fixture }) => fixture.personSamples ?? {})) as NonNullable<
  (typeof subjects)[number]['fixture']['personSamples']
>;
const undecided = (table: readonly Pick<AnyPersonOperation, 'id' | 'vouched'>[]) =>
  table
    .filter(({ id, vouched }) => (vouched === 'workspace') !== id in WITHIN || (vouched === 'proof') !== id in PROVEN_BY)
    .map(({ id }) => id);

test('every operation of a session is refused to one that was only vouched for, or has its reason here', () => {
  assert.deepEqual(undecided(rows), []);
  assert.deepEqual(undecided([{ id: 'auth.account.delete', vouched: 'workspace' }]), ['auth.account.delete'], 'a planted operation');
});

describe('an operation that a session calls which was only vouched for changes nothing beyond its workspace', () => {
  for (const op of rows.filter(({ takes, redirects }) => !takes && !redirects))
    test(op.id, async () => {
      const s = await setting();
      const sample = (await samples[op.id]?.(s.who)) ?? {};
      await vouch(s.who);
      const before = await beyond(s);
      const answer = await s.who.b.call(...personRequest(op, op.vouched === 'proof' ? unproven(sample) : sample));
      if (op.vouched === undefined) assert.deepEqual([answer.status, answer.body.code], [403, 'session_scope_mismatch'], answer.text);
      assert.ok(answer.status < 500, answer.text);
      assert.deepEqual(await beyond(s), before, answer.text);
    });
});

test('such a session lists and ends sessions of its workspace alone, and renames nobody whom others see', async () => {
  const s = await setting();
  const bound = browser();
  await bound.post('/auth/login', { email: s.who.email, password: 'a quiet harbour at dusk', scope_tenant: s.who.w.tenant.slug });
  await vouch(s.who);
  const { sessions } = (await s.who.b.get('/auth/sessions')).body as unknown as { sessions: { id: string; scope_tenant_id: string }[] };
  assert.deepEqual([sessions.length, ...new Set(sessions.map((one) => one.scope_tenant_id))], [2, s.who.w.tenant.id]);
  const other = await db().sessions.findFirstOrThrow({ where: { user_id: s.who.id, scope_tenant_id: null } });
  assert.equal((await s.who.b.call('DELETE', `/auth/sessions/${other.id}`)).status, 404);
  const { token: _, ...ended } = (await s.who.b.call('DELETE', '/auth/sessions')).body;
  assert.deepEqual(ended, { deleted: true, revoked: 1, apps: 0 });
  await s.who.b.load(); // its token was renewed
  assert.deepEqual([(await s.second.get('/auth/me')).status, (await bound.get('/auth/me')).status], [200, 401]);
  assert.equal((await s.who.b.call('PATCH', '/auth/me', { full_name: 'Renamed' })).body.code, 'session_scope_mismatch');
  assert.equal((await s.who.b.call('PATCH', '/auth/me', { preferences: { theme: 'dark' } })).status, 200);
  await db().memberships.updateMany({ where: { tenant_id: s.elsewhere.id, user_id: s.who.id }, data: { removed_at: new Date() } });
  assert.equal((await s.who.b.call('PATCH', '/auth/me', { full_name: 'Renamed' })).status, 200, 'nobody else sees it');
});

test('such a session collects no starter key of another workspace, whoever the person is there', async () => {
  const s = await setting();
  await db().memberships.updateMany({ where: { tenant_id: s.elsewhere.id, user_id: s.who.id }, data: { role: 'owner' } });
  await vouch(s.who);
  const refused = await s.who.b.post('/auth/starter-key', { tenant_id: s.elsewhere.slug });
  assert.deepEqual([refused.status, refused.body.code], [403, 'session_scope_mismatch'], refused.text);
  assert.equal(await db().api_keys.count({ where: { tenant_id: s.elsewhere.id } }), 0);
});

test('the check notices what ended elsewhere, as it did', async () => {
  const s = await setting();
  await vouch(s.who);
  const before = await beyond(s);
  const current = (await s.who.who()).session_id;
  await db().sessions.updateMany({ where: { user_id: s.who.id, NOT: { id: current } }, data: { revoked_at: new Date() } });
  assert.notDeepEqual(await beyond(s), before);
});

/** A person of two workspaces with another session and an application elsewhere. */
async function setting() {
  const who = await createTestPerson({ signedIn: true });
  const { w } = await createTestPerson({ signedIn: false });
  await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: who.id, role: 'editor' } });
  const second = browser();
  await who.signIn(second);
  const app = await makeClient(w, { type: 'public' });
  assert.equal((await redeem(app, (await makeCode(app, who.id)).code)).status, 200);
  return { who, second, elsewhere: w.tenant };
}

/** The session of the person's browser becomes one as single sign-on of their first workspace opens it. */
async function vouch({ who, w }: TestPerson) {
  const { session_id } = await who();
  const { auth_methods } = await db().sessions.findUniqueOrThrow({ where: { id: session_id } });
  const bound = { scope_tenant_id: w.tenant.id, active_tenant_id: w.tenant.id, auth_methods: ['sso', ...auth_methods.slice(1)] };
  await db().sessions.update({ where: { id: session_id }, data: bound });
}

/** What a call within the workspace must not change. */
async function beyond({ who, elsewhere }: Awaited<ReturnType<typeof setting>>) {
  const mine = { user_id: who.id };
  const [user, sessions, families, memberships, passkeys, apps, codes, trail] = await Promise.all([
    db().users.findUniqueOrThrow({ where: { id: who.id }, select: { email: true, full_name: true, avatar: true, password_hash: true } }),
    db().sessions.count({ where: { ...mine, revoked_at: null, scope_tenant_id: null } }),
    db().oauth_families.count({ where: { ...mine, tenant_id: elsewhere.id, revoked_at: null } }),
    db().memberships.count({ where: { ...mine, removed_at: null } }),
    db().webauthn_credentials.findMany({ where: mine, select: { id: true, name: true } }),
    db().totp_secrets.count({ where: { ...mine, enabled_at: { not: null } } }),
    db().recovery_codes.findMany({ where: mine, select: { id: true }, orderBy: { id: 'asc' } }),
    db().audit_logs.count({ where: { tenant_id: elsewhere.id } }),
  ]);
  return { user, sessions, families, memberships, passkeys, apps, codes, trail };
}

/** The sample without what proves the account. */
const unproven = (sample: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(sample).flatMap(([name, value]) =>
      name === 'code' || name === 'password' || name === 'setup_token' || name === 'credential'
        ? []
        : [[name, name === 'current' ? 'wrong' : value]],
    ),
  );
