import assert from 'node:assert/strict';
import test from 'node:test';
import { grantOf, grantToken } from '#server/custody/mcp/grants.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { connectPage, finishConsent } from './consents.ts';
import { grantsEnd } from './grants.ts';
import { ProtectedUpstream } from './protected-upstream.fixture.ts';
import { aGateway } from './samples.fixture.ts';

await testDatabase();

/** A server whose upstream asks for people's own accounts, and a person of the workspace with a session. */
async function setting(oauth: object = {}) {
  const w = await workspace();
  const upstream = await ProtectedUpstream.start();
  const { id } = await made(w.live, 'mcp_servers.create', {
    id: (await aGateway(w.live)).id,
    name: 'Issues',
    slug: 'issues',
    upstream_url: upstream.url,
    auth: { oauth: { mode: 'per_user', ...oauth } },
  });
  return { w, upstream, id: id as string };
}

async function person(w: Awaited<ReturnType<typeof workspace>>, name: string) {
  const email = `${name.toLowerCase()}-${newId()}@example.com`;
  const user = await db().users.create({ data: { id: newId(), email, full_name: name, created_at: new Date() } });
  await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: user.id, role: 'editor' } });
  const session_id = newId();
  const owner = w.member('editor', 'live');
  const ctx = { ...owner, actor: { ...owner.actor, id: user.id, label: email, session_id } } as Ctx;
  const signedIn = {
    db: db(),
    session: { id: session_id, user_id: user.id, scope_tenant_id: null, active_tenant_id: null, created_at: new Date(), mfa_at: null },
    user,
    request_id: newId(),
    ip: '127.0.0.1',
    user_agent: 'test',
    now: new Date(),
    changes: [],
    cookies: {},
  } as unknown as SignedInCtx;
  return { ctx, signedIn, email, user };
}

async function connect({ upstream, id }: { upstream: ProtectedUpstream; id: string }, who: Awaited<ReturnType<typeof person>>) {
  const { location } = await made(who.ctx, 'mcp_servers.connect', { id });
  return finishConsent({ ...who.signedIn, now: new Date() }, upstream.authorize(location));
}

const ended = ({ location }: { location: string }) =>
  new URL(location).searchParams.get('connected') ?? new URL(location).searchParams.get('mcp');

test('a person connects their own account: registration, PKCE, resource and issuer, and nothing of the tokens in an answer', async () => {
  const s = await setting();
  const alice = await person(s.w, 'Alice');
  assert.equal(ended(await connect(s, alice)), 'yes');
  assert.equal(s.upstream.registrations.length, 1);
  assert.deepEqual(s.upstream.registrations[0]?.redirect_uris, [
    `${new URL(String(s.upstream.registrations[0]?.client_uri)).origin}/admin/ai-gateway/mcp/callback`,
  ]);
  assert.equal(s.upstream.tokenRequests[0]?.get('resource'), s.upstream.url);
  const grant = await grantOf(s.w.live, s.id, { userId: alice.user.id });
  assert.ok(grant);
  assert.equal((await grantToken(s.w.live, grant))?.reveal(), 'access-1');

  const [listed] = await made(s.w.live, 'mcp_servers.grants.list', { id: s.id });
  assert.deepEqual([listed.external_id, listed.status, listed.scopes, listed.has_refresh_token], [alice.email, 'active', ['issues'], true]);
  const row = await db().mcp_grants.findUniqueOrThrow({ where: { id: grant } });
  const audits = await db().audit_logs.findMany({ where: { tenant_id: s.w.tenant.id }, select: { details: true } });
  for (const secret of ['access-1', 'refresh-1', 'registered secret'])
    assert.ok(!JSON.stringify([listed, row, audits, Buffer.from(row.value_ct ?? []).toString('latin1')]).includes(secret), secret);

  const bob = await person(s.w, 'Bob');
  assert.equal(ended(await connect(s, bob)), 'yes');
  assert.equal(s.upstream.registrations.length, 1, 'the registration is kept for the issuer');
  // The probe of a person sees the upstream as that person, and a key's sees nothing.
  const seen = await made(bob.ctx, 'mcp_servers.refresh', { id: s.id });
  assert.deepEqual([seen.protocol.era, seen.tools.map((tool: { name: string }) => tool.name)], ['legacy', ['create_issue']]);
  assert.equal(s.upstream.callers.at(-1), 'access-2');
  assert.match((await made(s.w.live, 'mcp_servers.refresh', { id: s.id })).protocol.error, /Connect your own account/);
});

test('an answer that is not for this person, session, issuer or moment connects nobody, and its code goes nowhere', async () => {
  const s = await setting();
  const [alice, mallory] = [await person(s.w, 'Alice'), await person(s.w, 'Mallory')];
  const begin = async () => (await made(alice.ctx, 'mcp_servers.connect', { id: s.id })).location as string;
  const finish = (who: typeof alice, answer: Record<string, string>, over: Partial<SignedInCtx> = {}) =>
    finishConsent({ ...who.signedIn, now: new Date(), ...over }, answer).then(ended);

  const stolen = s.upstream.authorize(await begin());
  assert.equal(await finish(mallory, stolen), 'expired', 'another person');
  assert.equal(await finish(alice, stolen, { session: { ...alice.signedIn.session, id: newId() } }), 'expired', 'another session');
  assert.equal(await finish(alice, stolen), 'expired', 'that attempt is used up');
  assert.equal(
    await finish(alice, s.upstream.authorize(await begin()), { now: new Date(Date.now() + 11 * 60_000) }),
    'expired',
    'too late',
  );
  assert.equal(await finish(alice, s.upstream.authorize(await begin(), { iss: 'https://evil.example' })), 'mismatch');
  assert.equal(await finish(alice, s.upstream.authorize(await begin(), { iss: null })), 'mismatch', 'the issuer is left out');
  assert.equal(await finish(alice, s.upstream.authorize(await begin(), { code: null, error: 'access_denied' })), 'denied');
  assert.equal(s.upstream.tokenRequests.length, 0, 'no code was sent anywhere');
  assert.equal(await db().mcp_grants.count({ where: { mcp_server_id: s.id } }), 0);
});

test('the link of a grant_required answer leads members to the accounts of the server, and others home', async () => {
  const s = await setting();
  const alice = await person(s.w, 'Alice');
  const mallory = await person(await workspace(), 'Mallory');
  const home = (await connectPage(alice.signedIn, { id: 'no-such-server' })).location;
  const { location } = await connectPage(alice.signedIn, { id: s.id });
  assert.equal(location, `${home}${s.w.tenant.slug}/live/ai/mcp/${s.id}?tab=people`);
  assert.equal((await connectPage(mallory.signedIn, { id: s.id })).location, home);
  const elsewhere = { ...alice.signedIn, session: { ...alice.signedIn.session, scope_tenant_id: newId() } };
  assert.equal((await connectPage(elsewhere, { id: s.id })).location, home, 'a session of another workspace');
  assert.equal(await db().mcp_consents.count({ where: { mcp_server_id: s.id } }), 0, 'a link begins nothing');
});

test('metadata of another resource or issuer, or without PKCE, begins nothing', async () => {
  const s = await setting();
  const alice = await person(s.w, 'Alice');
  const begin = () => made(alice.ctx, 'mcp_servers.connect', { id: s.id });
  s.upstream.resourceMetadata = { resource: 'https://bank.example/mcp' };
  await assert.rejects(begin(), { type: 'validation_error' });
  s.upstream.resourceMetadata = { resource: `${s.upstream.origin}/other` };
  await assert.rejects(begin(), { type: 'validation_error' });
  s.upstream.resourceMetadata = {};
  s.upstream.serverMetadata = { issuer: 'https://evil.example' };
  await assert.rejects(begin(), { type: 'validation_error' });
  s.upstream.serverMetadata = { code_challenge_methods_supported: undefined };
  await assert.rejects(begin(), { type: 'validation_error' });
  s.upstream.serverMetadata = { authorization_endpoint: 'javascript:alert(1)' };
  await assert.rejects(begin(), { type: 'validation_error' });
  await assert.rejects(made(s.w.live, 'mcp_servers.connect', { id: s.id }), { type: 'forbidden' });
});

test('many calls at once refresh a token once, and the new one is stored before it is used', async () => {
  const s = await setting();
  s.upstream.expiresIn = 30;
  const alice = await person(s.w, 'Alice');
  await connect(s, alice);
  const grant = (await grantOf(s.w.live, s.id, { userId: alice.user.id })) as string;
  s.upstream.refreshDelayMs = 150;
  s.upstream.expiresIn = 3_600;
  const tokens = await Promise.all(Array.from({ length: 20 }, () => grantToken(s.w.live, grant)));
  assert.equal(s.upstream.tokenRequests.filter((form) => form.get('grant_type') === 'refresh_token').length, 1);
  // Whoever did not wait used the old token, which still lived.
  assert.deepEqual([...new Set(tokens.map((token) => token?.reveal()))].sort(), ['access-1', 'access-2']);
  assert.equal((await grantToken(s.w.live, grant))?.reveal(), 'access-2');
  // A token that the upstream refused is replaced once, by the rotated refresh token.
  assert.equal((await grantToken(s.w.live, grant, { refused: 'access-2' }))?.reveal(), 'access-3');
  assert.equal((await grantToken(s.w.live, grant, { refused: 'access-2' }))?.reveal(), 'access-3');
});

test('a grant ends with invalid_grant, with its revocation, with its person, and with another upstream; its tokens are destroyed', async () => {
  const s = await setting();
  const alice = await person(s.w, 'Alice');
  const gone = async (grant: string) => {
    const row = await db().mcp_grants.findUniqueOrThrow({ where: { id: grant } });
    assert.deepEqual([row.status, row.value_ct, row.cek_wrapped, row.has_refresh_token], ['revoked', null, null, false]);
    assert.equal(await grantToken(s.w.live, grant), null);
    assert.equal(await grantOf(s.w.live, s.id, { userId: alice.user.id }), null);
  };
  const fresh = async () => {
    await connect(s, alice);
    return (await grantOf(s.w.live, s.id, { userId: alice.user.id })) as string;
  };
  const first = await fresh();
  s.upstream.refreshError = 'temporarily_unavailable';
  await assert.rejects(grantToken(s.w.live, first, { refused: 'access-1' }), { name: 'GrantUnavailable' });
  assert.ok(await grantToken(s.w.live, first), 'a server in trouble ends nothing');
  s.upstream.refreshError = 'invalid_grant';
  assert.equal(await grantToken(s.w.live, first, { refused: 'access-1' }), null);
  await gone(first);
  s.upstream.refreshError = null;

  const second = await fresh();
  await made(s.w.live, 'mcp_servers.grants.revoke', { id: s.id, grantId: second });
  await gone(second);
  const third = await fresh();
  await db().$transaction((tx) => grantsEnd(tx, s.w.live, alice.user.id));
  await gone(third);
  const fourth = await fresh();
  await made(s.w.live, 'mcp_servers.update', { id: s.id, upstream_url: `${s.upstream.origin}/other` });
  await gone(fourth);
});

test('a grant is found by its own person, server and space alone', async () => {
  const s = await setting();
  const alice = await person(s.w, 'Alice');
  await connect(s, alice);
  const grant = (await grantOf(s.w.live, s.id, { userId: alice.user.id })) as string;
  const other = await setting();
  assert.equal(await grantOf(s.w.live, s.id, { name: 'bob@example.com' }), null);
  assert.equal(await grantOf(s.w.live, other.id, { userId: alice.user.id }), null);
  for (const space of [s.w.test, other.w.live]) {
    assert.equal(await grantOf(space, s.id, { userId: alice.user.id }), null);
    assert.equal(await grantToken(space, grant), null);
  }
});

test('a grant belongs to its person: whoever takes over their address, or names it in a token, does not get it', async () => {
  const s = await setting();
  const [alice, mallory] = [await person(s.w, 'Alice'), await person(s.w, 'Mallory')];
  await connect(s, alice);
  const grant = (await grantOf(s.w.live, s.id, { userId: alice.user.id })) as string;
  assert.equal(await grantOf(s.w.live, s.id, { name: alice.email }), grant);
  const moved = `moved-${alice.email}`;
  await db().users.update({ where: { id: alice.user.id }, data: { email: moved } });
  await db().users.update({ where: { id: mallory.user.id }, data: { email: alice.email } });
  assert.equal(await grantOf(s.w.live, s.id, { name: alice.email }), null, 'the address is another person now');
  assert.equal(await grantOf(s.w.live, s.id, { userId: mallory.user.id }), null);
  assert.equal(await grantOf(s.w.live, s.id, { name: moved }), grant, 'under the address that its person has now');
  const asMallory = { ...mallory.ctx, actor: { ...mallory.ctx.actor, label: alice.email } } as Ctx;
  assert.match((await made(asMallory, 'mcp_servers.refresh', { id: s.id })).protocol.error, /Connect your own account/);
  await db().users.update({ where: { id: alice.user.id }, data: { disabled_at: new Date() } });
  assert.equal(await grantOf(s.w.live, s.id, { name: moved }), null);
});

test('a consent for one upstream gives no token to the one that a manager puts in its place', async () => {
  const s = await setting();
  const alice = await person(s.w, 'Alice');
  const { location } = await made(alice.ctx, 'mcp_servers.connect', { id: s.id });
  const other = await ProtectedUpstream.start();
  await made(s.w.live, 'mcp_servers.update', { id: s.id, upstream_url: other.url });
  assert.equal(ended(await finishConsent({ ...alice.signedIn, now: new Date() }, s.upstream.authorize(location))), 'conflict');
  assert.equal(await grantOf(s.w.live, s.id, { userId: alice.user.id }), null);
});

test('a stored client secret goes to the configured authorization server, never to one that only the upstream names', async () => {
  const w = await workspace();
  const secret = await made(w.live, 'secrets.create', { name: 'OAUTH_CLIENT', value: 'nobody may see' });
  const upstream = await ProtectedUpstream.start();
  const client = { mode: 'per_user', client_id: 'ours', client_secret_id: secret.id };
  const server = async (slug: string, oauth: object) =>
    made(w.live, 'mcp_servers.create', {
      id: (await aGateway(w.live)).id,
      name: 'Issues',
      slug,
      upstream_url: upstream.url,
      auth: { oauth },
    });
  const alice = await person(w, 'Alice');
  const open = await server('open', client);
  await assert.rejects(made(alice.ctx, 'mcp_servers.connect', { id: open.id }), /Enter the authorization server/);
  const named = await server('named', { ...client, authorization_server: upstream.origin });
  const { location } = await made(alice.ctx, 'mcp_servers.connect', { id: named.id });
  assert.equal(ended(await finishConsent({ ...alice.signedIn, now: new Date() }, upstream.authorize(location))), 'yes');
});
