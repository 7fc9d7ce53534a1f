import assert from 'node:assert/strict';
import test from 'node:test';
import { isOpenIn, isSamePageExcept } from './panel-address.ts';

const at = (path: string) => `https://gate.example${path}`;
const same = (one: string, other: string) => isSamePageExcept('peek', at(one), at(other));

test('what a panel shows is no other place, nor is the same text escaped otherwise', () => {
  assert.ok(same('/a/live/logs?peek=1', '/a/live/logs'));
  assert.ok(same('/a/live/logs?q=x%2Cy&peek=3', '/a/live/logs?peek=2&q=x,y'));
});

test('other filters, another space and the panel of another name are other places', () => {
  assert.ok(!same('/a/live/logs?q=x&peek=1', '/a/live/logs'));
  assert.ok(!same('/a/live/logs?peek=1', '/a/test/logs'));
  assert.ok(!same('/a/live/logs?compare=1', '/a/live/logs'));
  assert.ok(!isSamePageExcept('peek', at('/a/live/logs?peek=1'), 'about:blank'));
});

test('a panel is open by its own name alone', () => {
  assert.deepEqual(
    ['?peek=1', '?peek=', '?compare=1', '#peek=1'].map((end) => isOpenIn('peek', at(`/logs${end}`))),
    [true, true, false, false],
  );
});
