import assert from 'node:assert/strict';
import test from 'node:test';
import { digest, mintToken } from '#server/crypto/tokens.ts';
import { apiResource } from '#server/domain/oauth-grants/addresses.ts';
import { isMcpResource } from '#server/domain/oauth-grants/mcp-resources.ts';
import { sweepOAuth } from '#server/domain/oauth-grants/sweeping.ts';
import { apiUrl, proxyUrl } from '#server/domain/tenants/addresses.ts';
import { newId } from '#server/kernel/ids.ts';
import { PERSON_FORBIDDEN_SCOPES } from '#server/kernel/scopes.ts';
import { db } from '#server/platform/db.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import {
  type Answer,
  CHALLENGE,
  introspected,
  makeClient,
  makeCode,
  makePerson,
  post,
  REDIRECT,
  redeem,
  refresh,
  VERIFIER,
} from './oauth.fixture.ts';

await testDatabase();
const w = await workspace();
const { user } = await makePerson(w);
const asking = await makeClient(w);
const DAY = 86_400_000;

const isRefused = ({ status, body }: Answer, error = 'invalid_grant') =>
  assert.deepEqual([status, body.error], [400, error], JSON.stringify(body));
const isLive = async (token: string) => (await introspected(asking, token)).active;

/** A public client with a login of its person. */
async function login(options: { userId?: string; scopes?: string[]; step_up?: string[]; step_up_at?: Date } = {}) {
  const scopes = options.scopes ?? ['routes:read', 'routes:write'];
  const client = await makeClient(w, { type: 'public', scopes, step_up: options.step_up ?? [] });
  const { code, row } = await makeCode(client, options.userId ?? user.id, {
    scopes,
    ...(options.step_up_at ? { step_up_at: options.step_up_at } : {}),
  });
  const answer = await redeem(client, code);
  assert.equal(answer.status, 200, answer.text);
  return { client, code, family_id: row.family_id, ...(answer.body as { access_token: string; refresh_token: string; scope: string }) };
}

const audits = (resource_id: string) =>
  db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id, resource_type: 'oauth_grant' } });

test('a code is exchanged once, with the verifier of RFC 7636 appendix B', async () => {
  const client = await makeClient(w, { type: 'public' });
  const { code } = await makeCode(client, user.id);
  const { status, body } = await redeem(client, code);
  assert.equal(status, 200);
  const { access_token, refresh_token, ...rest } = body;
  assert.match(access_token, /^svc_live_[0-9A-Za-z]{49}$/);
  assert.match(refresh_token, /^svcr_live_[0-9A-Za-z]{49}$/);
  assert.deepEqual(rest, {
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'routes:read routes:write',
    tenant: w.tenant.slug,
    client_id: client.client_id,
  });
  const { sub, kind } = await introspected(asking, access_token);
  assert.deepEqual([sub, kind], [`user:${user.id}`, 'user']);
  const seen = await introspected(asking, refresh_token);
  assert.deepEqual([seen.active, seen.token_type, seen.sub, seen.exp - seen.iat], [true, 'refresh_token', `user:${user.id}`, 30 * 86_400]);
});

test('the spec’s verifier has the spec’s challenge', () => {
  const verifier = 'irlkkvA84Rrz_FcQ3FClA3mxNR4pAAvOsGeSmXgdA6_37Vb_0fiqWcnqRr7o5Fg2';
  assert.equal(digest(verifier).toString('base64url'), 'iKRyaV4T2z3VEJq_yqURZywUtdEXsg9CvvoQKxkv0D8');
  assert.equal(digest(VERIFIER).toString('base64url'), CHALLENGE);
});

test('a code with anything wrong about it is refused with one description', async () => {
  const [client, other] = [await makeClient(w, { type: 'public' }), await makeClient(w, { type: 'public' })];
  const fresh = async (options = {}) => (await makeCode(client, user.id, options)).code;
  const stranger = await makePerson(await workspace());
  const answers = [
    await redeem(client, mintToken('authorization_code').token),
    await redeem(client, 'svcc_x'),
    await redeem(client, await fresh({ ageMs: 60_001 })),
    await redeem(other, await fresh()),
    await redeem(client, await fresh(), { code_verifier: 'x'.repeat(43) }),
    await redeem(client, await fresh(), { code_verifier: CHALLENGE }),
    await redeem(client, await fresh(), { redirect_uri: `${REDIRECT}/` }),
    await redeem(client, await fresh(), { redirect_uri: 'http://127.0.0.1:51235/callback' }),
    await redeem(client, await fresh({ jkt: 'sUSobkeq5vLOscELD8EeeD0P_9j4ButwmyXdxrgqm8A' })),
    await redeem(client, (await makeCode(client, stranger.user.id)).code),
  ];
  for (const answer of answers) isRefused(answer);
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  for (const missing of ['code', 'code_verifier', 'redirect_uri'])
    isRefused(await redeem(client, await fresh(), { [missing]: '' }), 'invalid_request');
  for (const code_verifier of ['x'.repeat(42), 'x'.repeat(129), `${'x'.repeat(43)}=`])
    isRefused(await redeem(client, await fresh(), { code_verifier }), 'invalid_request');
  const used = await fresh();
  isRefused(await redeem(client, used, { code_verifier: 'x'.repeat(43) }));
  isRefused(await redeem(client, used));
});

test('a code presented twice ends everything the first use gave', async () => {
  const { client, code, access_token, refresh_token, family_id } = await login();
  assert.equal(await isLive(access_token), true);
  isRefused(await redeem(client, code));
  assert.deepEqual([await isLive(access_token), await isLive(refresh_token)], [false, false]);
  isRefused(await refresh(client, refresh_token));
  isRefused(await redeem(client, code));
  const entries = await audits(family_id);
  assert.deepEqual(
    entries.map(({ action, details }) => [action, (details as { reason?: string }).reason]),
    [['revoke', 'code_replay']],
  );
});

test('of ten uses of one code at once exactly one wins, and then nothing is left', async () => {
  const client = await makeClient(w, { type: 'public' });
  const { code } = await makeCode(client, user.id);
  const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(client, code)));
  const won = answers.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  for (const token of [won[0]?.body.access_token, won[0]?.body.refresh_token]) assert.equal(await isLive(token), false);
});

test('refreshing rotates the token, keeps the grant and may ask for less', async () => {
  const { client, refresh_token, access_token } = await login();
  const first = await refresh(client, refresh_token, { scope: 'routes:read' });
  assert.deepEqual([first.status, first.body.scope], [200, 'routes:read']);
  assert.notEqual(first.body.refresh_token, refresh_token);
  const second = await refresh(client, first.body.refresh_token);
  assert.equal(second.body.scope, 'routes:read routes:write', 'the whole grant again');
  assert.equal(await isLive(access_token), true, 'older access tokens run out by themselves');
  isRefused(await refresh(client, second.body.refresh_token, { scope: 'secrets:read' }), 'invalid_scope');
  assert.equal((await refresh(client, second.body.refresh_token)).status, 200, 'a refused scope uses nothing up');
});

test('a refresh token used twice ends the family, tells the person and the Owners, and says so in the audit log', async () => {
  const { client, refresh_token, access_token, family_id } = await login();
  const next = await refresh(client, refresh_token);
  assert.equal(next.status, 200);
  isRefused(await refresh(client, refresh_token));
  for (const token of [access_token, next.body.access_token, next.body.refresh_token]) assert.equal(await isLive(token), false);
  isRefused(await refresh(client, next.body.refresh_token));
  const [entry, ...more] = await audits(family_id);
  assert.deepEqual(
    [entry?.action, (entry?.details as { reason?: string } | undefined)?.reason, more.length],
    ['revoke', 'refresh_reuse', 0],
  );
  const mails = await db().mails.findMany({ where: { recipient: user.email, kind: 'oauth_grant_stolen' } });
  assert.ok(mails.length > 0);
});

test('of ten refreshes with one token at once exactly one wins, and then the family is dead', async () => {
  const { client, refresh_token, access_token } = await login();
  const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(client, refresh_token)));
  const won = answers.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  for (const { status, body } of answers) if (status !== 200) assert.deepEqual([status, body.error], [400, 'invalid_grant']);
  for (const token of [access_token, won[0]?.body.access_token, won[0]?.body.refresh_token]) assert.equal(await isLive(token), false);
});

test('a refresh token is of one client only, and another client’s attempt harms nobody', async () => {
  const { client, refresh_token } = await login();
  isRefused(await refresh(await makeClient(w, { type: 'public' }), refresh_token));
  isRefused(await refresh(client, mintToken('refresh_token_live').token));
  isRefused(await refresh(client, `${refresh_token}x`));
  assert.equal((await refresh(client, refresh_token)).status, 200);
});

test('what the login depends on is looked at again: role, membership, account, client', async () => {
  const { user: editor, membership } = await makePerson(w, 'editor');
  const { client, refresh_token, scope } = await login({ userId: editor.id });
  assert.equal(scope, 'routes:read routes:write');
  await db().memberships.update({ where: { id: membership.id }, data: { role: 'viewer' } });
  const narrowed = await refresh(client, refresh_token);
  assert.deepEqual([narrowed.status, narrowed.body.scope], [200, 'routes:read'], 'demoted');
  await db().memberships.update({ where: { id: membership.id }, data: { role: 'editor' } });
  const widened = await refresh(client, narrowed.body.refresh_token);
  assert.equal(widened.body.scope, 'routes:read routes:write');
  await db().memberships.update({ where: { id: membership.id }, data: { removed_at: new Date() } });
  assert.deepEqual([await isLive(widened.body.access_token), await isLive(widened.body.refresh_token)], [false, false]);
  isRefused(await refresh(client, widened.body.refresh_token));
  await db().memberships.update({ where: { id: membership.id }, data: { removed_at: null } });
  isRefused(await refresh(client, widened.body.refresh_token));
  assert.equal(await isLive(widened.body.access_token), false, 'the family ended with the membership');

  const other = await login();
  await db().oauth_clients.update({ where: { id: other.client.row.id }, data: { allowed_scopes: ['routes:read'] } });
  const less = await refresh(other.client, other.refresh_token);
  assert.equal(less.body.scope, 'routes:read');
  await db().oauth_clients.update({ where: { id: other.client.row.id }, data: { active: false } });
  assert.deepEqual([(await refresh(other.client, less.body.refresh_token)).status, await isLive(less.body.access_token)], [401, false]);
});

test('no token of a person carries what people never may, whatever the code says', async () => {
  const scopes = ['routes:read', 'oauth:introspect', ...PERSON_FORBIDDEN_SCOPES];
  const { scope, client, refresh_token, access_token } = await login({ scopes });
  assert.equal(scope, 'routes:read');
  assert.equal((await refresh(client, refresh_token)).body.scope, 'routes:read');
  assert.equal((await introspected(asking, access_token)).scope, 'routes:read');
  const row = await db().oauth_access.findUniqueOrThrow({ where: { digest: new Uint8Array(digest(access_token)) } });
  assert.deepEqual(row.ceiling, ['route:list', 'route:read']);
});

test('step-up scopes last for eight hours after the second factor', async () => {
  const { client, refresh_token, scope, family_id } = await login({
    step_up: ['routes:write'],
    step_up_at: new Date(Date.now() - 3_600_000),
  });
  assert.equal(scope, 'routes:read routes:write');
  await db().oauth_families.update({ where: { id: family_id }, data: { step_up_at: new Date(Date.now() - 8 * 3_600_000) } });
  assert.equal((await refresh(client, refresh_token)).body.scope, 'routes:read');
});

test('a family slides by 30 days and ends after 90, and sweeping keeps what is needed to notice theft', async () => {
  const { client, refresh_token, family_id } = await login();
  const [first] = await db().oauth_refresh.findMany({ where: { family_id } });
  assert.ok(first);
  assert.equal(first.expires_at.getTime() - first.created_at.getTime(), 30 * DAY);
  await db().oauth_families.update({ where: { id: family_id }, data: { expires_at: new Date(Date.now() + 5 * DAY) } });
  const next = (await refresh(client, refresh_token)).body.refresh_token;
  const second = await db().oauth_refresh.findFirstOrThrow({ where: { family_id, generation: 1 } });
  assert.ok(second.expires_at.getTime() - Date.now() <= 5 * DAY);
  await sweepOAuth(new Date(Date.now() + 4 * DAY));
  assert.equal(await db().oauth_refresh.count({ where: { family_id } }), 2, 'a consumed token of a live family stays');
  await db().oauth_refresh.update({ where: { id: second.id }, data: { expires_at: new Date(Date.now() - 1) } });
  isRefused(await refresh(client, next));
});

test('revoking a refresh token ends the whole login, once, with an audit entry', async () => {
  const { client, refresh_token, access_token, family_id } = await login();
  const next = await refresh(client, refresh_token);
  const revoke = (token: string, client_id = client.client_id) =>
    post('/oauth/revoke', { token, client_id, token_type_hint: 'refresh_token' });
  const other = await revoke(next.body.refresh_token, (await makeClient(w, { type: 'public' })).client_id);
  assert.deepEqual([other.status, other.body, await isLive(access_token)], [200, {}, true]);
  for (let i = 0; i < 2; i++) assert.deepEqual((await revoke(next.body.refresh_token)).body, {});
  for (const token of [access_token, next.body.access_token, next.body.refresh_token]) assert.equal(await isLive(token), false);
  assert.deepEqual(
    (await audits(family_id)).map(({ action }) => action),
    ['revoke'],
  );
  assert.equal((await revoke(next.body.refresh_token, 'svc_client_unknown')).status, 401);
});

test('a login that names the Management API as its resource works there, also after a refresh', async () => {
  const client = await makeClient(w, { type: 'public' });
  const { code } = await makeCode(client, user.id, { resource: apiResource('live') });
  const { body } = await redeem(client, code);
  const next = (await refresh(client, body.refresh_token)).body;
  for (const { access_token } of [body, next]) {
    assert.equal((await introspected(asking, access_token)).aud, apiResource('live'));
    assert.equal((await call('GET', '/routes', { key: access_token })).status, 200);
  }
});

test('service-cli stands for the workspace’s own client, and for no other', async () => {
  const cli = await makeClient(w, { type: 'public', system_role: 'cli' });
  const { code } = await makeCode(cli, user.id);
  const alias = { ...cli, client_id: 'service-cli' };
  const { status, body } = await redeem(alias, code);
  assert.deepEqual([status, body.client_id], [200, cli.client_id], 'the real id');
  const refreshed = await refresh(alias, body.refresh_token);
  assert.deepEqual([refreshed.status, refreshed.body.client_id], [200, cli.client_id]);
  const other = await login();
  isRefused(await refresh({ ...other.client, client_id: 'service-cli' }, other.refresh_token));
  assert.equal((await refresh(other.client, other.refresh_token)).status, 200);
});

test('expired rows are swept, revoked families after 30 days', async () => {
  const { access_token, family_id, client, code } = await login();
  const counted = async () => [
    await db().oauth_access.count({ where: { family_id } }),
    await db().oauth_codes.count({ where: { family_id } }),
    await db().oauth_families.count({ where: { id: family_id } }),
  ];
  await sweepOAuth(new Date());
  assert.deepEqual(await counted(), [1, 1, 1]);
  // A used code is kept for a day, so that a replay is still noticed.
  await sweepOAuth(new Date(Date.now() + 2 * 3_600_000));
  assert.deepEqual(await counted(), [0, 1, 1]);
  isRefused(await redeem(client, code));
  assert.equal(await isLive(access_token), false);
  await sweepOAuth(new Date(Date.now() + 29 * DAY));
  assert.deepEqual(await counted(), [0, 0, 1]);
  await sweepOAuth(new Date(Date.now() + 31 * DAY));
  assert.deepEqual(await counted(), [0, 0, 0]);
});

test('a login for an MCP server gives tokens for that server, which open nothing else', async () => {
  const gateway = await db().ai_gateways.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'Default', slug: 'default' },
  });
  const own = {
    tenant_id: w.tenant.id,
    sandbox: false,
    gateway_id: gateway.id,
    name: 'Tools',
    transport: 'streamable_http',
    upstream_url: 'https://mcp.example.com',
  };
  for (const slug of ['tools', 'others']) await db().mcp_servers.create({ data: { id: newId(), ...own, slug } });
  const client = await makeClient(w, { type: 'public', scopes: ['mcp:tools'] });
  const owner = { ...client.row, tenant_slug: w.tenant.slug };
  const resource = `${proxyUrl(w.tenant.slug, 'live')}/v1/mcp/tools`;
  const also = `${apiUrl('live')}/mcp/tools`;
  assert.equal(await isMcpResource(resource, owner), true);
  assert.equal(await isMcpResource(also, owner), true);
  for (const wrong of [`${resource}x`, `${resource}?a=1`, 'https://mcp.example.com/v1/mcp/tools', `${apiUrl('test')}/mcp/tools`])
    assert.equal(await isMcpResource(wrong, owner), false, wrong);

  const { code } = await makeCode(client, user.id, { scopes: ['mcp:tools'], resource });
  const first = await redeem(client, code, { resource: also });
  assert.deepEqual([first.status, first.body.scope], [200, 'mcp:tools'], first.text);
  const stored = await db().oauth_access.findFirstOrThrow({ where: { digest: new Uint8Array(digest(first.body.access_token)) } });
  assert.equal(stored.aud, resource);
  // RFC 8707 §2.2: a resource that the login wasn't for, the Management API too.
  for (const other of [resource.replace('/tools', '/others'), apiUrl('live')])
    isRefused(await refresh(client, first.body.refresh_token, { resource: other }), 'invalid_target');
  const renewed = await refresh(client, first.body.refresh_token, { resource });
  assert.equal(renewed.status, 200, renewed.text);

  const plain = await makeCode(client, user.id, { scopes: ['mcp:tools'] });
  isRefused(await redeem(client, plain.code, { resource }), 'invalid_target');
  const api = await makeCode(client, user.id, { scopes: ['mcp:tools'], resource });
  isRefused(await redeem(client, api.code, { resource: apiUrl('live') }), 'invalid_target');
  const foreign = await makeCode(client, user.id, { scopes: ['mcp:tools'], resource });
  isRefused(await redeem(client, foreign.code, { resource: 'https://mcp.example.com/' }), 'invalid_target');
});
