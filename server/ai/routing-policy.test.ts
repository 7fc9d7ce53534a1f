import assert from 'node:assert/strict';
import test from 'node:test';
import { delayBefore, routingPolicy, shownRoutingPolicy } from './routing-policy.ts';

test('without anything stored there is one attempt and no wait beyond the defaults', () => {
  const policy = routingPolicy({});
  assert.equal(policy.max_attempts, 1);
  assert.deepEqual(policy.retry_on, []);
  assert.equal(policy.attempt_timeout_ms, 120_000);
  for (const damaged of [null, 'x', 7, [], { retry_on: 'all', backoff_ms: '5', route_weights: [1] }])
    assert.deepEqual(routingPolicy(damaged), policy);
});

test('every number is clamped where it is read, and retries need a reason', () => {
  const policy = routingPolicy({
    max_attempts: 99,
    retry_on: ['5xx', '429', '5xx', 'never'],
    backoff_ms: -1,
    backoff_multiplier: 1e9,
    max_backoff_ms: Number.POSITIVE_INFINITY,
    max_retry_after_ms: 1e9,
    attempt_timeout_ms: 1,
    route_weights: { a: 0, b: 5_000, c: 3 },
  });
  assert.deepEqual(policy, {
    max_attempts: 5,
    retry_on: ['429', '5xx'],
    backoff_ms: 0,
    backoff_multiplier: 10,
    circuit: null,
    max_backoff_ms: 30_000,
    jitter: true,
    respect_retry_after: true,
    max_retry_after_ms: 60_000,
    route_weights: { a: 1, b: 1_000, c: 3 },
    attempt_timeout_ms: 1_000,
  });
  assert.equal(routingPolicy({ max_attempts: 4 }).max_attempts, 1);
  assert.deepEqual(shownRoutingPolicy({ max_attempts: 99, retry_on: ['5xx'] }), { max_attempts: 5, retry_on: ['5xx'] });
});

test('waits are those of the interface’s example', () => {
  const policy = routingPolicy({ max_attempts: 4, retry_on: ['429'], backoff_ms: 250, backoff_multiplier: 2, jitter: false });
  assert.deepEqual(
    [2, 3, 4].map((n) => delayBefore(policy, n, null, 0)),
    [250, 500, 1_000],
  );
  assert.equal(delayBefore(policy, 3, 3_000, 0), 3_000);
  assert.equal(delayBefore(policy, 4, 100, 0), 1_000, 'never shorter');
  assert.equal(delayBefore(policy, 2, 60_001, 0), null);
  assert.equal(delayBefore(routingPolicy({ respect_retry_after: false, jitter: false }), 2, 90_000, 0), 250);
  const jittered = routingPolicy({ backoff_ms: 1_000 });
  assert.equal(delayBefore(jittered, 2, null, 0), 500);
  assert.equal(delayBefore(jittered, 2, null, 1), 1_000);
});
