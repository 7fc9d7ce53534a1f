import assert from 'node:assert/strict';
import test from 'node:test';
import { SESSION_RATE_LIMIT } from '#server/auth/session-rate-limit.ts';
import { frontDoorToken } from '#server/crypto/derive.ts';
import { addMembership, createSession, createUser } from '#server/domain/people/service.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { workspace } from '#server/testing/workspace.ts';
import { handleDashboard } from './dashboard.ts';
import { handleTrpc, MOST_IN_BATCH } from './handle.ts';
import { handleTail } from './tail.ts';

// Counters are the database's, as with several gateways and no Redis.
await testDatabase({ SVC_GATEWAYS: '2' });

async function signedIn(role: 'owner' | 'viewer' = 'owner') {
  const w = await workspace();
  const now = new Date();
  const { token } = await db().$transaction(async (tx) => {
    const user = await createUser(tx, { email: `${newId()}@example.test`, full_name: 'V', password_hash: null, email_verified: true, now });
    await addMembership(tx, { tenant_id: w.tenant.id, user_id: user.id, role, source: 'invite', now });
    return createSession(tx, { user_id: user.id, methods: ['code'], keep: false, ip: null, user_agent: null, now });
  });
  const sent = async (handle: (req: Request) => Promise<Response>, path: string, init: RequestInit = {}) => {
    const headers = new Headers({
      'x-sallyport-front': frontDoorToken(rootKeys().current),
      'x-sallyport-ip': '127.0.0.1',
      authorization: `Bearer ${token}`,
      'x-tenant-id': w.tenant.slug,
      'x-svc-space': 'test',
      ...(init.body ? { 'content-type': 'application/json' } : {}),
      ...(init.headers as Record<string, string>),
    });
    const response = await handle(new Request(`http://admin.test/admin/${path}`, { ...init, headers }));
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const send = (path: string, init?: RequestInit) => sent(handleTrpc, `trpc/${path}`, init);
  const get = (path: string, headers: Record<string, string>) => sent(handleDashboard, path, { headers });
  const post = (path: string, body: object) => sent(handleDashboard, path, { method: 'POST', body: JSON.stringify(body) });
  const tail = (headers: Record<string, string>) => sent(handleTail, 'logs/tail', { headers, signal: AbortSignal.timeout(300) });
  return { w, send, get, post, tail };
}

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test('JSON nested deeper than the Management API takes is refused here too, and is no fault of ours', async () => {
  const { send } = await signedIn();
  for (const levels of [65, 10_000, 150_000]) {
    const body = `{"name":"deep","target_base_url":"https://example.com","inject_body_json":${nested(levels)}}`;
    const { status, text } = await send('routes.create', { method: 'POST', body });
    assert.deepEqual([status, JSON.parse(text).error.data.code], [400, 'validation_error'], `${levels} levels`);
  }
});

test('numbers of any JSON keep their digits through a procedure, and through a later edit', async () => {
  const { send } = await signedIn();
  const body = '{"id":7615917337495251231,"rate":1.10,"constructor":1}';
  await send('cryptoKeys.create', { method: 'POST', body: '{"name":"k","key_type":"hmac-sha256"}' });
  const made = await send('routes.create', {
    method: 'POST',
    body: `{"name":"exact","target_base_url":"https://example.com","timeout_ms":5000.0,"inject_body_json":${body},"upstream_auth":{"type":"jwt_bearer","algorithm":"HS256","key_name":"k","extra_claims":${body}}}`,
  });
  assert.equal(made.status, 200, made.text);
  const { id } = JSON.parse(made.text).result.data;
  await send('routes.update', { method: 'POST', body: JSON.stringify({ id, timeout_ms: 6_000 }) });
  const { text } = await send(`routes.get?input=${encodeURIComponent(JSON.stringify({ id }))}`);
  assert.ok(text.includes('"timeout_ms":6000'), text);
  for (const member of ['inject_body_json', 'extra_claims']) assert.ok(text.includes(`"${member}":${body}`), text);
  const refused = await send('routes.update', { method: 'POST', body: `{"id":"${id}","inject_body_json":{"__proto__":1}}` });
  assert.match(JSON.parse(refused.text).error.data.message, /^inject_body_json: must not have a member named __proto__/);
});

test('each error says which request it is of, also one that is refused before there is a caller', async () => {
  const { send } = await signedIn();
  const post = (body: string | undefined, headers?: Record<string, string>) => ({
    method: 'POST',
    ...(body === undefined ? {} : { body }),
    headers: headers ?? {},
  });
  const attempts: [string, RequestInit, number][] = [
    ['routes.create', post(JSON.stringify({ name: 'x'.repeat(1_100_000) })), 413],
    ['routes.create', post('{'), 400],
    ['routes.create', post('name=x', { 'content-type': 'text/plain' }), 415],
    ['routes.create', { method: 'PUT', body: '{}' }, 405],
    ['routes.create', {}, 405],
    ['routes.nothing', {}, 404],
    ['routes.list?input=%7B', {}, 400],
    [
      `${Array(MOST_IN_BATCH + 1)
        .fill('views.list')
        .join(',')}?batch=1`,
      post('{}'),
      400,
    ],
    ['views.list,routes.nothing?batch=1', post('{'), 207],
    ['routes.list', { headers: { authorization: 'Bearer nobody' } }, 401],
  ];
  for (const [path, init, status] of attempts) {
    const answer = await send(path, init);
    assert.equal(answer.status, status, path);
    for (const { error } of [JSON.parse(answer.text)].flat())
      assert.equal(error.data.request_id, answer.headers.get('x-request-id'), `${path} ${answer.text.slice(0, 200)}`);
  }
});

test('the pace of a batch is counted once for all its calls', async (t) => {
  const { send } = await signedIn('viewer');
  const asked = t.mock.method(sql(), 'query');
  const { status, text } = await send(
    `${Array(MOST_IN_BATCH).fill('environments.list').join(',')}?batch=1&input=${encodeURIComponent('{}')}`,
  );
  assert.deepEqual([status, JSON.parse(text).length], [200, MOST_IN_BATCH]);
  const counted = asked.mock.calls.flatMap(({ arguments: [statement] }) =>
    (statement as { name?: string }).name === 'window-count' ? [(statement as unknown as { values: unknown[] }).values[4]] : [],
  );
  assert.deepEqual(counted, [MOST_IN_BATCH, MOST_IN_BATCH], 'of the session, and of the person');
});

test('one request carries no more calls than a page makes', async () => {
  const { send } = await signedIn('viewer');
  const batch = (n: number) =>
    send(`${Array(n).fill('views.list').join(',')}?batch=1`, {
      method: 'POST',
      body: JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [i, { page: 'routes' }]))),
    });
  assert.equal((await batch(MOST_IN_BATCH)).status, 200);
  assert.equal((await batch(MOST_IN_BATCH + 1)).status, 400);
  assert.equal((await batch(1_400)).status, 400);
});

test('a session that calls without pause is refused before anything is done, on every path, and told when it goes on', async (t) => {
  const { w, send, get } = await signedIn();
  const batch = () => send(`${Array(MOST_IN_BATCH).fill('views.list').join(',')}?batch=1&input=${encodeURIComponent(input)}`);
  const input = JSON.stringify(Object.fromEntries(Array.from({ length: MOST_IN_BATCH }, (_, i) => [i, { page: 'routes' }])));
  stillClock(t);
  for (let sent = 0; sent < SESSION_RATE_LIMIT.session; sent += MOST_IN_BATCH) assert.equal((await batch()).status, 200);
  const refused = await batch();
  assert.equal(refused.status, 429);
  const wait = Number(refused.headers.get('retry-after'));
  assert.ok(wait >= 1 && wait <= SESSION_RATE_LIMIT.window_sec);
  const told = JSON.parse(refused.text) as { error: { data: { code: string; retry_after: number } } }[];
  assert.equal(told.length, MOST_IN_BATCH);
  for (const { error } of told) assert.deepEqual([error.data.code, error.data.retry_after], ['rate_limited', wait]);
  assert.equal((await send('environments.create', { method: 'POST', body: JSON.stringify({ name: 'toosoon' }) })).status, 429);
  assert.equal(await db().environments.count({ where: { tenant_id: w.tenant.id, name: 'toosoon' } }), 0);
  const plain = await get('search?q=x', {});
  assert.deepEqual([plain.status, JSON.parse(plain.text).code], [429, 'rate_limited']);
});

test('nothing is changed by a GET or by what a form of another site can send, and no name reaches a prototype', async () => {
  const { w, send } = await signedIn();
  const environment = JSON.stringify({ name: 'forged' });
  assert.equal((await send(`environments.create?input=${encodeURIComponent(environment)}`)).status, 405);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/octet-stream'])
    assert.ok(
      (await send('environments.create', { method: 'POST', body: environment, headers: { 'content-type': type } })).status >= 400,
      type,
    );
  assert.equal(await db().environments.count({ where: { tenant_id: w.tenant.id, name: 'forged' } }), 0);
  const body =
    '{"name":"p","target_base_url":"https://example.com","inject_body_json":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}';
  await send('routes.create', { method: 'POST', body });
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

test('no page of somebody else opens live views in a person’s name: their number is limited', async () => {
  const { tail } = await signedIn();
  for (const site of ['cross-site', 'same-site']) {
    const { status, text } = await tail({ 'sec-fetch-site': site });
    assert.deepEqual([status, JSON.parse(text).code], [403, 'csrf_failed'], site);
  }
  assert.equal((await tail({ 'sec-fetch-site': 'same-origin' })).status, 200);
});

test('no page of somebody else starts a download in a person’s name', async () => {
  const { w, get } = await signedIn();
  const exports = () => db().audit_logs.count({ where: { tenant_id: w.tenant.id, action: 'export' } });
  for (const path of ['logs/export?format=csv', 'audit-logs/export?format=csv']) {
    for (const site of ['cross-site', 'same-site']) {
      const { status, text } = await get(path, { 'sec-fetch-site': site });
      assert.deepEqual([status, JSON.parse(text).code], [403, 'csrf_failed'], `${path} from ${site}`);
    }
    assert.equal(await exports(), 0);
    for (const site of ['same-origin', 'none'])
      assert.equal((await get(path, { 'sec-fetch-site': site })).status, 200, `${path} from ${site}`);
    assert.equal(await exports(), 2);
    await db().$executeRaw`delete from audit_logs where tenant_id = ${w.tenant.id}::uuid and action = 'export'`;
  }
});

test('a promotion over its documented path announces both spaces to the gateways, its dry run neither, and a Viewer is refused', async () => {
  const { w, post } = await signedIn();
  const route = await made(w.test, 'routes.create', { name: 'r', target_base_url: 'http://127.0.0.1:9' });
  const items = [{ type: 'route', id: route.id }];
  const looked = await post('sandbox/promote', { items, dry_run: true });
  assert.deepEqual([looked.status, looked.headers.get('x-sallyport-changed')], [200, null]);
  const { fingerprint } = JSON.parse(looked.text) as { fingerprint: string };
  const done = await post('sandbox/promote', { items, fingerprint });
  assert.equal(done.status, 200, done.text);
  assert.deepEqual(done.headers.get('x-sallyport-changed')?.split(',').sort(), [`${w.tenant.id}:live`, `${w.tenant.id}:test`]);
  const late = await post('sandbox/promote', { items, fingerprint });
  assert.equal(late.status, 409);
  assert.equal((JSON.parse(late.text) as { current: { summary: { skip: number } } }).current.summary.skip, 1);
  const viewer = await signedIn('viewer');
  assert.equal((await viewer.post('sandbox/promote', { items: 'all', dry_run: true })).status, 403);
});
