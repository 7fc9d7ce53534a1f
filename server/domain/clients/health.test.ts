import assert from 'node:assert/strict';
import test from 'node:test';
import { healthOf } from './health.shared.ts';

test('a client is healthy below 5 % of failures, degraded up to 25 %, down above, and idle without calls', () => {
  assert.deepEqual(
    [
      [0, 0],
      [100, 0],
      [100, 4],
      [100, 5],
      [100, 25],
      [100, 26],
      [1, 1],
    ].map(([calls, errors]) => healthOf(calls!, errors!)),
    ['idle', 'healthy', 'healthy', 'degraded', 'degraded', 'down', 'down'],
  );
});
