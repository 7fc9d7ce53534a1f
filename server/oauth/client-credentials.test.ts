import assert from 'node:assert/strict';
import test from 'node:test';
import { proofSigner } from '#server/crypto/dpop.fixture.ts';
import { digest, mintApiKey, mintClientId, mintToken } from '#server/crypto/tokens.ts';
import { freshNonce } from '#server/domain/oauth-grants/dpop.ts';
import { forgetRules } from '#server/domain/policies/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { PERSON_FORBIDDEN_SCOPES, SCOPE_NAMES } from '#server/kernel/scopes.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { testDatabase } from '#server/testing/database.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { workspace } from '#server/testing/workspace.ts';
import { basic, introspected, makeClient, post } from './oauth.fixture.ts';

await testDatabase();
const w = await workspace();
const CC = { grant_type: 'client_credentials' };
const mint = (authorization: string, more: Record<string, string> = {}, ip?: string) =>
  post('/oauth/token', { ...CC, ...more }, { authorization, ...(ip ? { ip } : {}) });

test('client_credentials answers exactly the members of the success body, and nothing may keep it', async () => {
  const client = await makeClient(w);
  const { status, body, headers } = await mint(client.basic);
  assert.equal(status, 200);
  const { access_token, ...rest } = body;
  assert.match(access_token, /^svc_live_[0-9A-Za-z]{49}$/);
  assert.deepEqual(rest, {
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'routes:read routes:write',
    tenant: w.tenant.slug,
    client_id: client.client_id,
  });
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.ok(headers.get('x-request-id'));
  const row = await db().oauth_access.findUniqueOrThrow({ where: { digest: new Uint8Array(digest(access_token)) } });
  assert.deepEqual(
    [row.kind, row.tenant_id, row.sandbox, row.client_row_id, row.user_id],
    ['client', w.tenant.id, false, client.row.id, null],
  );
  assert.deepEqual(row.ceiling, ['route:create', 'route:delete', 'route:list', 'route:read', 'route:test', 'route:update']);
  const test = await makeClient(w, { space: 'test' });
  assert.match((await mint(test.basic)).body.access_token, /^svc_test_/);
});

test('a secret is accepted as it is and form-encoded, in the header or in the body, not in both', async () => {
  const client = await makeClient(w);
  const { client_id, secret } = client;
  const encoded = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
  assert.equal((await mint(basic(encoded(client_id), encoded(secret)))).status, 200);
  assert.equal((await post('/oauth/token', { ...CC, client_id, client_secret: secret })).status, 200);
  assert.equal((await mint(client.basic, { client_id })).status, 200);
  const both = await mint(client.basic, { client_id, client_secret: secret });
  assert.deepEqual([both.status, both.body.error], [400, 'invalid_request']);
  const contradicted = await mint(client.basic, { client_id: mintClientId() });
  assert.deepEqual([contradicted.status, contradicted.body.error], [400, 'invalid_request']);
});

test('unknown, foreign, disabled and revoked clients and wrong secrets get byte-equal answers', async () => {
  const [good, disabled, revoked, gone] = [await makeClient(w), await makeClient(w), await makeClient(w), await workspace()];
  const other = await makeClient(gone);
  const publicClient = await makeClient(w, { type: 'public' });
  await db().oauth_clients.update({ where: { id: disabled.row.id }, data: { active: false } });
  await db().oauth_clients.update({ where: { id: revoked.row.id }, data: { active: false, revoked_at: new Date() } });
  await db().tenants.update({ where: { id: gone.tenant.id }, data: { deleted_at: new Date() } });
  const key = mintApiKey('live').token;
  const pairs: Record<string, [string, string]> = {
    unknown: [mintClientId(), good.secret],
    'no client id at all': ['nobody', good.secret],
    disabled: [disabled.client_id, disabled.secret],
    revoked: [revoked.client_id, revoked.secret],
    'of a deleted workspace': [other.client_id, other.secret],
    'wrong secret': [good.client_id, mintToken('client_secret').token],
    "another client's secret": [good.client_id, other.secret],
    'a secret for a public client': [publicClient.client_id, good.secret],
    'empty secret': [good.client_id, ''],
    'unknown key': [key.slice(0, 20), key.slice(21)],
    'null character': [`${good.client_id}\0`, good.secret],
  };
  const answers = new Set<string>();
  for (const [what, [id, secret]] of Object.entries(pairs)) {
    const { status, text, headers } = await mint(basic(id, secret), {}, '192.0.2.7');
    assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Basic realm="oauth"'], what);
    answers.add(text);
  }
  assert.equal(answers.size, 1, [...answers].join('\n'));
  const posted = await post('/oauth/token', { ...CC, client_id: good.client_id }, { ip: '192.0.2.7' });
  assert.deepEqual([posted.status, posted.headers.get('www-authenticate'), posted.text], [401, null, [...answers][0]]);
  assert.equal((await post('/oauth/token', CC)).status, 401);
});

test('an API key is a client, wherever it is split, and mints tokens of its own space', async () => {
  const { row, text } = await w.key('live', 'Key - Read-only');
  for (let at = 3; at < text.length; at++) {
    if (text[at] !== '_') continue;
    const { status, body } = await mint(basic(text.slice(0, at), text.slice(at + 1)), { scope: 'routes:read' });
    assert.deepEqual([status, body.client_id, body.scope], [200, row.key_id, 'routes:read'], `split at ${at}`);
  }
  const { body } = await mint(basic(row.key_id, text.slice(21)));
  assert.ok(body.scope.split(' ').includes('routes:read') && !body.scope.includes('routes:write') && !body.scope.includes('mcp:tools'));
  const stored = await db().oauth_access.findUniqueOrThrow({ where: { digest: new Uint8Array(digest(body.access_token)) } });
  assert.equal(stored.source_api_key_id, row.id);
  const sandbox = await w.key('test');
  assert.match((await mint(basic('tk_test', sandbox.text.slice(8)))).body.access_token, /^svc_test_/);
  const scoped = await w.key('live', 'Key - Editor', { scoped: true, scopes: ['secrets:read'] });
  assert.equal((await mint(basic('tk_live', scoped.text.slice(8)))).body.scope, 'secrets:read');
  const refused = await mint(basic('tk_live', scoped.text.slice(8)), { scope: 'routes:read' });
  assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_scope']);
});

test('a key that ended, or is used from elsewhere, is no client', async () => {
  const past = new Date(Date.now() - 1_000);
  const ended = [{ active: false, revoked_at: past }, { expires_at: past }, { revoke_at: past }, { ip_allowlist: ['203.0.113.0/24'] }];
  for (const extra of ended) {
    const { text } = await w.key('live', 'Key - Editor', extra);
    const { status } = await mint(basic('tk_live', text.slice(8)));
    assert.equal(status, 401, JSON.stringify(extra));
  }
  const { text } = await w.key('live', 'Key - Editor', { ip_allowlist: ['203.0.113.0/24'] });
  assert.equal((await mint(basic('tk_live', text.slice(8)), {}, '203.0.113.9')).status, 200);
});

test('scopes are granted exactly as asked for, or refused by name', async () => {
  const client = await makeClient(w, {
    scopes: ['routes:read', 'secrets:write', 'secrets:read', 'transit:decrypt'],
    step_up: ['secrets:write'],
  });
  const scope = async (asked: string) => (await mint(client.basic, { scope: asked })).body;
  assert.equal((await mint(client.basic)).body.scope, 'routes:read secrets:read transit:decrypt', 'all but the step-up scopes');
  assert.equal((await scope('secrets:read  routes:read secrets:read')).scope, 'routes:read secrets:read', 'sorted, once each');
  const table: [string, RegExp][] = [
    ['routes:read nonsense', /nonsense/],
    ['environments:read', /environments:read/],
    ['secrets:write', /second factor/],
    ['mcp:tools', /resource/],
    ['routes:read "quoted\\', /\?quoted\?/],
  ];
  for (const [asked, says] of table) {
    const { error, error_description } = await scope(asked);
    assert.deepEqual([error, says.test(error_description)], ['invalid_scope', true], `${asked}: ${error_description}`);
    assert.match(error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/, 'RFC 6749 §5.2');
  }
  const nothing = await makeClient(w, { scopes: [] });
  assert.equal((await mint(nothing.basic)).body.scope, '');
  // A machine may carry what people never do.
  const all = await makeClient(w, { scopes: [...SCOPE_NAMES] });
  const granted = (await mint(all.basic)).body.scope.split(' ');
  assert.ok(PERSON_FORBIDDEN_SCOPES.every((one) => granted.includes(one)));
});

test('resource names the Management API of the space, or nothing', async () => {
  const client = await makeClient(w);
  const mine = 'http://localhost:4000/v1';
  assert.equal((await mint(client.basic, { resource: mine })).status, 200);
  for (const resource of ['', 'http://localhost:4001/v1', 'https://mcp.example.com/', `${mine}/mcp/x`, `${mine}?x`]) {
    const { status, body } = await mint(client.basic, { resource });
    assert.deepEqual([status, body.error], [400, 'invalid_target'], resource);
  }
});

test('the form is read strictly', async () => {
  const { basic: authorization } = await makeClient(w);
  const table: [string, string | Record<string, string>, Record<string, string>, number, string][] = [
    ['repeated', 'grant_type=client_credentials&scope=a&scope=b', {}, 400, 'invalid_request'],
    ['repeated, empty', 'grant_type=client_credentials&scope=&scope=', {}, 400, 'invalid_request'],
    ['JSON', JSON.stringify(CC), { 'content-type': 'application/json' }, 400, 'invalid_request'],
    ['no type', 'grant_type=client_credentials', { 'content-type': '' }, 400, 'invalid_request'],
    ['too large', `grant_type=client_credentials&x=${'x'.repeat(65_536)}`, {}, 413, 'invalid_request'],
    ['no grant', 'scope=routes:read', {}, 400, 'invalid_request'],
    ['empty grant', 'grant_type=', {}, 400, 'invalid_request'],
    ['unknown grant', 'grant_type=password', {}, 400, 'unsupported_grant_type'],
    ['a name of objects', 'grant_type=__proto__', {}, 400, 'unsupported_grant_type'],
    ['null character', 'grant_type=client_credentials&scope=%00', {}, 400, 'invalid_request'],
    ['empty scope is none', 'grant_type=client_credentials&scope=', {}, 200, ''],
    [
      'unknown parameters are ignored',
      'grant_type=client_credentials&foo=bar',
      { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
      200,
      '',
    ],
  ];
  for (const [what, form, headers, status, error] of table) {
    const answer = await post('/oauth/token', form, { authorization, headers });
    assert.deepEqual([answer.status, answer.body.error ?? ''], [status, error], what);
    if (status !== 200) assert.deepEqual(Object.keys(answer.body), ['error', 'error_description'], what);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
});

test('a client uses its own grants only', async () => {
  const publicClient = await makeClient(w, { type: 'public', grants: ['authorization_code', 'client_credentials'] });
  const code = await makeClient(w, { grants: ['authorization_code'] });
  for (const answer of [
    await post('/oauth/token', { ...CC, client_id: publicClient.client_id }),
    await mint(code.basic),
    await post('/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x' }, { authorization: (await makeClient(w)).basic }),
  ])
    assert.deepEqual([answer.status, answer.body.error], [400, 'unauthorized_client']);
});

test('the 21st failure of one id from one network is told to wait, also with the right secret, and audited once', async (t) => {
  stillClock(t);
  const client = await makeClient(w);
  const ip = '198.51.100.20';
  const wrong = basic(client.client_id, mintToken('client_secret').token);
  const answers = [];
  for (let i = 0; i < 21; i++) answers.push(await mint(wrong, {}, ip));
  assert.deepEqual([...new Set(answers.slice(0, 20).map(({ status }) => status))], [401]);
  for (const late of [answers[20], await mint(client.basic, {}, ip)]) {
    assert.deepEqual([late?.status, late?.body.error], [429, 'temporarily_unavailable']);
    assert.ok(Number(late?.headers.get('retry-after')) > 0);
  }
  assert.equal((await mint(client.basic, {}, '198.51.100.21')).status, 200, 'from elsewhere nothing changed');
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'login_failed', resource_id: client.row.id } });
  assert.deepEqual(
    entries.map(({ resource_type, ip_address }) => [resource_type, ip_address]),
    [['oauth_client', ip]],
  );
});

test('failures of one id count together, however it is spelled in the header', async (t) => {
  stillClock(t);
  const client = await makeClient(w);
  const ip = '198.51.100.30';
  const wrong = mintToken('client_secret').token;
  const spelled = (at: number) => client.client_id.replace(/./g, (c, i) => (i === at ? `%${c.charCodeAt(0).toString(16)}` : c));
  for (let i = 0; i < 20; i++) assert.equal((await mint(basic(spelled(i), wrong), {}, ip)).status, 401);
  assert.equal((await mint(basic(spelled(20), wrong), {}, ip)).status, 429);
  for (const id of [spelled(21), client.client_id]) assert.equal((await mint(basic(id, client.secret), {}, ip)).status, 429);
  assert.equal(await db().audit_logs.count({ where: { action: 'login_failed', resource_id: client.row.id } }), 1);
});

test('a client may ask for 600 tokens a minute', async (t) => {
  stillClock(t);
  const client = await makeClient(w);
  await windowCounter()(`oauth-token:${client.row.id}`, Math.floor(Date.now() / 60_000), 60, 599, 599);
  assert.equal((await mint(client.basic)).status, 200);
  const { status, body, headers } = await mint(client.basic);
  assert.deepEqual([status, body.error], [429, 'temporarily_unavailable']);
  assert.ok(Number(headers.get('retry-after')) <= 60);
});

test('introspection tells a workspace about its own tokens, with the members of the interface', async () => {
  const [client, asking, foreign] = [await makeClient(w), await makeClient(w), await makeClient(await workspace())];
  const otherSpace = await makeClient(w, { space: 'test' });
  const { access_token } = (await mint(client.basic)).body;
  const { jti, iat, exp, ...rest } = await introspected(asking, access_token);
  assert.deepEqual(rest, {
    active: true,
    scope: 'routes:read routes:write',
    client_id: client.client_id,
    token_type: 'Bearer',
    sub: `client:${client.client_id}`,
    aud: 'http://localhost:4000/v1',
    iss: 'http://localhost:4000',
    tenant: w.tenant.slug,
    sandbox: false,
    kind: 'client',
  });
  assert.ok(jti && exp - iat === 3600);
  const { text: key } = await w.key();
  for (const by of [foreign, otherSpace]) assert.deepEqual(await introspected(by, access_token), { active: false });
  for (const token of ['x', mintToken('oauth_token_live').token, `${access_token}x`, key])
    assert.deepEqual(await introspected(asking, token), { active: false });
  await db().oauth_clients.update({ where: { id: client.row.id }, data: { allowed_scopes: ['routes:read'] } });
  assert.equal((await introspected(asking, access_token)).scope, 'routes:read', 'narrowing acts at once');
  await db().oauth_clients.update({ where: { id: client.row.id }, data: { active: false } });
  assert.deepEqual(await introspected(asking, access_token), { active: false });
});

test('introspection is for confidential clients and for tokens with its scope', async () => {
  const publicClient = await makeClient(w, { type: 'public' });
  const reader = await makeClient(w, { scopes: ['oauth:introspect', 'routes:read'] });
  const { access_token } = (await mint(reader.basic, { scope: 'oauth:introspect' })).body;
  const plain = (await mint(reader.basic, { scope: 'routes:read' })).body.access_token;
  const ask = (form: Record<string, string>, authorization?: string) =>
    post('/oauth/introspect', form, authorization ? { authorization } : {});
  const own = await ask({ token: access_token }, `Bearer ${access_token}`);
  assert.deepEqual([own.status, own.body.active], [200, true]);
  const table: [string, Awaited<ReturnType<typeof ask>>, number, string][] = [
    ['nobody', await ask({ token: access_token }), 401, 'invalid_client'],
    ['public client', await ask({ token: access_token, client_id: publicClient.client_id }), 401, 'invalid_client'],
    ['without the scope', await ask({ token: access_token }, `Bearer ${plain}`), 403, 'insufficient_scope'],
    ['unknown token', await ask({ token: access_token }, `Bearer ${mintToken('oauth_token_live').token}`), 401, 'invalid_token'],
    ['scheme DPoP', await ask({ token: access_token }, `DPoP ${access_token}`), 401, 'invalid_token'],
    ['no token', await ask({}, reader.basic), 400, 'invalid_request'],
  ];
  for (const [what, { status, body }, expected, error] of table) assert.deepEqual([status, body.error], [expected, error], what);
});

test('a token that introspects is held to the addresses of its key, to policies and to the nonce, as on /v1', async () => {
  const place = await workspace();
  const { row, text } = await place.key('live', 'Key - Infrastructure', { ip_allowlist: ['192.0.2.0/24'] });
  const { access_token } = (await mint(basic(row.key_id, text.slice(row.key_id.length + 1)), {}, '192.0.2.1')).body;
  const ask = async (ip: string) => {
    const { status, body } = await post('/oauth/introspect', { token: access_token }, { authorization: `Bearer ${access_token}`, ip });
    return [status, body.error ?? body.active];
  };
  assert.deepEqual(await ask('192.0.2.9'), [200, true]);
  assert.deepEqual(await ask('198.51.100.9'), [403, 'insufficient_scope']);
  const rule = { name: 'no introspection', actions: ['oauth:introspect'], subjects: { all: true }, resources: [], space: 'both' };
  await db().tenant_policies.create({ data: { id: newId(), tenant_id: place.tenant.id, ...rule } });
  forgetRules(place.tenant.id);
  assert.deepEqual(await ask('192.0.2.9'), [403, 'insufficient_scope']);

  const bound = await workspace();
  await db().tenants.update({ where: { id: bound.tenant.id }, data: { settings: { dpop_nonce_required: true } } });
  const reader = await makeClient(bound, { scopes: ['oauth:introspect'] });
  const { prove } = await proofSigner();
  const urlOf = (path: string) => `${env.PUBLIC_API_URL}${path}`;
  const nonce = freshNonce(new Date());
  const headers = { dpop: await prove({ method: 'POST', url: urlOf('/oauth/token'), claims: { nonce } }) };
  const minted = await post('/oauth/token', CC, { authorization: reader.basic, headers });
  assert.deepEqual([minted.status, minted.body.token_type], [200, 'DPoP'], minted.text);
  const own: string = minted.body.access_token;
  const asked = async (claims: Record<string, unknown>) => {
    const dpop = await prove({ method: 'POST', url: urlOf('/oauth/introspect'), access_token: own, claims });
    return post('/oauth/introspect', { token: own }, { authorization: `DPoP ${own}`, headers: { dpop } });
  };
  const without = await asked({});
  assert.deepEqual([without.status, without.body.error], [401, 'use_dpop_nonce']);
  assert.equal((await asked({ nonce })).body.active, true);
});

test('revoking ends a token of the own client, and says the same of any other', async () => {
  const [client, other, asking] = [await makeClient(w), await makeClient(w), await makeClient(w)];
  const { access_token } = (await mint(client.basic)).body;
  const revoke = (by: string, token: string) => post('/oauth/revoke', { token, token_type_hint: 'access_token' }, { authorization: by });
  for (const [by, token] of [
    [other.basic, access_token],
    [client.basic, 'unknown'],
  ] as const) {
    const { status, body } = await revoke(by, token);
    assert.deepEqual([status, body], [200, {}]);
  }
  assert.equal((await introspected(asking, access_token)).active, true);
  const { status, body } = await revoke(client.basic, access_token);
  assert.deepEqual([status, body], [200, {}]);
  assert.deepEqual(await introspected(asking, access_token), { active: false });
  assert.equal((await revoke(basic(client.client_id, other.secret), access_token)).status, 401);
});

test('a mirrored client follows its key', async () => {
  const { row } = await w.key('live', 'Key - Editor');
  const mirror = () => db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: row.id } });
  const { client_id, type, grant_types, active, name, source_key_type } = await mirror();
  assert.deepEqual(
    [client_id, type, grant_types, active, name, source_key_type],
    [row.key_id, 'confidential', ['client_credentials'], true, 'Key - Editor', 'standard'],
  );
  await db().api_keys.update({ where: { id: row.id }, data: { name: 'renamed', active: false, revoked_at: new Date() } });
  const after = await mirror();
  assert.deepEqual([after.name, after.active, after.revoked_at !== null], ['renamed', false, true]);
  const counted = async () =>
    Number((await db().row_counts.findFirst({ where: { tenant_id: w.tenant.id, sandbox: false, kind: 'oauth_clients' } }))?.n ?? 0);
  const before = await counted();
  await w.key();
  assert.equal(await counted(), before, 'keys take no place of the plan');
  const client = await makeClient(w);
  assert.equal(await counted(), before + 1);
  await db().oauth_clients.update({ where: { id: client.row.id }, data: { active: false, revoked_at: new Date() } });
  assert.equal(await counted(), before);
  await db().api_keys.delete({ where: { id: row.id } });
  assert.equal(await db().oauth_clients.count({ where: { client_id: row.key_id } }), 0);
});
