import assert from 'node:assert/strict';
import test from 'node:test';
import { isoTime } from './fields.ts';

test('an instant that the database or the wire cannot hold is refused, not failed over', () => {
  for (const text of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00', '2026-13-01T00:00:00Z'])
    assert.equal(isoTime().safeParse(text).success, false, text);
  for (const text of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z', '2026-02-28T00:00:00+05:30'])
    assert.equal(isoTime().safeParse(text).success, true, text);
});
