import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test, { describe } from 'node:test';
import { z } from 'zod';
import { operations, v1Operations } from '#server/api/operations.ts';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { historyOf } from '#server/domain/explorer/service.ts';
import { CAPABILITIES, memberCapabilities, PERSON_FORBIDDEN, personCapabilities, seesNamesOnly } from '#server/kernel/capabilities.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handleExplorer, sendAs } from './explorer.ts';

await ownDatabase();

// biome-ignore lint/suspicious/noExplicitAny: a reader of answers of every shape
type Answer = { status: number; headers: [string, string][]; body: any; request_id: string; outer: Response };

async function send(given: Ctx, call: Record<string, unknown>): Promise<Answer> {
  const ctx = { ...given, request_id: newId() };
  const outer = await sendAs(
    ctx,
    { space: spaceOf(ctx.sandbox), ip: '127.0.0.1', request_id: ctx.request_id, user_agent: 'browser' },
    { method: 'GET', confirmed: true, ...call },
  );
  const answer = (await outer.json()) as Answer & { body: string };
  return { ...answer, body: JSON.parse(answer.body), outer };
}
const refusedWith = (type: string) => (error: unknown) => error instanceof Refusal && error.type === type;

test('a call answers as /v1 does, is audited as the person, and tells the gateways of its change', async () => {
  const w = await workspace();
  const ctx = w.member('owner', 'test');
  const created = await send(ctx, { method: 'POST', path: '/environments', body: { name: 'staging' } });
  assert.deepEqual([created.status, created.body.data.name], [201, 'staging']);
  assert.equal(created.body.meta.request_id, created.request_id);
  assert.equal(created.outer.headers.get('x-sallyport-changed'), `${w.tenant.id}:test`);
  assert.ok(!created.headers.some(([name]) => name === 'x-sallyport-changed'));
  assert.ok(created.headers.some(([name]) => name === 'service-version'));
  const entry = await db().audit_logs.findFirstOrThrow({ where: { request_id: created.request_id } });
  assert.deepEqual([entry.actor_type, entry.actor_id, entry.sandbox], ['user', ctx.actor.id, true]);
  assert.ok(entry.user_agent?.startsWith('API explorer; '));
  const listed = await send(ctx, { path: '/routes', query: { per_page: '1' } });
  assert.deepEqual([listed.status, listed.body.meta.per_page], [200, 1]);
});

test('a Member sees what routes are called, and by no way what they are set to', async () => {
  const w = await workspace();
  const target = 'https://inner-billing.example.com/base';
  const route = { name: 'billing', target_base_url: target, rate_limit_requests: 77, rate_limit_window_sec: 60, rate_limit_enabled: true };
  const { id } = await made(w.live, 'routes.create', route);
  await made(w.live, 'environments.create', { name: 'staging', description: 'inner words' });
  await made(w.live, 'collections.create', { name: 'Group', description: 'inner words' });
  const ways: Record<string, (ctx: Ctx) => Promise<unknown>> = {
    'the list': (ctx) => made(ctx, 'routes.list'),
    'the list, searched': (ctx) => made(ctx, 'routes.list', { q: 'bill' }),
    environments: (ctx) => made(ctx, 'environments.list'),
    collections: (ctx) => made(ctx, 'collections.list'),
    'the explorer': async (ctx) => (await send(ctx, { path: '/routes' })).body.data,
    'the overview': (ctx) => made(ctx, 'routes.overview', { ids: id }),
    'the search by name': (ctx) => made(ctx, 'search.query', { q: 'billing' }),
    'the search by id': (ctx) => made(ctx, 'search.query', { q: id }),
  };
  for (const [way, look] of Object.entries(ways)) {
    const seen = JSON.stringify(await look(w.member('member')));
    assert.match(seen, /billing|staging|Group|route_id/, way);
    assert.doesNotMatch(seen, /inner|example\.com|rate_limit|requires/, way);
  }
  assert.deepEqual(
    (await made(w.member('member'), 'search.query', { q: 'inner-billing' })).groups,
    [],
    'an upstream finds no route either',
  );
  for (const way of ['the list', 'the explorer', 'the search by name'])
    assert.match(JSON.stringify(await ways[way]?.(w.member('viewer'))), /inner/, way);
});

test('every list that shows names only names members of its rows', () => {
  const held = memberCapabilities('member', { reveal_secrets: false });
  const lists = operations.filter(
    ({ kind, needs }) =>
      kind === 'read' && Array.isArray(needs) && needs.every((c) => held.has(c)) && needs.some((c) => seesNamesOnly(held, c)),
  );
  assert.deepEqual(lists.map(({ id }) => id).sort(), [
    'ai_gateways.agents.list',
    'ai_gateways.list',
    'collections.list',
    'environments.list',
    'routes.list',
    'routes.overview',
  ]);
  for (const op of lists.filter(({ id }) => id !== 'routes.overview')) {
    const known = Object.keys(op.output.element.shape);
    assert.ok(op.names?.length && op.names.every((name) => known.includes(name)), op.id);
  }
});

describe('nobody does more here than their role lets them', () => {
  for (const [method, path, body] of [
    ['POST', '/routes', { name: 'x', target_base_url: 'https://example.com' }],
    ['POST', '/api-keys', { name: 'x' }],
    ['PATCH', '/account', { name: 'x' }],
  ] as const)
    for (const role of ['viewer', 'member'] as const)
      test(`${role}: ${method} ${path}`, async () => {
        const w = await workspace();
        const answer = await send(w.member(role), { method, path, body });
        assert.deepEqual([answer.status, answer.body.error.type], [403, 'role_denied']);
        assert.equal(await db().audit_logs.count({ where: { tenant_id: w.tenant.id } }), 0);
      });

  test('what a token of a person never carries is never lent', () => {
    const lent = personCapabilities(new Set(CAPABILITIES));
    for (const forbidden of PERSON_FORBIDDEN) assert.ok(!lent.has(forbidden), forbidden);
    for (const dashboardOnly of ['secret:reveal', 'tenant:delete', 'member:grant_admin', 'log:read_payload'] as const)
      assert.ok(!lent.has(dashboardOnly), dashboardOnly);
    assert.ok(lent.has('route:create'));
  });
});

test('only paths of the Management API exist here', async () => {
  const w = await workspace();
  for (const path of [
    '/../admin/plan',
    '/routes/../../admin/search',
    '/%2e%2e/auth/me',
    '/..%2fadmin',
    '//evil.example/v1/routes',
    '/\\evil.example',
    'http://evil.example/',
    '@evil.example/',
    '/routes?x=1',
    '/routes#x',
    '/routes/%00',
    '/ro utes',
    '',
  ])
    await assert.rejects(send(w.member('owner'), { path }), refusedWith('validation_error'), path);
  for (const path of ['/admin/plan', '/auth/me', '/nothing'])
    assert.equal((await send(w.member('owner'), { path })).body.error.type, 'not_found', path);
});

test('a form sets no header but the three it may, and sign-up is not for the signed in', async () => {
  const w = await workspace();
  const other = await workspace();
  const { text } = await other.key('live');
  for (const name of [
    'Host',
    'Authorization',
    'Cookie',
    'x-api-key',
    'X-Tenant-ID',
    'X-Svc-Space',
    'x-sallyport-space',
    'x-sallyport-front',
    'Content-Encoding',
    'Transfer-Encoding',
  ])
    await assert.rejects(
      send(w.member('owner'), { path: '/account', headers: { [name]: `Bearer ${text}` } }),
      refusedWith('validation_error'),
      name,
    );
  await assert.rejects(
    send(w.member('owner'), { path: '/account', headers: { 'Idempotency-Key': 'a\r\nHost: evil' } }),
    refusedWith('validation_error'),
  );
  for (const path of ['/signup', '/signup/claim'])
    await assert.rejects(send(w.member('owner'), { method: 'POST', path, body: {} }), refusedWith('forbidden'));
  const answer = await send(w.member('owner'), { path: '/account', headers: { 'Service-Version': '1999-01-01' } });
  assert.equal(answer.body.error.type, 'invalid_api_version');
});

test('rows of another workspace and of the other space do not exist, whatever the body claims', async () => {
  const [mine, theirs] = await Promise.all([workspace(), workspace()]);
  const foreign = await made(theirs.live, 'routes.create', { name: 'foreign', target_base_url: 'https://example.com' });
  const sameInTest = await made(mine.test, 'routes.create', { name: 'test only', target_base_url: 'https://example.com' });
  for (const id of [foreign.id, sameInTest.id, randomUUID()]) {
    const answer = await send(mine.member('owner'), { path: `/routes/${id}` });
    assert.deepEqual([answer.status, answer.body.error.type], [404, 'not_found']);
  }
  const created = await send(mine.member('owner', 'test'), {
    method: 'POST',
    path: '/environments',
    body: { name: 'claimed', tenant_id: theirs.tenant.id, sandbox: false },
  });
  const row = await db().environments.findUniqueOrThrow({ where: { id: created.body.data.id } });
  assert.deepEqual([row.tenant_id, row.sandbox], [mine.tenant.id, true]);
});

test('Live changes only when confirmed; reading needs no word', async () => {
  const w = await workspace();
  const call = { method: 'POST', path: '/environments', body: { name: 'staging' } };
  await assert.rejects(send(w.member('owner'), { ...call, confirmed: false }), refusedWith('invalid'));
  assert.equal((await send(w.member('owner'), { path: '/environments', confirmed: false })).status, 200);
  assert.equal((await send(w.member('owner', 'test'), { ...call, confirmed: false })).status, 201);
});

test('an idempotency key replays for its person and for nobody else', async () => {
  const w = await workspace();
  const [one, two] = [w.member('owner', 'test'), w.member('owner', 'test')];
  const call = { method: 'POST', path: '/environments', body: { name: 'once' }, headers: { 'Idempotency-Key': 'k' } };
  const first = await send(one, call);
  const again = await send(one, call);
  assert.deepEqual([again.status, again.body.data.id], [201, first.body.data.id]);
  assert.ok(again.headers.some(([name, value]) => name === 'x-idempotent-replay' && value === 'true'));
  assert.equal((await send(two, call)).body.error.type, 'conflict');
});

test('the history is one’s own, holds no secret, and keeps the newest fifty', async () => {
  const w = await workspace();
  const [mine, other] = [w.member('owner', 'test'), w.member('owner', 'test')];
  await send(mine, {
    method: 'POST',
    path: '/secrets',
    body: { name: 'A_SECRET', value: 'canary-value-nobody-keeps', description: 'kept' },
  });
  const created = await send(mine, { method: 'POST', path: '/api-keys', body: { name: 'shown once' } });
  const failed = await send(mine, { path: `/routes/${randomUUID()}`, query: {} });
  const { calls } = await historyOf(mine);
  assert.deepEqual(
    calls.map(({ operation, status, error }) => [operation, status, error]),
    [
      ['routes.get', 404, 'not_found'],
      ['api_keys.create', 201, null],
      ['secrets.create', 201, null],
    ],
  );
  assert.equal(calls[0]?.id, failed.request_id);
  assert.deepEqual(calls[2]?.body, { name: 'A_SECRET', description: 'kept' });
  const kept = JSON.stringify(await db().explorer_calls.findMany());
  assert.ok(!kept.includes('canary-value') && !kept.includes(created.body.data.api_key));
  assert.deepEqual(await historyOf(other), { calls: [] });
  assert.deepEqual(await historyOf({ ...mine, sandbox: false }), { calls: [] });
  for (let i = 0; i < 52; i++) await send(mine, { path: '/roles' });
  assert.equal((await historyOf(mine)).calls.length, 50);
});

test('a secret under a name that was mistyped is not kept either', async () => {
  const w = await workspace();
  const mine = w.member('owner', 'test');
  const body = { name: 'A_SECRET', vaule: 'canary-mistyped', secret_value: ['canary-mistyped'], Description: 'canary-mistyped' };
  await send(mine, { method: 'POST', path: '/secrets', body });
  assert.deepEqual((await historyOf(mine)).calls[0]?.body, { name: 'A_SECRET' });
});

test('of a route the history keeps no literal credential, whatever it is called', async () => {
  const mine = (await workspace()).member('owner', 'test');
  const literals = {
    inject_headers_json: { Authorization: 'Bearer canary-1', Cookie: 'a=canary-2', 'X-Any': 'Basic canary-34', 'X-Team': 'payments' },
    inject_query_json: { key: 'canary-5', page: '1' },
    inject_body_json: { login: { password: 'canary6', user: 'u' }, value: 'canary-7' },
  };
  await send(mine, { method: 'POST', path: '/routes', body: { name: 'r', target_base_url: 'https://api.example.com', ...literals } });
  const [call] = (await historyOf(mine)).calls;
  assert.deepEqual(call?.body, {
    name: 'r',
    target_base_url: 'https://api.example.com',
    inject_headers_json: { 'X-Team': 'payments' },
    inject_query_json: { page: '1' },
    inject_body_json: { login: { user: 'u' } },
  });
  assert.ok(!JSON.stringify(await db().explorer_calls.findMany()).includes('canary'));
  assert.ok(!JSON.stringify(await db().audit_logs.findMany({ select: { details: true } })).includes('canary'));
});

test('every operation tells the names of its fields, so that the history of any of them can be kept', () => {
  for (const op of v1Operations.filter(({ http }) => !http.startsWith('GET ') && !http.startsWith('DELETE ')))
    assert.ok(z.toJSONSchema(op.input, { io: 'input', unrepresentable: 'any' }).properties, op.id);
});

test('without a session nothing is sent', async () => {
  const headers = {
    'x-sallyport-front': frontDoorToken(rootKeys().current),
    'x-svc-space': 'test',
    'content-type': 'application/json',
    origin: 'https://evil.example',
  };
  const answer = await handleExplorer(
    new Request('http://admin.test/admin/explorer/send', {
      method: 'POST',
      headers,
      body: JSON.stringify({ method: 'GET', path: '/account' }),
    }),
  );
  assert.equal(answer.status, 401);
});
