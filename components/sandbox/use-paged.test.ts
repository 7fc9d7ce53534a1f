import assert from 'node:assert/strict';
import test from 'node:test';
import { pagedOf } from './use-paged.ts';

const items = Array.from({ length: 230 }, (_, i) => i);
const shown = (page: number, per_page: number) => {
  const { rows, pagination } = pagedOf(items, { page, per_page }, () => undefined);
  return [rows?.[0], rows?.length, pagination.meta.page, pagination.meta.per_page];
};

test('a page of a list begins where the one before ends, and the last one has the rest', () => {
  assert.deepEqual(
    [shown(1, 50), shown(2, 50), shown(5, 50)],
    [
      [0, 50, 1, 50],
      [50, 50, 2, 50],
      [200, 30, 5, 50],
    ],
  );
});

test('an address that asks for no page, one behind the end, or all at once gets a page of the list', () => {
  assert.deepEqual(
    [shown(-3, 50), shown(99, 50), shown(1, 0), shown(1, 1e9)],
    [
      [0, 50, 1, 50],
      [200, 30, 5, 50],
      [0, 1, 1, 1],
      [0, 100, 1, 100],
    ],
  );
});
