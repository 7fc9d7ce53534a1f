import assert from 'node:assert/strict';
import test from 'node:test';
import { mintApiKey, mintToken } from '#server/crypto/tokens.ts';
import { writeVersions } from '#server/domain/api-keys/versions/tally.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { type SpanFacts, setSpanSink } from '#server/platform/telemetry/spans.ts';
import { testDatabase } from '#server/testing/database.ts';
import { stillClock } from '#server/testing/still-clock.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { type Answer, type Ask, ask, startGateway } from '../gateway.fixture.ts';
import { startWeb } from './web.fixture.ts';

// The same requests twice: once so that the gateway answers by itself when it can, once with a header that makes it ask web.

await testDatabase({ SVC_GATEWAYS: '1' });
const web = await startWeb();
const gateways = [await startGateway(), await startGateway()] as const;
const [main, second] = gateways;
const port = (await main.gateway.listen('api', 0, '127.0.0.1')).port;
const sandboxPort = (await main.gateway.listen('sandbox', 0, '127.0.0.1')).port;
const secondPort = (await second.gateway.listen('api', 0, '127.0.0.1')).port;

const ODD = { 'if-none-match': '"x"' };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** What a caller sees, but for what differs between any two answers. */
function seenBy({ status, headers, raw, body }: Answer) {
  const id = headers['x-request-id'] ?? 'none';
  const order = raw.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  const { date, 'x-request-id': _, ...same } = headers;
  assert.ok(date);
  return { status, headers: same, order, body: body.replaceAll(id, 'ID') };
}

/** Asks both ways and compares. @returns the answer, and how often web was asked for the plain request */
async function bothWays(path: string, { at = port, ...how }: Ask & { at?: number } = {}): Promise<{ answer: Answer; asked: number }> {
  const call = (more: Record<string, string>) =>
    ask(at, 'api', `/v1${path}`, { ...how, headers: { host: `localhost:${at}`, ...how.headers, ...more } });
  const before = web.seen.length;
  const answer = await call({});
  const asked = web.seen.length - before;
  const odd = await call(ODD);
  assert.equal(web.seen.length - before, asked + 1, 'an unusual request is always web’s');
  assert.deepEqual(seenBy(answer), seenBy(odd), path);
  return { answer, asked };
}

async function environmentOf(w: Workspace, sandbox = false): Promise<string> {
  return (await db().environments.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox } })).id;
}

const w = await workspace();
const id = await environmentOf(w);
const { text: key } = await w.key();

test('what the gateway answers by itself tells its own span', async () => {
  const spans: SpanFacts[] = [];
  setSpanSink((facts) => spans.push(facts));
  const { status } = await ask(port, 'api', `/v1/environments/${id}`, { headers: { host: `localhost:${port}`, ...bearer(key) } });
  setSpanSink(null);
  assert.equal(status, 200);
  const [span] = spans;
  assert.equal(span?.name, 'environments.get');
  assert.equal(span.attributes['sallyport.plane'], 'hot_v1');
  assert.equal(span.attributes['http.route'], '/v1/environments/{id}');
  assert.ok(!JSON.stringify(spans).includes(key));
});

test('a plain success is answered without web, and to the byte as web answers it', async () => {
  const staging = await db().environments.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      sandbox: false,
      name: 'long',
      display_name: 'Größe <>',
      description: '"\n'.repeat(249),
      color: '#6366f1',
      is_default: false,
    },
  });
  const path = `/environments/${id}`;
  const long = `/environments/${staging.id}`;
  const table: [string, Ask & { at?: number }][] = [
    [path, { headers: bearer(key) }],
    [path, { headers: { authorization: `bearer  ${key}` } }],
    [path, { headers: { 'x-api-key': key } }],
    [path, { method: 'HEAD', headers: bearer(key) }],
    [path, { headers: { ...bearer(key), 'service-version': '2026-08-05' } }],
    [path.toUpperCase().replace('/ENVIRONMENTS', '/environments'), { headers: bearer(key) }],
    [`${path}?color=1&Key%20=x`, { headers: bearer(key) }],
    [`${path}?id=${staging.id}`, { headers: bearer(key) }],
    [long, { headers: bearer(key) }],
    [long, { headers: { ...bearer(key), 'accept-encoding': 'identity' } }],
    [long, { method: 'HEAD', headers: { ...bearer(key), 'accept-encoding': 'gzip' } }],
  ];
  for (const [target, how] of table) {
    const { answer, asked } = await bothWays(target, how);
    assert.deepEqual([answer.status, asked], [200, 0], `${how.method ?? 'GET'} ${target} ${JSON.stringify(how.headers)}`);
  }
  const { answer } = await bothWays(path, { headers: bearer(key) });
  const { data, meta } = JSON.parse(answer.body) as { data: Record<string, unknown>; meta: Record<string, unknown> };
  assert.deepEqual(Object.keys(data), ['id', 'name', 'display_name', 'description', 'color', 'is_default', 'created_at', 'updated_at']);
  assert.deepEqual(meta, { request_id: answer.headers['x-request-id'] });
  assert.match(String(data.created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('a long answer is compressed as web compresses it', async () => {
  const { text } = await w.key();
  const long = await db().environments.findFirstOrThrow({ where: { tenant_id: w.tenant.id, name: 'long' } });
  const get = async (headers: Record<string, string>) => {
    const before = web.seen.length;
    const answer = await fetch(`http://localhost:${port}/v1/environments/${long.id}`, { headers: { ...bearer(text), ...headers } });
    const { data } = (await answer.json()) as { data: unknown };
    return { data, encoding: answer.headers.get('content-encoding'), vary: answer.headers.get('vary'), asked: web.seen.length - before };
  };
  for (const coding of ['gzip', 'br'] as const) {
    const hot = await get({ 'accept-encoding': coding });
    assert.deepEqual([hot.asked, hot.encoding, hot.vary], [0, coding, 'Accept-Encoding']);
    assert.deepEqual(await get({ 'accept-encoding': coding, ...ODD }), { ...hot, asked: 1 });
  }
});

test('whatever is no plain success is web’s answer, and its only one', async (t) => {
  stillClock(t); // Retry-After counts seconds
  const [other, suspended, oauthOnly, governed] = [
    await workspace(),
    await workspace({ status: 'past_due' }),
    await workspace(),
    await workspace(),
  ];
  const test = await w.key('test');
  const past = new Date(Date.now() - 1_000);
  const revoked = await w.key('live', 'Key - Editor', { active: false, revoked_at: past });
  const expired = await w.key('live', 'Key - Editor', { expires_at: past });
  const rotated = await w.key('live', 'Key - Editor', { revoke_at: past });
  const elsewhere = await w.key('live', 'Key - Editor', { ip_allowlist: ['203.0.113.0/24'] });
  const invoker = await w.key('live', 'Key - Invoke', { scoped: true, scopes: ['proxy:invoke'] });
  const limited = await w.key('live', 'Key - Editor', { rate_limit_requests: 1, rate_limit_window_sec: 86_400 });
  await ask(port, 'api', `/v1/environments/${id}`, { headers: { host: 'localhost', ...bearer(limited.text) } });
  await db().tenants.update({ where: { id: oauthOnly.tenant.id }, data: { settings: { legacy_key_auth: 'disabled' } } });
  await db().tenant_policies.create({
    data: { id: newId(), tenant_id: governed.tenant.id, name: 'no environments', actions: ['environment:*'], subjects: { all: true } },
  });
  const foreign = await environmentOf(other);
  const governedKey = (await governed.key()).text;
  const flipped = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  const mine = bearer(key);
  const table: [string, string, Ask & { at?: number }, number][] = [
    ['unknown id', `/environments/${newId()}`, { headers: mine }, 404],
    ['unknown id, HEAD', `/environments/${newId()}`, { method: 'HEAD', headers: mine }, 404],
    ['no id at all', '/environments/nothing', { headers: mine }, 404],
    ['foreign id', `/environments/${foreign}`, { headers: mine }, 404],
    ["the other space's id", `/environments/${await environmentOf(w, true)}`, { headers: mine }, 404],
    ['a Live id with a Test key', `/environments/${id}`, { headers: bearer(test.text), at: sandboxPort }, 404],
    ['a Test key on the Live API', `/environments/${id}`, { headers: bearer(test.text) }, 403],
    ['a Live key on the Test API', `/environments/${id}`, { headers: mine, at: sandboxPort }, 403],
    ['revoked', `/environments/${id}`, { headers: bearer(revoked.text) }, 401],
    ['expired', `/environments/${id}`, { headers: bearer(expired.text) }, 401],
    ['rotated away', `/environments/${id}`, { headers: bearer(rotated.text) }, 401],
    ['unknown key', `/environments/${id}`, { headers: bearer(mintApiKey('live').token) }, 401],
    ['wrong checksum', `/environments/${id}`, { headers: bearer(flipped) }, 401],
    ['no credential', `/environments/${id}`, {}, 401],
    ['another scheme', `/environments/${id}`, { headers: { authorization: `DPoP ${key}` } }, 401],
    ['two credentials', `/environments/${id}`, { headers: { ...mine, 'x-api-key': mintApiKey('live').token } }, 400],
    ['the same credential twice', `/environments/${id}`, { headers: { ...mine, 'x-api-key': key } }, 200],
    ['foreign address', `/environments/${id}`, { headers: bearer(elsewhere.text) }, 403],
    ['without the capability', `/environments/${id}`, { headers: bearer(invoker.text) }, 403],
    ['denied by a policy', `/environments/${await environmentOf(governed)}`, { headers: bearer(governedKey) }, 403],
    ['inactive subscription', `/environments/${await environmentOf(suspended)}`, { headers: bearer((await suspended.key()).text) }, 403],
    ['OAuth only', `/environments/${await environmentOf(oauthOnly)}`, { headers: bearer((await oauthOnly.key()).text) }, 403],
    ['beyond its limit', `/environments/${id}`, { headers: bearer(limited.text) }, 429],
    ['unknown version', `/environments/${id}`, { headers: { ...mine, 'service-version': '2026-02-30' } }, 400],
    ['empty version', `/environments/${id}`, { headers: { ...mine, 'service-version': '' } }, 400],
    ['a field given twice', `/environments/${id}?a=1&a=2`, { headers: mine }, 400],
    ['another method', `/environments/${id}`, { method: 'PUT', headers: mine }, 405],
    ['no such path', `/environments/${id}/x`, { headers: mine }, 404],
    ['a list', '/environments', { headers: mine }, 200],
    ['an encoded path', `/environments/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`, { headers: mine }, 200],
    ['a body', `/environments/${id}`, { headers: { ...mine, 'content-type': 'application/json' }, body: '{}' }, 200],
  ];
  for (const [what, path, how, status] of table) {
    const { answer, asked } = await bothWays(path, how);
    assert.deepEqual([answer.status, asked], [status, 1], what);
  }
  const listed = await w.key('live', 'Key - Editor', { ip_allowlist: ['127.0.0.0/8'] });
  assert.equal((await bothWays(`/environments/${id}`, { headers: bearer(listed.text) })).asked, 0, 'its own address');
});

test('a header that the caller nominates for the connection counts for neither', async () => {
  const { answer } = await bothWays(`/environments/${id}`, { headers: { 'x-api-key': key, connection: 'close, x-api-key' } });
  assert.equal(answer.status, 401);
});

test('each call is counted once, whoever answered it', async () => {
  const own = await w.key();
  await writeVersions();
  const call = (path: string, headers = {}) =>
    ask(port, 'api', `/v1${path}`, { headers: { host: 'localhost', ...bearer(own.text), ...headers } });
  for (let i = 0; i < 5; i++) await call(`/environments/${id}`);
  for (let i = 0; i < 3; i++) await call(`/environments/${newId()}`);
  for (let i = 0; i < 2; i++) await call(`/environments/${id}`, { 'service-version': '2026-08-05' });
  await writeVersions();
  const days = await db().api_version_days.findMany({ where: { api_key_id: own.row.id }, orderBy: { named: 'asc' } });
  assert.deepEqual(
    days.map(({ named, calls }) => [named, Number(calls)]),
    [
      [false, 8],
      [true, 2],
    ],
  );
  await until(async () => (await db().credential_usage.findFirst({ where: { id: own.row.id } })) !== null);
  await until(
    async () => (await db().api_key_uses.findFirst({ where: { api_key_id: own.row.id, capability: 'environment:read' } })) !== null,
  );
});

test('a revoked key is refused on the next call here, and on every other gateway at once by announcement', async () => {
  const victim = await w.key();
  const call = (at: number) => ask(at, 'api', `/v1/environments/${id}`, { headers: { host: 'localhost', ...bearer(victim.text) } });
  for (const at of [port, secondPort]) assert.equal((await call(at)).status, 200);
  const revoked = await ask(port, 'api', `/v1/api-keys/${victim.row.id}`, {
    method: 'DELETE',
    headers: { host: 'localhost', ...bearer(key) },
  });
  assert.equal(revoked.status, 200);
  assert.equal((await call(port)).status, 401);
  await until(async () => (await call(secondPort)).status === 401);
  assert.equal((await call(secondPort)).status, 401);
});

test('an access token is served here as a key is, and whatever it rests on is obeyed at once everywhere', async () => {
  const { text, row } = await w.token({ scopes: ['environments:read'] });
  const plain = await bothWays(`/environments/${id}`, { headers: bearer(text) });
  assert.deepEqual([plain.answer.status, plain.asked], [200, 0]);
  assert.equal((await bothWays(`/environments/${id}`, { headers: { 'x-api-key': text } })).asked, 0);
  const cases: [string, string, number][] = [
    ['without the scope', (await w.token({ scopes: ['routes:read'] })).text, 403],
    ['of the other space', (await w.token({ space: 'test' })).text, 403],
    ['bound to a key', (await w.token({ extra: { cnf_jkt: 'x' } })).text, 401],
    ['for an MCP server', (await w.token({ extra: { aud: 'https://mcp.example.com' } })).text, 401],
    ['unknown', mintToken('oauth_token_live').token, 401],
  ];
  for (const [what, token, status] of cases) {
    const { answer, asked } = await bothWays(`/environments/${id}`, { headers: bearer(token) });
    assert.deepEqual([answer.status, asked], [status, 1], what);
  }
  const call = (at: number) => ask(at, 'api', `/v1/environments/${id}`, { headers: { host: 'localhost', ...bearer(text) } });
  for (const at of [port, secondPort]) assert.equal((await call(at)).status, 200);
  await db().oauth_access.update({ where: { id: row.id }, data: { revoked_at: new Date() } });
  for (const at of [port, secondPort]) await until(async () => (await call(at)).status === 401);
});

test('a suspended workspace and a policy act on the calls that follow', async () => {
  const mine = await workspace();
  const { text } = await mine.key();
  const target = `/v1/environments/${await environmentOf(mine)}`;
  const status = async () => (await ask(port, 'api', target, { headers: { host: 'localhost', ...bearer(text) } })).status;
  assert.equal(await status(), 200);
  await db().tenants.update({ where: { id: mine.tenant.id }, data: { subscription_status: 'past_due' } });
  await until(async () => (await status()) === 403);
  await db().tenants.update({ where: { id: mine.tenant.id }, data: { subscription_status: 'active' } });
  await until(async () => (await status()) === 200);
  await db().tenant_policies.create({
    data: { id: newId(), tenant_id: mine.tenant.id, name: 'closed', actions: ['environment:read'], subjects: { all: true } },
  });
  await until(async () => (await status()) === 403);
});

test('many callers at once each see their own environment', async () => {
  const several = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const one = await workspace();
      return { id: await environmentOf(one), key: (await one.key()).text };
    }),
  );
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const own = several[i % 4] as (typeof several)[number];
      // Every fifth asks for the next workspace's.
      const wanted = i % 5 === 0 ? (several[(i + 1) % 4] as typeof own) : own;
      const answer = await ask(port, 'api', `/v1/environments/${wanted.id}`, { headers: { host: 'localhost', ...bearer(own.key) } });
      return { answer, own, wanted };
    }),
  );
  for (const { answer, own, wanted } of answers) {
    if (own === wanted) assert.deepEqual([answer.status, (JSON.parse(answer.body) as { data: { id: string } }).data.id], [200, own.id]);
    else assert.equal(answer.status, 404);
  }
});

test('with web stopped, and only then refused, a success is answered all the same', async () => {
  await web.stop();
  const call = (path: string) => ask(port, 'api', path, { headers: { host: 'localhost', ...bearer(key) } });
  const answer = await call(`/v1/environments/${id}`);
  assert.deepEqual([answer.status, answer.headers['service-version']], [200, '2026-08-05']);
  assert.equal((await call(`/v1/environments/${newId()}`)).status, 503);
  assert.equal((await call('/v1/environments')).status, 503);
});
