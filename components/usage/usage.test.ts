import assert from 'node:assert/strict';
import test from 'node:test';
import { countScale } from '#components/ui/scale.ts';
import { stacked } from './layers.ts';
import { limitDay, monthOf, monthsBefore } from './month.ts';

test('a month has its own days in UTC, whatever its length', () => {
  assert.deepEqual([monthOf('2028-02').from, monthOf('2028-02').to], ['2028-02-01', '2028-02-29']);
  assert.deepEqual(
    monthsBefore(2026, 2)
      .slice(0, 3)
      .map(({ id }) => id),
    ['2026-02', '2026-01', '2025-12'],
  );
});

test('the day the plan ends at this pace is told only when it lies within the month', () => {
  const now = Date.parse('2026-11-11T00:00:00Z'); // a third of thirty days
  assert.equal(limitDay({ used: 50_000, limit: 100_000, now }), '2026-11-21');
  assert.equal(limitDay({ used: 30_000, limit: 100_000, now }), undefined);
  assert.equal(limitDay({ used: 100_000, limit: 100_000, now }), undefined, 'it is reached already');
  assert.equal(limitDay({ used: 0, limit: 100_000, now }), undefined);
});

const day = (day: string, counted: number) => ({ day, calls: counted, errors: 0, counted });

test('the layers of a day add up to what was counted on it, and what is gone still has its layer', () => {
  const days = [day('2026-11-01', 10), day('2026-11-02', 5)];
  const series = [
    { id: 'a', name: 'payments', calls: [6, 5], counted: [6, 5] },
    { id: '0123456789', name: null, calls: [2, 0], counted: [2, 0] },
  ];
  const layers = stacked({ days, series }, { none: 'no key', more: true });
  assert.deepEqual(
    layers.map(({ label, values }) => [label, values]),
    [
      ['payments', [6, 5]],
      ['Deleted (01234567)', [2, 0]],
      ['Other, or no key', [2, 0]],
    ],
  );
  assert.equal(stacked({ days, series }, { none: 'no key', more: false }).at(-1)?.label, 'No key');
  assert.deepEqual(stacked({ days, series: [] }, { none: '', more: false }), [{ label: 'Calls', values: [10, 5] }]);
});

test('a scale ends at a round number', () => {
  const top = (count: number) => countScale([0, count]).top;
  assert.deepEqual([0, 1, 3, 113, 400, 401, 9_999].map(top), [2, 2, 4, 200, 400, 600, 10_000]);
});
