import assert from 'node:assert/strict';
import test from 'node:test';
import { describeSubscription } from './subscription-text.ts';

test('says nothing about a subscription in order, and for one that stops calls names who can fix it', () => {
  for (const status of ['active', 'trialing', undefined]) assert.equal(describeSubscription(status), undefined);
  assert.equal(describeSubscription('dunning')?.stops, false);
  for (const status of ['past_due', 'paused', 'cancelled', 'something_new']) {
    const told = describeSubscription(status);
    assert.equal(told?.stops, true, status);
    assert.match(told?.next ?? '', /are refused.*An Owner can end this/);
  }
});
