import assert from 'node:assert/strict';
import test from 'node:test';
import { addMembership } from '#server/domain/people/service.ts';
import { REDIRECT } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { browser } from '#server/testing/people.ts';
import { verified } from '#server/testing/step-up.ts';
import { createTestPerson } from '#server/testing/test-person.ts';
import { allow, answerIn, decide, issuer, member, opened, pageOf, redeem, set } from './logins.fixture.ts';

await testDatabase();

test('a person allows a login: the client gets a code, tokens, and the log says who granted what', async () => {
  const { who, client, authorize } = await set();
  const { status, location, handle } = await authorize({ scope: 'routes:write routes:read transit:decrypt' });
  assert.equal(status, 302);
  assert.equal(location, `${env.PUBLIC_ADMIN_URL}/oauth/consent/${handle}`);
  assert.match(handle, /^[A-Za-z0-9_-]{22}$/);
  const page = await pageOf(who.b, handle);
  assert.ok(page.state === 'ask');
  assert.deepEqual(
    page.view.offer?.scopes.map(({ name, sensitive }) => [name, sensitive]),
    [
      ['routes:read', false],
      ['routes:write', true],
    ],
  );
  assert.deepEqual(page.view.redirect, { kind: 'loopback', host: '127.0.0.1:51234', verified: false });
  const answer = answerIn(await decide(who.b, handle, { decision: 'allow' }));
  assert.deepEqual(Object.keys(answer).sort(), ['code', 'iss', 'state']);
  assert.deepEqual([answer.state, answer.iss], ['st', issuer()]);
  const tokens = await redeem(client.client_id, String(answer.code));
  assert.equal(tokens.status, 200, tokens.text);
  assert.deepEqual(
    [tokens.body.scope, tokens.body.client_id, typeof tokens.body.refresh_token],
    ['routes:read routes:write', client.client_id, 'string'],
  );
  const entry = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: who.w.tenant.id, resource_type: 'oauth_grant', action: 'create' },
  });
  const details = entry.details as Record<string, unknown>;
  assert.deepEqual([entry.actor_id, details.client_id, details.redirect_host], [who.id, client.client_id, '127.0.0.1:51234']);
  assert.ok((await mailsTo(who.email)).some(({ kind }) => kind === 'oauth_grant_created'));
});

test('an unknown or disabled client and a foreign address get a page, and everything else goes back with iss', async () => {
  const { client, authorize } = await set();
  const unknown = await opened({ client_id: 'svc_client_AAAAAAAAAAAAAAAAAAAA', redirect_uri: REDIRECT });
  const byUrl = await opened({ client_id: 'https://127.0.0.1/client.json', redirect_uri: REDIRECT });
  const foreign = await authorize({ redirect_uri: 'https://evil.example/cb' });
  await db().oauth_clients.update({ where: { id: client.row.id }, data: { active: false } });
  const disabled = await authorize();
  assert.equal(disabled.text, unknown.text);
  assert.match(byUrl.text, /must be a public domain name/);
  for (const page of [unknown, byUrl, foreign, disabled]) {
    assert.deepEqual([page.status, page.location, page.headers.get('cache-control')], [400, null, 'no-store']);
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  }
  await db().oauth_clients.update({ where: { id: client.row.id }, data: { active: true } });
  const plain = await authorize({ code_challenge_method: 'plain' });
  assert.ok(plain.location?.startsWith(`${REDIRECT}?`));
  const { error, state, iss, code } = answerIn(String(plain.location));
  assert.deepEqual([plain.status, error, state, iss, code], [302, 'invalid_request', 'st', issuer(), undefined]);
  assert.equal((await opened({ client_id: client.client_id, redirect_uri: REDIRECT }, 'POST')).status, 405);
});

test('a handle belongs to the first session that opens it, and its form to its own page', async () => {
  const { who, authorize } = await set();
  const { handle } = await authorize();
  assert.equal((await pageOf(browser(), handle)).state, 'sign_in');
  assert.equal((await pageOf(who.b, handle)).state, 'ask');
  const other = await member(who, 'admin');
  assert.equal((await pageOf(other.b, handle)).state, 'over');
  const taken = await decide(other.b, handle, { decision: 'allow' });
  assert.match(taken, /^\/oauth\/consent\/[^?]+\?problem=not_found$/);
  const allowing = (fields: object, headers = {}) => decide(who.b, handle, { decision: 'allow', ...fields }, headers);
  assert.match(await allowing({ csrf_token: 'wrong' }), /problem=csrf_failed/);
  assert.match(await allowing({}, { origin: 'https://evil.example' }), /problem=csrf_failed/);
  assert.match(await allowing({}, { origin: null }), /problem=csrf_failed/);
  assert.match(await allowing({ decision: 'perhaps' }), /problem=invalid/);
  const denied = answerIn(await decide(who.b, handle, { decision: 'deny' }));
  assert.deepEqual([denied.error, denied.iss, denied.code], ['access_denied', issuer(), undefined]);
  assert.equal((await pageOf(who.b, handle)).state, 'over');
  assert.equal(await db().audit_logs.count({ where: { tenant_id: who.w.tenant.id, resource_type: 'oauth_grant', action: 'dismiss' } }), 1);
});

test('an address that is taken from the client while a login waits is never gone back to', async () => {
  const { who, client, authorize } = await set();
  const { handle } = await authorize();
  assert.equal((await pageOf(who.b, handle)).state, 'ask');
  await db().oauth_clients.update({ where: { id: client.row.id }, data: { redirect_uris: ['https://app.example.com/callback'] } });
  assert.equal((await pageOf(who.b, handle)).state, 'over');
  for (const decision of ['allow', 'deny'])
    assert.match(await decide(who.b, handle, { decision }), /^\/oauth\/consent\/[^?]+\?problem=not_found$/);
});

test('another account takes the request over after the first has signed out', async () => {
  const { who, authorize } = await set();
  const { handle } = await authorize();
  assert.equal((await pageOf(who.b, handle)).state, 'ask');
  const there = await decide(who.b, handle, { decision: 'switch' });
  assert.equal(there, `/signin?next=${encodeURIComponent(`/oauth/consent/${handle}?`)}`);
  assert.equal((await who.b.get('/auth/me')).status, 401);
  const other = await member(who, 'admin');
  assert.equal((await allow(other.b, handle)).state, 'st');
});

test('of many decisions on one request, one counts', async () => {
  const { who, authorize } = await set();
  const { handle } = await authorize();
  await pageOf(who.b, handle);
  const places = await Promise.all(Array.from({ length: 8 }, (_, i) => decide(who.b, handle, { decision: i % 2 ? 'deny' : 'allow' })));
  assert.equal(places.filter((place) => place.startsWith('http')).length, 1, places.join('\n'));
});

test('a role grants what it has: named scopes beyond it are denied, others left out', async () => {
  const { who, client, authorize } = await set();
  const viewer = await member(who, 'viewer');
  const named = await authorize({ scope: 'routes:read routes:write' });
  const page = await pageOf(viewer.b, named.handle);
  assert.ok(page.state === 'ask' && page.view.beyond?.includes('routes:write'));
  assert.equal(answerIn(await decide(viewer.b, named.handle, { decision: 'allow' })).error, 'access_denied');
  const answer = await allow(viewer.b, (await authorize()).handle);
  assert.equal((await redeem(client.client_id, String(answer.code))).body.scope, 'routes:read');
  const stranger = await createTestPerson({ signedIn: true });
  const outside = await pageOf(stranger.b, (await authorize()).handle);
  assert.ok(outside.state === 'ask' && outside.view.chosen === null && outside.view.problem);
});

test('step-up scopes are granted only with a second factor, which the consent uses up', async () => {
  const { who, client, authorize } = await set({ step_up: ['secrets:write'] });
  const plain = await authorize();
  const page = await pageOf(who.b, plain.handle);
  assert.ok(page.state === 'ask' && !page.view.offer?.scopes.some(({ name }) => name === 'secrets:write'));
  const { handle } = await authorize({ scope: 'routes:read secrets:write' });
  await pageOf(who.b, handle);
  assert.match(await decide(who.b, handle, { decision: 'allow' }), /problem=mfa_required/);
  await verified(await who.who(), 'oauth.client');
  assert.match(await decide(who.b, handle, { decision: 'allow' }), /problem=step_up_required/);
  await verified(await who.who(), 'oauth.consent');
  const { code } = answerIn(await decide(who.b, handle, { decision: 'allow' }));
  assert.equal((await redeem(client.client_id, String(code))).body.scope, 'routes:read secrets:write');
  const family = await db().oauth_families.findFirstOrThrow({ where: { client_row_id: client.row.id } });
  assert.ok(family.step_up_at);
});

test('an earlier consent answers the same or less for an https client, and prompt decides otherwise', async () => {
  const redirect = 'https://app.example.com/cb';
  const { who, authorize } = await set({ redirect });
  const resumed = async (handle: string, b = who.b) =>
    answerIn(String((await b.get(`/auth/oauth/consent/${handle}`)).headers.get('location')));
  const silent = async (b = who.b) => {
    const { handle } = await authorize({ scope: 'routes:read', prompt: 'none' });
    assert.equal((await pageOf(b, handle)).state, 'skip');
    return resumed(handle, b);
  };
  assert.equal((await silent()).error, 'consent_required');
  assert.equal((await silent(browser())).error, 'login_required');
  assert.ok((await allow(who.b, (await authorize({ scope: 'routes:read routes:write' })).handle)).code);
  assert.ok((await silent()).code);
  const less = await authorize({ scope: 'routes:read' });
  assert.equal((await pageOf(who.b, less.handle)).state, 'skip');
  assert.ok((await resumed(less.handle)).code);
  const asking: Record<string, string>[] = [
    { scope: 'secrets:write' },
    { scope: 'routes:read', prompt: 'consent' },
    { scope: 'routes:read', prompt: 'select_account' },
  ];
  for (const more of asking) assert.equal((await pageOf(who.b, (await authorize(more)).handle)).state, 'ask', JSON.stringify(more));
  const again = await authorize({ scope: 'routes:read', prompt: 'login' });
  const page = await pageOf(who.b, again.handle);
  assert.ok(page.state === 'ask' && page.view.fresh_sign_in);
  assert.match(await decide(who.b, again.handle, { decision: 'allow' }), /problem=not_authenticated/);
  await db().oauth_consents.updateMany({ where: { user_id: who.id }, data: { expires_at: new Date() } });
  assert.equal((await silent()).error, 'consent_required');
});

test('a login of this computer asks every time', async () => {
  const { who, authorize } = await set();
  await allow(who.b, (await authorize({ scope: 'routes:read' })).handle);
  assert.equal((await pageOf(who.b, (await authorize({ scope: 'routes:read' })).handle)).state, 'ask');
});

test('service-cli becomes the client of the workspace that was chosen, unless that workspace says no', async () => {
  const { who } = await set();
  const second = await createTestPerson({ signedIn: false });
  await db().$transaction((tx) =>
    addMembership(tx, { tenant_id: second.w.tenant.id, user_id: who.id, role: 'viewer', source: 'invite', now: new Date() }),
  );
  const login = (more = {}) => opened({ client_id: 'service-cli', redirect_uri: 'http://127.0.0.1:4444/callback', ...more });
  const { handle } = await login();
  const undecided = await pageOf(who.b, handle);
  assert.ok(undecided.state === 'ask' && undecided.view.workspaces.length === 2);
  const { code } = await allow(who.b, handle, { workspace: second.w.tenant.slug });
  const tokens = await redeem('service-cli', String(code), { redirect_uri: 'http://127.0.0.1:4444/callback' });
  assert.equal(tokens.status, 200, tokens.text);
  assert.deepEqual([tokens.body.tenant, /^svc_cli_/.test(tokens.body.client_id)], [second.w.tenant.slug, true]);
  const made = await db().oauth_clients.findMany({ where: { tenant_id: second.w.tenant.id, system_role: 'cli' } });
  assert.deepEqual(
    made.map(({ client_id, sandbox }) => [client_id, sandbox]),
    [[tokens.body.client_id, false]],
  );
  await db().tenants.update({ where: { id: second.w.tenant.id }, data: { settings: { cli_login_enabled: false } } });
  const refused = await login({ tenant: second.w.tenant.slug });
  const page = await pageOf(who.b, refused.handle);
  assert.ok(page.state === 'ask' && page.view.problem?.includes('service-cli'));
  assert.match(await decide(who.b, refused.handle, { decision: 'allow', workspace: second.w.tenant.slug }), /problem=role_denied/);
  const elsewhere = await login({ tenant: 'no-such-workspace' });
  await pageOf(who.b, elsewhere.handle);
  assert.equal(answerIn(await decide(who.b, elsewhere.handle, { decision: 'deny' })).error, 'access_denied');
});
