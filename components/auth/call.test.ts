import assert from 'node:assert/strict';
import test from 'node:test';
import { isOwnPath, withWait } from './call.ts';

test('accepts only paths of this dashboard as the page to return to', () => {
  for (const own of ['/', '/acme/test', '/acme/live/routes?q=a%20b#top']) assert.equal(isOwnPath(own), true, own);
  for (const foreign of [
    '',
    'https://evil.test',
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    'javascript:alert(1)',
    '/a\n/b',
    '/x\\y',
    ' /x',
  ])
    assert.equal(isOwnPath(foreign), false, foreign);
});

test('adds the wait to the sentence that asks for it', () => {
  const message = 'Too many attempts. Try again later.';
  assert.equal(withWait(message, 2_450), 'Too many attempts. Try again in about 41 minutes.');
  assert.equal(withWait(message, 1), 'Too many attempts. Try again in about 1 second.');
  assert.equal(withWait(message, 0), message);
  assert.equal(withWait('The next is answered in 7 seconds.', 7), 'The next is answered in 7 seconds.');
});
