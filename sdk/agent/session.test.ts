import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spareOf } from './session.ts';

const MINUTE = 60_000;

test('a session of an hour is renewed from minute 50 on, once before the hour and then in the ten minutes after it', () => {
  for (const random of [0, 0.5, 0.999]) {
    // Fetched at a minute of the hour, it lasts until ten minutes after its end.
    const renewedAt = (minute: number) => {
      const left = (70 - minute) * MINUTE;
      return minute + (left - spareOf(left, random)) / MINUTE;
    };
    for (let minute = 0; minute < 50; minute++) {
      const first = renewedAt(minute);
      assert.ok(first >= 50 && first < 58.1, `fetched at ${minute}, renewed at ${first}`);
      const second = renewedAt(first);
      assert.ok(second > 60 && second < 68, `and then at ${second}`);
    }
  }
});

test('a session of five minutes is renewed in the last two of them', () => {
  for (const random of [0, 0.999]) {
    const spare = spareOf(5 * MINUTE, random);
    assert.ok(spare >= 1.5 * MINUTE && spare <= 2 * MINUTE, String(spare));
  }
});
