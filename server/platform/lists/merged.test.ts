import assert from 'node:assert/strict';
import test from 'node:test';
import { mergedKeys, type SortedList } from './merged.ts';

const compare = (a: number, b: number) => a - b;

/** A list in memory that counts what it hands out. */
function listOf(keys: readonly number[], handed: { keys: number }): SortedList<number> {
  return async ({ beyond, offset, limit }) => {
    const from = beyond === undefined ? 0 : keys.findIndex((key) => key > beyond);
    const found = from === -1 ? [] : keys.slice(from + offset, from + offset + limit);
    handed.keys += found.length;
    return found;
  };
}

test('a page of merged lists is that of the whole list, however the lists lie, and few keys are handed over for it', async () => {
  const many = Array.from({ length: 60_000 }, (_, i) => i);
  const shapes: ((key: number) => number)[] = [
    (key) => key % 2,
    (key) => (key < 30_000 ? 0 : 1),
    (key) => (key < 30_000 ? 1 : 0),
    (key) => (key % 1_000 === 0 ? 1 : 0),
    () => 0,
    (key) => key % 3,
  ];
  for (const [shape, side] of shapes.entries()) {
    const lists = [0, 1, 2].map((one) => many.filter((key) => side(key) === one));
    for (const skip of [0, 1, 499, 501, 20_000, 59_990, 60_000, 99_980]) {
      const handed = { keys: 0 };
      const found = await mergedKeys(
        lists.map((keys) => listOf(keys, handed)),
        { skip, take: 20 },
        compare,
      );
      assert.deepEqual(found, many.slice(skip, skip + 20), `shape ${shape}, ${skip} passed over`);
      assert.ok(handed.keys < 2_000, `${handed.keys} keys for shape ${shape}, ${skip} passed over`);
    }
  }
  assert.deepEqual(await mergedKeys([listOf(many, { keys: 0 })], { skip: 5, take: 0 }, compare), []);
});
