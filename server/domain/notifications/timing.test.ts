import assert from 'node:assert/strict';
import test from 'node:test';
import { settingsOf } from './settings.ts';
import { isWithin, mailTime } from './timing.ts';

const row = (more: object) => ({
  ...{ channels: {}, digest: 'instant', quiet_from: null, quiet_until: null, timezone: 'UTC', resources: [] },
  ...more,
});
const at = (digest: string, now: string, more: object = {}, kind: 'operations' | 'security' = 'operations') =>
  mailTime(kind, settingsOf(row({ digest, ...more }), 'viewer', (more as { zone?: string }).zone ?? null), new Date(now)).toISOString();

test('a mail leaves at once, with the next hour, or at eight in the morning of its reader', () => {
  assert.equal(at('instant', '2026-11-23T10:20:30Z'), '2026-11-23T10:20:30.000Z');
  assert.equal(at('hourly', '2026-11-23T10:20:30Z'), '2026-11-23T11:00:00.000Z');
  assert.equal(at('hourly', '2026-11-23T10:00:00Z'), '2026-11-23T11:00:00.000Z');
  assert.equal(at('daily', '2026-11-23T07:59:00Z'), '2026-11-23T08:00:00.000Z');
  assert.equal(at('daily', '2026-11-23T08:00:00Z'), '2026-11-24T08:00:00.000Z');
  assert.equal(at('daily', '2026-11-23T10:20:30Z', { zone: 'Asia/Kolkata' }), '2026-11-24T02:30:00.000Z');
});

test('eight in the morning stays eight on the days when the clocks change', () => {
  assert.equal(at('daily', '2026-10-24T12:00:00Z', { zone: 'Europe/Berlin' }), '2026-10-25T07:00:00.000Z');
  assert.equal(at('daily', '2026-03-28T12:00:00Z', { zone: 'Europe/Berlin' }), '2026-03-29T06:00:00.000Z');
});

test('within quiet hours a mail waits for their end, in the zone they were set for; security does not wait', () => {
  const quiet = { quiet_from: '22:00', quiet_until: '07:00', timezone: 'America/New_York' };
  assert.equal(at('instant', '2026-11-24T02:59:59Z', quiet), '2026-11-24T02:59:59.000Z', '21:59');
  assert.equal(at('instant', '2026-11-24T03:00:00Z', quiet), '2026-11-24T12:00:00.000Z', '22:00');
  assert.equal(at('instant', '2026-11-24T11:59:00Z', quiet), '2026-11-24T12:00:00.000Z', '06:59');
  assert.equal(at('instant', '2026-11-24T12:00:00Z', quiet), '2026-11-24T12:00:00.000Z', '07:00');
  assert.equal(at('instant', '2026-11-24T03:00:00Z', quiet, 'security'), '2026-11-24T03:00:00.000Z');
  assert.equal(at('hourly', '2026-11-24T02:30:00Z', quiet), '2026-11-24T12:00:00.000Z', 'its hour lies within them');
});

test('a span of hours may pass midnight', () => {
  assert.deepEqual(
    [1_320, 1_439, 0, 419, 420, 1_319].map((minute) => isWithin(minute, 1_320, 420)),
    [true, true, true, true, false, false],
  );
  assert.deepEqual(
    [539, 540, 719, 720].map((minute) => isWithin(minute, 540, 720)),
    [false, true, true, false],
  );
});
