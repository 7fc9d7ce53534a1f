import assert from 'node:assert/strict';
import test from 'node:test';
import { Refusal } from '#server/kernel/errors.ts';
import { asOurs } from '#server/kernel/outage.ts';
import { asOAuthProblem, OAuthProblem } from './problem.ts';

const seen = (error: unknown) => {
  const { error: name, status, headers } = asOAuthProblem(error);
  return [name, status, headers['retry-after']];
};

test('a store that is away is 503 with Retry-After 5, whatever it was asked for', () => {
  for (const code of ['ECONNREFUSED', '57P01', 'P1001', 'ETIMEDOUT'])
    assert.deepEqual(seen(asOurs(Object.assign(new Error('secret detail'), { code }))), ['temporarily_unavailable', 503, '5'], code);
  assert.doesNotMatch(asOAuthProblem(asOurs(Object.assign(new Error('secret detail'), { code: '57P01' }))).message, /secret detail/);
});

test('anything else that went wrong is server_error and tells nothing', () => {
  assert.deepEqual(seen(new Error('secret detail')), ['server_error', 500, undefined]);
  assert.doesNotMatch(asOAuthProblem(new Error('secret detail')).message, /secret detail/);
});

test('refusals of the platform keep their status, and problems stay what they are', () => {
  assert.deepEqual(seen(new Refusal('payload_too_large', 'Too large.')), ['invalid_request', 413, undefined]);
  assert.deepEqual(seen(new Refusal('rate_limited', 'Wait.', { retryAfter: 7 })), ['temporarily_unavailable', 429, '7']);
  const problem = new OAuthProblem('invalid_grant', 'No.');
  assert.equal(asOAuthProblem(problem), problem);
});
