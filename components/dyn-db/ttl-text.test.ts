import assert from 'node:assert/strict';
import test from 'node:test';
import { clockText, secondsIn, ttlText, ttlWords } from './ttl-text.ts';

test('a lifetime is read as people write it', () => {
  assert.deepEqual(['900', '15m', '8 h', '7D', '30s', ' 60 '].map(secondsIn), [900, 900, 28_800, 604_800, 30, 60]);
  for (const text of ['', 'soon', '1.5h', '-5', '1w', '1h30m', '999999999']) assert.equal(secondsIn(text), undefined, text);
});

test('a lifetime is written in the longest unit that fits, and reads back', () => {
  assert.deepEqual([900, 3_600, 86_400, 90, 5_400].map(ttlText), ['15m', '1h', '1d', '90s', '90m']);
  for (const seconds of [60, 900, 3_600, 86_400, 31_536_000, 61]) assert.equal(secondsIn(ttlText(seconds)), seconds);
  assert.deepEqual([60, 7_200].map(ttlWords), ['1 minute', '2 hours']);
});

test('time that is left is shown as a clock', () => {
  assert.deepEqual([-5, 0, 42.9, 845, 10_929, 184_500].map(clockText), ['0:00', '0:00', '0:42', '14:05', '3:02:09', '2 d 03:15']);
});
