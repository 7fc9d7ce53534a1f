import assert from 'node:assert/strict';
import test from 'node:test';
import { groupsOf } from './groups.ts';

test('neighbours about one thing are one group, and the order stays', () => {
  const rows = ['a', 'a', 'b', 'a'].map((group, i) => ({ id: String(i), group }));
  assert.deepEqual(
    groupsOf(rows).map(({ newest, earlier }) => [newest.id, ...earlier.map(({ id }) => id)]),
    [['0', '1'], ['2'], ['3']],
  );
  assert.deepEqual(groupsOf([]), []);
});
