import assert from 'node:assert/strict';
import test from 'node:test';
import { duration, lifeOf, namesIn, spelledSerial } from './pki-labels.ts';

test('a time to live is said in the longest unit that fits', () => {
  assert.deepEqual([315_360_000, 2_592_000, 5_400, 90, 60, 3_600].map(duration), [
    '10 years',
    '30 days',
    '90 minutes',
    '90 seconds',
    '1 minute',
    '1 hour',
  ]);
});

test('what is left of a lifetime is said in words, and what has passed never exceeds it', () => {
  const life = { not_before: '2026-01-01T00:00:00.000Z', not_after: '2026-01-31T00:00:00.000Z' };
  const at = (text: string) => lifeOf(life, Date.parse(text));
  assert.deepEqual(at('2026-01-11T00:00:00.000Z'), { passed: 864_000, whole: 2_592_000, days: 20, words: '20 days left', soon: true });
  assert.equal(at('2026-01-30T12:00:00.000Z').words, 'less than a day left');
  assert.deepEqual([at('2026-03-01T00:00:00.000Z').words, at('2026-03-01T00:00:00.000Z').passed], ['expired', 2_592_000]);
  assert.equal(at('2025-12-31T00:00:00.000Z').passed, 0);
  const root = { not_before: '2026-01-01T00:00:00.000Z', not_after: '2035-12-30T00:00:00.000Z' };
  assert.deepEqual(lifeOf(root, Date.parse('2026-01-01T00:00:00.000Z')).words, '10 years left');
});

test('names are parted by lines, commas and spaces', () => {
  assert.deepEqual(namesIn(' a.example.com,\nb.example.com  c '), ['a.example.com', 'b.example.com', 'c']);
  assert.deepEqual(namesIn(' \n'), []);
  assert.equal(spelledSerial('0a1b2c'), '0a:1b:2c');
});
