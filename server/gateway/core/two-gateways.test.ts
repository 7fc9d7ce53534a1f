import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import test from 'node:test';
import { freePort } from '#scripts/ports.ts';
import { startRedis, withoutRedis } from '#server/platform/counters/redis.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, makeRoute, served, startGateway, startUpstream } from '../gateway.fixture.ts';

// Limits of one deployment with two gateways (interface rule 12 §12): exact while they share a store, in halves while they do not.

const port = withoutRedis === false ? await freePort() : 0;
await testDatabase({ SVC_GATEWAYS: '2', ...(port > 0 && { REDIS_URL: `redis://127.0.0.1:${port}` }) });
const redis = port > 0 ? await startRedis(port) : undefined;
const gateways = [await startGateway(), await startGateway()] as const;
const w = await workspace();
const { text: key } = await w.key();
const upstream = await startUpstream();

const decidedBy = (limit: number) => (answer: { headers: IncomingHttpHeaders }) =>
  String(answer.headers['x-svc-ratelimit-route']).startsWith(`limit=${limit}, `);

async function limited(slug: string, limit: number) {
  await makeRoute(w, slug, upstream.url, { rate_limit_enabled: true, rate_limit_requests: limit, rate_limit_window_sec: 86_400 });
  for (const gateway of gateways) await served(gateway, w);
  const call = (n: number) => ask(gateways[n % 2 === 0 ? 0 : 1].port, w.tenant.slug, `/${slug}`, { key });
  return {
    call,
    /** n calls at once, taking turns between the gateways, and how many get through. */
    async all(n: number) {
      const answers = await Promise.all(Array.from({ length: n }, (_, i) => call(i)));
      return { answers, through: answers.filter((a) => a.status === 200).length };
    },
  };
}

/** Until each gateway asks the store again, which one that lost it does once a second. */
async function bothShare(name: string): Promise<void> {
  for (const turn of [0, 1]) {
    const probe = await limited(`probe-${name}-${turn}`, 1_000);
    await until(async () => decidedBy(1_000)(await probe.call(turn)));
  }
}

/**
 * Fifty at once over both gateways spend twenty exactly, every one of them decided by the store. Where a gateway of a busy machine did not hear it within its
 * quarter of a second, it decided by itself, as the next test promises and its answers say: then fifty others are sent.
 */
async function shareTwenty(name: string): Promise<void> {
  for (let round = 0; round < 10; round++) {
    await bothShare(`${name}-${round}`);
    const before = upstream.seen.length;
    const { answers, through } = await (await limited(`${name}-${round}`, 20)).all(50);
    assert.equal(upstream.seen.length - before, through);
    if (answers.every(decidedBy(20))) return assert.equal(through, 20);
    assert.ok(through <= 40, `${through}: the store its twenty, and each gateway its half`);
  }
  assert.fail('the store never decided all fifty');
}

test('fifty parallel calls over both gateways spend a limit of twenty exactly', () => shareTwenty('shared'));

test('with Redis gone every gateway serves its half and says so, and both share again when it is back', {
  skip: withoutRedis,
}, async () => {
  await redis?.stop();
  const { answers, through } = await (await limited('halves', 10)).all(40);
  assert.deepEqual([through, answers.every(decidedBy(5))], [10, true], 'five each');
  const again = await startRedis(port);
  await shareTwenty('together');
  // A limit that hangs in the store must not hang the calls.
  again.child.kill('SIGSTOP');
  const hung = await limited('hung', 1_000);
  await hung.call(0);
  assert.equal((await hung.all(30)).through, 30);
  again.child.kill('SIGCONT');
});
