import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { callerOf } from '#server/auth/handle.ts';
import { member } from '#server/auth/logins.fixture.ts';
import { type Standing, standing } from '#server/auth/standing.fixture.ts';
import { createDomain, setVerified } from '#server/domain/domains/service.ts';
import { personSamples as factorSamples } from '#server/domain/factors/samples.fixture.ts';
import { families } from '#server/domain/families.ts';
import { resetFactors, setMember } from '#server/domain/operator/service.ts';
import { admit } from '#server/domain/sso/identities.ts';
import { updateSsoSettings } from '#server/domain/sso/settings.ts';
import { endMemberSessions, removeMember } from '#server/domain/team/removal.ts';
import { scopeFor } from '#server/kernel/action-scopes.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation, AnyPersonOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { client, credential, person as directoryPerson, verifiedDomain } from '#server/scim/scim.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { addPasskey, loginBy } from '#server/testing/passkeys.ts';
import { browser } from '#server/testing/people.ts';
import { enrolled, verified } from '#server/testing/step-up.ts';
import { personRequest } from '#server/testing/suites/person-request.ts';
import { subjectOf } from '#server/testing/suites/subject.ts';
import { createTestPerson, type PersonSample, type TestPerson } from '#server/testing/test-person.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { personSamples as peopleSamples } from './samples.fixture.ts';

await testDatabase();

// Whatever throws a thief out ends everything that stands for the person: 22 §2, §3.1, §8.

/** Operations of a person, and whether the session that calls stays. Their samples are those of the derived suites. */
const OF_PERSON: Readonly<Record<string, { stays: boolean }>> = {
  'auth.password.reset': { stays: false },
  'auth.password.change': { stays: true },
  'auth.sessions.delete-others': { stays: true },
  'auth.email.undo': { stays: false },
  'factors.recovery.reset': { stays: true },
};
const samples = { ...peopleSamples, ...factorSamples };
const table = (await Promise.all(families.map(subjectOf))).flatMap(({ ofPerson, rows }) => [...ofPerson, ...rows]);

describe('an operation that throws a thief out leaves nothing of the person', () => {
  for (const [id, { stays }] of Object.entries(OF_PERSON))
    test(id, async () => {
      const who = await createTestPerson({ signedIn: true });
      const everything = await standing(who);
      const op = table.find((row) => row.id === id) as AnyPersonOperation;
      const input = await (samples[id] as PersonSample)(who);
      const scope = scopeFor(op.step_up, input);
      if (scope) await verified(await who.who(), scope);
      const copied = [...who.b.jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await who.b.call(...personRequest(op, input));
      assert.equal(answer.status, 200, answer.text);
      assert.equal((await browser().get('/auth/me', { cookie: copied })).status, 401, 'a copied cookie, also of the session that stays');
      await nothingLeft(who, everything);
      assert.equal((await who.b.get('/auth/me')).status, stays ? 200 : 401, 'the session that calls');
      const changed = String(answer.headers.get('x-sallyport-changed'));
      assert.ok(changed.includes(`${who.w.tenant.id}:live`), 'gateways forget its tokens first');
      const told: Record<string, unknown> = answer.body.ended ?? { sessions: answer.body.revoked, apps: answer.body.apps };
      assert.ok(Number(told.sessions) >= 1 && told.apps === 4, answer.text);
      assert.match(JSON.stringify((await trail(who, answer)).map(({ details }) => details)), /"apps":4/);
    });
});

/** Doors without an operation of a person: what they need, and what they do. */
const OTHER_DOORS: Readonly<Record<string, (who: TestPerson) => Promise<unknown>>> = {
  'operator reset-factors': ({ email }) => resetFactors({ email }),
  'operator set-member with a password': async ({ w, email }) =>
    setMember({ slug: w.tenant.slug, email, role: 'owner', password: 'another harbour at dawn' }, families),
  'a directory finds an account that never proved its address': async (who) => {
    const { scim, email } = await byDirectory({ ...who, w: await workspace() });
    await db().users.update({ where: { id: who.id }, data: { email_verified_at: null } });
    assert.equal((await scim.post('/Users', directoryPerson(email))).status, 201);
  },
  'an identity provider finds one': async (who) => {
    const { w, email } = await byDirectory(who);
    await db().users.update({ where: { id: who.id }, data: { email_verified_at: null } });
    await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { jit_joining: true } } });
    const connection = await ssoConnection(w);
    const identity = { issuer: 'https://idp.example', subject: 's', email, email_verified: true, name: null, methods: [], mfa: false };
    await db().$transaction((tx) => admit(tx, callerOf(new Headers(), null), connection, identity));
  },
};

describe('so does a door that is none', () => {
  for (const [name, act] of Object.entries(OTHER_DOORS))
    test(name, async () => {
      const who = await createTestPerson({ signedIn: true });
      const everything = await standing(who);
      await act(who);
      await nothingLeft(who, everything);
      assert.equal((await who.b.get('/auth/me')).status, 401);
    });

  test('a passkey that was copied', async () => {
    const who = await createTestPerson({ signedIn: true });
    const { device } = await addPasskey(who);
    await db().webauthn_credentials.updateMany({ where: { user_id: who.id }, data: { counter: 900n } });
    const factor = await db().webauthn_credentials.findFirstOrThrow({ where: { user_id: who.id } });
    // Everybody signs in without it.
    await db().webauthn_credentials.delete({ where: { id: factor.id } });
    const everything = await standing(who);
    await db().webauthn_credentials.create({ data: factor });
    assert.equal((await loginBy(browser(), device)).body.code, 'webauthn_failed');
    await nothingLeft(who, everything);
    assert.match(
      (await mailsTo(who.email)).findLast(({ subject }) => /copy/.test(subject))?.text ?? '',
      /sessions were ended and 4 connected apps were signed out/,
    );
  });
});

/** Ends of the logins in one workspace: what is of no workspace stays, and so does the other workspace. */
const IN_WORKSPACE: Readonly<Record<string, (at: { owner: TestPerson; who: Standing }) => Promise<unknown>>> = {
  'team.end_sessions': async ({ owner, who }) => endMemberSessions(await ownerOf(owner), { id: who.id }),
  'team.delete': async ({ owner, who }) => removeMember(await ownerOf(owner), { id: who.id, revoke_api_keys: false }, families),
  'SCIM PATCH active': async ({ who }) => {
    const { scim, record } = await byDirectory(who);
    assert.equal((await scim.patch(`/Users/${record}`, { op: 'replace', path: 'active', value: false })).status, 200);
  },
  'SCIM PUT inactive': async ({ who }) => {
    const { scim, record, email } = await byDirectory(who);
    assert.equal((await scim.put(`/Users/${record}`, directoryPerson(email, { active: false }))).status, 200);
  },
  'SCIM DELETE': async ({ who }) => {
    const { scim, record } = await byDirectory(who);
    assert.equal((await scim.remove(`/Users/${record}`)).status, 204);
  },
  'operator set-member none': ({ who }) => setMember({ slug: who.w.tenant.slug, email: who.email, role: 'none' }, families),
  'sso.settings.update': async ({ owner, who }) => {
    const domain = `${newId()}.example`;
    await db().users.update({ where: { id: who.id }, data: { email: `ann@${domain}` } });
    await db().tenants.update({ where: { id: who.w.tenant.id }, data: { subscription_plan: 'enterprise' } });
    await verifiedDomain(who.w, domain);
    await ssoConnection(who.w);
    await enrolled(owner.id);
    await updateSsoSettings({ ...(await ownerOf(owner)), plan: 'enterprise' }, { sso_required: true });
  },
  'a domain is verified while single sign-on is required': async ({ owner, who }) => {
    const ctx = await ownerOf(owner);
    await db().tenants.update({
      where: { id: who.w.tenant.id },
      data: { settings: { sso_required: true }, subscription_plan: 'enterprise' },
    });
    const domain = `${newId()}.example`;
    await db().users.update({ where: { id: who.id }, data: { email: `ann@${domain}` } });
    await setVerified(ctx, (await createDomain(ctx, { domain })).id);
  },
};
/** Their sessions are refused where they enter the workspace. */
const SESSIONS_GO_ON = ['sso.settings.update', 'a domain is verified while single sign-on is required'];

describe('the end of a membership, or of its logins, leaves nothing in the workspace and all elsewhere', () => {
  for (const [name, act] of Object.entries(IN_WORKSPACE))
    test(name, async () => {
      const owner = await createTestPerson({ signedIn: true });
      const made = await member(owner, 'editor');
      await made.b.load();
      const who = { ...made, w: owner.w };
      const everything = await standing(who);
      const elsewhere = await createTestPerson({ signedIn: false });
      await db().memberships.create({ data: { id: newId(), tenant_id: elsewhere.w.tenant.id, user_id: who.id, role: 'editor' } });
      const other = await standing({ ...who, w: elsewhere.w });
      await act({ owner, who });
      assert.deepEqual(await everything.left({ inTenant: true }), []);
      assert.deepEqual(await everything.rows(), { families: 0, access: 0, codes: 0, consents: 0, devices: 0 });
      assert.ok((await other.left()).length >= 14, 'the other workspace');
      if (SESSIONS_GO_ON.includes(name)) return;
      const entry = await db().audit_logs.findFirst({
        where: { tenant_id: who.w.tenant.id, action: { in: ['delete', 'revoke'] }, resource_type: { in: ['member', 'session'] } },
        orderBy: { id: 'desc' },
      });
      assert.match(JSON.stringify(entry?.details), /"(?:oauth_grants|apps)":4/);
    });
});

/**
 * Changes of the families by which people sign in, that end nothing else: why not. A new one must be here or above.
 */
const ENDS_NOTHING: Readonly<Record<string, string>> = {
  'auth.login': 'signs in',
  'auth.logout': 'ends this session alone; the page says so and lists connected apps',
  'auth.sessions.delete': 'ends one session alone; the answer says how many connected apps go on',
  'auth.magic.start': 'mails a code',
  'auth.me.update': 'is no way to sign in',
  'auth.workspaces.select': 'is no way to sign in',
  'auth.password.forgot': 'mails a link, and changes nothing before it is used',
  'auth.email.change': 'mails a link, after a password or a second factor',
  'auth.email.confirm':
    'the change was confirmed by a password or factor; the old address is mailed the link that undoes it and ends everything',
  'factors.totp.set-up': 'nothing is active yet',
  'factors.totp.enable': 'adds a factor: 22 §5.3, other sessions stay; all confirmations of the person are dropped',
  'factors.totp.disable': 'confirmed by a factor; whoever lost one ends sessions too, or recovers',
  'factors.recovery-codes.replace': 'confirmed by a factor; old codes end',
  'factors.step-up.code': 'confirms',
  'factors.step-up.member': 'confirms',
  'factors.step-up.options': 'confirms',
  'factors.step-up.passkey': 'confirms',
  'factors.login.finish': 'signs in',
  'factors.login.options': 'signs in',
  'factors.passkeys.login-options': 'signs in',
  'factors.passkeys.login': 'signs in; a copied key ends everything, above',
  'factors.passkeys.challenge': 'mails a code',
  'factors.passkeys.options': 'nothing is stored yet',
  'factors.passkeys.create': 'adds a factor: 22 §5.3, other sessions stay',
  'factors.passkeys.update': 'names a factor',
  'factors.passkeys.delete': 'confirmed by a factor; whoever lost one ends sessions too, or recovers',
  'factors.recovery.challenge': 'mails a code',
  'team.update': 'a role counts at the next call of a session and of a token',
  'team.transfer_ownership': 'a role counts at the next call of a session and of a token',
  'team.invite': 'is nobody yet',
  'team.resend_invitation': 'is nobody yet',
  'team.revoke_invitation': 'is nobody yet',
  'auth.invitations.accept': 'joins',
  'auth.invitations.sign_up': 'joins',
  'sso.create': 'adds a way to sign in',
  'sso.update': 'the sessions it opened are of this workspace alone, and an Owner ends them by member',
  'sso.delete': 'the sessions it opened are of this workspace alone, and an Owner ends them by member',
  'sso.test': 'signs nobody in',
  'sso.acs': 'signs in',
  'sso.callback': 'signs in',
  'sso.start': 'signs in',
  'sso.lookup': 'signs nobody in',
  'sso.workspace-callback': 'signs in',
  'scim_credentials.create': 'is of a directory, and no login of a person',
  'scim_credentials.delete': 'is of a directory, and no login of a person',
};

const FAMILIES = ['people', 'factors', 'team', 'sso', 'scim-users', 'scim-credentials'];
const undecided = (rows: readonly (AnyOperation | AnyPersonOperation)[]) =>
  rows
    .filter(({ kind, http }) => kind !== 'read' && !http.startsWith('GET '))
    .map(({ id }) => id)
    .filter((id) => [OF_PERSON, IN_WORKSPACE, ENDS_NOTHING].filter((list) => id in list).length !== 1);

test('every change of how people sign in is known to end what stands for them, or why not; a new one is noticed', async () => {
  const rows = (await Promise.all(families.filter(({ name }) => FAMILIES.includes(name)).map(subjectOf))).flatMap((subject) => [
    ...subject.ofPerson,
    ...subject.rows,
  ]);
  assert.deepEqual(undecided(rows), []);
  const [like] = rows.filter(({ id }) => id === 'auth.password.change');
  assert.deepEqual(
    undecided([{ ...(like as AnyPersonOperation), id: 'auth.password.replace' }]),
    ['auth.password.replace'],
    'a planted operation',
  );
});

test('the check notices a door that ends sessions alone, as they did', async () => {
  const who = await createTestPerson({ signedIn: true });
  const everything = await standing(who);
  await db().pending_logins.deleteMany({ where: { user_id: who.id } });
  await db().sessions.updateMany({ where: { user_id: who.id }, data: { revoked_at: new Date() } });
  const left = await everything.left();
  for (const space of ['live', 'test'])
    for (const what of [
      'the access token of the command line',
      'the refresh token of an application',
      'an unredeemed code',
      'an approved device',
    ])
      assert.ok(left.includes(`${what} (${space})`), `${what} (${space})`);
});

async function nothingLeft(who: Standing, everything: Awaited<ReturnType<typeof standing>>) {
  assert.deepEqual(await everything.left(), []);
  assert.deepEqual(await everything.rows(), { families: 0, access: 0, codes: 0, consents: 0, devices: 0 });
  assert.equal(
    await db().step_up_verifications.count({ where: { user_id: who.id, action_scope: 'plaintext.reveal', consumed_at: null } }),
    0,
  );
}

const trail = ({ w }: Standing, answer: { headers: Headers }) =>
  db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, request_id: String(answer.headers.get('x-request-id')) } });

const ssoConnection = ({ tenant }: Workspace) =>
  db().sso_connections.create({
    data: { id: newId(), tenant_id: tenant.id, kind: 'oidc', name: 'x', issuer: 'https://idp.example', tested_at: new Date() },
  });

/** The Owner of the workspace as a member who acts. */
async function ownerOf({ w, id, email }: TestPerson) {
  const ctx = w.member('owner');
  if (ctx.actor.type !== 'member') throw new Error('a member acts');
  return { ...ctx, actor: { ...ctx.actor, id, label: email } };
}

/** The directory of a workspace that holds the domain of the person's address: theirs with a record of them, or another one. */
async function byDirectory(who: Standing) {
  const domain = `${newId()}.example`;
  const email = `ann@${domain}`;
  await db().users.update({ where: { id: who.id }, data: { email } });
  await verifiedDomain(who.w, domain);
  const scim = client((await credential(who.w)).token);
  const found = await db().memberships.findFirst({ where: { tenant_id: who.w.tenant.id, user_id: who.id, role: 'editor' } });
  const record = found ? (await scim.post('/Users', directoryPerson(email))).body.id : null;
  return { w: who.w, scim, email, record };
}
