import assert from 'node:assert/strict';
import test from 'node:test';
import { newerEntries } from './newer-entries.ts';

const rows = (...ids: string[]) => ids.map((id) => ({ id }));

test('what is new stands above the list once, and a page of nothing but new entries tells of a gap', () => {
  assert.deepEqual(newerEntries(rows('d', 'c', 'b'), rows('b', 'a')), { fresh: rows('d', 'c'), gap: false });
  assert.deepEqual(newerEntries(rows('b', 'a'), rows('b', 'a')), { fresh: [], gap: false });
  assert.deepEqual(newerEntries(rows('z', 'y'), rows('b', 'a')), { fresh: rows('z', 'y'), gap: true });
  assert.deepEqual(newerEntries(rows('a'), rows()), { fresh: rows('a'), gap: false }, 'the first entry of an empty list leaves no gap');
  assert.deepEqual(newerEntries(undefined, rows('a')), { fresh: [], gap: false });
  assert.deepEqual(newerEntries(rows('a'), undefined), { fresh: [], gap: false });
});
