import assert from 'node:assert/strict';
import test from 'node:test';
import { order, series } from './time-buckets.ts';

test('success is green in charts, and every class has a color of its own', () => {
  assert.equal(series.ok.fill, 'bg-good');
  assert.deepEqual([series.client_error.fill, series.server_error.fill], ['bg-warn', 'bg-bad']);
  assert.equal(new Set(order.map((name) => series[name].fill)).size, order.length);
});
