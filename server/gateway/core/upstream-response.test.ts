import assert from 'node:assert/strict';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { nominatedBy } from './upstream-headers.ts';
import { namesOf } from './upstream-response.ts';

test('as many headers as an upstream may send cost what they are long, and the log keeps the first names', async () => {
  const namesLike = (length: number) => Array.from({ length }, (_, i) => i.toString(36).padStart(3, 'x'));
  const names = namesLike(10_000);
  const headers = names.flatMap((name) => [name, '']);
  assert.deepEqual(namesOf(headers), names.slice(0, 200));
  assert.deepEqual(namesOf(['a', '1', 'b', '2', 'a', '3']), ['a', 'b']);
  const nominated = nominatedBy(names.join(', ')) ?? new Set();
  assert.ok(nominated.has('xx0') && !nominated.has('other'));
  await assertGrowsLinearly('names', 10_000, (size) => namesLike(size).flatMap((name) => [name, '']), namesOf);
  await assertGrowsLinearly('nominated names', 10_000, namesLike, (some) => {
    const all = nominatedBy(some.join(', ')) ?? new Set();
    for (const name of some) all.has(`${name}!`);
  });
});
