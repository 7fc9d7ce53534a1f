import assert from 'node:assert/strict';
import test from 'node:test';
import { proofSigner } from '#server/crypto/dpop.fixture.ts';
import { mintToken } from '#server/crypto/tokens.ts';
import { writeDenials } from '#server/domain/policies/denials.ts';
import { routeUrls } from '#server/domain/tenants/addresses.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { type Ask, ask, makeRoute, type Running, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase({ SVC_GATEWAYS: '2' });
const [first, second] = [await startGateway(), await startGateway()];
const upstream = await startUpstream();

async function withRoute() {
  const w = await workspace();
  await makeRoute(w, 'r', upstream.url);
  await makeRoute(w, 'r', upstream.url, {}, { space: 'test' });
  await served(first, w);
  await served(second, w);
  const call = (how: Ask = {}, { at = first, host = w.tenant.slug }: { at?: Running; host?: string } = {}) =>
    ask(at.port, host, '/r/x', how);
  return { w, call };
}
const bearer = (text: string) => ({ headers: { authorization: `Bearer ${text}` } });
const told = ({ status, headers }: { status: number; headers: Record<string, string> }) => [status, headers['x-svc-error']];

async function person(w: Workspace, role: string) {
  const user = await db().users.create({ data: { id: newId(), email: `${crypto.randomUUID()}@example.com` } });
  const membership = await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: user.id, role } });
  return { ...user, membership };
}

test('a token with proxy:invoke calls routes wherever a key may, and is never forwarded', async () => {
  const { w, call } = await withRoute();
  const { text, client } = await w.token({ scopes: ['proxy:invoke'] });
  for (const how of [bearer(text), { key: text }]) {
    assert.equal((await call(how)).status, 200);
    const seen = upstream.seen.at(-1);
    assert.ok(!JSON.stringify(seen).includes(text));
  }
  assert.equal((await call({ headers: { 'x-api-key': text } })).status, 401, 'x-api-key is for keys here');
  await first.flush();
  const row = await db().request_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, status_code: 200 } });
  assert.deepEqual(
    [row.identification_method, row.oauth_client_id, row.api_key_id, row.user_id],
    ['oauth_token', (await db().oauth_clients.findUniqueOrThrow({ where: { id: client.id } })).client_id, null, null],
  );
  assert.ok(await db().credential_usage.findFirst({ where: { id: client.id } }), 'last used');
});

test('tokens without the right, of another workspace, space or audience are refused like keys', async () => {
  const { w, call } = await withRoute();
  const other = await workspace();
  const editor = await person(w, 'editor');
  const viewer = await person(w, 'viewer');
  const key = await w.key('live', 'Key - Invoke');
  const readOnly = await w.key('live', 'Key - Read-only');
  const of = async (id: string) => db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: id } });
  const cases: [string, { text: string }, (number | string | undefined)[]][] = [
    ['without the scope', await w.token({ scopes: ['routes:read'] }), [403, 'forbidden']],
    ['a client that may not', await w.token({ of: await w.client('live', { allowed_scopes: ['routes:read'] }) }), [403, 'forbidden']],
    ['an Editor', await w.token({ person: editor }), [200, undefined]],
    ['a Viewer', await w.token({ person: viewer }), [403, 'forbidden']],
    ['of a key', await w.token({ of: await of(key.row.id) }), [200, undefined]],
    ['of a key that may not', await w.token({ of: await of(readOnly.row.id) }), [403, 'forbidden']],
    ['another workspace', await other.token(), [401, 'invalid_api_key']],
    ['unknown', { text: mintToken('oauth_token_live').token }, [401, 'invalid_api_key']],
    ['wrong checksum', { text: `${mintToken('oauth_token_live').token.slice(0, -1)}-` }, [401, 'invalid_api_key']],
    ['for an MCP server', await w.token({ extra: { aud: 'https://mcp.example.com' } }), [401, 'invalid_api_key']],
    ['expired', await w.token({ extra: { expires_at: new Date() } }), [401, 'invalid_api_key']],
    ['of the other space', await w.token({ space: 'test' }), [403, 'wrong_key_type']],
  ];
  for (const [what, { text }, expected] of cases) assert.deepEqual(told(await call(bearer(text))), expected, what);
  const { text } = await w.token({ space: 'test' });
  assert.equal((await call(bearer(text), { host: `sandbox-${w.tenant.slug}` })).status, 200);
  await first.flush();
  const log = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id, status_code: 200, sandbox: false } });
  assert.deepEqual(
    log.map(({ user_id, api_key_id }) => [user_id, api_key_id]).sort(),
    [
      [editor.id, null],
      [null, key.row.id],
    ].sort(),
  );
});

test('an opaque refusal of a token says the same for every route', async () => {
  const { w } = await withRoute();
  const { token } = mintToken('oauth_token_live');
  const bodies = new Set<string>();
  for (const path of ['/r/x', '/never', '/']) {
    const { status, body, headers } = await ask(first.port, w.tenant.slug, path, bearer(token));
    assert.equal(headers['www-authenticate'], 'Bearer');
    bodies.add(`${status} ${body.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replaceAll(/"latency_ms":\d+/g, 'MS')}`);
  }
  assert.equal(bodies.size, 1);
});

test('whatever ends a token is obeyed by every gateway within a second', async () => {
  const { w, call } = await withRoute();
  const ada = await person(w, 'owner');
  const key = await w.key();
  const mirror = await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: key.row.id } });
  const family = newId();
  const cases: [
    string,
    Awaited<ReturnType<Workspace['token']>>,
    (made: Awaited<ReturnType<Workspace['token']>>) => Promise<unknown>,
    number,
  ][] = [
    ['revoked', await w.token(), ({ row }) => db().oauth_access.update({ where: { id: row.id }, data: { revoked_at: new Date() } }), 401],
    [
      'client disabled',
      await w.token(),
      ({ client }) => db().oauth_clients.update({ where: { id: client.id }, data: { active: false } }),
      401,
    ],
    [
      'client narrowed',
      await w.token(),
      ({ client }) => db().oauth_clients.update({ where: { id: client.id }, data: { allowed_scopes: [] } }),
      403,
    ],
    ['client deleted', await w.token(), ({ client }) => db().oauth_clients.delete({ where: { id: client.id } }), 401],
    [
      'family revoked',
      await w.token({ person: ada, extra: { family_id: family } }),
      () => db().oauth_families.update({ where: { id: family }, data: { revoked_at: new Date() } }),
      401,
    ],
    [
      'person demoted',
      await w.token({ person: ada }),
      () => db().memberships.update({ where: { id: ada.membership.id }, data: { role: 'viewer' } }),
      403,
    ],
    ['key narrowed', await w.token({ of: mirror }), () => db().api_keys.update({ where: { id: key.row.id }, data: { role_ids: [] } }), 403],
    ['key revoked', await w.token({ of: mirror }), () => db().api_keys.update({ where: { id: key.row.id }, data: { active: false } }), 401],
  ];
  await db().oauth_families.create({
    data: {
      id: family,
      tenant_id: w.tenant.id,
      sandbox: false,
      client_row_id: cases[4]?.[1].client.id ?? '',
      user_id: ada.id,
      flow: 'code',
      expires_at: new Date(Date.now() + 1e6),
    },
  });
  for (const [what, made, end, status] of cases) {
    const good = what === 'key revoked' ? 403 : 200;
    for (const at of [first, second]) assert.equal((await call(bearer(made.text), { at })).status, good, what);
    await end(made);
    for (const at of [first, second])
      await until(async () => (await call(bearer(made.text), { at })).status === status, `${what} at ${at.port}`);
  }
  const again = await w.token({ person: ada });
  await db().memberships.update({ where: { id: ada.membership.id }, data: { role: 'owner' } });
  assert.equal((await call(bearer(again.text), { at: second })).status, 200);
  await db().users.update({ where: { id: ada.id }, data: { disabled_at: new Date() } });
  await until(async () => (await call(bearer(again.text), { at: second })).status === 401, 'account disabled');
});

test('a policy on a client or a role binds its tokens', async () => {
  const { w, call } = await withRoute();
  const ada = await person(w, 'editor');
  const bound = await w.token();
  const ofAda = await w.token({ person: ada });
  const free = await w.token();
  const scope = { tenant_id: w.tenant.id, actions: ['proxy:invoke'], space: 'both', resources: [] };
  await db().tenant_policies.create({
    data: { id: newId(), ...scope, name: 'not this one', subjects: { oauth_client_ids: [bound.client.id] } },
  });
  await db().tenant_policies.create({ data: { id: newId(), ...scope, name: 'no editors', subjects: { roles: ['editor'] } } });
  await served(first, w);
  assert.deepEqual(await Promise.all([bound, ofAda, free].map(async ({ text }) => (await call(bearer(text))).status)), [403, 403, 200]);
  await writeDenials();
  const denials = await db().policy_denials.findMany({ where: { tenant_id: w.tenant.id } });
  assert.deepEqual(
    denials.map(({ actor_type, actor_id }) => `${actor_type} ${actor_id}`).sort(),
    [`oauth_client ${bound.client.id}`, `oauth_client ${ofAda.client.id}`].sort(),
  );
});

const DPOP = (error: string) => [401, 'invalid_dpop_proof', `DPoP error="${error}", algs="ES256 EdDSA"`];

test('a bound token needs a new proof of its own for every call, over the public URL of the workspace', async () => {
  const { w, call } = await withRoute();
  const client = await proofSigner();
  const { text } = await w.token({ extra: { cnf_jkt: client.jkt } });
  const [url = '', hosted = ''] = routeUrls(w.tenant.slug, 'live').map((base) => `${base}/r/x`);
  const prove = (more: object = {}) => client.prove({ method: 'GET', url, access_token: text, ...more });
  const send = async (proof: string | string[] | null, { scheme = 'DPoP', at = first } = {}) => {
    const answer = await call({ headers: { authorization: `${scheme} ${text}`, ...(proof === null ? {} : { dpop: proof }) } }, { at });
    return answer;
  };
  const seen = async (...how: Parameters<typeof send>) => {
    const { status, headers } = await send(...how);
    return [status, headers['x-svc-error'], headers['www-authenticate']];
  };
  const good = await prove();
  const accepted = await send(good);
  assert.equal(accepted.status, 200, accepted.body);
  assert.match(accepted.headers['dpop-nonce'] ?? '', /^[A-Za-z0-9_-]{32}$/);
  assert.equal(upstream.seen.at(-1)?.headers.dpop, undefined, 'the proof is ours, not the upstream’s');
  assert.deepEqual(await seen(good, { at: second }), DPOP('invalid_dpop_proof'), 'replayed at another gateway');
  assert.equal((await send(await prove({ url: hosted }))).status, 200, 'the other public URL');
  assert.deepEqual(await seen(await prove(), { scheme: 'Bearer' }), DPOP('invalid_token'));
  assert.deepEqual(await seen(null), DPOP('invalid_token'));
  assert.deepEqual(await seen([await prove(), await prove()]), DPOP('invalid_dpop_proof'), 'two headers');
  for (const proof of [
    prove({ method: 'POST' }),
    prove({ url: `${url}?a=1` }),
    prove({ url: 'https://evil.example/r/x' }),
    prove({ access_token: 'other' }),
    (await proofSigner()).prove({ method: 'GET', url, access_token: text }),
  ])
    assert.deepEqual(await seen(await proof), DPOP('invalid_dpop_proof'));
  const keyed = await call({ key: text, headers: { dpop: await prove() } });
  assert.deepEqual(told(keyed), [401, 'invalid_dpop_proof'], 'X-Svc-Key is no DPoP');
  const unbound = await w.token();
  assert.deepEqual(told(await call({ headers: { authorization: `DPoP ${unbound.text}`, dpop: await prove() } })), [401, 'invalid_api_key']);
  const apiKey = await w.key();
  await served(first, w);
  assert.deepEqual(told(await call({ headers: { authorization: `DPoP ${apiKey.text}` } })), [401, 'invalid_api_key']);
  await call({ key: apiKey.text, headers: { authorization: 'DPoP theirs', dpop: 'theirs' } });
  assert.equal(upstream.seen.at(-1)?.headers.dpop, 'theirs', 'with another token it is the upstream’s');

  const one = await prove();
  const race = await Promise.all(Array.from({ length: 10 }, (_, i) => send(one, { at: i % 2 ? first : second })));
  assert.equal(race.filter(({ status }) => status === 200).length, 1);

  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { dpop_nonce_required: true } } });
  await served(first, w);
  const refused = await send(await prove());
  assert.equal(refused.headers['www-authenticate'], DPOP('use_dpop_nonce')[2]);
  assert.equal((await send(await prove({ claims: { nonce: refused.headers['dpop-nonce'] } }))).status, 200);
});
