import assert from 'node:assert/strict';
import test from 'node:test';
import { PART, type Verdict, verifyInParts } from './verify-in-parts.ts';

/** A chain of so many entries that answers as the server does; `broken` fails, entries from `cut` on are gone. */
const chain = (entries: number, { broken = 0, cut = Number.POSITIVE_INFINITY } = {}) => {
  const asked: { from?: string; to?: string }[] = [];
  const ask = (range: { from?: string; to?: string }): Promise<Verdict> => {
    asked.push(range);
    const from = Number(range.from ?? 1);
    const to = Math.min(Number(range.to ?? entries), cut - 1);
    const fails = broken >= from && broken <= to;
    return Promise.resolve({
      valid: !fails,
      checked: fails ? broken - from : Math.max(0, to - from + 1),
      first: from.toString(),
      last: to >= from ? to.toString() : null,
      head_hash: `hash ${to.toString()}`,
      failure: fails ? { sequence_number: broken.toString(), kind: 'hash_mismatch' } : null,
      baseline: null,
    });
  };
  return { ask, asked };
};
const verify = async (entries: number, over: { broken?: number; cut?: number } = {}, stopped = () => false) => {
  const { ask, asked } = chain(entries, over);
  const told: number[] = [];
  const verdict = await verifyInParts({ last: entries, ask, onProgress: (checked) => told.push(checked), stopped });
  return { verdict, asked, told };
};

test('a long chain is verified in parts that leave no entry out, the last one open so that a missing end shows', async () => {
  const { verdict, asked, told } = await verify(2 * PART + 5);
  assert.deepEqual(asked, [{ to: '2000' }, { from: '2001', to: '4000' }, { from: '4001' }]);
  assert.deepEqual(told, [PART, 2 * PART, 2 * PART + 5]);
  assert.deepEqual([verdict?.valid, verdict?.checked, verdict?.first, verdict?.last], [true, 2 * PART + 5, '1', '4005']);
});

test('a short chain, a full part and an empty chain are one question', async () => {
  for (const entries of [0, 3, PART]) assert.deepEqual((await verify(entries)).asked, [{}], String(entries));
});

test('it stops at the first entry that fails and says which', async () => {
  const { verdict, asked } = await verify(3 * PART, { broken: PART + 7 });
  assert.equal(asked.length, 2);
  assert.deepEqual([verdict?.valid, verdict?.failure?.sequence_number, verdict?.checked], [false, '2007', PART + 6]);
});

test('a part that has lost its end fails, though every hash of it is right', async () => {
  const { verdict } = await verify(3 * PART, { cut: PART + 100 });
  assert.deepEqual(verdict?.failure, { sequence_number: (PART + 100).toString(), kind: 'gap' });
  assert.equal(verdict?.valid, false);
});

test('it can be stopped, and then gives no verdict', async () => {
  let questions = 0;
  const { verdict, asked } = await verify(5 * PART, {}, () => questions++ > 1);
  assert.equal(verdict, undefined);
  assert.equal(asked.length, 2);
});
