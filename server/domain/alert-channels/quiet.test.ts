import assert from 'node:assert/strict';
import test from 'node:test';
import { isQuiet, quietUntil } from './quiet.shared.ts';

const hours = (from: string, to: string, timezone = 'UTC') => ({ from, to, timezone, except_critical: true });
const quiet = (h: ReturnType<typeof hours>, iso: string) => isQuiet(h, new Date(iso));

test('hours over midnight are quiet on both sides of it; the first minute is quiet, the last is not', () => {
  const night = hours('22:00', '07:00');
  assert.deepEqual(
    ['21:59:59', '22:00:00', '23:59:59', '00:00:00', '06:59:59', '07:00:00'].map((clock) => quiet(night, `2026-03-01T${clock}Z`)),
    [false, true, true, true, true, false],
  );
  assert.equal(quietUntil(night, new Date('2026-03-01T22:30:10Z')).toISOString(), '2026-03-02T07:00:00.000Z');
  assert.equal(quietUntil(night, new Date('2026-03-01T12:00:10Z')).toISOString(), '2026-03-01T12:00:10.000Z', 'otherwise now');
});

test('hours of one day, and none at all', () => {
  const noon = hours('12:00', '13:30');
  assert.deepEqual([quiet(noon, '2026-03-01T12:00:00Z'), quiet(noon, '2026-03-01T13:30:00Z')], [true, false]);
  assert.deepEqual([quiet(hours('08:00', '08:00'), '2026-03-01T08:00:00Z'), isQuiet(null, new Date())], [false, false]);
});

test('they are those of the timezone, also in the nights when its clocks change', () => {
  const berlin = hours('22:00', '07:00', 'Europe/Berlin');
  assert.deepEqual([quiet(berlin, '2026-01-01T20:59:00Z'), quiet(berlin, '2026-01-01T21:00:00Z')], [false, true]);
  assert.deepEqual([quiet(berlin, '2026-07-01T19:59:00Z'), quiet(berlin, '2026-07-01T20:00:00Z')], [false, true]);
  assert.equal(quietUntil(berlin, new Date('2026-03-28T22:00:00Z')).toISOString(), '2026-03-29T05:00:00.000Z', 'an hour is skipped');
  assert.equal(quietUntil(berlin, new Date('2026-10-24T21:00:00Z')).toISOString(), '2026-10-25T06:00:00.000Z', 'an hour comes twice');
  const india = hours('22:00', '06:00', 'Asia/Kolkata');
  assert.deepEqual([quiet(india, '2026-05-05T16:29:00Z'), quiet(india, '2026-05-05T16:30:00Z')], [false, true]);
});
