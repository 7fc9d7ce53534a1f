import assert from 'node:assert/strict';
import test from 'node:test';
import { changeOf, periodsOf } from './ranges.ts';

test('two visits within a minute ask for the same figures, and the periods touch without overlap', () => {
  const at = Date.parse('2026-11-21T10:20:05.000Z');
  const one = periodsOf('1h', at);
  assert.deepEqual(one, periodsOf('1h', at + 50_000));
  assert.equal(one.current.from, one.before.to);
  assert.equal(one.current.to, '2026-11-21T10:21:00.000Z');
});

test('fewer errors are better, fewer calls are worse', () => {
  assert.deepEqual(changeOf(5, 10, true), { text: '50%', direction: 'down', good: true });
  assert.deepEqual(changeOf(5, 10, false), { text: '50%', direction: 'down', good: false });
});

test('nothing is claimed where nothing can be compared', () => {
  assert.equal(changeOf(5, 0, true), undefined);
  assert.equal(changeOf(null, 3, true), undefined);
  assert.equal(changeOf(3, 3, true), undefined);
});
