import assert from 'node:assert/strict';
import test from 'node:test';
import { addMembership, createSession } from '#server/domain/people/service.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { browser } from '#server/testing/people.ts';
import { enrolled } from '#server/testing/step-up.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { startTest, testResult } from './attempts.ts';
import { byAnotherKey, signed, TestProvider, unsigned, withHmac } from './oidc.fixture.ts';
import { connect, person, setSso, trail, verifiedWorkspace, verifyDomain } from './people.fixture.ts';
import * as sso from './service.ts';

await testDatabase();
test.after(backgroundSettled);

type Browser = ReturnType<typeof browser>;

/** A workspace with a provider, and a person of its domain who is a member. */
async function scene() {
  const { w, domain } = await verifiedWorkspace();
  const provider = await TestProvider.start();
  const connection = await connect(w, { issuer: provider.issuer, client_id: provider.client_id, client_secret: provider.client_secret });
  const email = `anna@${domain}`;
  const anna = await person(email, [{ w }]);
  provider.claims = { email, email_verified: true, name: 'Anna' };
  return { w, domain, provider, connection, anna, email };
}

const start = async (b: Browser, query: string) => {
  const answer = await b.get(`/auth/sso/start?${query}`);
  assert.equal(answer.status, 303, answer.text);
  return String(answer.headers.get('location'));
};
/** All of a sign-in in one browser. */
const signIn = async (b: Browser, w: Workspace, provider: TestProvider) =>
  b.get(provider.authorize(await start(b, `tenant=${w.tenant.slug}`)));
const reasonOf = (answer: { status: number; body: Record<string, unknown> }) => [answer.status, answer.body.code, answer.body.reason];
const isSignedIn = async (b: Browser) => (await b.get('/auth/me')).status === 200;

test('a member of a verified domain signs in, scoped to the workspace, and is known by issuer and subject from then on', async () => {
  const { w, provider, anna, domain } = await scene();
  const other = await workspace();
  await db().$transaction((tx) =>
    addMembership(tx, { tenant_id: other.tenant.id, user_id: anna.id, role: 'owner', source: 'invite', now: new Date() }),
  );
  const b = browser();
  const location = await start(b, `email=${anna.email}`);
  assert.equal(new URL(location).searchParams.get('login_hint'), anna.email);
  const answer = await b.get(provider.authorize(location));
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, `/${w.tenant.slug}/test`]);
  const me = (await b.load()).body as unknown as {
    user: { email: string };
    session: Record<string, unknown>;
    workspaces: { slug: string }[];
  };
  assert.equal(me.user.email, anna.email);
  assert.deepEqual([me.session.auth_methods, me.session.mfa_at, me.session.scope_tenant_id], [['sso'], null, w.tenant.id]);
  assert.deepEqual(
    me.workspaces.map(({ slug }) => slug),
    [w.tenant.slug],
  );
  const elsewhere = await b.post('/auth/workspaces/select', { tenant_id: other.tenant.id });
  assert.deepEqual([elsewhere.status, elsewhere.body.code], [403, 'session_scope_mismatch']);
  const entries = await trail(w);
  assert.ok(entries.some(({ what, details }) => what === 'login session' && details.method === 'sso'));
  // The address at the provider may change, and another person may get it: the subject counts.
  provider.claims = { email: `renamed@${domain}`, email_verified: false };
  const again = browser();
  await signIn(again, w, provider);
  assert.equal(((await again.load()).body.user as unknown as { email: string }).email, anna.email);
  provider.claims = { sub: 'person-2', email: anna.email, email_verified: true };
  assert.equal((await signIn(browser(), w, provider)).status, 303, 'a first link by the verified address');
});

test('a person on their way to a page of the dashboard arrives there, and nobody is sent to another site', async () => {
  const { provider, anna } = await scene();
  const next = '/oauth/consent/AAAAAAAAAAAAAAAAAAAAAA?workspace=x';
  const b = browser();
  const location = await start(b, new URLSearchParams({ email: anna.email, next }).toString());
  assert.equal((await b.get(provider.authorize(location))).headers.get('location'), next);
  for (const foreign of ['https://evil.test', '//evil.test', '/\\evil.test'])
    assert.equal(
      (await browser().get(`/auth/sso/start?${new URLSearchParams({ email: anna.email, next: foreign })}`)).status,
      400,
      foreign,
    );
  await enrolled(anna.id);
  const again = browser();
  const owed = await again.get(provider.authorize(await start(again, new URLSearchParams({ email: anna.email, next }).toString())));
  assert.equal(owed.headers.get('location'), `/signin/second-factor?next=${encodeURIComponent(next)}`);
});

test('a provider vouches for a person in its workspace: its word alone changes neither how they sign in elsewhere nor their address', async () => {
  const { w, provider, anna } = await scene();
  await db().users.update({ where: { id: anna.id }, data: { password_hash: null } });
  const b = browser();
  await signIn(b, w, provider);
  await b.load();
  assert.equal((await b.post('/auth/email/change', { email: `thief-${anna.email}` })).body.code, 'invalid');
  assert.equal((await b.post('/auth/2fa/setup', {})).body.code, 'step_up_required');
});

test('people of another domain, without a verified address, or of a domain that only another workspace verified are refused', async () => {
  const { w, provider, domain } = await scene();
  await setSso(w, { jit_joining: true });
  const foreign = await verifiedWorkspace();
  for (const [claims, reason] of [
    [{ email: `eve@${foreign.domain}`, email_verified: true }, 'domain_unverified'],
    [{ email: 'eve@gmail.com', email_verified: true }, 'domain_unverified'],
    [{ email: `eve@sub.${domain}`, email_verified: true }, 'domain_unverified'],
    [{ email: `eve@gmail.com@${domain}`, email_verified: true }, 'email_missing'],
    [{ email: `eve@${domain}`, email_verified: false }, 'email_unverified'],
    [{ email: `eve@${domain}`, email_verified: undefined }, 'email_unverified'],
    [{ email: undefined, email_verified: true }, 'email_missing'],
  ] as const) {
    provider.claims = { sub: `eve-${reason}`, ...claims };
    provider.profile = { sub: `eve-${reason}` };
    const b = browser();
    assert.deepEqual(reasonOf(await signIn(b, w, provider)), [403, 'sso_refused', reason], JSON.stringify(claims));
    assert.equal(await isSignedIn(b), false);
  }
  assert.equal(await db().users.count({ where: { email: { startsWith: 'eve@' } } }), 0);
  assert.ok((await trail(w)).some(({ what, details }) => what === 'login_failed session' && details.why === 'domain_unverified'));
});

test('an address that UserInfo alone gives is taken, of the same subject only', async () => {
  const { w, provider, anna } = await scene();
  provider.claims = {};
  provider.profile = { sub: 'somebody else', email: anna.email, email_verified: true };
  assert.equal(reasonOf(await signIn(browser(), w, provider))[2], 'token_invalid');
  provider.profile = { sub: 'person-1', email: anna.email, email_verified: 'true' };
  assert.equal((await signIn(browser(), w, provider)).status, 303);
});

test('a token that is unsigned, forged, of another issuer, audience or sign-in, or out of time is refused', async () => {
  const { w, provider, anna } = await scene();
  const own = { email: anna.email, email_verified: true };
  const now = Math.floor(Date.now() / 1000);
  const hostile: [string, () => void][] = [
    ['alg none', () => (provider.sign = unsigned)],
    ['HMAC with the public key', () => (provider.sign = withHmac)],
    ['another key under the same name', () => (provider.sign = byAnotherKey)],
    ['critical extension', () => (provider.sign = (claims, key) => signed(claims, key, { crit: ['b64'], b64: true }))],
    ['no key named', () => (provider.sign = (claims, key) => signed(claims, key, { kid: undefined }))],
    ['nonce', () => (provider.claims = { ...own, nonce: 'wrong' })],
    ['no nonce', () => (provider.claims = { ...own, nonce: undefined })],
    ['audience', () => (provider.claims = { ...own, aud: 'another-client' })],
    ['authorized party', () => (provider.claims = { ...own, aud: [provider.client_id, 'x'], azp: 'x' })],
    ['issuer', () => (provider.claims = { ...own, iss: 'https://elsewhere.example' })],
    ['subject', () => (provider.claims = { ...own, sub: '' })],
    ['expired', () => (provider.claims = { ...own, iat: now - 900, exp: now - 300 })],
    ['future', () => (provider.claims = { ...own, iat: now + 300, exp: now + 600 })],
    ['endless', () => (provider.claims = { ...own, exp: now + 10 * 86_400 })],
  ];
  for (const [name, arrange] of hostile) {
    provider.sign = undefined;
    provider.claims = own;
    arrange();
    const b = browser();
    const [status, code, reason] = reasonOf(await signIn(b, w, provider));
    assert.deepEqual([status, code], [403, 'sso_refused'], name);
    assert.ok(['token_invalid', 'expired'].includes(String(reason)), `${name}: ${reason}`);
    assert.equal(await isSignedIn(b), false, name);
  }
  provider.sign = undefined;
  provider.claims = { ...own, iat: now + 30, nbf: now + 30 };
  assert.equal((await signIn(browser(), w, provider)).status, 303, 'a clock that is half a minute ahead');
});

test('an answer is good once, in the browser that began it, for ten minutes', async () => {
  const { w, provider } = await scene();
  const [victim, attacker] = [browser(), browser()];
  const answer = provider.authorize(await start(attacker, `tenant=${w.tenant.slug}`));
  const refused = [403, 'sso_refused', 'expired'];
  assert.deepEqual(reasonOf(await victim.get(answer)), refused, 'the answer of another browser (login CSRF)');
  await start(victim, `tenant=${w.tenant.slug}`);
  assert.deepEqual(reasonOf(await victim.get(answer)), refused, 'also with an attempt of its own');
  assert.equal(provider.tokenRequests, 0, 'and no code is exchanged');
  assert.equal(await isSignedIn(victim), false);
  assert.equal((await attacker.get(answer)).status, 303);
  assert.deepEqual(reasonOf(await attacker.get(answer)), refused, 'used');
  for (const path of ['/auth/sso/callback', '/auth/sso/callback?state=x', `/auth/sso/callback?state=${'a'.repeat(43)}&code=x`])
    assert.deepEqual(reasonOf(await attacker.get(path)), refused, path);
  const late = provider.authorize(await start(attacker, `tenant=${w.tenant.slug}`));
  await db().sso_attempts.updateMany({ where: { tenant_id: w.tenant.id }, data: { expires_at: new Date() } });
  assert.deepEqual(reasonOf(await attacker.get(late)), refused, 'late');
});

test('of two uses of one answer at once exactly one signs in', async () => {
  const { w, provider } = await scene();
  const b = browser();
  const answer = provider.authorize(await start(b, `tenant=${w.tenant.slug}`));
  const statuses = (await Promise.all([b.get(answer), b.get(answer), b.get(answer)])).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [303, 403, 403]);
});

test('an answer at the address of another workspace is refused before its code goes anywhere (mix-up of providers that name no issuer)', async () => {
  const { w, provider } = await scene();
  const other = await workspace();
  for (const place of [`/auth/sso/callback/${other.tenant.id}`, '/auth/sso/callback']) {
    const b = browser();
    const answer = provider.authorize(await start(b, `tenant=${w.tenant.slug}`));
    assert.ok(answer.startsWith(`/auth/sso/callback/${w.tenant.id}?`));
    const moved = answer.replace(`/auth/sso/callback/${w.tenant.id}`, place);
    assert.deepEqual(reasonOf(await b.get(moved)), [403, 'sso_refused', 'expired'], place);
    assert.equal(await isSignedIn(b), false);
  }
  assert.equal(provider.tokenRequests, 0);
});

test('an answer that names another issuer, or none although the provider promises one, is refused before its code goes anywhere (mix-up)', async () => {
  const { w, provider } = await scene();
  const honest = await TestProvider.start();
  for (const iss of [honest.issuer, `${provider.issuer}/`, null]) {
    provider.iss = iss;
    assert.equal(reasonOf(await signIn(browser(), w, provider))[2], 'token_invalid', String(iss));
  }
  assert.deepEqual([provider.tokenRequests, honest.tokenRequests], [0, 0]);
});

test('an identity of one workspace is nobody in another, whatever its provider calls itself', async () => {
  const { w, provider } = await scene();
  await signIn(browser(), w, provider);
  const evil = await verifiedWorkspace();
  await connect(evil.w, { issuer: provider.issuer, client_id: provider.client_id, client_secret: provider.client_secret });
  await setSso(evil.w, { jit_joining: true });
  const b = browser();
  assert.equal(reasonOf(await signIn(b, evil.w, provider))[2], 'domain_unverified');
  assert.equal(await isSignedIn(b), false);
});

test('joining at the first sign-in is off until it is switched on, gives the role Member, and never brings back who was removed', async () => {
  const { w, provider, domain } = await scene();
  provider.claims = { sub: 'new', email: `new@${domain}`, email_verified: true, name: 'New\u0007 Person' };
  assert.equal(reasonOf(await signIn(browser(), w, provider))[2], 'not_a_member');
  await setSso(w, { jit_joining: true });
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'members', value: 1 } });
  assert.equal(reasonOf(await signIn(browser(), w, provider))[2], 'member_limit');
  await db().tenant_limit_overrides.deleteMany({ where: { tenant_id: w.tenant.id } });
  const b = browser();
  assert.equal((await signIn(b, w, provider)).status, 303);
  const me = (await b.load()).body as unknown as { user: { full_name: string; id: string }; workspaces: { role: string }[] };
  assert.deepEqual([me.user.full_name, me.workspaces[0]?.role], ['New  Person', 'member']);
  assert.ok((await trail(w)).some(({ what, details }) => what === 'create member' && details.source === 'sso'));
  await db().memberships.updateMany({ where: { tenant_id: w.tenant.id, user_id: me.user.id }, data: { removed_at: new Date() } });
  assert.equal(reasonOf(await signIn(browser(), w, provider))[2], 'removed');
  await db().tenant_domains.updateMany({ where: { tenant_id: w.tenant.id }, data: { status: 'lapsed' } });
  provider.claims = { sub: 'newer', email: `newer@${domain}`, email_verified: true };
  assert.equal(reasonOf(await signIn(browser(), w, provider))[2], 'domain_unverified', 'a lapsed domain takes nobody new in');
});

test('an account that a stranger made ahead of its owner keeps nothing that the stranger set up', async () => {
  const { w, provider, domain } = await scene();
  const email = `early@${domain}`;
  const early = await person(email, [{ w }], { verified: false });
  const stranger = browser();
  assert.equal((await stranger.post('/auth/login', { email, password: early.password })).status, 200);
  await enrolled(early.id);
  provider.claims = { sub: 'early', email, email_verified: true };
  const owner = browser();
  await signIn(owner, w, provider);
  assert.equal(await isSignedIn(owner), true, "the stranger's second factor is not asked for");
  assert.equal(await isSignedIn(stranger), false);
  assert.equal((await browser().post('/auth/login', { email, password: early.password })).status, 401);
});

test('a second factor of the provider counts only where the workspace trusts it; otherwise the account is asked for its own', async () => {
  const { w, provider, connection, domain } = await scene();
  const email = `two@${domain}`;
  await person(email, [{ w, factor: true }]);
  provider.claims = { sub: 'two', email, email_verified: true, amr: ['pwd', 'mfa'] };
  const untrusted = browser();
  const answer = await signIn(untrusted, w, provider);
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/signin/second-factor']);
  assert.equal(await isSignedIn(untrusted), false);
  await sso.updateConnection(w.member('owner'), { id: connection.id, trust_mfa: true });
  const trusted = browser();
  await signIn(trusted, w, provider);
  const { session } = (await trusted.load()).body as unknown as { session: { mfa_at: string | null } };
  assert.ok(session.mfa_at);
  provider.claims = { sub: 'two', email, email_verified: true, amr: ['pwd'] };
  assert.equal((await signIn(browser(), w, provider)).headers.get('location'), '/signin/second-factor');
});

test('a new key of the provider is found by itself, and an outage is told as one', async () => {
  const { w, provider } = await scene();
  assert.equal((await signIn(browser(), w, provider)).status, 303);
  await provider.rotate();
  assert.equal((await signIn(browser(), w, provider)).status, 303);
  const b = browser();
  const location = await start(b, `tenant=${w.tenant.slug}`);
  provider.down = true;
  assert.deepEqual(reasonOf(await b.get(provider.authorize(location))), [403, 'sso_refused', 'provider_unreachable']);
  provider.down = false;
});

test('a wrong client secret, a refusal of the provider and a provider at an inner address are told apart', async () => {
  const { w, provider, connection } = await scene();
  await sso.updateConnection(w.member('owner'), { id: connection.id, client_secret: 'wrong' });
  assert.equal(reasonOf(await signIn(browser(), w, provider))[2], 'misconfigured');
  const b = browser();
  const state = new URL(await start(b, `tenant=${w.tenant.slug}`)).searchParams.get('state');
  const denied = `/auth/sso/callback/${w.tenant.id}?${new URLSearchParams({ error: 'access_denied', error_description: '<b>x</b>', iss: provider.issuer, state: String(state) })}`;
  const answer = await b.get(denied);
  assert.deepEqual([reasonOf(answer)[2], answer.text.includes('<b>')], ['provider_error', false]);
  const inner = await verifiedWorkspace();
  await assert.rejects(connect(inner.w, { issuer: 'http://169.254.169.254', client_id: 'x' }), { type: 'validation_error' });
  await connect(inner.w, { issuer: 'http://127.0.0.1:1', client_id: 'x' });
  const [, , reason] = reasonOf(await browser().get(`/auth/sso/start?tenant=${inner.w.tenant.slug}`));
  assert.equal(reason, 'provider_unreachable');
});

test('nothing about an address is told before its sign-in, only whether its domain has single sign-on', async () => {
  const { w, domain, anna } = await scene();
  const ask = async (email: string) => (await browser().post('/auth/sso/lookup', { email })).body;
  assert.deepEqual(await ask(anna.email), await ask(`nobody@${domain}`));
  assert.deepEqual(await ask(anna.email), { sso: true, required: false });
  assert.deepEqual(await ask('somebody@elsewhere.example'), { sso: false, required: false });
  for (const query of ['tenant=no-such-workspace', 'email=a@elsewhere.example', ''])
    assert.deepEqual(reasonOf(await browser().get(`/auth/sso/start?${query}`)), [403, 'sso_refused', 'unavailable'], query);
  const page = await browser().get(`/auth/sso/start?tenant=nope`, { accept: 'text/html' });
  assert.equal(page.status, 303);
  assert.match(String(page.headers.get('location')), /\/signin\?sso=unavailable&request=/);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_plan: 'pro' } });
  assert.deepEqual(await ask(anna.email), { sso: false, required: false });
});

test('a test sign-in shows what the provider says and changes nothing', async () => {
  const { w, provider, connection, domain } = await scene();
  const owner = w.member('owner');
  const run = async () => {
    const { id, url } = await startTest(owner, { id: connection.id });
    const b = browser();
    const back = await b.get(provider.authorize(String((await b.get(url.slice(url.indexOf('/auth')))).headers.get('location'))));
    assert.equal(new URL(String(back.headers.get('location'))).pathname, `/${w.tenant.slug}/settings/sso`);
    assert.equal(await isSignedIn(b), false);
    assert.equal((await browser().get(url.slice(url.indexOf('/auth')))).status, 403, 'its address begins one browser');
    return testResult(owner, { id });
  };
  provider.claims = { sub: 'test', email: `test@${domain}`, email_verified: true };
  const refused = await run();
  assert.deepEqual([refused.status, refused.reason, refused.claims?.email], ['failed', 'not_a_member', `test@${domain}`]);
  await setSso(w, { jit_joining: true });
  const joins = await run();
  assert.deepEqual(
    [joins.status, joins.outcome],
    ['succeeded', `Joins the workspace as test@${domain} with the role Member, in a new account.`],
  );
  provider.claims = { ...provider.claims, nonce: 'wrong' };
  assert.deepEqual((await run()).reason, 'token_invalid');
  assert.equal(await db().users.count({ where: { email: `test@${domain}` } }), 0);
  assert.equal(await db().user_identities.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('required single sign-on refuses every other way in for members of the domain, and leaves its Owners one', async () => {
  const { w, provider, email, anna, domain } = await scene();
  const before = browser();
  assert.equal((await before.post('/auth/login', { email, password: anna.password })).status, 200);
  const conflict = { type: 'conflict' };
  await assert.rejects(setSso(w, { sso_required: true }), { ...conflict, message: /Test an active connection/ });
  await signIn(browser(), w, provider);
  await assert.rejects(setSso(w, { sso_required: true }), { ...conflict, message: /At least one Owner/ });
  const owner = await person(`owner@${domain}`, [{ w, role: 'owner', factor: true }]);
  const bare = await person(`bare@${domain}`, [{ w, role: 'owner' }]);
  const guest = await person('guest@elsewhere.example', [{ w }]);
  assert.deepEqual((await setSso(w, { sso_required: true })).sso_required, true);

  const refused = await browser().post('/auth/login', { email, password: anna.password });
  assert.deepEqual([refused.status, refused.body.code], [403, 'sso_required']);
  assert.match(String(refused.body.sso_url), new RegExp(`/auth/sso/start\\?tenant=${w.tenant.slug}$`));
  assert.equal((await browser().post('/auth/login', { email, password: 'wrong' })).body.code, 'invalid_credentials', 'told to nobody else');
  const earlier = await before.call('GET', '/auth/me');
  assert.equal(earlier.status, 200, 'a session of the person goes on');
  assert.equal((await browser().post('/auth/login', { email: owner.email, password: owner.password })).body.status, 'mfa_required');
  assert.equal((await browser().post('/auth/login', { email: bare.email, password: bare.password })).body.code, 'sso_required');
  assert.equal((await browser().post('/auth/login', { email: guest.email, password: guest.password })).status, 200, 'another domain');

  const elsewhere = await workspace();
  await db().$transaction((tx) =>
    addMembership(tx, { tenant_id: elsewhere.tenant.id, user_id: anna.id, role: 'owner', source: 'invite', now: new Date() }),
  );
  const scoped = { email, password: anna.password, scope_tenant: elsewhere.tenant.slug };
  assert.equal((await browser().post('/auth/login', scoped)).status, 200, 'another workspace alone');
  assert.equal((await signIn(browser(), w, provider)).status, 303);

  await verifyDomain(elsewhere, domain);
  await connect(elsewhere, { issuer: provider.issuer, client_id: provider.client_id, client_secret: provider.client_secret, name: 'x' });
  await db().sso_connections.updateMany({ where: { tenant_id: elsewhere.tenant.id }, data: { tested_at: new Date() } });
  await person('break-glass@elsewhere.example', [{ w: elsewhere, role: 'owner', factor: true }]);
  await assert.rejects(setSso(elsewhere, { sso_required: true }), { ...conflict, message: /Another workspace already requires/ });
  await assert.rejects(
    sso.deleteConnection(w.member('owner'), { id: (await sso.listConnections(w.member('owner')))[0]?.id ?? '' }),
    conflict,
  );
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_plan: 'pro' } });
  assert.equal((await browser().post('/auth/login', { email, password: anna.password })).status, 200, 'a plan without it locks nobody out');
});

test('the account plane does nothing in a workspace that the session may not enter', async () => {
  const { w, domain } = await scene();
  const email = `admin@${domain}`;
  await person(email, [{ w, role: 'admin', factor: true }]);
  const b = browser();
  const user = await db().users.findUniqueOrThrow({ where: { email } });
  const earlier = { user_id: user.id, methods: ['password'], keep: false, ip: null, user_agent: null, now: new Date() };
  const begun = await db().$transaction((tx) => createSession(tx, earlier));
  const as = { authorization: `Bearer ${begun.token}` };
  const act = async () =>
    [await b.post('/auth/starter-key', {}, as), await b.call('PATCH', '/auth/me', { city: 'Hamburg' }, as)].map(({ body }) => body.code);
  await db().tenant_domains.updateMany({ where: { tenant_id: w.tenant.id }, data: { sso_required: true } });
  const set = (settings: object) => db().tenants.update({ where: { id: w.tenant.id }, data: { settings } });
  await set({ sso_required: true });
  assert.deepEqual(await act(), ['sso_required', 'sso_required']);
  assert.equal((await b.call('GET', '/auth/me', undefined, as)).body.company, null);
  await set({ require_mfa: true });
  await db().totp_secrets.deleteMany({ where: { user_id: user.id } });
  assert.deepEqual(await act(), ['mfa_required', 'mfa_required']);
});
