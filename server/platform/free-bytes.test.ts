import assert from 'node:assert/strict';
import test from 'node:test';
import { freeBytes } from './free-bytes.ts';

test('memory that others share is left alone, memory of its own is gone', () => {
  const own = Buffer.alloc(64 * 1024, 'a');
  freeBytes(own);
  assert.equal(own.length, 0);
  assert.equal(own.buffer.byteLength, 0);
  freeBytes(own); // a second time there is nothing left to free

  const whole = Buffer.alloc(64 * 1024, 'b');
  freeBytes(whole.subarray(0, 32 * 1024));
  freeBytes(whole.subarray(32 * 1024));
  assert.equal(whole.toString(), 'b'.repeat(64 * 1024));

  const pooled = Buffer.from('c'.repeat(3_000));
  freeBytes(pooled);
  assert.equal(pooled.toString(), 'c'.repeat(3_000));

  const shared = Buffer.from(new SharedArrayBuffer(8 * 1024));
  freeBytes(shared);
  assert.equal(shared.length, 8 * 1024);
});
