import assert from 'node:assert/strict';
import test from 'node:test';
import { startDocuments } from '#server/domain/oauth-grants/client-documents.fixture.ts';
import { held } from '#server/domain/oauth-grants/client-documents.ts';
import { apiUrl, proxyUrl } from '#server/domain/tenants/addresses.ts';
import { makeGateway, makeServer } from '#server/gateway/mcp/mcp.fixture.ts';
import { post, REDIRECT, VERIFIER } from '#server/oauth/oauth.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { createTestPerson } from '#server/testing/test-person.ts';
import { tokenActor } from '#server/testing/workspace.ts';
import { allow, answerIn, decide, member, opened, pageOf } from './logins.fixture.ts';

// Logins of applications that nobody has registered: their client ID is the address of a document about them (interface rule 21 §12).

await testDatabase();
const documents = await startDocuments();
held.source = documents.source();

let made_so_far = 0;
/** An owner with an MCP server, and an application with a document of its own. */
async function set(more: object = {}) {
  const who = await createTestPerson({ signedIn: true });
  await makeServer(who.w, await makeGateway(who.w), 'vendor', { upstream_url: 'https://mcp.example.org/mcp' });
  const path = `/app-${++made_so_far}.json`;
  documents.documents.set(path, documents.document(path, more));
  const client_id = `${documents.origin}${path}`;
  const resource = `${proxyUrl(who.w.tenant.slug, 'live')}/v1/mcp/vendor`;
  const authorize = (query: Record<string, string> = {}) =>
    opened({ client_id, redirect_uri: REDIRECT, resource, scope: 'mcp:tools', ...query });
  const rows = () => db().oauth_clients.findMany({ where: { tenant_id: who.w.tenant.id, client_id } });
  const token = (form: Record<string, string>) => post('/oauth/token', { client_id, ...form });
  const redeem = (code: string, extra: Record<string, string> = {}) =>
    token({ grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri: REDIRECT, resource, ...extra });
  return { who, path, client_id, resource, authorize, rows, token, redeem };
}

test('an application is signed in by the address of its document alone, and stored at the first consent', async () => {
  const { who, client_id, resource, authorize, rows, token, redeem } = await set();
  const before = await db().oauth_clients.count();
  const { status, handle } = await authorize();
  assert.equal(status, 302);
  assert.equal(await db().oauth_clients.count(), before, 'a stranger’s address makes no client');
  const page = await pageOf(who.b, handle);
  assert.ok(page.state === 'ask');
  const { name, type, url_host } = page.view.app;
  assert.deepEqual([name, type, url_host], ['Example app', 'public', new URL(client_id).host]);
  assert.deepEqual([page.view.chosen?.slug, page.view.problem, page.view.redirect.kind], [who.w.tenant.slug, null, 'loopback']);
  assert.deepEqual(
    page.view.offer?.scopes.map((scope) => [scope.name, scope.sentence]),
    [['mcp:tools', `Call the tools of ${resource}.`]],
    'the page says which server it is',
  );
  assert.equal((await rows()).length, 0);
  const { code } = answerIn(await decide(who.b, handle, { decision: 'allow' }));
  const [row] = await rows();
  assert.deepEqual(
    [row?.type, row?.grant_types, row?.allowed_scopes, row?.redirect_uris, row?.sandbox],
    ['public', ['authorization_code', 'refresh_token'], ['mcp:tools'], ['http://127.0.0.1/callback'], false],
  );
  const entry = await db().audit_logs.findFirstOrThrow({
    where: { tenant_id: who.w.tenant.id, resource_type: 'oauth_client', action: 'create' },
  });
  assert.deepEqual([entry.actor_id, entry.resource_id, (entry.details as { client_id: string }).client_id], [who.id, row?.id, client_id]);
  const tokens = await redeem(String(code));
  assert.deepEqual([tokens.status, tokens.body.scope, tokens.body.client_id], [200, 'mcp:tools', client_id], tokens.text);
  const access = await db().oauth_access.findFirstOrThrow({ where: { client_row_id: row?.id as string } });
  assert.equal(access.aud, resource);
  const refreshed = await token({ grant_type: 'refresh_token', refresh_token: tokens.body.refresh_token, resource });
  assert.equal(refreshed.status, 200, refreshed.text);
  const replayed = await redeem(String(code));
  assert.deepEqual([replayed.status, replayed.body.error], [400, 'invalid_grant']);
});

test('each workspace and space has its own row, and tokens of one client are none of another', async () => {
  const one = await set();
  const other = await set();
  const query = { client_id: one.client_id };
  const code = (await allow(other.who.b, (await other.authorize(query)).handle)).code;
  await allow(one.who.b, (await one.authorize()).handle);
  assert.equal(await db().oauth_clients.count({ where: { client_id: one.client_id } }), 2);
  const stolen = await other.redeem(String(code));
  assert.deepEqual([stolen.status, stolen.body.error], [400, 'invalid_grant'], 'by another client ID');
  const again = (await allow(other.who.b, (await other.authorize(query)).handle)).code;
  const tokens = await other.redeem(String(again), query);
  assert.equal(tokens.status, 200, tokens.text);
  for (const token of [tokens.body.access_token, tokens.body.refresh_token]) {
    assert.equal((await post('/oauth/revoke', { token, client_id: other.client_id })).status, 200);
    assert.equal(await db().oauth_families.count({ where: { tenant_id: other.who.w.tenant.id, revoked_at: { not: null } } }), 0);
  }
  assert.equal((await post('/oauth/revoke', { token: tokens.body.refresh_token, ...query })).status, 200);
  assert.equal(await db().oauth_families.count({ where: { tenant_id: other.who.w.tenant.id, revoked_at: { not: null } } }), 1);
});

test('without an MCP server such a client gets nothing, and a stranger isn’t told which there are', async () => {
  const { who, authorize, resource } = await set();
  for (const query of [{ resource: '' }, { resource: apiUrl('live') }, { resource: 'https://mcp.example.org/mcp' }]) {
    const { location } = await authorize(query);
    assert.equal(answerIn(String(location)).error, 'invalid_target', JSON.stringify(query));
  }
  assert.equal(answerIn(String((await authorize({ scope: 'routes:read' })).location)).error, 'invalid_scope');
  const missing = await authorize({ resource: `${resource}-missing` });
  assert.equal(missing.status, 302);
  const page = await pageOf(who.b, missing.handle);
  assert.ok(page.state === 'ask' && page.view.problem?.includes('no MCP server'));
  assert.match(await decide(who.b, missing.handle, { decision: 'allow' }), /problem=not_found/);
  const stranger = await createTestPerson({ signedIn: true });
  const pages = await Promise.all(
    [resource, `${resource}-missing`].map(async (asked) => pageOf(stranger.b, (await authorize({ resource: asked })).handle)),
  );
  assert.equal(new Set(pages.map((one) => JSON.stringify(one))).size, 1);
  assert.ok(pages[0]?.state === 'ask' && pages[0].view.chosen === null);
});

test('the address below the API leaves the workspace to the person', async () => {
  const { who, authorize, redeem } = await set();
  const resource = `${apiUrl('live')}/mcp/vendor`;
  const { code } = await allow(who.b, (await authorize({ resource })).handle);
  const tokens = await redeem(String(code), { resource });
  assert.equal(tokens.status, 200, tokens.text);
});

test('a document or redirect URI that isn’t good ends on a page, and sends nobody anywhere', async () => {
  const { authorize, client_id, path } = await set();
  const cases: [query: Record<string, string>, text: RegExp][] = [
    [{ client_id: client_id.replace('https:', 'http:') }, /https/],
    [{ client_id: `${client_id}?x=1` }, /query/],
    [{ client_id: `${documents.origin}/nothing.json` }, /gave no document that can be used/],
    [{ client_id: 'https://10.0.0.1/c.json' }, /domain name/],
    [{ redirect_uri: 'https://evil.example/cb' }, /redirect/],
    [{ redirect_uri: 'http://localhost:51234/callback' }, /redirect/],
  ];
  for (const [query, text] of cases) {
    const page = await authorize(query);
    assert.deepEqual([page.status, page.location], [400, null], JSON.stringify(query));
    assert.match(page.text, text);
  }
  documents.documents.set(path, documents.document(path, { client_name: '<script>alert(1)</script>' }));
  held.source = documents.source();
  assert.equal((await authorize()).status, 302);
});

test('a changed document changes the row at the next consent', async () => {
  const { who, path, authorize, rows } = await set();
  await allow(who.b, (await authorize()).handle);
  documents.documents.set(
    path,
    documents.document(path, { client_name: 'Renamed', redirect_uris: ['http://127.0.0.1/callback', 'https://app.example.org/cb'] }),
  );
  held.source = documents.source();
  await allow(who.b, (await authorize()).handle);
  const [row, ...more] = await rows();
  assert.deepEqual([more.length, row?.name, row?.redirect_uris.length], [0, 'Renamed', 2]);
  assert.equal(await db().audit_logs.count({ where: { tenant_id: who.w.tenant.id, resource_type: 'oauth_client', action: 'update' } }), 1);
});

test('a workspace turns such clients off, all of them or one, and what they hold is no longer renewed', async () => {
  const { who, client_id, authorize, rows, redeem, token } = await set();
  const sign = async () => redeem(String((await allow(who.b, (await authorize()).handle)).code));
  const first = await sign();
  const refresh = (refresh_token: string) => token({ grant_type: 'refresh_token', refresh_token });
  const settings = (value: object) => db().tenants.update({ where: { id: who.w.tenant.id }, data: { settings: value } });
  await settings({ allow_client_id_documents: false });
  assert.equal((await refresh(first.body.refresh_token)).body.error, 'invalid_grant');
  const { handle } = await authorize();
  const page = await pageOf(who.b, handle);
  assert.ok(page.state === 'ask' && page.view.problem?.includes('registered'));
  assert.match(await decide(who.b, handle, { decision: 'allow' }), /problem=role_denied/);
  await settings({});
  assert.equal((await refresh(first.body.refresh_token)).status, 200);
  const [row] = await rows();
  const ctx = { ...who.w.ctx('live'), actor: tokenActor() };
  await assert.rejects(made(ctx, 'oauth_clients.update', { id: row?.id, allowed_scopes: ['mcp:tools', 'routes:read'] }), /document/);
  await assert.rejects(made(ctx, 'oauth_clients.update', { id: row?.id, name: 'Other' }), /document/);
  await made(ctx, 'oauth_clients.update', { id: row?.id, active: false });
  const off = await pageOf(who.b, (await authorize()).handle);
  assert.ok(off.state === 'ask' && off.view.problem?.includes('turned this application off'));
  assert.equal(await db().oauth_families.count({ where: { client_row_id: row?.id as string, revoked_at: null } }), 0, client_id);
});

test('a viewer signs in too, and what a workspace keeps of such clients has a bound', async () => {
  const { who, authorize } = await set();
  const { tenant } = who.w;
  const row = (i: number) => ({
    id: crypto.randomUUID(),
    tenant_id: tenant.id,
    sandbox: false,
    client_id: `https://c.example.org/${i}`,
    name: 'C',
    type: 'public',
  });
  await db().oauth_clients.createMany({ data: Array.from({ length: 99 }, (_, i) => row(i)) });
  const counted = await db().row_counts.findFirst({ where: { tenant_id: tenant.id, kind: 'oauth_clients' } });
  assert.equal(Number(counted?.n ?? 0), 0, 'they are no clients of the plan');
  const viewer = await member(who, 'viewer');
  await allow(viewer.b, (await authorize()).handle);
  const over = await set();
  const { handle } = await opened({
    client_id: over.client_id,
    redirect_uri: REDIRECT,
    resource: `${proxyUrl(tenant.slug, 'live')}/v1/mcp/vendor`,
  });
  assert.equal((await pageOf(who.b, handle)).state, 'ask');
  assert.match(await decide(who.b, handle, { decision: 'allow' }), /problem=conflict/);
});
