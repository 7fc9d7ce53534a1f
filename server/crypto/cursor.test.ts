import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { type CursorScope, decodeCursor, encodeCursor } from './cursor.ts';

const key = createSecretKey(Buffer.alloc(32, 'cursor-key'));
const scope: CursorScope = {
  feed: 'logs',
  tenant_id: '11111111-1111-4111-8111-111111111111',
  space: 'live',
  filters: { status_code: 404, method: undefined },
};

test('a cursor resumes after its row, beyond 2^53 as well', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (seq) =>
      assert.equal(decodeCursor([key], scope, encodeCursor(key, scope, seq)), seq),
    ),
  );
});

test('a cursor holds the documented content', () => {
  const content = JSON.parse(Buffer.from(encodeCursor(key, scope, 7n).split('.')[0] ?? '', 'base64url').toString());
  assert.deepEqual(Object.keys(content), ['v', 'seq', 'space', 'filter_hash']);
  assert.deepEqual([content.v, content.seq, content.space], [1, '7', 'live']);
});

test('a cursor of another tenant, space, feed, filter or key is refused; the order of filters does not matter', () => {
  const cursor = encodeCursor(key, scope, 7n);
  const elsewhere: Partial<CursorScope>[] = [
    { tenant_id: 'x' },
    { space: 'test' },
    { feed: 'audit' },
    { filters: {} },
    { filters: { status_code: '404' } },
    { filters: { status_code: 404, method: 'GET' } },
  ];
  for (const change of elsewhere) assert.equal(decodeCursor([key], { ...scope, ...change }, cursor), undefined, JSON.stringify(change));
  assert.equal(decodeCursor([createSecretKey(Buffer.alloc(32, 1))], scope, cursor), undefined);
  const two = { ...scope, filters: { a: 1, b: 2 } };
  assert.equal(decodeCursor([key], { ...scope, filters: { b: 2, a: 1 } }, encodeCursor(key, two, 9n)), 9n);
});

test('a cursor of the previous root key is good while both keys are known', () => {
  const next = createSecretKey(Buffer.alloc(32, 'next-key'));
  const cursor = encodeCursor(key, scope, 7n);
  assert.equal(decodeCursor([next, key], scope, cursor), 7n);
  assert.equal(decodeCursor([next], scope, cursor), undefined);
});

test('changing any character of a cursor, or cutting or padding it, is refused', () => {
  const cursor = encodeCursor(key, scope, 123_456n);
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
      if (cursor[at] === character) return;
      assert.equal(decodeCursor([key], scope, cursor.slice(0, at) + character + cursor.slice(at + 1)), undefined);
    }),
    { numRuns: 2_000 },
  );
  for (let length = 0; length < cursor.length; length++) assert.equal(decodeCursor([key], scope, cursor.slice(0, length)), undefined);
  for (const text of [`${cursor}=`, `${cursor}A`, ` ${cursor}`, '.', 'a.b', `${cursor}.${cursor}`])
    assert.equal(decodeCursor([key], scope, text), undefined);
});
