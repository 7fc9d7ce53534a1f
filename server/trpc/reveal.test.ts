import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { handle, MANAGEMENT_API, type Plane } from '#server/api/handle.ts';
import { matcher } from '#server/api/match.ts';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { addMembership, createSession, createUser } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AnyOperation, operation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { sendAs } from './explorer.ts';
import { router } from './from-operation.ts';
import { trpcResponse } from './handle.ts';
import { routerOf } from './router-of.ts';

// What the pipeline does with a row whose answer is a stored secret. The product has none yet, so these rows exist here alone.
await testDatabase();

let shown = 0;
const SECRET = 'plaintext-of-a-secret-'.repeat(100);
const show = operation({
  id: 'test.show',
  summary: 'Show a secret',
  http: 'POST /environments/{id}/show',
  kind: 'reveal',
  needs: ['environment:read'],
  refuses: [],
  input: z.object({ id: z.string() }),
  output: z.object({ value: z.string() }),
  run: async () => ({ value: `${SECRET}${++shown}` }),
});
const look = operation({
  id: 'test.look',
  summary: 'Look at a secret',
  http: 'GET /environments/{id}/show',
  kind: 'reveal',
  needs: ['environment:read'],
  refuses: [],
  input: z.object({ id: z.string() }),
  output: z.object({ value: z.string() }),
  run: async () => ({ value: `${SECRET}${++shown}` }),
});
const plane: Plane = { ...MANAGEMENT_API, match: matcher([show, look] as AnyOperation[]) };

const edge = () => ({ space: 'live', ip: '127.0.0.1', request_id: newId(), user_agent: 'test' }) as const;
async function send(method: string, key: string, headers: Record<string, string> = {}) {
  const request = new Request('http://api.test/v1/environments/x/show', {
    method,
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'gzip, br', ...headers },
  });
  const response = await handle(request, edge(), plane);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test('a revealed secret is neither cached nor compressed, and announces no change', async () => {
  const { text: key } = await (await workspace()).key('live');
  for (const method of ['POST', 'GET']) {
    const { status, headers, text } = await send(method, key);
    assert.equal(status, 200, text);
    assert.ok(text.includes(SECRET));
    assert.deepEqual(
      ['cache-control', 'pragma', 'vary', 'x-sallyport-encoding', 'x-sallyport-changed'].map((name) => headers.get(name)),
      ['no-store, private', 'no-cache', null, null, null],
    );
  }
});

test('a repeated idempotency key shows the secret no second time, and what is stored does not contain it', async () => {
  const { text: key } = await (await workspace()).key('live');
  const before = shown;
  const first = await send('POST', key, { 'idempotency-key': 'show-it' });
  assert.equal(first.status, 200);
  const again = await send('POST', key, { 'idempotency-key': 'show-it' });
  assert.deepEqual([again.status, JSON.parse(again.text).error.type, again.headers.get('x-idempotent-replay')], [409, 'conflict', 'true']);
  assert.ok(!again.text.includes('plaintext'));
  assert.equal(shown, before + 1);
});

test('HEAD is refused before it shows anything', async () => {
  const { text: key } = await (await workspace()).key('live');
  const before = shown;
  const { status, headers } = await send('HEAD', key);
  assert.deepEqual([status, headers.get('allow')], [405, 'GET, POST']);
  assert.equal(shown, before);
});

test('the API explorer refuses to show a secret and records no call', async () => {
  const w = await workspace();
  const call = { method: 'POST', path: '/environments/x/show', body: {}, confirmed: true };
  const before = shown;
  await assert.rejects(sendAs(w.member('owner'), edge(), call, plane), { type: 'forbidden' });
  assert.equal(await db().explorer_calls.count({ where: { tenant_id: w.tenant.id } }), 0);
  assert.equal(shown, before);
});

test('a batch shows no secret, a call of its own does, and a query never', async () => {
  const w = await workspace();
  const { token } = await db().$transaction(async (tx) => {
    const user = await createUser(tx, {
      email: `${newId()}@example.test`,
      full_name: 'V',
      password_hash: null,
      email_verified: true,
      now: new Date(),
    });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role: 'owner', source: 'test', now: new Date() });
    return createSession(tx, { user_id: user.id, methods: ['password'], keep: false, ip: null, user_agent: null, now: new Date() });
  });
  const ask = async (path: string, init: RequestInit) => {
    const headers = {
      'x-sallyport-front': frontDoorToken(rootKeys().current),
      authorization: `Bearer ${token}`,
      'x-tenant-id': w.tenant.slug,
      'x-svc-space': 'live',
      'content-type': 'application/json',
    };
    const response = await trpcResponse(
      new Request(`http://admin.test/admin/trpc/${path}`, { ...init, headers }),
      router({ test: routerOf({ show, look }) }),
    );
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const before = shown;
  const batch = await ask('test.show,test.look?batch=1', { method: 'POST', body: JSON.stringify({ 0: { id: 'x' }, 1: { id: 'x' } }) });
  const codes = (JSON.parse(batch.text) as { error: { data: { code: string } } }[]).map(({ error }) => error.data.code);
  assert.deepEqual(codes, ['invalid', 'invalid']);
  for (const name of ['show', 'look'])
    assert.equal((await ask(`test.${name}?input=${encodeURIComponent('{"id":"x"}')}`, { method: 'GET' })).status, 405, name);
  assert.equal(shown, before);
  const alone = await ask('test.show?batch=1', { method: 'POST', body: JSON.stringify({ 0: { id: 'x' } }) });
  assert.ok(alone.text.includes(SECRET), alone.text);
  assert.deepEqual([alone.headers.get('cache-control'), alone.headers.get('pragma')], ['no-store, private', 'no-cache']);
});
