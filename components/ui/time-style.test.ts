import assert from 'node:assert/strict';
import test from 'node:test';
import { dayText, momentText } from './time-style.ts';

test('a day is written as the person chose, in the zone they chose', () => {
  // Half past midnight of the 22nd in UTC is the 21st west of it.
  const at = new Date('2026-11-22T00:30:00Z');
  const day = (date_format: string | null) => dayText(at, { times: 'utc', date_format });
  assert.deepEqual(['iso', 'dmy', 'mdy'].map(day), ['2026-11-22', '22/11/2026', '11/22/2026']);
  assert.match(momentText(at, { times: 'utc', date_format: 'iso' }), /^2026-11-22, .*30/);
  const own = new Intl.DateTimeFormat('sv', { dateStyle: 'short' }).format(at);
  assert.equal(dayText(at, { times: 'local', date_format: 'iso' }), own);
  assert.ok(day(null).length > 0);
});
