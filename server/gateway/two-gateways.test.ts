import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startRedis, withoutRedis } from '#server/platform/counters/redis.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream, until } from './gateway.fixture.ts';

// Limits of one deployment with two gateways (interface rule 12 §12): exact while they share a store, in halves while they do not.

const port = withoutRedis === false ? await freePort() : 0;
await testDatabase({ SVC_GATEWAYS: '2', ...(port > 0 && { REDIS_URL: `redis://127.0.0.1:${port}` }) });
const redis = port > 0 ? await startRedis(port) : undefined;
const gateways = [await startGateway(), await startGateway()] as const;
const w = await workspace();
const { text: key } = await w.key();
const upstream = await startUpstream();

async function limited(slug: string, limit: number) {
  await makeRoute(w, slug, upstream.url, { rate_limit_enabled: true, rate_limit_requests: limit, rate_limit_window_sec: 86_400 });
  for (const gateway of gateways) await served(gateway, w);
  const call = (n: number) => ask(gateways[n % 2 === 0 ? 0 : 1].port, w.tenant.slug, `/${slug}`, { key });
  return {
    call,
    /** How many of n calls, taking turns between the gateways, get through. */
    through: async (n: number) => (await Promise.all(Array.from({ length: n }, (_, i) => call(i)))).filter((a) => a.status === 200).length,
  };
}

test('fifty parallel calls over both gateways spend a limit of twenty exactly', async () => {
  const before = upstream.seen.length;
  assert.equal(await (await limited('shared', 20)).through(50), 20);
  assert.equal(upstream.seen.length - before, 20);
});

test('with Redis gone every gateway serves its half and says so, and both share again when it is back', {
  skip: withoutRedis,
}, async () => {
  await redis?.stop();
  const halves = await limited('halves', 10);
  assert.equal(await halves.through(40), 10, 'five each');
  assert.match((await (await limited('told', 10)).call(0)).headers['x-svc-ratelimit-route'] ?? '', /^limit=5, remaining=4/);
  const again = await startRedis(port);
  let n = 0;
  for (const turn of [0, 1]) {
    const probe = await limited(`probe-${turn}`, 10);
    await until(async () => {
      await sleep(20);
      return /^limit=10, /.test((await probe.call(turn)).headers['x-svc-ratelimit-route'] ?? '') || ++n > 500;
    }, 5_000);
  }
  assert.equal(await (await limited('together', 20)).through(50), 20);
  // A limit that hangs in the store must not hang the calls.
  again.child.kill('SIGSTOP');
  const hung = await limited('hung', 1_000);
  await hung.call(0);
  const began = performance.now();
  assert.equal(await hung.through(30), 30);
  assert.ok(performance.now() - began < 4_000, `${Math.round(performance.now() - began)} ms`);
  again.child.kill('SIGCONT');
});
