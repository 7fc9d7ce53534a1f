import assert from 'node:assert/strict';
import test from 'node:test';
import { isOwnPath } from './call.ts';

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
