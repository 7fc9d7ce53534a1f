import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { PrismaPg } from '@prisma/adapter-pg';
import { digest } from '#server/crypto/tokens.ts';
import { TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import { ExchangeRefused, exchangeToken } from '#server/domain/trust-bindings/service.ts';
import { PrismaClient } from '#server/generated/prisma/client.ts';
import type { Space } from '#server/kernel/context.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { byAnotherKey, signed, TestIssuer, unsigned, withHmac } from '#server/platform/connect/issuer.fixture.ts';
import { db } from '#server/platform/db.ts';
import { connection } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { tokenActor, type Workspace, workspace } from '#server/testing/workspace.ts';
import { handle } from '../handle.ts';

await testDatabase();

/** A workspace with a client for a pipeline that trusts acme/app of a local issuer. */
async function trusting(more: Record<string, unknown> = {}, { w, issuer, space = 'live', client = {} }: Setting = {}) {
  const [at, from] = [w ?? (await workspace()), issuer ?? (await TestIssuer.start())];
  const ctx = () => ({ ...at.ctx(space), actor: tokenActor() });
  const created = await made(ctx(), 'oauth_clients.create', {
    ...{
      name: fresh('pipeline'),
      grant_types: [TOKEN_EXCHANGE],
      allowed_scopes: ['routes:read', 'routes:write', 'transit:decrypt'],
      ...client,
    },
  });
  const binding = await made(ctx(), 'trust_bindings.create', {
    ...{ id: created.id, name: 'Deploy', provider: 'github_actions', issuer: from.issuer, subject: 'repo:acme/app:**' },
    ...{ scopes: ['routes:read', 'transit:decrypt'], ttl_seconds: 900, ...more },
  });
  const update = (input: object) => made(ctx(), 'trust_bindings.update', { id: created.id, binding_id: binding.id, ...input });
  return { w: at, issuer: from, ctx, client: created, binding, update };
}
type Setting = { w?: Workspace; issuer?: TestIssuer; space?: Space; client?: Record<string, unknown> };

let caller = 0;
/** As a stranger asks, each time from another address, so that only the test of the limit meets it. */
async function exchange(
  subject_token: string,
  more: Record<string, string> = {},
  { space = 'live' as Space, ip = `10.0.${++caller >> 8}.${caller & 255}` } = {},
) {
  const form = { grant_type: TOKEN_EXCHANGE, subject_token, subject_token_type: 'urn:ietf:params:oauth:token-type:id_token', ...more };
  const request = new Request('http://api.test/oauth/token', { method: 'POST', body: new URLSearchParams(form) });
  const response = await handle(request, { space, ip, request_id: randomUUID(), user_agent: 'test' });
  return { status: response.status, body: (await response.json()) as Record<string, string>, headers: response.headers };
}
const refusal = async (...args: Parameters<typeof exchange>) => {
  const { status, body } = await exchange(...args);
  return [status, body.error, body.error_description];
};
const NOT_ACCEPTED = [400, 'invalid_grant', 'The subject token is not accepted. The audit log of the workspace says why.'];

async function auditOf(w: Workspace, action: string): Promise<Record<string, unknown>[]> {
  const where = { tenant_id: w.tenant.id, resource_type: 'trust_binding', action };
  const rows = await db().audit_logs.findMany({ where, orderBy: { seq: 'asc' } });
  return rows.map(({ details, resource_id, actor_type }) => ({ ...(details as Record<string, unknown>), resource_id, actor_type }));
}

test('a token of a trusted job becomes an access token with the members of the interface', async () => {
  const { w, issuer, client, binding } = await trusting();
  const { status, body, headers } = await exchange(await issuer.token());
  assert.equal(status, 200);
  const { access_token, ...rest } = body;
  assert.match(String(access_token), /^svc_live_/);
  assert.deepEqual(rest, {
    ...{ token_type: 'Bearer', expires_in: 900, scope: 'routes:read transit:decrypt', tenant: w.tenant.slug, client_id: client.client_id },
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  });
  assert.equal(headers.get('cache-control'), 'no-store');
  const row = await db().oauth_access.findUniqueOrThrow({ where: { digest: new Uint8Array(digest(String(access_token))) } });
  assert.deepEqual([row.kind, row.binding_id, row.user_id, row.family_id], ['workload', binding.id, null, null]);
  assert.equal(row.expires_at.getTime() - row.issued_at.getTime(), 900_000);

  const [entry] = await auditOf(w, 'login');
  assert.deepEqual(
    [entry?.resource_id, entry?.actor_type, entry?.issuer, entry?.client_id],
    [binding.id, 'oauth_client', issuer.issuer, client.client_id],
  );
  assert.deepEqual(entry?.matched, [
    { claim: 'aud', actual: ['service:api'] },
    { claim: 'sub', actual: ['repo:acme/app:ref:refs/heads/main'] },
  ]);
  assert.ok(!JSON.stringify(entry).includes('eyJ'), 'no token in the audit log');
  await backgroundSettled();
  const used = await db().oauth_trust_bindings.findUniqueOrThrow({ where: { id: binding.id } });
  assert.deepEqual([used.use_count, used.last_used_at === null], [1, false]);
});

test('each rule, violated once, refuses with the same words, and the audit log says which', async () => {
  const { w, issuer, binding } = await trusting({
    audience: 'service:api:acme',
    claims: { repository_owner_id: '1234567', environment: ['production', 'staging'], ref_protected: 'true', run_attempt: ['1', '2'] },
  });
  const good = { aud: ['sts.amazonaws.com', 'service:api:acme'], environment: 'staging' };
  const claims = issuer.claims(good);
  const seconds = Math.floor(Date.now() / 1000);
  const cases: [string, string | Promise<string>, string][] = [
    ['oversize', issuer.token({ ...good, pad: 'x'.repeat(13_000) }), 'malformed'],
    ['none', unsigned(claims), 'algorithm'],
    ['HS256', withHmac(claims, issuer.key), 'algorithm'],
    ['another key', byAnotherKey(claims, issuer.key), 'signature'],
    ['unknown key', issuer.token(good, { kid: 'strange' }), 'unknown_key'],
    ['expired', issuer.token({ ...good, exp: seconds - 70 }), 'expired'],
    ['from the future', issuer.token({ ...good, iat: seconds + 90, exp: seconds + 300 }), 'expired'],
    ['not yet', issuer.token({ ...good, nbf: seconds + 90 }), 'expired'],
    ['long-lived', issuer.token({ ...good, exp: seconds + 90_000 }), 'claims'],
    ['no subject', issuer.token({ ...good, sub: '' }), 'claims'],
    ['another audience', issuer.token({ ...good, aud: 'service:api' }), 'no_match'],
    ['another repository', issuer.token({ ...good, sub: 'repo:acme/app-evil:ref:refs/heads/main' }), 'no_match'],
    ['another environment', issuer.token({ ...good, environment: 'dev' }), 'no_match'],
    ['a claim missing', issuer.token({ ...good, environment: undefined }), 'no_match'],
    ['another owner', issuer.token({ ...good, repository_owner_id: '7654321' }), 'no_match'],
    ['unprotected', issuer.token({ ...good, ref_protected: false }), 'no_match'],
  ];
  for (const [what, token, reason] of cases) {
    const before = (await auditOf(w, 'login_failed')).length;
    assert.deepEqual(await refusal(await token), NOT_ACCEPTED, what);
    const entries = await auditOf(w, 'login_failed');
    assert.deepEqual([entries.length, entries.at(-1)?.reason, entries.at(-1)?.resource_id], [before + 1, reason, binding.id], what);
  }
  assert.deepEqual((await auditOf(w, 'login_failed')).at(-1)?.not_matching, [
    { claim: 'ref_protected', expected: ['true'], actual: ['false'] },
  ]);
  assert.equal((await exchange(await issuer.token(good))).status, 200);
});

test('an issuer that nobody trusts is never asked for its keys', async () => {
  const issuer = await TestIssuer.start();
  const none = [400, 'invalid_grant', 'No trust binding for this issuer.'];
  assert.deepEqual(await refusal(await issuer.token()), none);
  const { w, update, client } = await trusting({}, { issuer });
  const other = await workspace();
  assert.deepEqual(await refusal(await issuer.token(), { tenant: other.tenant.slug }), none);
  assert.deepEqual(await refusal(await issuer.token(), { client_id: 'svc_client_elsewhere' }), none);
  await update({ enabled: false });
  assert.deepEqual(await refusal(await issuer.token()), none);
  await update({ enabled: true });
  await made({ ...w.live, actor: tokenActor() }, 'oauth_clients.update', { id: client.id, active: false });
  assert.deepEqual(await refusal(await issuer.token()), none);
  assert.deepEqual(issuer.asked, { configuration: 0, keys: 0 });
});

test('parameters that can only be meant wrongly are refused before anything is looked up', async () => {
  const cases: [Record<string, string>, string][] = [
    [{ subject_token: '' }, 'invalid_request'],
    [{ subject_token_type: '' }, 'invalid_request'],
    [{ subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' }, 'invalid_request'],
    [{ requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' }, 'invalid_request'],
    [{ actor_token: 'x' }, 'invalid_request'],
    [{ audience: '' }, 'invalid_target'],
    [{ audience: 'service:gateway' }, 'invalid_target'],
    [{ resource: '' }, 'invalid_target'],
    [{ resource: 'https://elsewhere.example/v1' }, 'invalid_target'],
    [{ subject_token: 'no token' }, 'invalid_grant'],
  ];
  for (const [more, error] of cases) {
    const { status, body } = await exchange('eyJ', more);
    assert.deepEqual([status, body.error], [400, error], JSON.stringify(more));
  }
  const { issuer } = await trusting();
  const accepted = {
    audience: 'service:api',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  };
  assert.equal((await exchange(await issuer.token(), accepted)).status, 200);
});

test('scopes are those of the binding within its client, and fewer on request', async () => {
  const { issuer, client, w, ctx } = await trusting({}, { client: { step_up_scopes: ['routes:write'] } });
  const scopeOf = async (more: Record<string, string> = {}) => {
    const { body } = await exchange(await issuer.token(), more);
    return body.error ?? body.scope;
  };
  assert.equal(await scopeOf(), 'routes:read transit:decrypt');
  assert.equal(await scopeOf({ scope: 'routes:read' }), 'routes:read');
  assert.equal(await scopeOf({ scope: 'routes:read routes:write' }), 'invalid_scope', 'the client may, the binding may not');
  assert.equal(await scopeOf({ scope: 'nonsense' }), 'invalid_scope');
  await made(ctx(), 'oauth_clients.update', { id: client.id, allowed_scopes: ['routes:read'] });
  assert.equal(await scopeOf(), 'routes:read');
  assert.equal(await scopeOf({ scope: 'transit:decrypt' }), 'invalid_scope');
  await made(ctx(), 'oauth_clients.update', { id: client.id, step_up_scopes: ['routes:read'] });
  assert.equal(await scopeOf(), 'invalid_scope', 'a machine has no second factor');
  assert.equal((await auditOf(w, 'login')).length, 3);
});

test('a token that fits several workspaces is refused until one is named; in one workspace the newest binding counts', async () => {
  const issuer = await TestIssuer.start();
  const [a, b] = [await trusting({ single_use: false }, { issuer }), await trusting({ single_use: false }, { issuer })];
  const [status, error, description] = await refusal(await issuer.token());
  assert.deepEqual([status, error], [400, 'invalid_request']);
  assert.match(String(description), /send tenant/);
  for (const { w, client } of [a, b]) {
    assert.equal((await exchange(await issuer.token(), { tenant: w.tenant.slug })).body.tenant, w.tenant.slug);
    assert.equal((await exchange(await issuer.token(), { client_id: client.client_id })).body.client_id, client.client_id);
  }
  const newer = await trusting({ single_use: false }, { issuer, w: a.w });
  const answered = async (more: object, space: Space = 'live') =>
    (await exchange(await issuer.token(), { tenant: a.w.tenant.slug, ...more }, { space })).body.client_id;
  assert.equal(await answered({}), newer.client.client_id);
  assert.equal(await answered({ client_id: a.client.client_id }), a.client.client_id);
  const inTest = await trusting({ single_use: false }, { issuer, w: a.w, space: 'test' });
  assert.equal(await answered({}), newer.client.client_id, 'the space of the host goes before the newest');
  assert.equal(await answered({}, 'test'), inTest.client.client_id);
  assert.deepEqual(await refusal(await issuer.token(), { tenant: "' or 1=1" }), [
    400,
    'invalid_grant',
    'No trust binding for this issuer.',
  ]);
});

test('a job token is exchanged once: of many at once over two pools one wins, and a changed signature text is no other token', async () => {
  const { w, issuer } = await trusting();
  const subject_token = await issuer.token();
  const second = new PrismaClient({ adapter: new PrismaPg({ ...connection(), max: 4 }) });
  const attempt = (database: ReturnType<typeof db>) =>
    exchangeToken(
      {
        ...{ subject_token, scopes: null, jkt: null, host_space: 'live', admit: async () => {} },
        ...{ request_id: randomUUID(), ip: '192.0.2.7', user_agent: 'test', now: new Date() },
      },
      { database },
    ).then(
      () => 'issued',
      (error) => (error instanceof ExchangeRefused ? error.message : String(error)),
    );
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, (_, i) => attempt(i % 2 === 0 ? db() : (second as unknown as ReturnType<typeof db>))),
  );
  await second.$disconnect();
  assert.equal(outcomes.filter((one) => one === 'issued').length, 1, outcomes.join());
  assert.equal(outcomes.filter((one) => one === 'The subject token was already exchanged.').length, 11);
  assert.deepEqual(await refusal(subject_token), [400, 'invalid_grant', 'The subject token was already exchanged.']);
  assert.equal(await db().oauth_access.count({ where: { tenant_id: w.tenant.id } }), 1);

  // A second signature of the same claims (ECDSA has many) is the same token presented again.
  const claims = issuer.claims();
  const [first, again] = [await signed(claims, issuer.key), await signed(claims, issuer.key)];
  assert.notEqual(first, again);
  assert.equal((await exchange(first)).status, 200);
  assert.equal((await refusal(again))[2], 'The subject token was already exchanged.');
  const use = await db().oauth_assertion_uses.findFirstOrThrow({ where: { tenant_id: w.tenant.id }, orderBy: { expires_at: 'desc' } });
  assert.ok(use.expires_at.getTime() / 1000 > Number(claims.exp) + 60, 'remembered for longer than the token is accepted');
});

test('tokens of a binding for repeated use are exchanged as often as they are presented', async () => {
  const { issuer, binding } = await trusting({ provider: 'kubernetes', subject: 'repo:acme/app:ref:refs/heads/main' });
  assert.equal(binding.single_use, false);
  const token = await issuer.token();
  for (let i = 0; i < 3; i++) assert.equal((await exchange(token)).status, 200);
});

test('disabling or deleting a binding ends its tokens and no others', async () => {
  const [a, b] = [await trusting(), await trusting()];
  const live = ({ w }: typeof a) => db().oauth_access.count({ where: { tenant_id: w.tenant.id, revoked_at: null } });
  for (const one of [a, a, b]) assert.equal((await exchange(await one.issuer.token())).status, 200);
  await a.update({ enabled: false });
  assert.deepEqual([await live(a), await live(b)], [0, 1]);
  await a.update({ enabled: true });
  assert.equal((await exchange(await a.issuer.token())).status, 200);
  await made(a.ctx(), 'trust_bindings.delete', { id: a.client.id, binding_id: a.binding.id });
  assert.deepEqual([await live(a), await live(b)], [0, 1]);
});

test('strangers fill no audit log: one entry for a reason and a network, and none where nobody is meant', async () => {
  const issuer = await TestIssuer.start();
  const [a, b] = [await trusting({}, { issuer }), await trusting({}, { issuer })];
  const failed = async () => [(await auditOf(a.w, 'login_failed')).length, (await auditOf(b.w, 'login_failed')).length];
  const from = { ip: '198.51.100.9' };
  await exchange(await byAnotherKey(issuer.claims(), issuer.key), {}, from);
  await exchange(await issuer.token({ sub: 'repo:stranger/repo:ref:refs/heads/main' }), {}, from);
  assert.deepEqual(await failed(), [0, 0]);
  const forged = async () => exchange(await byAnotherKey(issuer.claims(), issuer.key), { tenant: a.w.tenant.slug }, from);
  for (let i = 0; i < 3; i++) await forged();
  assert.deepEqual(await failed(), [1, 0]);
  // The right repository for the wrong audience is told to those whose workload it is.
  await exchange(await issuer.token({ aud: 'service:gateway' }), {}, from);
  assert.deepEqual(await failed(), [2, 1]);
});

test('after sixty refusals a network waits', async (t) => {
  stillClock(t);
  const from = { ip: '203.0.113.77' };
  for (let i = 0; i < 60; i++) assert.equal((await exchange('no token', {}, from)).status, 400);
  const { status, body, headers } = await exchange('no token', {}, from);
  assert.deepEqual([status, body.error, Number(headers.get('retry-after')) > 0], [429, 'temporarily_unavailable', true]);
});
