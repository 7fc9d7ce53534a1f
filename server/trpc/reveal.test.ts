import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { MANAGEMENT_API } from '#server/api/handle.ts';
import { matcher } from '#server/api/match.ts';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { addMembership, createSession } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { asPerson, verified } from '#server/testing/step-up.ts';
import { workspace } from '#server/testing/workspace.ts';
import { dashboardResponse, handleDashboard } from './dashboard.ts';
import { sendAs } from './explorer.ts';
import { router } from './from-operation.ts';
import { handleTrpc, trpcResponse } from './handle.ts';
import { routerOf } from './router-of.ts';

// What both transports of the dashboard do with a row whose answer is a stored secret. No row of the product is a POST yet, so these exist here alone.
await testDatabase();

let shown = 0;
const SECRET = 'plaintext-of-a-secret-'.repeat(100);
const reveal = (id: string, http: 'POST /admin/things/{id}/show' | 'GET /admin/things/{id}/show') =>
  operation({
    id,
    summary: 'Show a secret',
    http,
    kind: 'reveal',
    needs: ['secret:reveal'],
    refuses: [],
    input: z.object({ id: z.string() }),
    output: z.object({ value: z.string() }),
    reveal: {
      class: 'A',
      scope: 'plaintext.reveal',
      policy: 'secret:reveal',
      subject: async (_ctx, { id: resource_id }) => ({ resource_type: 'secret', resource_id }),
    },
    run: async () => ({ value: `${SECRET}${++shown}` }),
  });
const show = reveal('test.show', 'POST /admin/things/{id}/show');
const look = reveal('test.look', 'GET /admin/things/{id}/show');
const match = matcher([show, look] as AnyOperation[]);

/** An Owner who is signed in, with the ways to call. */
async function owner() {
  const w = await workspace();
  const ctx = w.member('owner');
  await asPerson(ctx);
  const { token, session_id } = await db().$transaction(async (tx) => {
    const user_id = ctx.actor.id as string;
    await addMembership(tx, { tenant_id: w.tenant.id, user_id, role: 'owner', source: 'test', now: new Date() });
    const made = await createSession(tx, { user_id, methods: ['password'], keep: false, ip: null, user_agent: null, now: new Date() });
    return { token: made.token, session_id: made.id };
  });
  const confirmed = () => verified({ user_id: ctx.actor.id as string, session_id }, 'plaintext.reveal');
  const send = async (handle: (req: Request) => Promise<Response>, path: string, init: RequestInit, without?: string) => {
    const headers = new Headers({
      'x-sallyport-front': frontDoorToken(rootKeys().current),
      'x-sallyport-request-id': newId(),
      authorization: `Bearer ${token}`,
      'x-tenant-id': w.tenant.slug,
      'x-svc-space': 'live',
      'accept-encoding': 'gzip, br',
      ...(init.method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...(init.headers as Record<string, string>),
    });
    if (without) headers.delete(without);
    const response = await handle(new Request(`http://admin.test/admin/${path}`, { ...init, headers }));
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, code: codeIn(text) };
  };
  const http = (method: string, headers: Record<string, string> = {}, without?: string) =>
    send((req) => dashboardResponse(req, match), 'things/x/show', { method, headers }, without);
  const trpc = (path: string, init: RequestInit) =>
    send((req) => trpcResponse(req, router({ test: routerOf({ show, look }) })), `trpc/${path}`, init);
  return { w, ctx, confirmed, send, http, trpc };
}

function codeIn(text: string): string | undefined {
  if (!text.startsWith('{') || text.includes('}\n{')) return undefined;
  const body = JSON.parse(text) as { code?: string; error?: { data?: { code: string } } };
  return body.error?.data?.code ?? body.code;
}

const REVEAL = {
  'cache-control': 'no-store, private, no-transform',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
const headersOf = (headers: Headers) => Object.fromEntries(Object.keys(REVEAL).map((name) => [name, headers.get(name)]));

test('a revealed secret is neither cached nor compressed, and announces no change', async () => {
  const { http, confirmed } = await owner();
  for (const method of ['POST', 'GET']) {
    await confirmed();
    const { status, headers, text } = await http(method);
    assert.equal(status, 200, text);
    assert.ok(text.includes(SECRET));
    assert.deepEqual(headersOf(headers), REVEAL);
    assert.deepEqual(
      ['vary', 'x-sallyport-encoding', 'x-sallyport-changed'].map((name) => headers.get(name)),
      [null, null, null],
    );
  }
});

test('without a verification both transports name the scope, and neither runs', async () => {
  const { http, trpc, confirmed, ctx } = await owner();
  await confirmed();
  await db().step_up_verifications.deleteMany({ where: { user_id: ctx.actor.id as string } });
  const before = shown;
  const plain = await http('GET');
  const { request_id: _, ...body } = JSON.parse(plain.text);
  assert.equal(plain.status, 403);
  assert.deepEqual(body, {
    error: 'reveal_step_up_required',
    code: 'reveal_step_up_required',
    message: "Confirm it's you to see a stored value.",
    requires_step_up: true,
    action_scope: 'plaintext.reveal',
    allowed_methods: ['passkey', '2fa'],
  });
  const procedure = await trpc('test.look', { method: 'POST', body: '{"id":"x"}' });
  const { data } = JSON.parse(procedure.text).error;
  assert.deepEqual([procedure.status, data.code, data.requires_step_up, data.action_scope], [403, body.code, true, body.action_scope]);
  assert.equal(shown, before);
});

test('X-Svc-StepUp names the verification to spend, and one that is not this person’s spends none', async () => {
  const [one, other] = [await owner(), await owner()];
  await one.confirmed();
  const second = await one.confirmed();
  const theirs = await other.confirmed();
  assert.equal((await one.http('GET', { 'x-svc-stepup': theirs })).code, 'reveal_step_up_required');
  assert.equal((await one.http('GET', { 'x-svc-stepup': second })).status, 200);
  assert.equal((await one.http('GET', { 'x-svc-stepup': second })).code, 'reveal_step_up_required');
  assert.equal((await one.http('GET')).status, 200, 'the first one is left');
});

test('a GET without X-Tenant-ID, a link on a foreign page, and a credential of a machine spend nothing', async () => {
  const { w, http, confirmed, ctx } = await owner();
  await confirmed();
  const { text: key } = await w.key('live');
  const before = shown;
  assert.deepEqual(codes(await http('GET', {}, 'x-tenant-id')), [403, 'csrf_failed']);
  assert.deepEqual(codes(await http('GET', { 'sec-fetch-site': 'cross-site' })), [403, 'csrf_failed']);
  assert.deepEqual(codes(await http('GET', { authorization: `Bearer ${key}` })), [401, 'not_authenticated']);
  assert.deepEqual(codes(await http('GET', {}, 'authorization')), [401, 'not_authenticated']);
  assert.deepEqual(codes(await http('GET', { 'x-tenant-id': (await workspace()).tenant.slug })), [403, 'not_a_member']);
  assert.equal(shown, before);
  assert.equal(await db().step_up_verifications.count({ where: { user_id: ctx.actor.id as string, consumed_at: null } }), 1);
});
const codes = ({ status, code }: { status: number; code: string | undefined }) => [status, code];

test('a repeated idempotency key shows the secret no second time, what is stored does not contain it, and a refusal is not kept', async () => {
  const { w, http, confirmed } = await owner();
  await confirmed();
  await db().step_up_verifications.deleteMany({});
  assert.equal((await http('POST', { 'idempotency-key': 'show-it' })).code, 'reveal_step_up_required');
  await confirmed();
  await confirmed();
  const before = shown;
  assert.equal((await http('POST', { 'idempotency-key': 'show-it' })).status, 200);
  const again = await http('POST', { 'idempotency-key': 'show-it' });
  assert.deepEqual([again.status, again.code], [409, 'conflict']);
  assert.ok(!again.text.includes('plaintext'));
  assert.equal(shown, before + 1);
  const [stored] = await db().idempotency_keys.findMany({ where: { tenant_id: w.tenant.id, principal: { startsWith: 'member:' } } });
  assert.ok(stored && (stored.body_ct?.byteLength ?? 0) < 100, 'nothing but an empty body is stored');
});

test('HEAD is refused before it shows anything', async () => {
  const { http, confirmed } = await owner();
  await confirmed();
  const before = shown;
  const { status, headers } = await http('HEAD');
  assert.deepEqual([status, headers.get('allow')], [405, 'GET, POST']);
  assert.equal(shown, before);
});

test('a reason is decoded once and stored without control characters; one that is too long or badly encoded is refused', async () => {
  const { w, http, trpc, confirmed } = await owner();
  const reasonOf = async () => {
    const entry = await db().audit_logs.findFirstOrThrow({
      where: { tenant_id: w.tenant.id, action: 'plaintext.reveal' },
      orderBy: { seq: 'desc' },
    });
    return (entry.details as { reason?: string }).reason;
  };
  await confirmed();
  for (const reason of ['x'.repeat(501), '50% sure', '%ff'])
    assert.deepEqual(codes(await http('GET', { 'x-reveal-reason': reason })), [400, 'invalid'], reason.slice(0, 10));
  assert.equal((await http('GET', { 'x-reveal-reason': '  %F0%9F%9A%A8%20ticket%2520812%00%0A%E2%80%AE ' })).status, 200);
  assert.equal(await reasonOf(), '🚨 ticket%20812');
  await confirmed();
  const body = JSON.stringify({ id: 'x', reveal_reason: '50% sure: ticket 7' });
  assert.equal((await trpc('test.show', { method: 'POST', body })).status, 200);
  assert.equal(await reasonOf(), '50% sure: ticket 7');
});

test('a workspace that asks for a reason shows nothing without one', async () => {
  const { w, http, confirmed } = await owner();
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { require_reveal_reason: true } } });
  await confirmed();
  for (const reason of ['', '%20%0A'])
    assert.deepEqual(codes(await http('GET', { 'x-reveal-reason': reason })), [400, 'reveal_reason_required']);
  assert.equal((await http('GET', { 'x-reveal-reason': 'ticket%20812' })).status, 200);
});

test('the API explorer refuses to show a secret and records no call', async () => {
  const w = await workspace();
  const call = { method: 'POST', path: '/things/x/show', body: {}, confirmed: true };
  const before = shown;
  const edge = { space: 'live', ip: '127.0.0.1', request_id: newId(), user_agent: 'test' } as const;
  const plane = { ...MANAGEMENT_API, match: matcher([{ ...show, http: 'POST /things/{id}/show' } as unknown as AnyOperation]) };
  await assert.rejects(sendAs(w.member('owner'), edge, call, plane), { type: 'forbidden' });
  assert.equal(await db().explorer_calls.count({ where: { tenant_id: w.tenant.id } }), 0);
  assert.equal(shown, before);
});

test('a batch shows no secret, a call of its own does, and a query never', async () => {
  const { trpc, confirmed } = await owner();
  await confirmed();
  const before = shown;
  const batch = await trpc('test.show,test.look?batch=1', { method: 'POST', body: JSON.stringify({ 0: { id: 'x' }, 1: { id: 'x' } }) });
  const refused = (JSON.parse(batch.text) as { error: { data: { code: string } } }[]).map(({ error }) => error.data.code);
  assert.deepEqual(refused, ['invalid', 'invalid']);
  for (const name of ['show', 'look'])
    assert.equal((await trpc(`test.${name}?input=${encodeURIComponent('{"id":"x"}')}`, { method: 'GET' })).status, 405, name);
  assert.equal(shown, before);
  const alone = await trpc('test.show?batch=1', { method: 'POST', body: JSON.stringify({ 0: { id: 'x' } }) });
  assert.ok(alone.text.includes(SECRET), alone.text);
  assert.deepEqual(headersOf(alone.headers), REVEAL);
});

test('the documented path of a secret’s value and its procedure give the same answer and the same entry', async () => {
  const { w, ctx, confirmed, send } = await owner();
  const secret = await made(ctx, 'secrets.create', { name: 'STRIPE', value: 'the value itself' });
  const value = { id: secret.id, name: 'STRIPE', environment: 'production', value_version: 1, value: 'the value itself' };
  await confirmed();
  const plain = await send(handleDashboard, `secrets/${secret.id}/value`, { method: 'GET' });
  assert.deepEqual([plain.status, JSON.parse(plain.text)], [200, value]);
  await confirmed();
  const procedure = await send(handleTrpc, 'trpc/secrets.reveal', { method: 'POST', body: JSON.stringify({ id: secret.id }) });
  assert.deepEqual([procedure.status, JSON.parse(procedure.text).result.data], [200, { ...value, reveals_left: 58 }]);
  for (const { headers } of [plain, procedure]) assert.deepEqual(headersOf(headers), REVEAL);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, action: 'plaintext.reveal' } });
  const told = entries.map(({ details, resource_type, resource_id }) => {
    const { verification_id, request_id, ...rest } = details as Record<string, unknown>;
    assert.ok(verification_id && request_id);
    return { resource_type, resource_id, ...rest };
  });
  assert.equal(told.length, 2);
  assert.deepEqual(told[0], told[1]);
  assert.deepEqual([told[0]?.resource_type, told[0]?.resource_id], ['secret', secret.id]);
});

test('a verification stays usable when the environment holds no value or is misnamed', async () => {
  const { ctx, confirmed, send } = await owner();
  const secret = await made(ctx, 'secrets.create', { name: 'EMPTY', value: 'v' });
  await confirmed();
  const ask = (query: string) => send(handleDashboard, `secrets/${secret.id}/value${query}`, { method: 'GET' });
  assert.deepEqual(codes(await ask('?environment=nowhere')), [404, 'not_found']);
  assert.deepEqual(codes(await ask('?environment_name=production')), [400, 'validation_error']);
  assert.equal((await ask('?environment=production')).status, 200);
});

test('details of an audit entry need the gate only while they are withheld from the person', async () => {
  const { w, ctx, confirmed, send } = await owner();
  await made(ctx, 'environments.create', { name: 'staging-two' });
  const [entry] = (await made(ctx, 'audit_logs.browse', { resource_type: 'environment' })).entries;
  const ask = (query = '?include=details') => send(handleDashboard, `audit-logs/${entry.id}${query}`, { method: 'GET' });
  assert.equal(JSON.parse((await ask()).text).details.name, 'staging-two');
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { details_withheld: true } } });
  const plain = JSON.parse((await ask('')).text);
  assert.deepEqual([plain.details, plain.details_redacted], [{ sandbox: false }, true]);
  await confirmed();
  const open = JSON.parse((await ask()).text);
  assert.deepEqual([open.details.name, open.details_redacted], ['staging-two', undefined]);
  assert.equal((await ask()).code, 'reveal_step_up_required');
  assert.equal((await send(handleDashboard, `audit-logs/${entry.id}?include=details`, { method: 'HEAD' })).status, 405);
  assert.equal((await send(handleDashboard, 'audit-logs/critical/export.jsonl', { method: 'GET' })).code, 'role_denied');
  const exported = await send(handleDashboard, 'audit-logs/export?format=jsonl', { method: 'GET' });
  assert.ok(exported.status === 200 && !exported.text.includes('staging-two'));
});
