import assert from 'node:assert/strict';
import test from 'node:test';
import { differencesOf, inWords, onlyMine, resolved, same } from './conflict.ts';

const base = { name: 'Payments', slug: 'pay', tags: ['a'], limit: 10 };

test('what they changed is asked about; what only I changed is kept without a question', () => {
  const theirs = { ...base, name: 'Billing', limit: 20 };
  const mine = { ...base, name: 'Invoices', tags: ['a', 'b'] };
  assert.deepEqual(differencesOf(base, theirs, mine), [
    { field: 'name', base: 'Payments', theirs: 'Billing', mine: 'Invoices', clash: true },
    { field: 'limit', base: 10, theirs: 20, mine: 10, clash: false },
  ]);
  assert.deepEqual(onlyMine(base, theirs, mine), ['tags']);
  assert.deepEqual(resolved(base, theirs, mine, { name: 'mine', limit: 'theirs' }), {
    name: 'Invoices',
    slug: 'pay',
    tags: ['a', 'b'],
    limit: 20,
  });
  assert.deepEqual(resolved(base, theirs, mine, { name: 'theirs', limit: 'mine' }), {
    name: 'Billing',
    slug: 'pay',
    tags: ['a', 'b'],
    limit: 10,
  });
});

test('two people who made the same change do not disagree', () => {
  const both = { ...base, name: 'Billing' };
  assert.deepEqual(differencesOf(base, both, both), []);
  assert.deepEqual(differencesOf(base, base, both), [], 'the row changed elsewhere, not in this form');
});

test('the order of members is no difference, the order of a list is one', () => {
  assert.ok(same({ a: 1, b: { c: null } }, { b: {}, a: 1 }));
  assert.ok(!same(['a', 'b'], ['b', 'a']));
  assert.ok(!same([], {}));
  assert.ok(!same('', null));
});

test('a field reads as a person would write it', () => {
  assert.deepEqual(['rate_limit_window_sec', 'ip_address', 'target_base_url', 'description'].map(inWords), [
    'Rate limit window',
    'IP address',
    'Target base URL',
    'Description',
  ]);
});
