import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import test, { after } from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { endAll, folderOf, type RoleProcess, startRole } from '#server/testing/processes.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { startRedis, withoutRedis } from '../platform/counters/redis.fixture.ts';
import { makeRoute, startUpstream } from './gateway.fixture.ts';

// Two gateways as processes of their own, which share nothing but the database and the store of counters (interface rules 01 §16.1, 12 §12): fifty callers who
// take turns between them spend a limit exactly, whatever store it is in.

const CALLERS = 50;
const DAY = 86_400;

const { url } = await testDatabase();
const { directory, remove } = folderOf('two-gateways');
after(() => {
  endAll();
  remove();
});
const upstream = await startUpstream();

const start = (redisUrl?: string) => {
  const env: Record<string, string> = { DATABASE_URL: url, SVC_GATEWAYS: '2' };
  if (redisUrl) env.REDIS_URL = redisUrl;
  return Promise.all([0, 1].map(() => startRole('gateway', { env, directory })));
};

type Answer = { status: number; limit: number; remaining: number; headers: IncomingHttpHeaders };

/** Fifty callers with a connection to each gateway, who call `each` times one after the other, all at once. */
async function crowd(
  gateways: readonly RoleProcess[],
  each: number,
  call: { path: string; headers: Record<string, string>; plane: 'proxy' | 'api' },
) {
  const agents = Array.from({ length: CALLERS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  try {
    const answers = await Promise.all(
      agents.map(async (agent, caller) => {
        const got: Answer[] = [];
        for (let i = 0; i < each; i++) {
          const port = (gateways[(caller + i) % 2] as RoleProcess).ports[call.plane];
          got.push(await ask(agent, port, call));
        }
        return got;
      }),
    );
    return answers.flat();
  } finally {
    for (const agent of agents) agent.destroy();
  }
}

function ask(
  agent: Agent,
  port: number,
  { path, headers, method = 'GET' }: { path: string; headers: Record<string, string>; method?: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = request({ agent, host: '127.0.0.1', port, path, headers, method }, (res) => {
      res.on('error', reject).on('end', () => {
        const told = /limit=(\d+), remaining=(\d+)/.exec(String(res.headers['x-svc-ratelimit-route'])) ?? [];
        resolve({ status: res.statusCode ?? 0, limit: Number(told[1]), remaining: Number(told[2]), headers: res.headers });
      });
      res.resume();
    });
    req.on('error', reject).end();
  });
}

let routes = 0;
/** A route with a limit that both gateways serve, for GET alone: another method tells that the route is there and isn't counted. */
async function limited(
  w: Workspace,
  key: string,
  gateways: readonly RoleProcess[],
  limit: { rate_limit_requests: number; rate_limit_burst?: number },
) {
  const slug = `limited-${routes++}`;
  const rate = { ...limit, rate_limit_enabled: true, rate_limit_window_sec: DAY };
  await makeRoute(w, slug, upstream.url, { ...rate, http_method_restrictions_enabled: true, allowed_methods: ['GET'] });
  const call = { path: `/p/${w.tenant.slug}/${slug}`, headers: { 'x-svc-key': key }, plane: 'proxy' } as const;
  const agent = new Agent();
  for (const { ports } of gateways)
    await until(async () => (await ask(agent, ports.proxy, { ...call, method: 'PUT' })).status === 405, undefined, 240_000);
  return call;
}

/**
 * Spends a limit of `most`, by as many callers as there are, and looks at every answer. Where a gateway of a busy machine did not hear the store in its quarter of
 * a second it decides by itself, as promised, and says so by its half of the limit: then another round with another route is the one that has to be exact.
 */
async function spend(w: Workspace, key: string, gateways: readonly RoleProcess[], most: number, limit: Parameters<typeof limited>[3]) {
  for (let round = 0; round < 12; round++) {
    const call = await limited(w, key, gateways, limit);
    const before = upstream.seen.length;
    const answers = await crowd(gateways, 6, call);
    const admitted = answers.filter(({ status }) => status === 200);
    assert.equal(upstream.seen.length - before, admitted.length, 'what was admitted reached the upstream, and nothing else');
    assert.ok(answers.every(({ status }) => status === 200 || status === 429));
    const shared = admitted.filter((answer) => answer.limit === limit.rate_limit_requests);
    assert.equal(new Set(shared.map(({ remaining }) => remaining)).size, shared.length, 'no place was given twice');
    if (answers.some((answer) => answer.limit !== limit.rate_limit_requests)) continue;
    assert.equal(admitted.length, most);
    assert.deepEqual(
      shared.map(({ remaining }) => remaining).sort((a, b) => b - a),
      Array.from({ length: most }, (_, i) => most - 1 - i),
      'every place was told once',
    );
    for (const { status, headers } of answers) if (status === 429) assert.ok(Number(headers['retry-after']) >= 1);
    return;
  }
  assert.fail('the store never decided all calls of a round');
}

for (const { store, skip } of [
  { store: 'PostgreSQL', skip: false },
  { store: 'Valkey or Redis', skip: withoutRedis },
] as const)
  test(`fifty callers on two gateways spend limits in ${store} exactly: a window, a bucket and a key's own`, { skip }, async () => {
    const redis = store === 'PostgreSQL' ? undefined : await startRedis();
    const gateways = await start(redis?.url);
    const w = await workspace();
    const { text: key } = await w.key();
    await spend(w, key, gateways, 120, { rate_limit_requests: 120 });
    await spend(w, key, gateways, 70, { rate_limit_requests: 10, rate_limit_burst: 70 });

    const environment = await db().environments.findFirstOrThrow({ where: { tenant_id: w.tenant.id, sandbox: false } });
    const own = await w.key('live', 'Key - Editor', { rate_limit_requests: 40, rate_limit_window_sec: DAY });
    const hot = {
      path: `/v1/environments/${environment.id}`,
      headers: { authorization: `Bearer ${own.text}` },
      plane: 'api',
    } as const;
    const spent = (await crowd(gateways, 3, hot)).filter(({ status }) => status === 200);
    assert.equal(spent.length, 40);
    if (redis) {
      await redis.stop();
      // Shapes the customer's own traffic and is no security control: fails open (interface rule 01 §16.1), while routes count each gateway's half.
      assert.ok(
        (await crowd(gateways, 1, hot)).every(({ status, headers }) => status === 200 && headers['x-ratelimit-limit'] === undefined),
      );
      const answers = await crowd(gateways, 6, await limited(w, key, gateways, { rate_limit_requests: 40 }));
      assert.ok(answers.every((answer) => answer.limit === 20));
      assert.ok(answers.filter(({ status }) => status === 200).length <= 40);
      assert.ok(answers.some(({ status }) => status === 429));
    }
    for (const gateway of gateways) assert.equal(await gateway.stop(), 0, gateway.log().slice(-2_000));
  });
