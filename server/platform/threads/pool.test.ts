import assert from 'node:assert/strict';
import test from 'node:test';
import { Refusal } from '#server/kernel/errors.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { onThread, WorkTooLarge, WorkTooSlow, work } from './pool.ts';
import type { Asked } from './works.fixture.ts';

const asked = work<Asked, unknown>('server/platform/threads/works.fixture.ts');
const detectors = work<object, { value: unknown }>('server/ai/detectors/detectors.thread.ts');
const run = (input: Asked, { owner = 'one', ms = 60_000, anonymous = false } = {}) => onThread(asked, input, { owner, ms, anonymous });

test('work answers with what it returns, and its errors are told', async () => {
  assert.deepEqual(await run({ echo: { a: [1n, new Date(0)] } }), { a: [1n, new Date(0)] });
  await assert.rejects(run({ fail: 'no such thing' }), { name: 'TypeError', message: 'no such thing' });
  await assert.rejects(run({ echo: () => 'a function can not be cloned' }), { name: 'DataCloneError' });
});

test('work that never ends, or that takes all memory, ends alone: the loop goes on and so does other work', async () => {
  await neverBlocks(async () => {
    const slow = assert.rejects(run({ spin: true }, { ms: 200 }), WorkTooSlow);
    const large = assert.rejects(run({ fill: true }), WorkTooLarge);
    assert.equal(await run({ echo: 'meanwhile' }), 'meanwhile');
    await Promise.all([slow, large]);
  });
  assert.equal(await run({ echo: 'after' }), 'after');
});

test('nobody fills the line for others, and owners take turns', async () => {
  const order: string[] = [];
  const spinning = Array.from({ length: 8 }, (_, i) =>
    assert.rejects(run({ spin: true }, { owner: `spinner ${i}`, ms: 100 }), WorkTooSlow),
  );
  const greedy = Array.from({ length: 21 }, () =>
    run({ echo: 1 }, { owner: 'greedy' }).then(
      () => order.push('greedy'),
      (error: unknown) => error,
    ),
  );
  const modest = run({ echo: 1 }, { owner: 'modest' }).then(() => order.push('modest'));
  const refused = (await Promise.all(greedy)).filter((one) => one instanceof Refusal);
  await Promise.all([modest, ...spinning]);
  assert.equal(refused.length, 1);
  assert.ok(order.indexOf('modest') < 8, order.join(' '));
});

test('work of strangers, however many they are, leaves half of the line to others', async () => {
  const spinning = Array.from({ length: 8 }, (_, i) =>
    assert.rejects(run({ spin: true }, { owner: `spinner ${i}`, ms: 100 }), WorkTooSlow),
  );
  const strangers = Array.from({ length: 60 }, (_, i) =>
    run({ echo: i }, { owner: `stranger ${i}`, anonymous: true }).catch((error: unknown) => error),
  );
  const known = run({ echo: 'known' }, { owner: 'known' });
  const refused = (await Promise.all(strangers)).filter((one) => one instanceof Refusal);
  assert.equal(refused.length, 10);
  assert.equal(await known, 'known');
  await Promise.all(spinning);
  assert.equal(await run({ echo: 1 }, { owner: 'stranger', anonymous: true }), 1);
});

test('a flood of one kind of work, as much as may wait of it, refuses no other kind, of its owner or of others', async () => {
  const spinning = Array.from({ length: 8 }, (_, i) =>
    assert.rejects(run({ spin: true }, { owner: `spinner ${i}`, ms: 100 }), WorkTooSlow),
  );
  const job = { job: 'canary', texts: [], codes: [] };
  const flood = Array.from({ length: 1_001 }, (_, i) =>
    onThread(detectors, job, { owner: `flood ${i % 6}`, ms: 60_000, most: 200 }).catch((error: unknown) => error),
  );
  const others = [run({ echo: 'own' }, { owner: 'flood 0' }), run({ echo: 'other' }), run({ echo: 'anyone' }, { anonymous: true })];
  assert.deepEqual(await Promise.all(others), ['own', 'other', 'anyone']);
  assert.equal((await Promise.all(flood)).filter((one) => one instanceof Refusal).length, 1);
  await Promise.all(spinning);
});
