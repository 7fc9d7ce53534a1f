import assert from 'node:assert/strict';
import test from 'node:test';
import type { SignedInPerson } from '#server/api/credentials/session.ts';
import type { Refusal } from '#server/kernel/errors.ts';
import { memoryCounter, type WindowCounter } from '#server/platform/window-counter.ts';
import { batchedSessionLimit, limitSessionRate, SESSION_RATE_LIMIT } from './session-rate-limit.ts';

const as = (session: string, user = 'ada') => ({ session: { id: session }, user: { id: user } }) as SignedInPerson;
const at = (seconds: number) => new Date(1_767_225_600_000 + seconds * 1000);

async function admitted(n: number, who: SignedInPerson, now: Date, count: WindowCounter) {
  let passed = 0;
  let refusal: Refusal | undefined;
  for (let i = 0; i < n; i++)
    await limitSessionRate(who, now, count).then(
      () => passed++,
      (error) => {
        refusal = error;
      },
    );
  return { passed, refusal };
}

test('a session is answered up to its pace, then told when it goes on, and goes on then', async () => {
  const count = memoryCounter();
  const { passed, refusal } = await admitted(SESSION_RATE_LIMIT.session + 50, as('one'), at(3.5), count);
  assert.deepEqual([passed, refusal?.type, refusal?.status, refusal?.retryAfter], [SESSION_RATE_LIMIT.session, 'rate_limited', 429, 7]);
  assert.match(refusal?.message ?? '', /^This session exceeded 400 requests in 10 seconds\. .* in 7 seconds\.$/);
  assert.equal((await admitted(1, as('one'), at(9.9), count)).refusal?.retryAfter, 1);
  assert.equal((await admitted(1, as('one'), at(10), count)).passed, 1);
});

test('more sessions do not make a person faster, and one that runs away does not slow the others', async () => {
  const count = memoryCounter();
  assert.equal((await admitted(SESSION_RATE_LIMIT.session * 3, as('runaway'), at(0), count)).passed, SESSION_RATE_LIMIT.session);
  assert.equal(
    (await admitted(SESSION_RATE_LIMIT.session, as('second'), at(0), count)).passed,
    SESSION_RATE_LIMIT.person - SESSION_RATE_LIMIT.session,
  );
  const third = await admitted(1, as('third'), at(0), count);
  assert.match(third.refusal?.message ?? '', /^Your sessions together/);
  assert.equal((await admitted(1, as('hers', 'grace'), at(0), count)).passed, 1);
});

test('a counter store that does not answer stops nobody', async () => {
  await limitSessionRate(as('one'), at(0), async () => {
    throw new Error('away');
  });
});

/** A counter that tells how often it was asked. */
function told(count: WindowCounter) {
  const asked = { times: 0 };
  const counter: WindowCounter = (...call) => {
    asked.times++;
    return count(...call);
  };
  return { asked, counter };
}

/** Calls of one request, all begun in one moment. */
const together = (calls: number, who: SignedInPerson, now: Date, count: WindowCounter) => {
  const keep = batchedSessionLimit(count);
  return Promise.all(
    Array.from({ length: calls }, () =>
      keep(who, now).then(
        () => 'passed',
        (error: Refusal) => `${error.message.split(' exceeded')[0]} ${error.retryAfter}`,
      ),
    ),
  );
};

test('fifty calls of a request are counted at once, and refused as fifty', async () => {
  const { asked, counter } = told(memoryCounter());
  assert.deepEqual(new Set(await together(50, as('one'), at(0), counter)), new Set(['passed']));
  assert.equal(asked.times, 2, 'the session and the person');
  for (let i = 1; i < 8; i++) await together(50, as('one'), at(0), counter);
  assert.deepEqual(new Set(await together(50, as('one'), at(0), counter)), new Set(['This session 10']));
  assert.equal((await admitted(1, as('one'), at(0), counter)).passed, 0);
});

test('however calls are bundled, as many pass as one by one, the first ones, for the same reasons', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    let state = seed * 7_919;
    const upTo = (most: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return Math.floor((state / 0x80000000) * most);
    };
    const [bundled, single] = [memoryCounter(), memoryCounter()];
    for (let step = 0; step < 60; step++) {
      const who = as(['one', 'two', 'three'][upTo(3)] ?? 'one');
      const calls = 1 + upTo(50);
      const one: string[] = [];
      for (let i = 0; i < calls; i++) one.push(...(await together(1, who, at(1), single)));
      assert.deepEqual(await together(calls, who, at(1), bundled), one, `seed ${seed}, step ${step}`);
    }
  }
});

test('a request whose calls come one after the other is counted as they come', async () => {
  const { asked, counter } = told(memoryCounter());
  const keep = batchedSessionLimit(counter);
  for (let i = 0; i < 3; i++) await keep(as('one'), at(0));
  assert.equal(asked.times, 6);
});
