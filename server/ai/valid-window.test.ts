import assert from 'node:assert/strict';
import test from 'node:test';
import { insideWindow } from './valid-window.ts';

const at = (text: string) => Date.parse(text);

test('instants bound a window: the first counts, the last does not', () => {
  const window = { not_before: '2026-11-20T10:00:00Z', not_after: '2026-11-20T11:00:00Z' };
  assert.deepEqual(
    ['09:59:59.999', '10:00:00', '10:59:59.999', '11:00:00'].map((time) => insideWindow(window, at(`2026-11-20T${time}Z`))),
    [false, true, true, false],
  );
});

test('times of day are of the wall clock of the zone, on both sides of a change of clocks', () => {
  const window = { from: '09:00', to: '17:00', tz: 'Europe/Berlin' };
  assert.equal(insideWindow(window, at('2026-10-24T07:00:00Z')), true, 'summer: 09:00 is 07:00Z');
  assert.equal(insideWindow(window, at('2026-10-26T07:30:00Z')), false, 'winter: 08:30');
  assert.equal(insideWindow(window, at('2026-10-26T15:59:59Z')), true);
  assert.equal(insideWindow(window, at('2026-10-26T16:00:00Z')), false);
});

test('a period over midnight belongs to the day it began on', () => {
  const window = { days: [5], from: '22:00', to: '06:00' };
  assert.equal(insideWindow(window, at('2026-11-20T23:00:00Z')), true, 'Friday night');
  assert.equal(insideWindow(window, at('2026-11-21T05:59:00Z')), true, 'until Saturday morning');
  assert.equal(insideWindow(window, at('2026-11-20T05:00:00Z')), false, 'Friday morning is Thursday’s night');
  assert.equal(insideWindow(window, at('2026-11-21T23:00:00Z')), false);
});

test('days alone are whole days', () => {
  assert.equal(insideWindow({ days: [7], tz: 'Pacific/Auckland' }, at('2026-11-21T12:00:00Z')), true, 'Sunday there already');
  assert.equal(insideWindow({ days: [7] }, at('2026-11-21T12:00:00Z')), false);
});
