import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import test, { after, type TestContext } from 'node:test';
import { freePort } from '#scripts/ports.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { type Counters, openCounters, type Rule, type Verdict } from '#server/platform/counters.ts';
import { COUNTER_DEADLINE_MS } from '#server/platform/redis.ts';
import { redisWindows } from '#server/platform/window-counter.ts';
import { until } from '#server/testing/until.ts';
import { joined, withoutRedis as skip, startRedis, waitForStore } from './redis.fixture.ts';

// What is promised while Redis holds the counters, while it is away, and when it comes back. Redis itself is used where it is installed;
// a store that accepts and never answers needs none.

const HOUR = 3_600_000;
const opened = new Set<{ close(): void }>();
after(() => {
  for (const counters of opened) counters.close();
});

const open = async (redisUrl: string, gateways = 2): Promise<Counters> => {
  const counters = await openCounters({ redisUrl, gateways });
  opened.add(counters);
  return counters;
};
const take = async (counters: Counters, rules: readonly Rule[]) => (await counters.take(rules, Date.now())) as readonly Verdict[];
const admits = async (counters: Counters, rule: Rule) => (await take(counters, [rule]))[0]?.admitted === true;

/** Counts how often anything waits for the deadline of the store. */
function deadlines(t: TestContext): () => number {
  const timers = t.mock.method(globalThis, 'setTimeout');
  return () => timers.mock.calls.filter(({ arguments: [, ms] }) => ms === COUNTER_DEADLINE_MS).length;
}

test('two gateways spend one limit in Redis exactly, all rules or none, and headers agree with the arithmetic', { skip }, async (t) => {
  const server = await startRedis();
  const [a, b] = [await joined(await open(server.url)), await joined(await open(server.url))];
  waitForStore(t);
  const rule = { key: 'shared', limit: 20, windowMs: HOUR, burst: null };
  const other = { key: 'other', limit: 1000, windowMs: HOUR, burst: null };
  const verdicts = await Promise.all(Array.from({ length: 50 }, (_, i) => take(i % 2 ? a : b, i % 3 ? [rule, other] : [other, rule])));
  assert.equal(verdicts.filter((all) => all.every((one) => one.admitted)).length, 20);
  assert.equal((await take(a, [other]))[0]?.remaining, 1000 - 21, 'what was refused by one rule is not counted by the other');
  const refused = (await take(b, [rule]))[0];
  assert.deepEqual([refused?.admitted, refused?.limit, refused?.remaining], [false, 20, 0]);
  assert.equal((refused?.resetAt ?? 1) % HOUR, 0);
  assert.ok((refused?.retryAfter ?? 0) >= 1 && (refused?.retryAfter ?? 0) <= (2 * HOUR) / 1000);
});

test('a bucket in Redis gives its burst once to both, and refills', { skip }, async (t) => {
  const server = await startRedis();
  const [a, b] = [await joined(await open(server.url)), await joined(await open(server.url))];
  waitForStore(t);
  const rule = { key: 'bucket', limit: 10, windowMs: HOUR, burst: 15 };
  const burst = await Promise.all(Array.from({ length: 40 }, (_, i) => admits(i % 2 ? a : b, rule)));
  assert.equal(burst.filter(Boolean).length, 15);
  const refilled = { key: 'refilled', limit: 10, windowMs: 1_000, burst: 1 };
  assert.ok(await admits(a, refilled));
  await until(() => admits(a, refilled), 'a token comes back');
});

test('Redis takes another window, or another kind of limit, for what it is', { skip }, async (t) => {
  const counters = await joined(await open((await startRedis()).url));
  waitForStore(t);
  const sliding = (windowMs: number): Rule => ({ key: 'changed', limit: 2, windowMs, burst: null });
  const answers = async (rule: Rule) => [await admits(counters, rule), await admits(counters, rule), await admits(counters, rule)];
  assert.deepEqual(await answers(sliding(HOUR)), [true, true, false]);
  assert.deepEqual(await answers(sliding(24 * HOUR)), [true, true, false], 'a longer window');
  assert.deepEqual(await answers({ ...sliding(24 * HOUR), burst: 2 }), [true, true, false], 'a bucket');
  assert.deepEqual(await answers(sliding(24 * HOUR)), [true, true, false], 'and a window again');
});

test('a rule that admits nobody is refused without counting the rules beside it', { skip }, async (t) => {
  const counters = await joined(await open((await startRedis()).url));
  waitForStore(t);
  const never = { key: 'never', limit: 0, windowMs: 1_000, burst: null };
  const rule = { key: 'beside', limit: 2, windowMs: HOUR, burst: null };
  for (let i = 0; i < 5; i++)
    assert.deepEqual(
      (await take(counters, [rule, never])).map((v) => v.admitted),
      [true, false],
    );
  assert.equal((await take(counters, [rule]))[0]?.remaining, 1);
});

test('when Redis dies each gateway counts its share, and when it is back they count together again', { skip }, async (t) => {
  const server = await startRedis();
  const [a, b] = [await joined(await open(server.url)), await joined(await open(server.url))];
  const rule = (key: string) => ({ key, limit: 10, windowMs: HOUR, burst: null });
  assert.ok(await admits(a, rule('before')));
  await server.stop();
  for (const counters of [a, b]) {
    const calls = await Promise.all(Array.from({ length: 12 }, () => admits(counters, rule('meanwhile'))));
    assert.equal(calls.filter(Boolean).length, 5, 'half of ten');
  }
  const again = await startRedis(server.port);
  for (const counters of [a, b]) await joined(counters);
  waitForStore(t);
  const calls = await Promise.all(Array.from({ length: 30 }, (_, i) => admits(i % 2 ? a : b, rule('after'))));
  assert.equal(calls.filter(Boolean).length, 10);
  assert.equal(again.port, server.port);
});

test('a gateway that starts before Redis serves, and joins when Redis is there', { skip }, async () => {
  const port = await freePort();
  const counters = await open(`redis://127.0.0.1:${port}`);
  const rule = { key: 'early', limit: 10, windowMs: HOUR, burst: null };
  assert.equal((await take(counters, [rule]))[0]?.limit, 5);
  await startRedis(port);
  await until(async () => (await take(counters, [rule]))[0]?.limit === 10);
});

test('a Redis that hangs delays a few calls by a quarter of a second, not every call', { skip }, async (t) => {
  const server = await startRedis();
  const counters = await open(server.url);
  const rule = { key: 'hung', limit: 1_000, windowMs: HOUR, burst: null };
  await take(counters, [rule]);
  server.child.kill('SIGSTOP');
  await take(counters, [rule]);
  const waited = deadlines(t);
  await Promise.all(Array.from({ length: 200 }, () => take(counters, [rule])));
  assert.ok(waited() <= 4, `${waited()} of 200 calls waited for Redis`);
  server.child.kill('SIGCONT');
  await until(async () => (await take(counters, [rule]))[0]?.limit === 1_000);
});

test('each call that was admitted while Redis hung is counted once when it goes on, however often Redis was asked meanwhile', {
  skip,
}, async (t) => {
  const server = await startRedis();
  const counters = await open(server.url);
  const rule = { key: 'owed', limit: 1_000, windowMs: HOUR, burst: null };
  let calls = 0;
  const call = async () => {
    calls++;
    return (await take(counters, [rule]))[0] as Verdict;
  };
  await call();
  server.child.kill('SIGSTOP');
  await Promise.all(Array.from({ length: 40 }, call));
  const clock = performance.now.bind(performance);
  let ahead = 0;
  t.mock.method(performance, 'now', () => clock() + ahead);
  for (let i = 0; i < 4; i++) {
    ahead += 2_000; // time to ask Redis again
    assert.equal((await call()).limit, 500);
  }
  server.child.kill('SIGCONT');
  let last = await call();
  await until(async () => {
    ahead += 2_000;
    last = await call();
    return last.limit === 1_000;
  });
  const counted = 1_000 - last.remaining;
  assert.equal(counted, calls, 'also those that were under way when it began to hang');
});

test('a counter store that takes connections and never answers holds nobody up', async (t) => {
  const hole = createServer((socket) => void socket.on('error', () => {}));
  await new Promise<void>((resolve) => hole.listen(0, '127.0.0.1', resolve));
  after(() => hole.close());
  const address = hole.address();
  const url = `redis://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  const counters = await open(url);
  const rule = { key: 'k', limit: 1_000, windowMs: HOUR, burst: null };
  assert.equal((await take(counters, [rule]))[0]?.limit, 500);
  const waited = deadlines(t);
  for (const [verdict] of await Promise.all(Array.from({ length: 100 }, () => take(counters, [rule])))) assert.equal(verdict?.limit, 500);
  assert.ok(waited() <= 4, `${waited()} of 100 calls waited for the store`);
  const windows = redisWindows(url);
  opened.add(windows);
  // A lost counter store reads as 503 where nobody decides to go on without it.
  await assert.rejects(windows.count('key:k', 1, 60), (error: unknown) => asRefusal(error).type === 'dependency_unavailable');
});

test('fixed windows in Redis count from the first call on, in every process, and fail loudly', { skip }, async (t) => {
  const server = await startRedis();
  const patience = waitForStore(t);
  const [a, b] = [redisWindows(server.url), redisWindows(server.url)];
  opened.add(a).add(b);
  const counts = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).count('key:x', 7, 60)));
  assert.deepEqual(
    counts.sort((x, y) => x - y),
    Array.from({ length: 20 }, (_, i) => i + 1),
  );
  assert.equal(await a.count('key:x', 8, 60), 1, 'the next window starts anew');
  assert.deepEqual([await a.count('key:y', 7, 60, 100, 50), await b.count('key:y', 7, 60, 60, 50)], [50, 100], 'several at once');
  assert.equal(await a.count('key:y', 7, 60, 100, 1), 61, 'of which no more than the most were kept');
  await server.stop();
  patience.noLonger();
  await assert.rejects(a.count('key:x', 8, 60), (error: unknown) => asRefusal(error).type === 'dependency_unavailable');
});
