import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { expectedPage } from '#server/testing/suites/paging.ts';
import { clampPage, pageOf } from './page.ts';

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
