import assert from 'node:assert/strict';
import test from 'node:test';
import { subscriptionInWords } from './subscription-words.ts';

test('a subscription in order is not talked about; one that stops calls says so, and who can mend it', () => {
  for (const status of ['active', 'trialing', undefined]) assert.equal(subscriptionInWords(status), undefined);
  assert.equal(subscriptionInWords('dunning')?.stops, false);
  for (const status of ['past_due', 'paused', 'cancelled', 'something_new']) {
    const told = subscriptionInWords(status);
    assert.equal(told?.stops, true, status);
    assert.match(told?.next ?? '', /are refused.*can set it right/);
  }
});
