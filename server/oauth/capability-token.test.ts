import assert from 'node:assert/strict';
import test from 'node:test';
import type { Edge } from '#server/api/edge.ts';
import { parseCapability } from '#server/crypto/capability-tokens.ts';
import { digest } from '#server/crypto/tokens.ts';
import { newId } from '#server/kernel/ids.ts';
import { TestIssuer } from '#server/platform/connect/issuer.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { exchangeEndpoint } from './capability-token.ts';

// POST /v1/oauth/token on the host of a workspace (interface rule 50 §6.9), with a platform that signs its tokens and publishes its keys.

await testDatabase();
const issuer = await TestIssuer.start();
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
const SUBJECT = 'repo:acme/app:ref:refs/heads/main';

async function furnished(binding: object = {}) {
  const w = await workspace();
  const gateway = await made(w.live, 'ai_gateways.create', { name: 'CI', slug: fresh('g') });
  const agent = await made(w.live, 'ai_gateways.agents.create', { id: gateway.id, name: 'A', slug: fresh('a') });
  const { id } = await made(w.live, 'ai_oidc_bindings.create', {
    name: 'Deploys',
    issuer: issuer.issuer,
    claim_rules: [{ claim: 'sub', op: 'eq', value: SUBJECT }],
    gateway_id: gateway.id,
    agent_id: agent.id,
    scope: { models: ['claude-sonnet-5'] },
    ...binding,
  });
  return { w, gateway, agent, binding: id as string };
}
const idToken = (more: object = {}) => issuer.token({ aud: ['service:gateway'], ...more });

let networks = 0;
const edge = (more: Partial<Edge> = {}): Edge => ({
  space: 'live',
  ip: `198.51.${++networks % 250}.7`,
  request_id: newId(),
  user_agent: 'ci',
  ...more,
});

async function ask(w: Workspace, parameters: Record<string, unknown>, { json = false, ...more }: Partial<Edge> & { json?: boolean } = {}) {
  const form = { grant_type: GRANT, subject_token_type: ID_TOKEN, ...parameters };
  const body = json ? JSON.stringify(form) : new URLSearchParams(form as Record<string, string>).toString();
  const type = json ? 'application/json' : 'application/x-www-form-urlencoded';
  const req = new Request('http://x/v1/oauth/token', { method: 'POST', headers: { 'content-type': type }, body });
  const res = await exchangeEndpoint(req, w.tenant.slug, edge(more));
  // biome-ignore lint/suspicious/noExplicitAny: a body of JSON
  return { status: res.status, headers: res.headers, body: (await res.json()) as any };
}

test('a job exchanges its identity token for a capability token of the binding', async () => {
  const { w, agent, gateway, binding } = await furnished();
  for (const json of [false, true]) {
    const { status, body, headers } = await ask(w, { subject_token: await idToken(), audience: 'service:gateway' }, { json });
    assert.equal(status, 200, JSON.stringify(body));
    const { access_token, ...rest } = body;
    assert.deepEqual(rest, {
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 900,
      scope: '{"models":["claude-sonnet-5"]}',
    });
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.deepEqual(parseCapability(access_token), { env: 'live', kind: 'agent' });
    const row = await db().ai_tokens.findUniqueOrThrow({ where: { token_hash: new Uint8Array(digest(access_token)) } });
    assert.deepEqual([row.agent_id, row.gateway_id, row.origin, row.oidc_binding_id], [agent.id, gateway.id, 'exchange', binding]);
    const entry = await db().audit_logs.findFirstOrThrow({ where: { tenant_id: w.tenant.id, resource_id: row.id, action: 'create' } });
    const details = entry.details as Record<string, unknown>;
    assert.deepEqual([details.issuer, details.subject, details.binding_id], [issuer.issuer, SUBJECT, binding]);
  }
  const shown = await made(w.live, 'ai_oidc_bindings.get', { id: binding });
  assert.deepEqual([shown.use_count, shown.last_subject], [2, SUBJECT]);
});

test('of fifty exchanges of one identity token at once exactly one wins, and none later', async () => {
  const { w } = await furnished();
  const subject_token = await idToken();
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(w, { subject_token })));
  assert.deepEqual([answers.filter(({ status }) => status === 200).length, answers.filter(({ status }) => status === 400).length], [1, 49]);
  const { body } = await ask(w, { subject_token });
  assert.deepEqual(body, { error: 'invalid_grant', error_description: 'The subject token has already been exchanged.' });
  assert.equal(await db().ai_tokens.count({ where: { tenant_id: w.tenant.id } }), 1);
  // Nor in another workspace that trusts the same.
  const other = await furnished();
  assert.equal((await ask(other.w, { subject_token })).body.error, 'invalid_grant');
});

test('what is not accepted reads the same to the caller, and the audit log says why', async () => {
  const { w, binding } = await furnished();
  const stranger = await TestIssuer.start();
  const cases: [string, string | undefined][] = [
    [await idToken({ sub: 'repo:evil/app:ref:refs/heads/main' }), 'no_match'],
    [await idToken({ aud: 'service:api' }), 'no_match'],
    [await idToken({ exp: Math.floor(Date.now() / 1000) - 600, iat: Math.floor(Date.now() / 1000) - 900, nbf: undefined }), undefined],
    [`${(await idToken()).slice(0, -8)}AAAAAAAA`, undefined],
    [await stranger.token({ aud: 'service:gateway', iss: issuer.issuer }), undefined],
  ];
  for (const [subject_token] of cases) {
    const { status, body } = await ask(w, { subject_token });
    assert.deepEqual([status, body.error], [400, 'invalid_grant']);
    assert.match(body.error_description, /^The subject token is not accepted\./);
  }
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'login_failed' } });
  assert.ok(entries.length >= 4 && entries.every(({ resource_id }) => resource_id === binding));
  assert.ok(entries.some(({ details }) => (details as { reason?: string }).reason === 'no_match'));
  for (const subject_token of [await stranger.token({ aud: 'service:gateway' }), 'not.a.token', 'x'])
    assert.match((await ask(w, { subject_token })).body.error_description, /No binding of this workspace/);
  assert.equal(await db().ai_tokens.count({ where: { tenant_id: w.tenant.id } }), 0);
});

test('parameters are refused by the codes of OAuth, and the space is that of the host', async () => {
  const { w } = await furnished();
  const subject_token = await idToken();
  const cases: [Record<string, unknown>, string][] = [
    [{ subject_token, grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    [{ subject_token, subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' }, 'invalid_request'],
    [{}, 'invalid_request'],
    [{ subject_token, audience: 'service:api' }, 'invalid_target'],
    [{ subject_token, audience: '' }, 'invalid_target'],
    [{ subject_token, resource: '' }, 'invalid_target'],
    [{ subject_token, resource: 'https://example.com/v1/mcp/none' }, 'invalid_target'],
  ];
  for (const [input, error] of cases) {
    const { status, body } = await ask(w, input);
    assert.deepEqual([status, body.error, 'code' in body], [400, error, false], JSON.stringify(input));
  }
  assert.equal((await ask(w, { subject_token }, { space: 'test' })).body.error, 'invalid_grant');
  assert.equal((await ask(w, { subject_token })).status, 200, 'nothing of all that used the token up');
  const wrong = await exchangeEndpoint(new Request('http://x/v1/oauth/token'), w.tenant.slug, edge());
  assert.equal(wrong.status, 405);
});

test('a binding that is disabled, deleted or of an archived agent mints nothing', async () => {
  const { w, agent, binding } = await furnished();
  await made(w.live, 'ai_oidc_bindings.update', { id: binding, enabled: false });
  assert.equal((await ask(w, { subject_token: await idToken() })).body.error, 'invalid_grant');
  await made(w.live, 'ai_oidc_bindings.update', {
    id: binding,
    enabled: true,
    claim_rules: [{ claim: 'sub', op: 'in', value: [SUBJECT, 'x'] }],
  });
  await made(w.live, 'ai_gateways.agents.delete', { id: agent.id });
  assert.equal((await ask(w, { subject_token: await idToken() })).body.error, 'invalid_grant');
});

test('a whole public issuer can not be trusted, and globs stay within a segment', async () => {
  const { w, gateway, agent } = await furnished();
  const create = (claim_rules: object[], more: object = {}) =>
    made(w.live, 'ai_oidc_bindings.create', {
      name: 'B',
      issuer: issuer.issuer,
      claim_rules,
      gateway_id: gateway.id,
      agent_id: agent.id,
      ...more,
    });
  await assert.rejects(create([{ claim: 'sub', op: 'glob', value: '*' }]), /claim_rules/);
  await assert.rejects(create([{ claim: 'aud', op: 'eq', value: 'service:gateway' }]), /is checked for every token/);
  await assert.rejects(create([{ claim: 'sub', op: 'eq', value: SUBJECT }], { agent_id: crypto.randomUUID() }), /foreign_reference: /);
  await assert.rejects(create([{ claim: 'sub', op: 'eq', value: SUBJECT }], { agent_id: null, kind: 'agent' }), /agent_id: is required/);
});

test('the test of a token shows which rule fails, and leaves the token its one exchange', async () => {
  const { w, binding } = await furnished();
  const subject_token = await idToken();
  const wrong = await made(w.live, 'ai_oidc_bindings.test', { subject_token: await idToken({ sub: 'repo:acme/app:ref:refs/heads/dev' }) });
  const failing = wrong.bindings[0].rules.filter(({ matches }: { matches: boolean }) => !matches);
  assert.deepEqual([wrong.accepted, wrong.problem, failing.map(({ claim }: { claim: string }) => claim)], [false, null, ['sub']]);
  const right = await made(w.live, 'ai_oidc_bindings.test', { subject_token });
  assert.deepEqual([right.accepted, right.binding_id, right.already_exchanged], [true, binding, false]);
  assert.equal((await ask(w, { subject_token })).status, 200);
  assert.deepEqual([(await made(w.live, 'ai_oidc_bindings.test', { subject_token })).already_exchanged], [true]);
});
