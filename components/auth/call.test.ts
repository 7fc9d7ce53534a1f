import assert from 'node:assert/strict';
import test from 'node:test';
import { isOwnPath, withWait } from './call.ts';

test('a page to return to is a path of this dashboard and nothing a browser reads as another site', () => {
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

test('a wait is part of the sentence that asks for it', () => {
  const message = 'Too many attempts. Wait a little and try again.';
  assert.equal(withWait(message, 2_450), 'Too many attempts. Wait a little and try again, in about 41 minutes.');
  assert.equal(withWait(message, 30), 'Too many attempts. Wait a little and try again, in about 30 seconds.');
  assert.equal(withWait(message, 0), message);
  assert.equal(withWait('The next is answered in 7 seconds.', 7), 'The next is answered in 7 seconds.');
});
