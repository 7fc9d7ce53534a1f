import assert from 'node:assert/strict';
import test from 'node:test';
import type { Refusal } from '#server/kernel/errors.ts';
import { memoryCounter, type WindowCounter } from '#server/platform/windows.ts';
import { keepPace, PACE } from './pace.ts';
import type { SignedInPerson } from './person.ts';

const as = (session: string, user = 'ada') => ({ session: { id: session }, user: { id: user } }) as SignedInPerson;
const at = (seconds: number) => new Date(1_767_225_600_000 + seconds * 1000);

async function admitted(n: number, who: SignedInPerson, now: Date, count: WindowCounter) {
  let passed = 0;
  let refusal: Refusal | undefined;
  for (let i = 0; i < n; i++)
    await keepPace(who, now, count).then(
      () => passed++,
      (error) => {
        refusal = error;
      },
    );
  return { passed, refusal };
}

test('a session is answered up to its pace, then told when it goes on, and goes on then', async () => {
  const count = memoryCounter();
  const { passed, refusal } = await admitted(PACE.session + 50, as('one'), at(3.5), count);
  assert.deepEqual([passed, refusal?.type, refusal?.status, refusal?.retryAfter], [PACE.session, 'rate_limited', 429, 7]);
  assert.match(refusal?.message ?? '', /^This session made more than 400 calls in 10 seconds\. Nothing was done; .* in 7 seconds\.$/);
  assert.equal((await admitted(1, as('one'), at(9.9), count)).refusal?.retryAfter, 1);
  assert.equal((await admitted(1, as('one'), at(10), count)).passed, 1);
});

test('more sessions do not make a person faster, and one that runs away does not slow the others', async () => {
  const count = memoryCounter();
  assert.equal((await admitted(PACE.session * 3, as('runaway'), at(0), count)).passed, PACE.session);
  assert.equal((await admitted(PACE.session, as('second'), at(0), count)).passed, PACE.person - PACE.session);
  const third = await admitted(1, as('third'), at(0), count);
  assert.match(third.refusal?.message ?? '', /^All your sessions together/);
  assert.equal((await admitted(1, as('hers', 'grace'), at(0), count)).passed, 1);
});

test('a counter store that does not answer stops nobody', async () => {
  await keepPace(as('one'), at(0), async () => {
    throw new Error('away');
  });
});
