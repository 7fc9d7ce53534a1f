import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import test from 'node:test';
import { opensCircuit, routingPolicy } from '#server/ai/routing-policy.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, completion, makeAgent, makeToken, openAi, PROMPT } from './ai.fixture.ts';

// Circuit breakers of routes (interface rule 50 §14.1), over sockets.

await testDatabase();
const running = await startGateway();

/** A provider that fails until it is told to be well. */
async function fragile() {
  const health = { status: 503 };
  const upstream = await startUpstream((_, res) => {
    const text = JSON.stringify(health.status === 200 ? completion() : { error: { message: 'down' } });
    res.writeHead(health.status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
  });
  return { upstream, health };
}

async function setUp(circuit: Record<string, unknown>, withSpare: boolean) {
  const w = await workspace();
  const { upstream, health } = await fragile();
  const first = await makeAgent(w, upstream, { routing_policy: { circuit } });
  const spare = withSpare ? await makeAgent(w, await openAi()) : null;
  if (spare) await db().ai_agents.update({ where: { id: first.agent.id }, data: { fallback_route_ids: [spare.route.id] } });
  const { text } = await makeToken(w, first);
  await served(running, w);
  const ask = () => askAgent(running, w, first.agent, text, PROMPT);
  const rows = () => db().ai_circuits.findMany({ where: { agent_id: first.agent.id } });
  const circuits = () =>
    made(w.live, 'ai_gateways.agents.circuits.list', { id: first.agent.id }) as unknown as Promise<
      { state: string; cause: string | null }[]
    >;
  return { w, upstream, health, ask, rows, circuits, ...first, spare };
}

test('a route that failed too often is left out, and used again when a person closes its circuit', async () => {
  const { w, upstream, ask, rows, circuits, agent, route, spare } = await setUp({ failure_threshold: 2 }, true);
  for (let n = 0; n < 2; n++) assert.equal((await ask()).headers['x-svc-ai-route'], spare?.route.id);
  assert.equal(upstream.seen.length, 2);
  await until(async () => (await rows()).length === 1);
  const [row] = await rows();
  assert.deepEqual(
    [row?.route_id, row?.failures, row?.cause, row && row.open_until.getTime() - row.opened_at.getTime()],
    [route.id, 2, '503', 60_000],
  );
  assert.deepEqual(
    (await circuits()).map(({ state }) => state),
    ['open', 'closed'],
  );
  const skipped = await ask();
  assert.deepEqual([skipped.status, skipped.headers['x-svc-ai-attempts'], upstream.seen.length], [200, '1', 2]);

  // A person closes it: calls use the route again at once, and open it again.
  await made(w.live, 'ai_gateways.agents.circuits.close', { id: agent.id, route_id: route.id });
  await served(running, w);
  await until(async () => (await ask()).status === 200 && upstream.seen.length > 2);
  await until(async () => (await ask()).status === 200 && (await rows()).length === 1);
});

test('without another route the call is refused at once, and told when to come back', async () => {
  const { upstream, ask } = await setUp({ failure_threshold: 1, cooldown_ms: 1 }, false);
  const began = Date.now();
  assert.equal((await ask()).status, 503);
  const refused = await ask();
  assert.deepEqual([refused.status, refused.json().code, upstream.seen.length], [502, 'upstream_error', 1], refused.body);
  const wait = Number(refused.headers['retry-after']);
  assert.ok(wait <= 30 && wait * 1_000 >= 30_000 - (Date.now() - began), String(wait));
});

test('a half open circuit lets one call try the route: its success closes it, its failure opens it anew', async () => {
  const { w, upstream, health, ask, rows, agent, route } = await setUp({ failure_threshold: 1 }, false);
  const place = { tenant_id: w.tenant.id, sandbox: false, agent_id: agent.id, route_id: route.id };
  const opened = new Date(Date.now() - 60_000);
  await db().ai_circuits.create({
    data: { ...place, failures: 1, requests: 1, cause: '503', opened_at: opened, open_until: new Date(Date.now() - 1) },
  });
  await served(running, w);
  assert.equal((await ask()).status, 503);
  await until(async () => ((await rows())[0]?.open_until.getTime() ?? 0) > Date.now());
  assert.deepEqual([(await ask()).status, upstream.seen.length], [502, 1]);

  const other = await setUp({ failure_threshold: 1 }, false);
  health.status = 200;
  other.health.status = 200;
  await db().ai_circuits.create({
    data: {
      ...place,
      tenant_id: other.w.tenant.id,
      agent_id: other.agent.id,
      route_id: other.route.id,
      failures: 1,
      requests: 1,
      cause: '503',
      opened_at: opened,
      open_until: new Date(Date.now() - 1),
    },
  });
  await served(running, other.w);
  const answers = await Promise.all([1, 2, 3].map(other.ask));
  assert.equal(answers.filter(({ status }) => status === 200).length >= 1, true);
  await until(async () => (await other.rows()).length === 0);
});

/** How a provider can fail one call, by how its circuit names it. A URL: nothing answers there. */
const FAILURES: Readonly<
  Record<string, { cause: string; at?: string; answer?: (req: IncomingMessage, res: ServerResponse) => void; withinMs?: number }>
> = {
  'a refused connection': { cause: 'upstream_unreachable', at: 'http://127.0.0.1:9' },
  'a name that does not resolve': { cause: 'upstream_unreachable', at: 'http://nowhere.invalid' },
  'no TLS': { cause: 'upstream_tls_error', answer: (_, res) => res.end('plain') },
  'a reset': { cause: 'upstream_unreachable', answer: (req) => req.socket.destroy() },
  // Only here: the others would be late themselves on a busy machine.
  silence: { cause: 'upstream_timeout', answer: () => undefined, withinMs: 1_000 },
  'something that is not HTTP': { cause: 'upstream_protocol_error', answer: (req) => req.socket.end('nonsense\r\n\r\n') },
  'an answer that breaks off': {
    cause: 'upstream_unreachable',
    answer: (_, res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
      res.write('{"id":', () => res.destroy());
    },
  },
  'HTML with 200': {
    cause: 'upstream_protocol_error',
    answer: (_, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>oops</html>'),
  },
  'half of an answer': {
    cause: 'upstream_protocol_error',
    answer: (_, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"c'),
  },
  'no object': {
    cause: 'upstream_protocol_error',
    answer: (_, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('null'),
  },
  'a redirection': { cause: 'upstream_protocol_error', answer: (_, res) => res.writeHead(302, { location: '/x' }).end() },
  'a compressed answer': {
    cause: 'upstream_protocol_error',
    answer: (_, res) => res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('x'),
  },
  'a status': { cause: '503', answer: (_, res) => res.writeHead(503, { 'content-type': 'application/json' }).end('{}') },
};

for (const [name, { cause, at, answer, withinMs }] of Object.entries(FAILURES))
  test(`${name} opens a closed circuit, and opens a half-open one anew`, async () => {
    const { url } = at === undefined ? await startUpstream(answer) : { url: at };
    const to = { url: name === 'no TLS' ? url.replace('http:', 'https:') : url };
    for (const half of [false, true]) {
      const w = await workspace();
      const routing_policy = { circuit: { failure_threshold: 1 }, ...(withinMs !== undefined && { attempt_timeout_ms: withinMs }) };
      const made = await makeAgent(w, to, { routing_policy });
      const { text } = await makeToken(w, made);
      const place = { tenant_id: w.tenant.id, sandbox: false, agent_id: made.agent.id, route_id: made.route.id };
      if (half) await halfOpen(place);
      await served(running, w);
      assert.notEqual((await askAgent(running, w, made.agent, text, PROMPT)).status, 200);
      await until(async () => {
        const [row] = await db().ai_circuits.findMany({ where: place });
        return row !== undefined && row.open_until.getTime() > Date.now() && row.cause === cause;
      }, `${name}, half open: ${half}`);
      const refused = await askAgent(running, w, made.agent, text, PROMPT);
      assert.deepEqual(
        [refused.status, refused.json().code, 'retry-after' in refused.headers],
        [502, 'upstream_error', true],
        refused.body,
      );
    }
  });

const halfOpen = (place: { tenant_id: string; sandbox: boolean; agent_id: string; route_id: string }) =>
  db().ai_circuits.create({
    data: {
      ...place,
      failures: 1,
      requests: 1,
      cause: '503',
      opened_at: new Date(Date.now() - 60_000),
      open_until: new Date(Date.now() - 1),
    },
  });

test('a refusal of our own neither opens a circuit nor closes one, and lets the next call try at once', async () => {
  const w = await workspace();
  const { upstream } = await fragile();
  const made = await makeAgent(w, upstream, { routing_policy: { circuit: { failure_threshold: 1 } } });
  const { text } = await makeToken(w, made);
  const place = { tenant_id: w.tenant.id, sandbox: false, agent_id: made.agent.id, route_id: made.route.id };
  const opened = await halfOpen(place);
  await db().secret_environments.updateMany({ where: { secret_id: made.secret.id }, data: { current_value_id: null } });
  await served(running, w);
  const ask = () => askAgent(running, w, made.agent, text, PROMPT);
  for (let n = 0; n < 3; n++) assert.equal((await ask()).json().code, 'upstream_credential_unavailable');
  const [row] = await db().ai_circuits.findMany({ where: place });
  assert.deepEqual([row?.open_until.getTime(), upstream.seen.length], [opened.open_until.getTime(), 0]);
});

test('counts, rates and statuses are the policy’s, within their bounds', () => {
  const policy = (circuit: object) => routingPolicy({ circuit }).circuit as NonNullable<ReturnType<typeof routingPolicy>['circuit']>;
  assert.equal(routingPolicy({}).circuit, null);
  assert.deepEqual(policy({}), { failure_threshold: 5, failure_rate: null, min_requests: 10, cooldown_ms: 60_000, failure_codes: [] });
  const rate = policy({ failure_rate: 0.5, min_requests: 4, cooldown_ms: 5, failure_codes: [429, 429, 200] });
  assert.deepEqual(rate, { failure_threshold: null, failure_rate: 0.5, min_requests: 4, cooldown_ms: 30_000, failure_codes: [429] });
  assert.deepEqual(
    [
      [3, 3],
      [4, 2],
      [10, 4],
    ].map(([requests = 0, failures = 0]) => opensCircuit(rate, { requests, failures })),
    [false, true, false],
  );
});
