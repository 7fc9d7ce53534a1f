import assert from 'node:assert/strict';
import test from 'node:test';
import { assertGrowsLinearly } from './growth.ts';

const text = (size: number) => 'a'.repeat(size);

/** Visits each of `count` numbers. */
function visit(count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + i) % 1_000_003;
  return sum;
}

test('linear work passes, also when it is asynchronous, of constant cost or times a logarithm', async () => {
  await assertGrowsLinearly('linear', 100_000, text, (a) => visit(a.length));
  await assertGrowsLinearly('asynchronous', 100_000, text, async (a) => visit(a.length));
  await assertGrowsLinearly('constant', 100_000, text, (a) => visit(a.length & 1));
  await assertGrowsLinearly(
    'sorting',
    100_000,
    (size) => Array.from({ length: size }, (_, i) => (i * 7919) % 104_729),
    (all) => all.toSorted((a, b) => a - b),
  );
});

test('quadratic work fails, in code of ours and in a regular expression', async () => {
  await assert.rejects(
    assertGrowsLinearly('every pair', 20_000, text, (a) => visit(a.length ** 2)),
    /^AssertionError.*every pair: size \d+ takes [\d.]+ times as long as 32 of size \d+/,
  );
  await assert.rejects(
    assertGrowsLinearly('from every place', 20_000, text, (a) => /a*b/.test(a)),
    /from every place/,
  );
  await assert.rejects(
    assertGrowsLinearly('copied each time', 20_000, text, async (a) => {
      let all: string[] = [];
      for (const letter of a) all = [...all, letter];
      return all;
    }),
    /copied each time/,
  );
});

test('quadratic work fails beside dear linear work', async () => {
  const work = (a: string) => [visit(a.length * 60), visit(a.length ** 2)];
  await assert.rejects(assertGrowsLinearly('mixed', 2_000, text, work), /mixed/);
});

test('exponential work fails soon', async () => {
  await assert.rejects(
    assertGrowsLinearly('doubled', 1_000_000, text, (a) => visit(2 ** a.length)),
    /doubled/,
  );
  await assert.rejects(
    assertGrowsLinearly(
      'nested',
      1_000_000,
      (size) => `${text(size)}!`,
      (a) => /^(a+)+$/.test(a),
    ),
    /nested/,
  );
});
