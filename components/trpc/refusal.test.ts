import assert from 'node:assert/strict';
import test from 'node:test';
import { refusalOf } from './refusal.ts';

const answered = (status: number, responseJSON: unknown) => ({ message: 'Unknown error', meta: { response: { status }, responseJSON } });

test('a body that the gateway refused is told as that, and not as a lost connection', () => {
  const refused = { error: 'payload_too_large', code: 'payload_too_large', message: 'The request body is too large.', request_id: 'r1' };
  assert.deepEqual(refusalOf(answered(413, refused)), {
    code: 'payload_too_large',
    message: 'The request body is too large.',
    request_id: 'r1',
    status: 413,
  });
});

test('what no refusal of ours is stays a lost connection: it is worth another try', () => {
  for (const error of [
    null,
    new Error('fetch failed'),
    answered(502, { code: 'x', message: 'y' }),
    answered(413, '<html>'),
    answered(400, {}),
  ])
    assert.equal(refusalOf(error).code, 'dependency_unavailable');
});
