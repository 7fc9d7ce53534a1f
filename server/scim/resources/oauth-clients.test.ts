import assert from 'node:assert/strict';
import test from 'node:test';
import { digest, mintClientId } from '#server/crypto/tokens.ts';
import { accessOf } from '#server/domain/oauth-clients/samples.fixture.ts';
import { setLimit } from '#server/domain/operator/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import type { Workspace } from '#server/testing/workspace.ts';
import { OAUTH_CLIENT_URN } from '../schema/oauth-client.ts';
import { type Answer, directory } from '../scim.fixture.ts';

await ownDatabase();

type Members = Record<string, unknown>;
const body = (more: Members = {}) => ({ schemas: [OAUTH_CLIENT_URN], clientName: 'CI', ...more });
const replace = (path: string, value: unknown) => ({ op: 'replace', path, value });
const named = async (answer: Promise<Answer>): Promise<string[]> =>
  (await answer).body.Resources.map(({ clientName }: { clientName: string }) => clientName);
const filter = (text: string) => `/OAuthClients?filter=${encodeURIComponent(text)}`;
const refused = (answer: Answer, status: number, scimType: string | undefined, error?: string) =>
  assert.deepEqual([answer.status, answer.body?.scimType, answer.body?.error], [status, scimType, error], answer.text);
const entries = async (w: Pick<Workspace, 'tenant'>, id: string) =>
  (await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: id }, orderBy: { seq: 'asc' } })).map(
    ({ action, resource_type, actor_type, sandbox }) => `${action} ${resource_type} by ${actor_type} in ${sandbox ? 'test' : 'live'}`,
  );

test('a client that is to be inactive is never enabled, not even for a moment', async () => {
  const w = await directory();
  await db().$executeRawUnsafe(
    `create or replace function pg_temp_no_active() returns trigger language plpgsql as $$ begin raise exception 'enabled'; end $$`,
  );
  await db().$executeRawUnsafe(
    `create trigger never_enabled after insert on oauth_clients for each row when (new.tenant_id = '${w.tenant.id}' and new.active) execute function pg_temp_no_active()`,
  );
  try {
    const { status, body: made } = await w.scim.post('/OAuthClients', body({ active: false }));
    assert.deepEqual([status, made.active], [201, false]);
    assert.deepEqual(await entries(w, made.id), ['create oauth_client by scim in live', 'disable oauth_client by scim in live']);
  } finally {
    await db().$executeRawUnsafe('drop trigger never_enabled on oauth_clients');
    await db().$executeRawUnsafe('drop function pg_temp_no_active()');
  }
});

test('a new client is confidential, and its secret stands in the answer that creates it and nowhere else', async () => {
  const w = await directory();
  const {
    status,
    body: made,
    headers,
  } = await w.scim.post('/OAuthClients?attributes=clientName', body({ allowedScopes: ['routes:read'] }));
  assert.equal(status, 201);
  assert.match(made.client_secret, /^svcs_[0-9A-Za-z]{49}$/);
  const { client_secret, ...all } = (
    await w.scim.post('/OAuthClients', body({ requireDpop: true, requirePkce: true, clientId: 'mine', id: 'mine' }))
  ).body;
  const { meta, id, clientId, ...rest } = all;
  assert.deepEqual(rest, {
    schemas: [OAUTH_CLIENT_URN],
    clientName: 'CI',
    clientType: 'confidential',
    grantTypes: ['client_credentials'],
    requirePkce: true,
    requireDpop: true,
    active: true,
  });
  assert.match(clientId, /^svc_client_/);
  assert.equal(meta.location, `https://admin.test/scim/v2/OAuthClients/${id}`);
  assert.match(headers.get('location') ?? '', /\/OAuthClients\/[0-9a-f-]{36}$/);
  const secret = await db().oauth_client_secrets.findFirstOrThrow({ where: { client_row_id: id } });
  assert.deepEqual(Buffer.from(secret.digest), digest(client_secret));
  assert.deepEqual((await w.scim.get(`/OAuthClients/${id}`)).body, all);
  for (const answer of [await w.scim.get('/OAuthClients'), await w.scim.patch(`/OAuthClients/${id}`, replace('clientName', 'X'))])
    assert.ok(!answer.text.includes('client_secret') && !answer.text.includes('svcs_'));
  assert.deepEqual(await entries(w, id), ['create oauth_client by scim in live', 'update oauth_client by scim in live']);
});

test('redirect URIs at creation decide the grants, which stay', async () => {
  const w = await directory();
  const made = (await w.scim.post('/OAuthClients', body({ redirectUris: ['https://App.example.com:443/cb'] }))).body;
  assert.deepEqual(
    [made.grantTypes, made.redirectUris],
    [['client_credentials', 'authorization_code', 'refresh_token'], ['https://app.example.com/cb']],
  );
  const path = `/OAuthClients/${made.id}`;
  refused(await w.scim.patch(path, { op: 'remove', path: 'redirectUris' }), 400, 'invalidValue');
  refused(await w.scim.patch(path, replace('redirectUris', [])), 400, 'invalidValue');
  refused(await w.scim.put(path, body()), 400, 'invalidValue');
  const added = await w.scim.patch(path, { op: 'add', path: 'redirectUris', value: 'https://app.example.com/two' });
  assert.deepEqual(added.body.redirectUris, ['https://app.example.com/cb', 'https://app.example.com/two']);
  assert.deepEqual(added.body.grantTypes, made.grantTypes);
  const machine = (await w.scim.post('/OAuthClients', body())).body;
  const interactive = (await w.scim.patch(`/OAuthClients/${machine.id}`, replace('redirectUris', ['https://app.example.com/cb']))).body;
  assert.deepEqual(interactive.grantTypes, ['client_credentials']);
});

test('a redirect URI that cannot be registered, an unfit scope and PKCE turned off are refused, and nothing is stored', async () => {
  const w = await directory();
  const made = (await w.scim.post('/OAuthClients', body({ allowedScopes: ['routes:read'] }))).body;
  const unfit: Members[] = [
    ...[
      'http://127.0.0.1/cb',
      'http://app.example.com/cb',
      'javascript:alert(1)',
      'com.example.app:/cb',
      'https://a.example/#x',
      'https://*.example.com/',
      'x',
    ].map((uri) => ({ redirectUris: [uri] })),
    { redirectUris: Array.from({ length: 21 }, (_, i) => `https://a.example/${i}`) },
    ...[
      'api_keys:write',
      'account:write',
      'oauth_clients:write',
      'transit:decrypt',
      'secrets:token',
      'logs:identity',
      'mcp:tools',
      'pki:issue',
      'no:such',
    ].map((scope) => ({
      allowedScopes: ['routes:read', scope],
    })),
    { allowedScopes: ['routes:read'], stepUpScopes: ['secrets:write'] },
    { requirePkce: false },
    { requirePkce: 'maybe' },
    { clientName: '' },
    { clientName: 'x'.repeat(101) },
  ];
  for (const settings of unfit) {
    refused(await w.scim.post('/OAuthClients', body(settings)), 400, 'invalidValue');
    refused(await w.scim.put(`/OAuthClients/${made.id}`, body(settings)), 400, 'invalidValue');
    refused(await w.scim.patch(`/OAuthClients/${made.id}`, { op: 'replace', value: settings }), 400, 'invalidValue');
  }
  const answer = await w.scim.post('/OAuthClients', body({ allowedScopes: ['api_keys:write'] }));
  assert.match(answer.body.detail, /^allowedScopes: .*api_keys:write/);
  for (const more of [{ externalId: 'x' }, { secret: 'x' }, { 'urn:x:y': {} }, { displayName: 'x' }])
    refused(await w.scim.post('/OAuthClients', body(more)), 400, 'invalidPath');
  refused(await w.scim.post('/OAuthClients', { clientName: 'CI' }), 400, 'invalidSyntax');
  assert.equal(await db().oauth_clients.count({ where: { tenant_id: w.tenant.id, revoked_at: null } }), 1);
  assert.deepEqual((await w.scim.get(`/OAuthClients/${made.id}`)).body, withoutSecret(made));
});

const withoutSecret = ({ client_secret, ...rest }: Members) => rest;

test('PUT and PATCH write what is writable, at once, and in one entry each', async () => {
  const w = await directory();
  const made = (
    await w.scim.post('/OAuthClients', body({ allowedScopes: ['routes:read', 'secrets:write'], stepUpScopes: ['secrets:write'] }))
  ).body;
  const path = `/OAuthClients/${made.id}`;
  const same = await w.scim.put(path, { ...made, clientId: 'other', grantTypes: ['authorization_code'], client_secret: 'x' });
  assert.deepEqual([same.status, same.body], [200, withoutSecret(made)]);
  const narrowed = (await w.scim.patch(path, { op: 'remove', path: 'allowedScopes[value eq "secrets:write"]' })).body;
  assert.deepEqual([narrowed.allowedScopes, narrowed.stepUpScopes], [['routes:read'], undefined]);
  const cleared = (await w.scim.put(path, body({ clientName: 'Renamed' }))).body;
  assert.deepEqual([cleared.clientName, cleared.allowedScopes, cleared.active], ['Renamed', undefined, true]);
  for (const operation of [
    replace('clientId', 'x'),
    replace('clientType', 'public'),
    replace('grantTypes', ['authorization_code']),
    replace('id', newId()),
    replace('client_secret', 'x'),
    { op: 'remove', path: 'clientName' },
  ])
    refused(await w.scim.patch(path, replace('clientName', 'Never stored'), operation), 400, 'mutability');
  assert.equal((await w.scim.get(path)).body.clientName, 'Renamed');
  assert.deepEqual(await entries(w, made.id), [
    'create oauth_client by scim in live',
    'update oauth_client by scim in live',
    'update oauth_client by scim in live',
  ]);
});

test('two directories that change a client at the same time both get through', async () => {
  const w = await directory();
  const { id } = (await w.scim.post('/OAuthClients', body())).body;
  const scopes = ['agents:read', 'clients:read', 'logs:read', 'roles:read', 'routes:read', 'vaults:read'];
  const answers = await Promise.all(
    scopes.map((value) => w.scim.patch(`/OAuthClients/${id}`, { op: 'add', path: 'allowedScopes', value })),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.deepEqual((await w.scim.get(`/OAuthClients/${id}`)).body.allowedScopes, scopes);
});

test('inactive ends the tokens and can be undone, DELETE cannot', async () => {
  const w = await directory();
  const { id } = (await w.scim.post('/OAuthClients', body({ allowedScopes: ['routes:read'] }))).body;
  const path = `/OAuthClients/${id}`;
  const works = async (token: { id: string }) =>
    (await db().oauth_access.findUniqueOrThrow({ where: { id: token.id } })).revoked_at === null;
  const first = await accessOf(w.live, id);
  assert.equal((await w.scim.patch(path, { op: 'Replace', path: 'active', value: 'False' })).body.active, false);
  assert.equal(await works(first), false);
  assert.equal((await w.scim.put(path, body({ allowedScopes: ['routes:read'] }))).body.active, false, 'what is left out stays');
  assert.equal((await w.scim.patch(path, { op: 'replace', value: { active: true } })).body.active, true);
  const second = await accessOf(w.live, id);
  assert.deepEqual([(await w.scim.remove(path)).status, await works(second)], [204, false]);
  for (const answer of [
    await w.scim.get(path),
    await w.scim.remove(path),
    await w.scim.put(path, body()),
    await w.scim.patch(path, replace('active', true)),
  ])
    assert.deepEqual([answer.status, answer.text], [404, (await w.scim.get(`/OAuthClients/${newId()}`)).text]);
  assert.deepEqual(await named(w.scim.get('/OAuthClients')), []);
  assert.deepEqual(
    await entries(w, id),
    ['create', 'disable', 'enable', 'revoke'].map((action) => `${action} oauth_client by scim in live`),
  );
  const inactive = (await w.scim.post('/OAuthClients', body({ active: false }))).body;
  assert.deepEqual([inactive.active, (await w.scim.get(`/OAuthClients/${inactive.id}`)).body.active], [false, false]);
});

test('clients of API keys are not there, and the client of service-cli is there to look at', async () => {
  const w = await directory();
  const key = await w.key();
  const mirrored = await db().oauth_clients.findFirst({ where: { tenant_id: w.tenant.id, source_api_key_id: key.row.id } });
  assert.ok(mirrored);
  const cli =
    (await db().oauth_clients.findFirst({ where: { tenant_id: w.tenant.id, sandbox: false, system_role: 'cli' } })) ??
    (await db().oauth_clients.create({
      data: {
        id: newId(),
        tenant_id: w.tenant.id,
        sandbox: false,
        client_id: mintClientId('cli'),
        name: 'Service CLI',
        type: 'public',
        system_role: 'cli',
      },
    }));
  await w.scim.post('/OAuthClients', body());
  assert.deepEqual((await named(w.scim.get('/OAuthClients'))).sort(), [cli.name, 'CI'].sort());
  assert.equal((await w.scim.get(`/OAuthClients/${mirrored.id}`)).status, 404);
  assert.equal((await w.scim.remove(`/OAuthClients/${mirrored.id}`)).status, 404);
  const path = `/OAuthClients/${cli.id}`;
  assert.equal((await w.scim.get(path)).body.clientType, 'public');
  for (const answer of [
    await w.scim.patch(path, replace('active', false)),
    await w.scim.patch(path, replace('clientName', 'x')),
    await w.scim.remove(path),
  ])
    refused(answer, 403, undefined, 'system_client_protected');
  assert.equal((await db().oauth_clients.findUniqueOrThrow({ where: { id: cli.id } })).revoked_at, null);
});

test('a credential sees and changes the clients of its own space and workspace only, and an ID elsewhere is no ID', async () => {
  const [w, other] = [await directory(), await directory()];
  const live = (await w.scim.post('/OAuthClients', body({ clientName: 'live' }))).body.id;
  const inTest = (await w.scimTest.post('/OAuthClients', body({ clientName: 'test' }))).body.id;
  assert.ok((await named(w.scim.get('/OAuthClients'))).every((name) => name !== 'test'));
  assert.ok((await named(w.scimTest.get('/OAuthClients'))).every((name) => name !== 'live'));
  assert.deepEqual(await named(other.scim.get(filter('clientName pr and not (clientName eq "Service CLI")'))), []);
  const unknown = (await w.scim.get(`/OAuthClients/${newId()}`)).text;
  for (const [caller, id] of [
    [w.scim, inTest],
    [w.scimTest, live],
    [other.scim, live],
    [w.scim, 'not-an-id'],
    [w.scim, (await db().oauth_clients.findUniqueOrThrow({ where: { id: live } })).client_id],
  ] as const)
    for (const answer of [
      await caller.get(`/OAuthClients/${id}`),
      await caller.patch(`/OAuthClients/${id}`, replace('clientName', 'x')),
      await caller.put(`/OAuthClients/${id}`, body()),
      await caller.remove(`/OAuthClients/${id}`),
    ])
      assert.deepEqual([answer.status, answer.text], [404, unknown]);
  assert.deepEqual(await entries(w, inTest), ['create oauth_client by scim in test']);
});

test('filters, pages and projections work as for people', async () => {
  const w = await directory();
  const uris = { redirectUris: ['https://app.example.com/cb'] };
  for (const more of [
    { clientName: 'Builder', allowedScopes: ['routes:read', 'logs:read'] },
    { clientName: 'Ärger', allowedScopes: ['routes:read'], requireDpop: true },
    { clientName: 'portal', ...uris, active: false },
  ])
    assert.equal((await w.scim.post('/OAuthClients', body(more))).status, 201);
  const own = 'not (clientType eq "public")';
  const clients = (await w.scim.get(filter(own))).body;
  assert.deepEqual([clients.totalResults, clients.itemsPerPage], [3, 3]);
  const [builder] = clients.Resources;
  const cases: [string, string[]][] = [
    ['clientName eq "BUILDER"', ['Builder']],
    ['clientName eq "a\u0308RGER"', ['Ärger']],
    ['clientName sw "b" or requireDpop eq true', ['Builder', 'Ärger']],
    ['allowedScopes eq "routes:read"', ['Builder', 'Ärger']],
    ['allowedScopes eq "ROUTES:READ"', []],
    ['allowedScopes[value sw "logs:"]', ['Builder']],
    ['not (allowedScopes pr)', ['portal']],
    ['redirectUris co "app.example"', ['portal']],
    ['grantTypes eq "authorization_code"', ['portal']],
    ['active eq false', ['portal']],
    [`clientId eq "${builder.clientId}"`, ['Builder']],
    [`clientId eq "${builder.clientId.toUpperCase()}"`, []],
    [`id eq "${builder.id}"`, ['Builder']],
    [`id eq "${builder.id.toUpperCase()}"`, []],
    [`meta.created ge "${builder.meta.created}" and requirePkce eq true`, ['Builder', 'Ärger', 'portal']],
    ['meta.created gt "2999-01-01T00:00:00Z"', []],
  ];
  for (const [text, expected] of cases) assert.deepEqual(await named(w.scim.get(filter(`${own} and (${text})`))), expected, text);
  for (const text of ['client_secret pr', 'secret pr', 'stepUpScopes pr', 'userName pr', 'clientName', '', 'tenant_id pr'])
    refused(await w.scim.get(filter(text)), 400, 'invalidFilter');
  const page = (await w.scim.get(`${filter(own)}&startIndex=2&count=1&attributes=clientName`)).body;
  assert.deepEqual([page.totalResults, page.startIndex, page.itemsPerPage], [3, 2, 1]);
  assert.deepEqual(Object.keys(page.Resources[0]).sort(), ['clientId', 'clientName', 'id', 'schemas']);
});

test('the plan bounds how many there are', async () => {
  const w = await directory();
  await setLimit({ slug: w.tenant.slug, kind: 'oauth_clients', value: 1 });
  assert.equal((await w.scim.post('/OAuthClients', body())).status, 201);
  refused(await w.scim.post('/OAuthClients', body()), 403, undefined, 'scim_client_limit');
});
