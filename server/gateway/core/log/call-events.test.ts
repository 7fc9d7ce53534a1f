import assert from 'node:assert/strict';
import test from 'node:test';
import { type EventFilter, passes, startDeliveries } from '#server/domain/deliveries/service.ts';
import { call } from '#server/domain/request-logs/call.fixture.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { insertRows } from './insert.ts';
import type { LogRow } from './row.ts';

await ownDatabase();
const running = await startGateway();
const { port } = running;
const upstream = await startUpstream((req, res) => {
  const status = Number(new URL(req.url ?? '/', 'http://upstream').searchParams.get('status') ?? 200);
  res.writeHead(status, { 'content-type': 'application/json', 'x-seen': String(req.headers['x-injected'] ?? '') }).end('{"ok":true}');
});

const EVERY = ['received', 'success', 'redirect', 'client_error', 'server_error', 'timeout', 'error', 'completed'].map(
  (one) => `request.${one}`,
);
type Seen = { type: string; data: Record<string, unknown> };

/** Everything that arrives at a destination while some work is done. */
async function arriving(channel: string, work: () => Promise<unknown>, count: number): Promise<Seen[]> {
  const seen: Seen[] = [];
  const engine = startDeliveries(
    {
      [channel]: {
        deliver: async ({ event: { type, data } }) => {
          seen.push({ type, data });
          return { result: 'delivered' };
        },
      },
    },
    { pauseMs: 50 },
  );
  try {
    await work();
    await running.flush();
    await until(() => seen.length >= count);
  } finally {
    await engine.stop();
  }
  return seen;
}

const subscribe = (w: Awaited<ReturnType<typeof workspace>>, event_types: string[], filter?: object, sandbox = false) => {
  const id = crypto.randomUUID();
  return db()
    .event_subscriptions.create({
      data: { id, tenant_id: w.tenant.id, sandbox, channel: id, destination_id: id, event_types, ...(filter ? { filter } : {}) },
    })
    .then(() => id);
};

/** The events that rows of these calls raise, by request. */
async function raisedBy(rows: readonly LogRow[]): Promise<Map<string, string[]>> {
  await insertRows(sql(), rows);
  const ids = rows.map(({ request_id }) => request_id);
  const events = await db().events.findMany({ where: { source_id: { in: ids } }, orderBy: { type: 'asc' } });
  return new Map(
    ids.map((id) => [id, events.filter(({ source_id }) => source_id === id).map(({ type }) => type.slice('request.'.length))]),
  );
}

test('every call raises exactly one class, completed, and received and error where they apply', async () => {
  const w = await workspace();
  await subscribe(w, EVERY);
  const cases: [string, Partial<LogRow>, string[]][] = [
    ['answered', { status_code: 200 }, ['received', 'success', 'completed']],
    ['redirected', { status_code: 302 }, ['received', 'redirect', 'error', 'completed']],
    ['refused upstream', { status_code: 404 }, ['received', 'client_error', 'error', 'completed']],
    ['unreachable', { status_code: 502, error: 'upstream_unreachable' }, ['received', 'server_error', 'error', 'completed']],
    ['too slow', { status_code: 504, error: 'upstream_timeout' }, ['received', 'timeout', 'error', 'completed']],
    ['not admitted', { status_code: 429, error: 'route_rate_limit_exceeded', attempts: 0 }, ['client_error', 'error', 'completed']],
    ['left by its caller', { status_code: null }, ['received', 'error', 'completed']],
    ['a test', { proxy_mode: 'test' }, []],
    ['without a route', { route_id: null, status_code: 401 }, []],
  ];
  const rows = cases.map(([, fields]) => call(w.live, { route_id: newId(), attempts: 1, ...fields }));
  const raised = await raisedBy(rows);
  for (const [nth, [name, , types]] of cases.entries()) assert.deepEqual(raised.get(rows[nth]!.request_id), types.toSorted(), name);
  // A batch that is written again after a crash, with one more.
  const another = call(w.live, { route_id: newId(), attempts: 0, status_code: 200 });
  const again = await raisedBy([...rows, another]);
  assert.deepEqual(again, new Map([...raised, [another.request_id, ['completed', 'success']]]));
});

test('the database holds back the events of calls that no filter lets through, as deliveries do', async () => {
  const [route, other] = [newId(), newId()];
  const filters: [EventFilter, 'holds some back' | 'lets all through'][] = [
    [{}, 'lets all through'],
    [{ routes: [] }, 'lets all through'],
    [{ routes: [route, other] }, 'lets all through'],
    [{ audit: ['route.*'] }, 'lets all through'],
    [{ routes: [route] }, 'holds some back'],
    [{ methods: ['GET', 'PUT'] }, 'holds some back'],
    [{ environments: ['staging'] }, 'holds some back'],
    [{ status_codes: ['5xx'] }, 'holds some back'],
    [{ status_codes: ['404', '2xx'] }, 'holds some back'],
    [{ status_codes: ['429'], methods: ['POST'] }, 'holds some back'],
    [{ routes: [other], status_codes: ['2xx', '3xx'], methods: ['POST'], environments: ['production'] }, 'holds some back'],
  ];
  for (const [filter, what] of filters) {
    const w = await workspace();
    await subscribe(w, EVERY, filter);
    // The other space of the workspace wants nothing.
    await subscribe(w, EVERY, { routes: [newId()] }, true);
    const statuses = [200, 302, 404, 429, 503, null];
    const rows = [route, other].flatMap((route_id) =>
      ['GET', 'POST', null].flatMap((method) =>
        ['production', 'staging', null].flatMap((environment) =>
          statuses.map((status_code) => call(w.live, { route_id, method, environment, status_code, attempts: 1 } as Partial<LogRow>)),
        ),
      ),
    );
    const raised = await raisedBy([...rows, call(w.test, { route_id: route, status_code: 200, attempts: 1 })]);
    let held = 0;
    for (const row of rows) {
      const facts = { route_id: row.route_id, status: row.status_code, method: row.method, environment: row.environment };
      const lets = (type: string) => passes(type, filter, type === 'request.received' ? { ...facts, status: null } : facts);
      const types = raised.get(row.request_id) ?? [];
      assert.equal(types.includes('completed'), lets('request.completed'), JSON.stringify({ filter, facts }));
      assert.equal(types.includes('received'), lets('request.received'), JSON.stringify({ filter, facts }));
      held += types.includes('completed') ? 0 : 1;
    }
    assert.equal(await db().events.count({ where: { tenant_id: w.tenant.id, sandbox: true } }), 0);
    assert.equal(held > 0 ? 'holds some back' : 'lets all through', what, JSON.stringify(filter));
  }
});

test('a call is told with its log row, never with an injected secret; refused, foreign and unwanted calls are not', async () => {
  const w = await workspace();
  await makeSecret(w, 'CANARY', { production: 'canary-secret-31415926' });
  await makeRoute(w, 'orders', upstream.url, { inject_headers_json: { 'X-Injected': '{{secret:CANARY}}' } });
  const { text: key } = await w.key();
  const channel = await subscribe(w, EVERY);
  const elsewhere = await subscribe(await workspace(), EVERY);
  await served(running, w);
  const seen = await arriving(
    channel,
    async () => {
      assert.equal((await ask(port, w.tenant.slug, '/orders/v1?status=404&token=hidden-by-name', { key })).status, 404);
      assert.equal((await ask(port, w.tenant.slug, '/orders/v1', { key: 'tk_live_nothing' })).status, 401);
      assert.equal((await ask(port, w.tenant.slug, '/nowhere', { key })).status, 404);
    },
    4,
  );
  assert.deepEqual(seen.map(({ type }) => type.slice(8)).sort(), ['client_error', 'completed', 'error', 'received']);
  const { data } = seen.find(({ type }) => type === 'request.client_error')!;
  const { request_id, route_id, ...rest } = data as { request_id: string; route_id: string; response: { latency_ms: number } };
  const row = await db().request_logs.findFirstOrThrow({ where: { request_id } });
  assert.equal(row.route_id, route_id);
  assert.deepEqual(
    { ...rest, response: { ...rest.response, latency_ms: 1 } },
    {
      route_name: row.route_name,
      environment: row.environment,
      request: { method: 'GET', path: '/v1', ip: row.src_ip, query: 'status=404&token=[redacted]' },
      response: { status: 404, latency_ms: 1, origin: 'upstream', error: null },
    },
  );
  const received = seen.find(({ type }) => type === 'request.received')!.data as { response: object };
  assert.deepEqual(received.response, { status: null, latency_ms: null });
  assert.doesNotMatch(JSON.stringify(seen), /canary-secret|hidden-by-name/);
  assert.equal(await db().deliveries.count({ where: { destination_id: elsewhere } }), 0);
  assert.equal(
    await db().events.count({ where: { tenant_id: w.tenant.id, facts: { path: ['call'], not: 'null' } } }),
    0,
    'what was sealed is nowhere in clear',
  );
});

test('bodies and headers are those the log keeps, masked; filters hold back what does not pass', async () => {
  const w = await workspace();
  await makeRoute(w, 'kept', upstream.url, { log_payloads: 'all', overridden_fields: [] });
  const { text: key } = await w.key();
  const channel = await subscribe(w, ['request.completed'], { status_codes: ['2xx'], methods: ['POST'] });
  await served(running, w);
  const seen = await arriving(
    channel,
    async () => {
      await ask(port, w.tenant.slug, '/kept?status=500', { key, method: 'POST', body: '{}' });
      await ask(port, w.tenant.slug, '/kept', { key });
      const headers = { 'content-type': 'application/json', cookie: 'session=of-the-caller', 'x-plain': 'shown' };
      await ask(port, w.tenant.slug, '/kept', { key, method: 'POST', body: '{"order":812,"password":"hunter22"}', headers });
    },
    1,
  );
  assert.equal(seen.length, 1);
  const { request, response } = seen[0]!.data as {
    request: { headers: Record<string, string>; body: unknown };
    response: { body: unknown };
  };
  assert.equal((request.body as { order: number }).order, 812);
  assert.deepEqual(response.body, { ok: true });
  assert.equal(request.headers['x-plain'], 'shown');
  assert.doesNotMatch(JSON.stringify(seen), /of-the-caller|hunter22/);
  assert.ok(!JSON.stringify(seen).includes(key));
});
