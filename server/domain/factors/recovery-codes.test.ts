import assert from 'node:assert/strict';
import test from 'node:test';
import { recoveryDigest } from './recovery-codes.ts';

test('a recovery code is stored as the digest of its letters, however it is typed', () => {
  const expected = 'e3ab17ebaadb5f89e7c5f4f93c3b76d08a7784a69bbe64c97e8dd46e8cf05472';
  for (const typed of ['K7QF-M2XR-9DTV', 'k7qfm2xr9dtv', ' K7QF M2XR 9DTV '])
    assert.equal(Buffer.from(recoveryDigest(typed)).toString('hex'), expected);
});
