import assert from 'node:assert/strict';
import test from 'node:test';
import { newQueryClient } from './query-client.ts';

/** Milliseconds until a list in this state is read again by itself; false for never. */
function readAgain(status: 'error' | 'success', error: unknown): unknown {
  const again = newQueryClient().getDefaultOptions().queries?.refetchInterval;
  assert.ok(typeof again === 'function');
  return again({ state: { status, error } } as unknown as Parameters<typeof again>[0]);
}

test('a list that failed in an outage is read again by itself, and one that was refused is not', () => {
  assert.equal(readAgain('error', { data: { status: 503 } }), 10_000);
  assert.equal(readAgain('error', new TypeError('fetch failed')), 10_000, 'nothing answered');
  assert.equal(readAgain('error', { data: { status: 403 } }), false);
  assert.equal(readAgain('error', { data: { status: 500 } }), false);
  assert.equal(readAgain('success', null), false);
});
