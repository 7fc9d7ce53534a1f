import assert from 'node:assert/strict';
import test from 'node:test';
import { bucketOf, emptyBuckets, LATENCY_BUCKETS, percentile, upperEdge } from './buckets.ts';

test('every duration has one bucket, and longer ones never a lower one', () => {
  assert.equal(bucketOf(0), 0);
  assert.equal(bucketOf(Number.NaN), 0);
  assert.equal(bucketOf(1), 0);
  assert.equal(bucketOf(120_000), LATENCY_BUCKETS - 1);
  assert.equal(bucketOf(9e9), LATENCY_BUCKETS - 1);
  for (let i = 1; i < LATENCY_BUCKETS; i++) {
    assert.equal(bucketOf(upperEdge(i)), i);
    assert.equal(bucketOf(upperEdge(i) * 1.001), Math.min(i + 1, LATENCY_BUCKETS - 1));
  }
});

test('a percentile of many durations lies within one bucket of the exact one', () => {
  const durations = Array.from({ length: 10_000 }, (_, i) => 1 + ((i * 7919) % 10_000) * 3);
  const counts = emptyBuckets();
  for (const ms of durations) counts[bucketOf(ms)]! += 1;
  const sorted = durations.toSorted((a, b) => a - b);
  for (const p of [0.5, 0.95, 0.99]) {
    const exact = sorted[Math.ceil(p * sorted.length) - 1]!;
    assert.ok(Math.abs(percentile(counts, p)! / exact - 1) < 0.2, `${p}: ${percentile(counts, p)} for ${exact}`);
  }
  assert.equal(percentile(emptyBuckets(), 0.5), null);
});

test('a percentile never exceeds the longest duration, unless that was not recorded', () => {
  const counts = emptyBuckets();
  for (const ms of [5, 310]) counts[bucketOf(ms)]! += 1;
  assert.equal(percentile(counts, 0.99, 310), 310);
  assert.ok(percentile(counts, 0.99)! > 310, 'the edge of the bucket lies above');
  assert.ok(percentile(counts, 0.5, 310)! < 7, 'a lower percentile is left alone');
  assert.equal(percentile(counts, 0.99, 0), percentile(counts, 0.99), 'rows without a maximum cap nothing');
});
