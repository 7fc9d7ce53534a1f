import assert from 'node:assert/strict';
import test from 'node:test';
import { kept } from './kept.ts';

test('what is over the size goes, the least recently used first, and the newest stays whatever its size', () => {
  const values = kept<string>(10, 100);
  for (const key of ['a', 'b', 'c']) values.set(key, key, 3);
  assert.equal(values.get('a'), 'a');
  values.set('d', 'd', 4);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((key) => values.get(key)),
    ['a', undefined, 'c', 'd'],
  );
  values.set('whole', 'whole', 1_000);
  assert.deepEqual(
    ['a', 'c', 'd', 'whole'].map((key) => values.get(key)),
    [undefined, undefined, undefined, 'whole'],
  );
  values.set('e', 'e', 10);
  assert.deepEqual([values.get('whole'), values.get('e')], [undefined, 'e']);
});

test('what is over the number goes, however small, and what is replaced or deleted counts no more', () => {
  const values = kept<number>(10, 3);
  for (let i = 0; i < 100; i++) values.set(`${i}`, i, 0);
  assert.deepEqual(
    ['96', '97', '98', '99'].map((key) => values.get(key)),
    [undefined, 97, 98, 99],
  );
  for (let i = 0; i < 100; i++) values.set('99', i, 10);
  values.delete('99');
  values.set('last', 1, 10);
  assert.deepEqual([values.get('97'), values.get('98'), values.get('last')], [97, 98, 1]);
});
