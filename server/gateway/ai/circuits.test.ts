import assert from 'node:assert/strict';
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
  assert.equal((await ask()).status, 503);
  const refused = await ask();
  assert.deepEqual([refused.status, refused.json().code, upstream.seen.length], [502, 'upstream_error', 1], refused.body);
  const wait = Number(refused.headers['retry-after']);
  assert.ok(wait > 25 && wait <= 30, String(wait));
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
