import assert from 'node:assert/strict';
import test from 'node:test';
import { startDeliveries } from '#server/domain/deliveries/service.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, makeSecret, served, startGateway, startUpstream, until } from '../../gateway.fixture.ts';
import { typesOf } from './call-events.ts';

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

test('every call raises exactly one class, completed, and received and error where they apply', () => {
  const of = (status_code: number | null, error: string | null = null, attempts = 1) =>
    typesOf({ status_code, error, attempts }).map((type) => type.slice('request.'.length));
  assert.deepEqual(of(200), ['received', 'success', 'completed']);
  assert.deepEqual(of(302), ['received', 'redirect', 'error', 'completed']);
  assert.deepEqual(of(404), ['received', 'client_error', 'error', 'completed']);
  assert.deepEqual(of(502, 'upstream_unreachable'), ['received', 'server_error', 'error', 'completed']);
  assert.deepEqual(of(504, 'upstream_timeout'), ['received', 'timeout', 'error', 'completed']);
  assert.deepEqual(of(429, 'route_rate_limit_exceeded', 0), ['client_error', 'error', 'completed'], 'a refusal of ours was not admitted');
  assert.deepEqual(of(null), ['received', 'error', 'completed'], 'a caller that went away');
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
