import assert from 'node:assert/strict';
import test from 'node:test';
import { csvOf } from './save-chart.ts';

const part = (name: string) => [{ dimension: 'route' as const, value: '0191', name }];
const at = ['2026-11-23T10:00:00.000Z', '2026-11-23T11:00:00.000Z'] as const;

test('a table has a row for each time and a column for each series, and a gap is empty', () => {
  const text = csvOf({
    series: [
      {
        key: part('orders, "old"'),
        total: 3,
        points: [
          [at[0], 1],
          [at[1], null],
        ],
      },
      {
        key: [],
        total: 2,
        points: [
          [at[0], 0],
          [at[1], 2.5],
        ],
      },
    ],
  });
  assert.equal(text, `time,"orders, ""old""","All calls"\r\n${at[0]},1,0\r\n${at[1]},,2.5\r\n`);
});

test('a name that a spreadsheet would run as a formula is text', () => {
  for (const name of ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)'])
    assert.match(csvOf({ series: [{ key: part(name), total: 0, points: [] }] }), /^time,"'[=+\-@]/);
});
