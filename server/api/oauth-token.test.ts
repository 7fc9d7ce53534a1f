import assert from 'node:assert/strict';
import test from 'node:test';
import { proofSigner } from '#server/crypto/dpop.fixture.ts';
import { mintToken } from '#server/crypto/tokens.ts';
import { apiUrls, freshNonce } from '#server/domain/oauth-grants/dpop.ts';
import { forgetRules } from '#server/domain/policies/rule-cache.ts';
import { CAPABILITIES, KEY_ROLES, PERSON_FORBIDDEN } from '#server/kernel/capabilities.ts';
import { newId } from '#server/kernel/ids.ts';
import { SCOPE_CATALOGUE } from '#server/kernel/scopes.ts';
import { db } from '#server/platform/db.ts';
import { type Answer, call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { authenticate } from './authenticate.ts';

await testDatabase();

const routes = (key: string, headers?: Record<string, string>) => call('GET', '/routes', { key, ...(headers ? { headers } : {}) });
const refusal = ({ status, body, headers }: Answer) => [status, body.error?.type, headers.get('www-authenticate')];
/** Everything of an answer that a stranger sees, but for its ID. */
const seen = ({ status, text, headers }: Answer) => {
  const id = headers.get('x-request-id') ?? '';
  return [status, text.replaceAll(id, 'id'), ...[...headers].map(([name, value]) => `${name}: ${value.replaceAll(id, 'id')}`)];
};
const INVALID = [401, 'invalid_api_key', 'Bearer realm="api", error="invalid_token"'];

async function person(w: Workspace, role: string) {
  const user = await db().users.create({ data: { id: newId(), email: `${crypto.randomUUID()}@example.com`, full_name: 'Ada' } });
  const membership = await db().memberships.create({ data: { id: newId(), tenant_id: w.tenant.id, user_id: user.id, role } });
  return { ...user, membership };
}

test('a token may what its scopes, and its client, cover', async () => {
  const w = await workspace();
  const of = await w.client();
  const { text } = await w.token({ of, scopes: ['routes:read'] });
  assert.equal((await routes(text)).status, 200);
  assert.equal((await call('GET', '/routes', { headers: { 'x-api-key': text } })).status, 200, 'also in x-api-key');
  const write = await call('POST', '/environments', { key: text, body: { name: 'a' } });
  assert.deepEqual(refusal(write).slice(0, 2), [403, 'forbidden']);
  assert.match(write.body.error.message, /environment:create/);
  await db().oauth_clients.update({ where: { id: of.id }, data: { allowed_scopes: ['logs:read'] } });
  assert.equal((await routes(text)).status, 403, 'a narrowed client narrows its live tokens at once');
});

test('a token stops with its own end, and with everything that it rests on, in the same words as an unknown one', async () => {
  const w = await workspace();
  const unknown = seen(await routes(mintToken('oauth_token_live').token));
  const ends: Record<string, (made: Awaited<ReturnType<Workspace['token']>>) => Promise<unknown>> = {
    revoked: ({ row }) => db().oauth_access.update({ where: { id: row.id }, data: { revoked_at: new Date() } }),
    expired: ({ row }) => db().oauth_access.update({ where: { id: row.id }, data: { expires_at: new Date() } }),
    'client disabled': ({ client }) => db().oauth_clients.update({ where: { id: client.id }, data: { active: false } }),
    'client revoked': ({ client }) =>
      db().oauth_clients.update({ where: { id: client.id }, data: { active: false, revoked_at: new Date() } }),
    'client deleted': ({ client }) => db().oauth_clients.delete({ where: { id: client.id } }),
    'for an MCP server': ({ row }) => db().oauth_access.update({ where: { id: row.id }, data: { aud: 'https://mcp.example.com' } }),
    'of a workload without its binding': ({ row }) =>
      db().oauth_access.update({ where: { id: row.id }, data: { kind: 'workload', binding_id: newId() } }),
  };
  for (const [why, end] of Object.entries(ends)) {
    const made = await w.token();
    assert.equal((await routes(made.text)).status, 200, why);
    await end(made);
    assert.deepEqual(seen(await routes(made.text)), unknown, why);
  }
  const typo = mintToken('oauth_token_live').token.slice(0, -1);
  assert.deepEqual(seen(await routes(`${typo}-`)), unknown);
});

test('a token of a person follows the person', async () => {
  const w = await workspace();
  const ada = await person(w, 'editor');
  const { text, row } = await w.token({ person: ada });
  const create = (name: string) => call('POST', '/environments', { key: text, body: { name } });
  assert.equal((await create('one')).status, 201);
  await db().memberships.update({ where: { id: ada.membership.id }, data: { role: 'viewer' } });
  assert.deepEqual(refusal(await create('two')).slice(0, 2), [403, 'forbidden'], 'demoted: narrower on the next call');
  assert.equal((await routes(text)).status, 200);
  const unknown = seen(await routes(mintToken('oauth_token_live').token));
  await db().users.update({ where: { id: ada.id }, data: { disabled_at: new Date() } });
  assert.deepEqual(seen(await routes(text)), unknown, 'disabled');
  await db().users.update({ where: { id: ada.id }, data: { disabled_at: null } });
  await db().memberships.update({ where: { id: ada.membership.id }, data: { removed_at: new Date() } });
  assert.deepEqual(seen(await routes(text)), unknown, 'removed');
  assert.equal((await db().oauth_access.findUniqueOrThrow({ where: { id: row.id } })).revoked_at, null, 'nobody had to revoke it');
});

test('a token of a person never does what only reveals give a person, whatever its row says', async () => {
  const w = await workspace();
  const owner = await person(w, 'owner');
  const scopes = Object.keys(SCOPE_CATALOGUE);
  const forged = { scopes, extra: { ceiling: CAPABILITIES } };
  const edge = { space: 'live', ip: '127.0.0.1', request_id: newId(), user_agent: null } as const;
  const held = async (text: string) => {
    const request = new Request('http://api.test/v1/routes', { headers: { authorization: `Bearer ${text}` } });
    return (await authenticate(request, edge)).ctx.actor.capabilities;
  };
  const of = await w.client('live', { allowed_scopes: scopes });
  const byPerson = await held((await w.token({ ...forged, of, person: owner })).text);
  const byMachine = await held((await w.token({ ...forged, of })).text);
  for (const capability of PERSON_FORBIDDEN) {
    assert.ok(byMachine.has(capability), capability);
    assert.ok(!byPerson.has(capability), capability);
  }
  assert.ok(byPerson.has('route:create') && byPerson.has('api_key:create'));
  assert.ok(!byPerson.has('member:invite'), 'no scope covers it');
});

test('a token cannot be made to hold more than its scopes meant at its birth', async () => {
  const w = await workspace();
  const { text } = await w.token({ scopes: ['routes:read'], extra: { scopes: ['routes:read', 'routes:write'] } });
  assert.equal((await routes(text)).status, 200);
  assert.equal((await call('POST', '/routes', { key: text, body: {} })).body.error.type, 'forbidden');
});

test('scopes of the second factor last eight hours after it, and are not for machines', async () => {
  const w = await workspace();
  const ada = await person(w, 'owner');
  const of = await w.client('live', { step_up_scopes: ['environments:write'] });
  const create = async (name: string, step_up_at: Date | null, by: { person?: { id: string } } = { person: ada }) => {
    const { text } = await w.token({ of, ...by, extra: { step_up_at } });
    return (await call('POST', '/environments', { key: text, body: { name } })).status;
  };
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  assert.equal(await create('a', hoursAgo(7.9)), 201);
  assert.equal(await create('b', hoursAgo(8)), 403);
  assert.equal(await create('c', null), 403);
  assert.equal(await create('d', hoursAgo(1), {}), 403, 'a machine has no second factor');
});

test('a token of a key is bound by what binds the key', async (t) => {
  stillClock(t);
  const w = await workspace();
  const key = await w.key('live', 'Key - Editor', { rate_limit_requests: 3, rate_limit_window_sec: 60, ip_allowlist: ['127.0.0.1/32'] });
  const of = await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: key.row.id } });
  const { text } = await w.token({ of });
  const first = await routes(text);
  assert.equal(first.status, 200);
  assert.equal((await call('GET', '/routes', { key: text, ip: '192.0.2.1' })).body.error.type, 'forbidden');
  assert.match((await call('DELETE', `/api-keys/${key.row.id}`, { key: text })).text, /capability api_key:revoke/);
  const last = await routes(key.text);
  assert.deepEqual(
    [first, last].map(({ headers }) => headers.get('x-ratelimit-remaining')),
    ['2', '0'],
    'one counter for both',
  );
  assert.equal((await routes(text)).status, 429);
  await db().api_keys.update({ where: { id: key.row.id }, data: { rate_limit_requests: null } });
  await db().api_keys.update({ where: { id: key.row.id }, data: { role_ids: [KEY_ROLES[0]?.id ?? ''] } });
  assert.equal((await call('POST', '/environments', { key: text, body: { name: 'a' } })).status, 403, 'fewer roles now');
  await db().api_keys.update({ where: { id: key.row.id }, data: { active: false, revoked_at: new Date() } });
  assert.deepEqual(refusal(await routes(text)), INVALID, 'revoked');
  const ended = await w.key('live', 'Key - Editor', { revoke_at: new Date(Date.now() - 1) });
  const mirror = await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: ended.row.id } });
  assert.deepEqual(refusal(await routes((await w.token({ of: mirror })).text)), INVALID, 'a replaced key that has ended');
});

test('a key cannot be revoked through a token of its own', async () => {
  const w = await workspace();
  const key = await w.key();
  const of = await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: key.row.id } });
  const { text } = await w.token({ of });
  assert.match((await call('DELETE', `/api-keys/${key.row.id}`, { key: text })).text, /A key can't revoke itself/);
});

test('a token belongs to its space and its workspace', async () => {
  const w = await workspace();
  const { text } = await w.token({ space: 'test' });
  assert.deepEqual((await call('GET', '/routes', { key: text, space: 'live' })).body.error.type, 'wrong_key_type');
  const others = await (await workspace()).key();
  const made = await call('POST', '/environments', { key: others.text, body: { name: 'theirs' } });
  const live = await w.token();
  const foreign = await call('GET', `/environments/${made.body.data.id}`, { key: live.text });
  assert.equal(foreign.body.error.type, 'not_found');
  const paused = await workspace({ status: 'paused' });
  assert.equal((await routes((await paused.token()).text)).body.error.type, 'subscription_inactive');
});

test('a policy binds tokens by their client, person, role and key', async () => {
  const w = await workspace();
  const ada = await person(w, 'editor');
  const key = await w.key('live', 'Key - Editor');
  const mirror = await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: key.row.id } });
  const application = await w.client();
  const tokens = {
    machine: (await w.token({ of: application })).text,
    person: (await w.token({ person: ada })).text,
    key: (await w.token({ of: mirror })).text,
  };
  const cases: [object, (keyof typeof tokens)[]][] = [
    [{ oauth_client_ids: [application.id] }, ['machine']],
    [{ user_ids: [ada.id] }, ['person']],
    [{ roles: ['editor'] }, ['person']],
    [{ api_key_ids: [key.row.id] }, ['key']],
    [{ roles: [key.row.role_ids[0]] }, ['key']],
    [{ all: true }, ['machine', 'person', 'key']],
  ];
  for (const [subjects, denied] of cases) {
    const policy = await db().tenant_policies.create({
      data: { id: newId(), tenant_id: w.tenant.id, name: 'no routes', actions: ['route:list'], subjects, resources: [], space: 'both' },
    });
    forgetRules(w.tenant.id);
    for (const [name, text] of Object.entries(tokens)) {
      const answer = await routes(text);
      assert.equal(answer.status, denied.includes(name as 'key') ? 403 : 200, `${JSON.stringify(subjects)} ${name}`);
    }
    await db().tenant_policies.delete({ where: { id: policy.id } });
  }
});

test('the audit names the application and the person that it acts for', async () => {
  const w = await workspace();
  const ada = await person(w, 'owner');
  const { text, client } = await w.token({ person: ada });
  const made = await call('POST', '/environments', { key: text, body: { name: 'audited' } });
  const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, resource_id: made.body.data.id } });
  assert.deepEqual([entry.actor_type, entry.actor_id, entry.actor_label], ['oauth_client', client.id, `An application for ${ada.email}`]);
  const label = entry.actor_label;
  assert.deepEqual((entry.details as { actor: unknown }).actor, {
    type: 'oauth_client',
    id: client.id,
    label,
    user: { id: ada.id, label: ada.email },
  });
  const key = await call('POST', '/api-keys', { key: text, body: { name: 'by the CLI' } });
  const row = await db().api_keys.findUniqueOrThrow({ where: { id: key.body.data.id } });
  assert.deepEqual(row.created_by, { kind: 'user', id: ada.id, label: ada.email }, 'reviewed when the person leaves');
});

test('an idempotency key is of the client and person, whichever of their tokens comes', async () => {
  const w = await workspace();
  const [ada, bob] = [await person(w, 'editor'), await person(w, 'editor')];
  const of = await w.client();
  const create = async (by: { id: string }) => {
    const { text } = await w.token({ of, person: by });
    return call('POST', '/environments', { key: text, body: { name: 'once' }, headers: { 'idempotency-key': 'k' } });
  };
  const first = await create(ada);
  const again = await create(ada);
  assert.deepEqual([again.status, again.text, again.headers.get('x-idempotent-replay')], [first.status, first.text, 'true']);
  assert.equal((await create(bob)).body.error.type, 'conflict', 'executed, not replayed');
});

test('details of the audit log are for tokens of machines, Owners and Admins', async () => {
  const w = await workspace();
  await call('POST', '/environments', { key: (await w.token()).text, body: { name: 'made' } });
  const read = async (by?: { id: string }) => {
    const { text } = await w.token({ ...(by ? { person: by } : {}) });
    return (await call('GET', '/audit-logs', { key: text })).body.data.some((row: { details_redacted?: boolean }) => row.details_redacted);
  };
  assert.deepEqual([await read(), await read(await person(w, 'admin')), await read(await person(w, 'editor'))], [false, false, true]);
});

const DPOP = (error: string) => [401, 'invalid_dpop_proof', `DPoP error="${error}", algs="ES256 EdDSA"`];

test('a bound token needs scheme DPoP and a proof of its own with every request', async () => {
  const w = await workspace();
  const [client, thief] = [await proofSigner(), await proofSigner('EdDSA')];
  const { text } = await w.token({ extra: { cnf_jkt: client.jkt } });
  const [url = '', sandboxUrl = ''] = apiUrls('/v1/routes');
  const prove = (more: object = {}) => client.prove({ method: 'GET', url, access_token: text, ...more });
  const send = (proof: string | null, scheme = 'DPoP') =>
    call('GET', '/routes', { headers: { authorization: `${scheme} ${text}`, ...(proof === null ? {} : { dpop: proof }) } });

  const good = await prove();
  const accepted = await send(good);
  assert.equal(accepted.status, 200, accepted.text);
  assert.match(accepted.headers.get('dpop-nonce') ?? '', /^[A-Za-z0-9_-]{32}$/);
  assert.deepEqual(refusal(await send(good)), DPOP('invalid_dpop_proof'), 'replayed');
  assert.equal((await send(await prove({ url: sandboxUrl }))).status, 200, 'the other public origin');
  assert.equal((await send(await prove(), 'dpop')).status, 200, 'schemes have no case');
  assert.deepEqual(refusal(await send(await prove(), 'Bearer')), DPOP('invalid_token'), 'as Bearer');
  assert.deepEqual(refusal(await call('GET', '/routes', { headers: { 'x-api-key': text } })), DPOP('invalid_token'), 'in x-api-key');
  assert.deepEqual(refusal(await send(null)), DPOP('invalid_token'), 'no proof');
  const two = new Headers({ dpop: await prove() });
  two.append('dpop', await prove());
  assert.deepEqual(refusal(await send(two.get('dpop'))), DPOP('invalid_dpop_proof'), 'two headers');
  const bad = [
    prove({ method: 'POST' }),
    prove({ url: `${url}?page=1` }),
    prove({ url: 'http://api.test/v1/routes' }),
    prove({ at: new Date(Date.now() - 125_000) }),
    prove({ access_token: mintToken('oauth_token_live').token }),
    thief.prove({ method: 'GET', url, access_token: text }),
  ];
  for (const proof of bad) assert.deepEqual(refusal(await send(await proof)), DPOP('invalid_dpop_proof'));
  assert.deepEqual(
    refusal(await call('GET', '/routes', { headers: { authorization: `DPoP ${(await w.token()).text}`, dpop: await prove() } })),
    INVALID,
    'an unbound token',
  );
  assert.deepEqual(
    refusal(await call('GET', '/routes', { headers: { authorization: `DPoP ${(await w.key()).text}`, dpop: await prove() } })),
    INVALID,
    'an API key',
  );
  const other = await w.token({ space: 'test', extra: { cnf_jkt: client.jkt } });
  const wrongSpace = { authorization: `DPoP ${other.text}`, dpop: await client.prove({ method: 'GET', url, access_token: other.text }) };
  assert.equal((await call('GET', '/routes', { space: 'live', headers: wrongSpace })).body.error.type, 'wrong_key_type');
});

test('a workspace can demand a nonce, which the refusal brings', async () => {
  const w = await workspace();
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { dpop_nonce_required: true } } });
  const client = await proofSigner();
  const { text } = await w.token({ extra: { cnf_jkt: client.jkt } });
  const [url = ''] = apiUrls('/v1/routes');
  const send = async (nonce?: string) =>
    call('GET', '/routes', {
      headers: { authorization: `DPoP ${text}`, dpop: await client.prove({ method: 'GET', url, access_token: text, claims: { nonce } }) },
    });
  const refused = await send();
  assert.deepEqual(refusal(refused), DPOP('use_dpop_nonce'));
  assert.equal((await send(refused.headers.get('dpop-nonce') ?? '')).status, 200);
  assert.deepEqual(
    refusal(await send(freshNonce(new Date(Date.now() - 700_000)))),
    DPOP('use_dpop_nonce'),
    'too old: the client learns the new one',
  );
});

test('of one proof presented many times at once one is accepted', async () => {
  const w = await workspace();
  const client = await proofSigner();
  const { text } = await w.token({ extra: { cnf_jkt: client.jkt } });
  const proof = await client.prove({ method: 'GET', url: apiUrls('/v1/routes')[0], access_token: text });
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => call('GET', '/routes', { headers: { authorization: `DPoP ${text}`, dpop: proof } })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});

test('keys are refused where only tokens are accepted, and everywhere when the workspace says so', async () => {
  const w = await workspace();
  const key = await w.key();
  const of = await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: key.row.id } });
  const token = await w.token({ of });
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { legacy_key_auth: 'disabled' } } });
  assert.deepEqual([(await routes(key.text)).body.error.type, (await routes(token.text)).status], ['use_oauth', 200]);
});

test('the use of a token is noted for its client and for the key behind it', async () => {
  const w = await workspace();
  const key = await w.key();
  const of = await db().oauth_clients.findUniqueOrThrow({ where: { source_api_key_id: key.row.id } });
  await routes((await w.token({ of })).text);
  await until(async () => (await db().credential_usage.count({ where: { id: { in: [of.id, key.row.id] } } })) === 2, 'both are noted');
});
