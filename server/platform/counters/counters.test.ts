import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { testDatabase } from '#server/testing/database.ts';
import type { Rule, Verdict } from './decision.ts';
import { memoryCounters } from './memory.ts';
import { postgresCounters } from './postgres.ts';

await testDatabase();

const fresh = 1_700_000_040_000 - (1_700_000_040_000 % 60_000); // the start of a minute
const take = (counters: ReturnType<typeof memoryCounters>, rule: Rule, now: number) => counters.take([rule], now)[0] as Verdict;

test('the worked sliding window: three of three, then 429 with reset and Retry-After of the interface', () => {
  const counters = memoryCounters();
  const rule = { key: 'k', limit: 3, windowMs: 60_000, burst: null };
  assert.deepEqual(
    [0, 1, 2].map((s) => take(counters, rule, fresh + s * 1000).remaining),
    [2, 1, 0],
  );
  const refused = take(counters, rule, fresh + 3000);
  assert.deepEqual(refused, { admitted: false, limit: 3, remaining: 0, resetAt: fresh + 60_000, retryAfter: 58 });
  assert.equal(take(counters, rule, fresh + 60_000).admitted, false);
  assert.equal(take(counters, rule, fresh + 61_000).admitted, true);
  counters.close();
});

test('a bucket gives its burst at once and then the average', () => {
  const counters = memoryCounters();
  const rule = { key: 'k', limit: 60, windowMs: 60_000, burst: 100 };
  for (let i = 0; i < 100; i++) assert.equal(take(counters, rule, fresh).admitted, true);
  const refused = take(counters, rule, fresh);
  assert.deepEqual([refused.admitted, refused.remaining, refused.retryAfter, refused.resetAt], [false, 0, 1, fresh + 100_000]);
  assert.equal(take(counters, rule, fresh + 999).admitted, false);
  assert.equal(take(counters, rule, fresh + 1000).admitted, true);
  assert.equal(take(counters, rule, fresh + 1000).admitted, false);
  counters.close();
});

test('two rules count together or not at all', () => {
  const counters = memoryCounters();
  const wide = { key: 'wide', limit: 10, windowMs: 60_000, burst: null };
  const narrow = { key: 'narrow', limit: 1, windowMs: 60_000, burst: null };
  assert.deepEqual(
    counters.take([wide, narrow], fresh).map((v) => v.admitted),
    [true, true],
  );
  for (let i = 0; i < 5; i++)
    assert.deepEqual(
      counters.take([wide, narrow], fresh).map((v) => v.admitted),
      [true, false],
    );
  assert.equal(take(counters, wide, fresh).remaining, 8);
  counters.close();
});

const steps = fc.array(fc.record({ advance: fc.nat({ max: 3000 }), calls: fc.integer({ min: 1, max: 6 }) }), { maxLength: 60 });
const limits = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  windowMs: fc.constantFrom(1000, 2500, 7000),
  burst: fc.option(fc.integer({ min: 0, max: 9 })),
});

test('under any sequence of calls no more are admitted than the limit allows, and every number told is sane', () => {
  fc.assert(
    fc.property(limits, steps, ({ limit, windowMs, burst }, sequence) => {
      const rule = { key: 'k', limit, windowMs, burst: burst === null ? null : limit + burst };
      const counters = memoryCounters();
      const admitted: number[] = [];
      let now = fresh;
      for (const { advance, calls } of sequence) {
        now += advance;
        for (let i = 0; i < calls; i++) {
          const verdict = take(counters, rule, now);
          assert.ok(verdict.remaining >= 0 && verdict.resetAt >= now, 'remaining and reset');
          if (verdict.admitted) admitted.push(now);
          else assert.ok(verdict.retryAfter >= 1, 'Retry-After');
        }
      }
      // A sliding window may hold up to twice the limit across one boundary in the worst case of its approximation; a fixed one never more than the limit.
      for (const from of admitted) {
        const index = Math.floor(from / windowMs);
        const inWindow = admitted.filter((at) => Math.floor(at / windowMs) === index).length;
        if (rule.burst === null) assert.ok(inWindow <= limit);
        else assert.ok(admitted.filter((at) => at >= from && at < from + windowMs).length <= rule.burst + limit);
      }
      counters.close();
    }),
    { numRuns: 300 },
  );
});

test('Retry-After is the first second at which the same call is admitted', () => {
  fc.assert(
    fc.property(limits, fc.array(fc.nat({ max: 4000 }), { minLength: 1, maxLength: 40 }), ({ limit, windowMs, burst }, gaps) => {
      const rule = { key: 'k', limit, windowMs, burst: burst === null ? null : limit + burst };
      const replay = (extra: number[]) => {
        const counters = memoryCounters();
        let now = fresh;
        let last: Verdict | undefined;
        for (const gap of [...gaps, ...extra]) {
          now += gap;
          last = take(counters, rule, now);
        }
        counters.close();
        return last as Verdict;
      };
      const verdict = replay([]);
      if (verdict.admitted) return;
      assert.equal(replay([verdict.retryAfter * 1000]).admitted, true);
      for (let s = 1; s < verdict.retryAfter; s++) assert.equal(replay([s * 1000]).admitted, false, `after ${s} of ${verdict.retryAfter}`);
    }),
    { numRuns: 300 },
  );
});

test('the database store is exact under fifty parallel calls of two nodes, all or nothing', async () => {
  const [a, b] = [postgresCounters(), postgresCounters()];
  const rule = { key: 'shared', limit: 20, windowMs: 3_600_000, burst: null };
  const other = { key: 'other', limit: 1000, windowMs: 3_600_000, burst: null };
  const verdicts = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? a : b).take(i % 3 ? [rule, other] : [other, rule])));
  const admitted = verdicts.filter((v) => v.every((one) => one.admitted)).length;
  assert.equal(admitted, 20);
  assert.equal((await a.take([other]))[0]?.remaining, 1000 - 21);
  const bucket = { key: 'bucket', limit: 1, windowMs: 3_600_000, burst: 5 };
  const burst = await Promise.all(Array.from({ length: 12 }, () => a.take([bucket])));
  assert.equal(burst.filter(([v]) => v?.admitted).length, 5);
  const never = { key: 'never', limit: 0, windowMs: 1_000, burst: null };
  const beside = { key: 'beside', limit: 2, windowMs: 3_600_000, burst: null };
  for (let i = 0; i < 5; i++)
    assert.deepEqual(
      (await b.take([beside, never])).map((v) => v.admitted),
      [true, false],
      'a rule that admits nobody keeps the others from counting',
    );
  assert.equal((await a.take([beside]))[0]?.remaining, 1);
  a.close();
  b.close();
});

const sliding = (windowMs: number): Rule => ({ key: 'changed', limit: 2, windowMs, burst: null });

test('a limit whose window is made longer or shorter counts in the new one, and is not stuck in the old', () => {
  for (const [before, after] of [
    [1_000, 60_000],
    [60_000, 1_000],
    [1_000, 86_400_000],
  ] as const) {
    const counters = memoryCounters();
    for (let i = 0; i < 3; i++) take(counters, sliding(before), fresh);
    const changed = [0, 1, 2].map((i) => take(counters, sliding(after), fresh + i));
    assert.deepEqual(
      changed.map((v) => v.admitted),
      [true, true, false],
      `${before} to ${after}`,
    );
    assert.ok((changed[2]?.retryAfter ?? 0) <= (2 * after) / 1_000, 'and tells a time at which it is true');
    assert.equal(take(counters, sliding(after), fresh + 2 * after).admitted, true);
    counters.close();
  }
});

test('a clock that was ahead and was set right does not close a limit for as long as it was ahead', () => {
  const counters = memoryCounters();
  const HOUR = 3_600_000;
  const bucket = { key: 'b', limit: 60, windowMs: 60_000, burst: 60 };
  for (let i = 0; i < 60; i++) take(counters, bucket, fresh + HOUR);
  for (let i = 0; i < 2; i++) take(counters, sliding(60_000), fresh + HOUR);
  assert.equal(take(counters, bucket, fresh).admitted, false, 'what was spent is spent');
  assert.equal(take(counters, bucket, fresh + 1_000).admitted, true, 'and comes back from now on');
  assert.equal(take(counters, sliding(60_000), fresh).admitted, true);
  // Set back by a moment, over the edge of a window, it opens nothing.
  for (let i = 0; i < 2; i++) take(counters, { ...sliding(60_000), key: 'edge' }, fresh + 60_000);
  assert.equal(take(counters, { ...sliding(60_000), key: 'edge' }, fresh + 59_999).admitted, false);
  counters.close();
});

test('the database store takes another window, or another kind of limit, for what it is', async () => {
  const counters = postgresCounters();
  const answers = async (rule: Rule) => {
    const verdicts = [];
    for (let i = 0; i < 3; i++) verdicts.push((await counters.take([rule]))[0]);
    assert.ok((verdicts[2]?.retryAfter ?? 0) <= (2 * rule.windowMs) / 1_000);
    return verdicts.map((v) => v?.admitted);
  };
  assert.deepEqual(await answers(sliding(3_600_000)), [true, true, false]);
  assert.deepEqual(await answers(sliding(86_400_000)), [true, true, false], 'a longer window');
  assert.deepEqual(await answers({ ...sliding(86_400_000), burst: 2 }), [true, true, false], 'a bucket');
  assert.deepEqual(await answers(sliding(86_400_000)), [true, true, false], 'and a window again');
  counters.close();
});

test('the database store counts calls that were admitted without it, and what is remembered of a counter that began anew', async () => {
  const counters = postgresCounters();
  const DAY = 86_400_000;
  const at = Math.floor(Date.now() / DAY);
  for (const burst of [null, 10]) {
    const rule: Rule = { key: `owed-${burst}`, limit: 10, windowMs: DAY, burst };
    const remaining = async (missed?: Parameters<typeof counters.take>[1], one = rule) =>
      (await counters.take([one], missed))[0]?.remaining;
    assert.equal(await remaining({ seeds: [undefined], owed: [3] }), 6, 'of a counter that is new');
    assert.equal(await remaining({ seeds: [undefined], owed: [2] }), 3, 'and of one that is known');
    assert.equal(await remaining({ seeds: [undefined], owed: [0] }), 2);
    const anew = { ...rule, key: `anew-${burst}` };
    const seed = { windowMs: DAY, isBucket: burst !== null, ...(burst ? { a: 4, b: 0, at: Date.now() } : { a: 0, b: 6, at }) };
    assert.equal(await remaining(undefined, anew), 9);
    assert.equal(await remaining({ seeds: [seed], owed: [1] }, anew), 2);
    assert.equal(await remaining({ seeds: [seed], owed: [0] }, anew), 1, 'which is counted once');
    const never = { ...rule, key: `never-${burst}`, limit: 1, burst: burst && 1 };
    await counters.take([never]);
    await counters.take([{ ...rule, key: `beside-${burst}` }, never], { seeds: [undefined, undefined], owed: [5, 0] });
    assert.equal(await remaining(undefined, { ...rule, key: `beside-${burst}` }), 4, 'what is owed counts although this call is refused');
  }
  counters.close();
});

test('entries that no longer matter are dropped', () => {
  const counters = memoryCounters();
  for (let i = 0; i < 100; i++) take(counters, { key: `k${i}`, limit: 1, windowMs: 1000, burst: null }, fresh);
  counters.sweep(fresh + 1999);
  assert.equal(counters.size, 100);
  counters.sweep(fresh + 2000);
  assert.equal(counters.size, 0);
  counters.close();
});
