import assert from 'node:assert/strict';
import test from 'node:test';
import { mintApiKey } from '#server/crypto/tokens.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { ADMISSION, admission } from '../core/admission.ts';
import { type Answer, ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';

await testDatabase({ TRUSTED_PROXIES: '127.0.0.1' });
const running = await startGateway();
const { port } = running;
const upstream = await startUpstream();

async function makeClient(w: Workspace, range: string, more: Record<string, unknown> = {}) {
  const scope = { tenant_id: w.tenant.id, sandbox: false };
  const client = await db().clients.create({ data: { id: newId(), ...scope, name: `client ${range}`, ip_address: range } });
  await db().client_credentials.create({
    data: { id: newId(), ...scope, client_id: client.id, kind: 'ip', ip_range: range, is_primary: true, data: { value: range }, ...more },
  });
  return client;
}
const assign = (w: Workspace, route: { id: string; environment: { id: string } }, clientId: string) =>
  db().route_client_assignments.create({
    data: { tenant_id: w.tenant.id, sandbox: false, route_id: route.id, environment_id: route.environment.id, client_id: clientId },
  });

/** What must not differ between two opaque answers: everything but ids and times. */
const opaque = ({ status, raw, body }: Answer) => {
  const vague = (text: string) => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replaceAll(/"latency_ms":\d+/g, 'MS');
  // The length holds the digits of the latency.
  const timed = new Set(['date', 'x-svc-latency-ms', 'server-timing', 'content-length']);
  const pairs = raw.flatMap((name, i) => (i % 2 === 0 ? [[name, timed.has(name.toLowerCase()) ? '' : vague(raw[i + 1] ?? '')]] : []));
  return JSON.stringify({ status, pairs, body: vague(body) });
};

test('the admission table answers every combination, and only the listed ones admit', () => {
  const admitted: string[] = [];
  for (const requires of [true, false])
    for (const credential of ['valid', 'none', 'bad', 'wrong_space'] as const)
      for (const client of [true, false])
        for (const strict of [true, false])
          if (admission(requires, credential, client, strict) === 'admitted')
            admitted.push([requires, credential, client, strict].join(' '));
  assert.deepEqual(admitted, [
    'true valid true true',
    'true valid true false',
    'true none true false',
    'false valid true true',
    'false valid true false',
    'false valid false true',
    'false valid false false',
  ]);
  assert.equal(ADMISSION.length, 9);
});

test('the admission matrix holds at the socket', async () => {
  const w = await workspace();
  const open = await makeRoute(w, 'open', upstream.url);
  const closed = await makeRoute(w, 'closed', upstream.url, { requires_clients: true });
  const client = await makeClient(w, '198.51.100.0/24');
  await assign(w, closed, client.id);
  const { text: key } = await w.key();
  await served(running, w);
  assert.ok(open.id);
  const from = (ip: string, path: string, headers: Record<string, string> = {}) =>
    ask(port, w.tenant.slug, path, { headers: { 'x-forwarded-for': ip, ...headers } });
  const inside = '198.51.100.7';
  const outside = '203.0.113.9';
  const table: [ip: string, path: string, headers: Record<string, string>, status: number, code: string | undefined][] = [
    [outside, '/open', { 'x-svc-key': key }, 200, undefined],
    [outside, '/open', { authorization: `Bearer ${key}` }, 200, undefined],
    [outside, '/open', { authorization: `bearer ${key}` }, 200, undefined],
    [outside, '/open', { 'x-api-key': key }, 200, undefined],
    [outside, '/open', {}, 401, 'authentication_required'],
    [inside, '/open', {}, 401, 'authentication_required'],
    [outside, '/open', { 'x-svc-key': 'junk' }, 401, 'invalid_api_key'],
    [inside, '/closed', { 'x-svc-key': key }, 200, undefined],
    [outside, '/closed', { 'x-svc-key': key }, 403, 'client_not_authorized'],
    [inside, '/closed', {}, 200, undefined],
    [outside, '/closed', {}, 401, 'authentication_required'],
    [inside, '/closed', { 'x-svc-key': `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}` }, 401, 'invalid_api_key'],
    [inside, '/closed', { authorization: `DPoP svc_live_${'a'.repeat(49)}` }, 401, 'invalid_api_key'],
    [inside, '/closed', { 'x-svc-agent-id': 'a', 'x-svc-agent-token': 'b' }, 401, 'invalid_api_key'],
    [outside, `/open?api_key=${key}`, {}, 401, 'authentication_required'],
  ];
  for (const [ip, path, headers, status, code] of table) {
    const answer = await from(ip, path, headers);
    assert.deepEqual([answer.status, answer.headers['x-svc-error']], [status, code], `${ip} ${path} ${Object.keys(headers)}`);
  }
  await db().tenants.update({ where: { id: w.tenant.id }, data: { settings: { proxy_require_credential: true } } });
  await until(async () => (await from(inside, '/closed')).status === 401);
});

test('an unauthenticated caller gets the same bytes for every route that exists and every one that does not', async () => {
  const w = await workspace();
  await makeRoute(w, 'open', upstream.url);
  await makeRoute(w, 'closed', upstream.url, { requires_clients: true });
  await makeRoute(w, 'paused', upstream.url, { enabled: false });
  await makeRoute(w, 'gone', upstream.url, {}, { enabled: false });
  await served(running, w);
  for (const headers of [{}, { 'x-svc-key': mintApiKey('live').token }, { 'x-svc-key': 'tk_live_x' }] as Record<string, string>[]) {
    const answers: string[] = [];
    for (const path of ['/open', '/closed', '/paused', '/gone', '/never', '/open/a/b', '/'])
      answers.push(opaque(await ask(port, w.tenant.slug, path, { headers: { 'x-forwarded-for': '192.0.2.1', ...headers } })));
    answers.push(
      opaque(
        await ask(port, w.tenant.slug, '/open', {
          headers: { 'x-forwarded-for': '192.0.2.1', 'x-svc-environment': 'staging', ...headers },
        }),
      ),
    );
    assert.equal(new Set(answers).size, 1, answers.join('\n'));
    assert.match(answers[0] ?? '', /"WWW-Authenticate","Bearer"/);
    assert.doesNotMatch(answers[0] ?? '', /ratelimit/i);
  }
});

test('keys of other workspaces, spaces, states and rights are told apart only where the caller may know', async () => {
  const w = await workspace();
  const other = await workspace();
  await makeRoute(w, 'r', upstream.url);
  const cases: [string, number, string][] = [
    [(await other.key()).text, 401, 'invalid_api_key'],
    [mintApiKey('live').token, 401, 'invalid_api_key'],
    [(await w.key('live', 'Key - Infrastructure', { active: false })).text, 401, 'invalid_api_key'],
    [(await w.key('live', 'Key - Infrastructure', { expires_at: new Date(Date.now() - 1000) })).text, 401, 'invalid_api_key'],
    [(await w.key('live', 'Key - Infrastructure', { revoke_at: new Date(Date.now() - 1000) })).text, 401, 'invalid_api_key'],
    [(await w.key('test')).text, 403, 'wrong_key_type'],
    [(await w.key('live', 'Key - Read-only')).text, 403, 'forbidden'],
    [(await w.key('live', 'Key - Invoke', { ip_allowlist: ['203.0.113.0/24'] })).text, 403, 'forbidden'],
    [(await w.key('live', 'Key - Invoke', { ip_allowlist: ['192.0.2.0/24'] })).text, 200, ''],
  ];
  await served(running, w);
  await until(
    async () =>
      (await ask(port, w.tenant.slug, '/r', { key: cases.at(-1)?.[0] ?? '', headers: { 'x-forwarded-for': '192.0.2.77' } })).status === 200,
  );
  for (const [key, status, code] of cases) {
    const answer = await ask(port, w.tenant.slug, '/r', { key, headers: { 'x-forwarded-for': '192.0.2.77' } });
    assert.deepEqual([answer.status, answer.headers['x-svc-error'] ?? ''], [status, code], code);
  }
});

test('after thirty failures in a minute an address is throttled, and its good callers are not', async (t) => {
  stillClock(t);
  const w = await workspace();
  await makeRoute(w, 'r', upstream.url);
  const { text: key } = await w.key();
  await served(running, w);
  const headers = { 'x-forwarded-for': '192.0.2.200' };
  for (let i = 0; i < 30; i++) assert.equal((await ask(port, w.tenant.slug, '/r', { headers })).status, 401);
  const throttled = await ask(port, w.tenant.slug, '/r', { headers });
  assert.deepEqual([throttled.status, throttled.headers['x-svc-error']], [429, 'auth_throttled']);
  assert.match(throttled.body, /"type":"rate_limit_exceeded"/);
  assert.ok(Number(throttled.headers['retry-after']) >= 1);
  assert.equal((await ask(port, w.tenant.slug, '/r', { key, headers })).status, 200);
  assert.equal((await ask(port, w.tenant.slug, '/r', { headers: { 'x-forwarded-for': '192.0.2.201' } })).status, 401);
});

test('routes and environments that cannot serve say why to authenticated callers', async () => {
  const w = await workspace();
  await makeRoute(w, 'paused', upstream.url, { enabled: false });
  await makeRoute(w, 'listed', upstream.url, { ip_allowlist: ['203.0.113.0/24'] });
  await makeRoute(w, 'methods', upstream.url, { allowed_methods: ['GET', 'POST'], http_method_restrictions_enabled: true });
  await makeRoute(w, 'signed', upstream.url, { require_signature: true });
  const { text: key } = await w.key();
  await served(running, w);
  const code = async (path: string, more: { method?: string; headers?: Record<string, string> } = {}) => {
    const answer = await ask(port, w.tenant.slug, path, { key, ...more });
    return [answer.status, answer.headers['x-svc-error'], answer.headers.allow];
  };
  assert.deepEqual(await code('/never'), [404, 'route_not_found', undefined]);
  assert.deepEqual(await code('/paused'), [404, 'environment_disabled', undefined]);
  assert.deepEqual(await code('/listed', { headers: { 'x-svc-environment': 'staging' } }), [404, 'environment_not_configured', undefined]);
  assert.deepEqual(await code('/listed'), [403, 'ip_not_allowed', undefined]);
  assert.deepEqual(await code('/methods', { method: 'DELETE' }), [405, 'method_not_allowed', 'GET, HEAD, POST']);
  assert.equal((await code('/methods', { method: 'HEAD' }))[0], 200);
  assert.deepEqual(await code('/signed'), [401, 'signature_required', undefined]);
  await db().tenants.update({ where: { id: w.tenant.id }, data: { subscription_status: 'past_due' } });
  await until(async () => (await code('/methods'))[1] === 'subscription_inactive');
  assert.deepEqual(await code('/never'), [404, 'route_not_found', undefined]);
});

test('a disabled or expired client credential admits nobody', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { requires_clients: true });
  const expired = await makeClient(w, '192.0.2.10', { expires_at: new Date(Date.now() - 1000) });
  const disabled = await makeClient(w, '192.0.2.11', { enabled: false });
  const good = await makeClient(w, '192.0.2.12');
  for (const client of [expired, disabled, good]) await assign(w, route, client.id);
  await until(async () => (await ask(port, w.tenant.slug, '/r', { headers: { 'x-forwarded-for': '192.0.2.12' } })).status === 200);
  for (const ip of ['192.0.2.10', '192.0.2.11'])
    assert.equal((await ask(port, w.tenant.slug, '/r', { headers: { 'x-forwarded-for': ip } })).status, 401, ip);
  await db().clients.update({ where: { id: good.id }, data: { enabled: false } });
  await until(async () => (await ask(port, w.tenant.slug, '/r', { headers: { 'x-forwarded-for': '192.0.2.12' } })).status === 401);
});
