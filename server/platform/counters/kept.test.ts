import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { digest } from '#server/crypto/tokens.ts';
import { processState, renewProcessState } from '#server/kernel/process-state.ts';
import { sql } from '#server/platform/sql.ts';
import { windowCounter } from '#server/platform/window-counter.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { type Counters, openCounters, type Rule, type Verdict } from '../counters.ts';
import { flushStandings, MOST_KEPT, noteStanding, owe, remembered, takeOwed } from './kept.ts';
import { joined, withoutRedis as skip, startRedis, waitForStore } from './redis.fixture.ts';

// Limits of a day outlive what counts them: Redis, a gateway's memory, PostgreSQL's unlogged tables.

await ownDatabase();
const DAY = 86_400_000;
const opened = new Set<Counters>();
after(() => {
  for (const counters of opened) counters.close();
});
const open = async (redisUrl: string | undefined, gateways: number): Promise<Counters> => {
  const counters = await openCounters({ redisUrl, gateways });
  opened.add(counters);
  return counters;
};
const daily = (key: string, limit = 10, burst: number | null = null): Rule => ({ key, limit, windowMs: DAY, burst });
const take = async (counters: Counters, rule: Rule) => (await counters.take([rule], Date.now()))[0] as Verdict;
const admitted = async (counters: Counters, rule: Rule, calls: number) => {
  let n = 0;
  for (let i = 0; i < calls; i++) if ((await take(counters, rule)).admitted) n++;
  return n;
};
/** What a process that ended in an orderly way, and began again, knows. */
const restart = async () => {
  await flushStandings();
  renewProcessState();
};

for (const [kind, burst] of [
  ['window', null],
  ['bucket', 10],
] as const) {
  test(`the only gateway goes on with a ${kind} of a day where the one before it ended`, async () => {
    const rule = daily(`own-${kind}`, 10, burst);
    assert.equal(await admitted(await open(undefined, 1), rule, 7), 7);
    await restart();
    assert.equal(await admitted(await open(undefined, 1), rule, 12), 3);
  });

  test(`a ${kind} of a day goes on where Redis lost it`, { skip }, async (t) => {
    const server = await startRedis();
    const [a, b] = [await joined(await open(server.url, 2)), await joined(await open(server.url, 2))];
    const patience = waitForStore(t);
    const rule = daily(`redis-${kind}`, 20, burst === null ? null : 20);
    assert.equal((await admitted(a, rule, 4)) + (await admitted(b, rule, 6)), 10);
    await server.stop();
    patience.noLonger();
    assert.equal(await admitted(a, rule, 30), 5, 'alone, its share of what is left');
    await startRedis(server.port);
    for (const counters of [a, b]) await joined(counters);
    waitForStore(t);
    assert.equal(await admitted(a, rule, 30), 5, 'and then of all what it had not admitted meanwhile');
    assert.equal(await admitted(b, rule, 30), 0);
  });

  test(`a ${kind} of a day outlives Redis and its gateways together`, { skip }, async (t) => {
    const server = await startRedis();
    const rule = daily(`both-${kind}`, 10, burst);
    const before = await joined(await open(server.url, 2));
    const patience = waitForStore(t);
    assert.equal(await admitted(before, rule, 8), 8);
    await restart();
    await server.stop();
    patience.noLonger();
    const after = await joined(await open((await startRedis()).url, 2));
    waitForStore(t);
    assert.equal(await admitted(after, rule, 10), 2);
  });

  for (const gateways of [1, 2])
    test(`what was kept of a ${kind} of a day counts although it is read late, with ${gateways} gateways`, async (t) => {
      let patience = waitForStore(t);
      const rule = daily(`late-${kind}-${gateways}`, 10, burst);
      assert.equal(await admitted(await open(undefined, gateways), rule, 7), 7);
      await restart();
      await sql().query('truncate rate_states');
      patience.noLonger();
      const client = await sql().connect();
      await client.query('begin; lock table kept_rates in access exclusive mode');
      const counters = await open(undefined, gateways);
      patience = waitForStore(t, { butFirst: 1 }); // for what is locked
      assert.equal(await admitted(counters, rule, 1), 1, 'a call does not wait for it');
      await client.query('commit');
      client.release();
      patience.noLonger();
      waitForStore(t);
      assert.equal(await admitted(counters, rule, 12), 3);
    });

  test(`a ${kind} of a day outlives a crash of the database that counts it`, async (t) => {
    waitForStore(t);
    const rule = daily(`rows-${kind}`, 10, burst);
    const counters = await open(undefined, 2);
    assert.equal(await admitted(counters, rule, 6), 6);
    await restart();
    await sql().query('truncate rate_states'); // what recovery does with an unlogged table
    assert.equal(await admitted(counters, rule, 10), 4);
  });
}

test('a limit whose window or kind is changed begins anew, and one of a minute is not kept', async () => {
  const counters = await open(undefined, 1);
  assert.equal(await admitted(counters, daily('changed'), 10), 10);
  await restart();
  const other = await open(undefined, 1);
  assert.equal(await admitted(other, { ...daily('changed'), windowMs: DAY / 2 }, 12), 10);
  assert.equal(await admitted(other, { ...daily('changed'), windowMs: 60_000 }, 12), 10);
  const { rows } = await sql().query('select 1 from kept_rates where window_ms < 3600000');
  assert.equal(rows.length, 0);
});

test('a limit is kept under a digest: keys of counters per caller have addresses in them', async () => {
  await admitted(await open(undefined, 1), daily('route:c:203.0.113.7'), 1);
  await flushStandings();
  const { rows } = await sql().query<{ key: string }>('select key from kept_rates');
  assert.ok(rows.some(({ key }) => key === digest('route:c:203.0.113.7').toString('base64url')));
  assert.ok(!rows.some(({ key }) => key.includes('203')));
});

test('the daily limit of an API key goes on where the counters of web ended', async () => {
  const window = Math.floor(Date.now() / DAY);
  const count = (by?: number) => windowCounter()('key:kept', window, DAY / 1000, 100, by);
  assert.deepEqual([await count(), await count(5)], [1, 6]);
  await restart();
  assert.equal(await count(), 7);
});

/** What the process holds of them. */
const held = () => processState('kept-rates', () => ({ entries: new Map<string, object>(), dirty: new Set<string>(), sweepAt: 0 }));
const standing = (b: number) => ({ windowMs: DAY, isBucket: false, a: 0, b, at: Math.floor(Date.now() / DAY) });

test('what is written each second is what was counted since, and is looked for nowhere else', async () => {
  await restart();
  for (let i = 0; i < 500; i++) noteStanding(daily(`quiet-${i}`), standing(1));
  await flushStandings();
  const { entries } = held();
  let walks = 0;
  const walk = entries[Symbol.iterator].bind(entries);
  Object.assign(entries, {
    [Symbol.iterator]: () => {
      walks++;
      return walk();
    },
  });
  noteStanding(daily('quiet-7'), standing(2));
  await flushStandings();
  Reflect.deleteProperty(entries, Symbol.iterator);
  assert.equal(walks, 0);
  const { rows } = await sql().query('select b from kept_rates where key = $1', [digest('quiet-7').toString('base64url')]);
  assert.deepEqual(rows, [{ b: 2 }]);
});

test('counters that are remembered have a most: those that were written go first, and one that owes stays', async () => {
  await restart();
  owe(daily('owing'), Date.now());
  for (let i = 0; i < 100; i++) noteStanding(daily(`written-${i}`), standing(1));
  await flushStandings();
  for (let i = 1; i < MOST_KEPT; i++) noteStanding(daily(`many-${i}`), standing(1));
  const { entries, dirty } = held();
  assert.deepEqual([entries.size, entries.has('written-99'), entries.has(`many-${MOST_KEPT - 1}`)], [MOST_KEPT, false, true]);
  assert.equal(takeOwed(daily('owing'), Date.now()), 1);
  assert.ok(dirty.size <= MOST_KEPT);
  assert.equal(remembered(daily('many-1000'))?.b, 1);
  renewProcessState(); // a hundred thousand are not written for a test
});

test('a call that is owed is not swept away with what is over', async () => {
  await restart();
  for (const key of ['owed-1', 'owed-2']) {
    held().sweepAt = 0; // time to sweep, as the counter is met
    owe(daily(key), Date.now());
  }
  assert.deepEqual([takeOwed(daily('owed-1'), Date.now()), takeOwed(daily('owed-2'), Date.now())], [1, 1]);
});
