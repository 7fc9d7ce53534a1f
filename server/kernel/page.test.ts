import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { expectedPage } from '#server/testing/suites/paging.ts';
import { clampPage, pageOf, pageWarnings } from './page.ts';

test('the clamp holds for all whole numbers, and no page starts beyond the ceiling', () => {
  const anyInteger = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.integer({ min: -3, max: 130 }), fc.constantFrom(5_001, 1_001, 100_001));
  fc.assert(
    fc.property(anyInteger, anyInteger, fc.nat({ max: 2 ** 40 }), (page, per_page, total) => {
      const { rows, ...meta } = pageOf([], total, { page, per_page });
      assert.deepEqual(meta, expectedPage(String(page), String(per_page), total));
      const { skip } = clampPage({ page, per_page });
      assert.equal(skip, (meta.page - 1) * meta.per_page);
      assert.ok(skip >= 0 && skip <= 100_000 && rows.length === 0);
    }),
    { numRuns: 2_000 },
  );
});

test('a page that is not the one asked for, or behind which rows remain, comes with a warning', () => {
  const told = (page: number, per_page: number, total: number) => pageWarnings({ page, per_page }, pageOf([], total, { page, per_page }));
  assert.deepEqual(told(1, 20, 41), []);
  assert.deepEqual(told(7, 20, 41), [], 'an empty page says so by itself');
  assert.deepEqual(told(5_000, 20, 125_002), []);
  assert.match(
    told(5_002, 20, 125_002).join(),
    /^This is page 5,001, the last one that can be read: .* the list has 125,002\. Stop at meta\.total_pages/,
  );
  assert.equal(told(5_001, 20, 125_002).length, 1, 'the deepest page of a longer list');
  assert.deepEqual(told(5_001, 20, 100_020), [], 'the deepest page of a list that ends there');
  assert.match(told(5_002, 20, 41).join(), /^This is page 5,001/);
  assert.match(told(0, 20, 41).join(), /^page must be at least 1/);
  assert.match(told(1, 1_000, 41).join(), /^per_page must be between 1 and 100\. This page has up to 100 rows/);
});
