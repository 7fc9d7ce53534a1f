import assert from 'node:assert/strict';
import test from 'node:test';
import type { Log } from '#components/logs/call-kind.ts';
import { awaitedCall } from './awaited-call.ts';

const log = (request_id: string, more: Partial<Log> = {}) =>
  ({ request_id, ts: `2026-11-22T10:00:0${request_id}.000Z`, error: null, status_code: 200, proxy_mode: 'route', ...more }) as Log;
const refused = { error: 'invalid_api_key', status_code: 401 };

test('shows a call that arrived before the stream connected', () => {
  assert.equal(awaitedCall([], []), undefined);
  assert.deepEqual(awaitedCall([], [log('1')]), { call: log('1'), succeeded: true, more: 0 });
});

test('does not count a refused or failed call as a success, and prefers a later successful one', () => {
  const only = awaitedCall([log('1', refused)], []);
  assert.deepEqual([only?.call.request_id, only?.succeeded], ['1', false]);
  assert.equal(awaitedCall([], [log('1', { status_code: 502 })])?.succeeded, false);
  const both = awaitedCall([log('3', refused), log('2')], [log('1', refused)]);
  assert.deepEqual([both?.call.request_id, both?.succeeded, both?.more], ['2', true, 2]);
});

test('counts a call once that the list and the stream both have, and ignores the Test tab', () => {
  assert.equal(awaitedCall([log('1')], [log('1')])?.more, 0);
  assert.equal(awaitedCall([log('1', { proxy_mode: 'test' })], []), undefined);
});
