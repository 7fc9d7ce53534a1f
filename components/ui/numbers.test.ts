import assert from 'node:assert/strict';
import test from 'node:test';
import { counted, exactMillis, grouped, millis, shareOf } from './numbers.ts';

/** As it is read: the space before a unit does not break. */
const plain = (texts: readonly (string | undefined)[]) => texts.map((text) => text?.replaceAll('\u00a0', ' '));

test('numbers are written alike whatever the language of the browser or of the server', () => {
  assert.deepEqual([grouped(12_847), grouped(0), grouped(null), grouped(undefined)], ['12,847', '0', undefined, undefined]);
  assert.deepEqual(
    [counted(1, 'call'), counted(0, 'call'), counted(1_200, 'call'), counted(2, 'query', 'queries')],
    ['1 call', '0 calls', '1,200 calls', '2 queries'],
  );
});

test('a share that is there is never written as nothing', () => {
  const shares = [shareOf(0, 10), shareOf(1, 10_000), shareOf(1, 1_000), shareOf(1, 3), shareOf(30, 10), shareOf(1, 0)];
  assert.deepEqual(plain(shares), ['0%', '< 0.1%', '0.1%', '33%', '300%', '0%']);
});

test('a time that is unknown, one that never was, and one too short to write are told apart', () => {
  assert.deepEqual(plain([millis(undefined), millis(null), millis(0), millis(1_234.6)]), ['…', '—', '0 ms', '1,235 ms']);
  assert.deepEqual(plain([exactMillis(0), exactMillis(0.01), exactMillis(1.26), exactMillis(1_234)]), [
    '0.0 ms',
    '< 0.1 ms',
    '1.3 ms',
    '1,234 ms',
  ]);
});
