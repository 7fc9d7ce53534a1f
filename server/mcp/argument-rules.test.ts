import assert from 'node:assert/strict';
import test from 'node:test';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { type ArgumentRule, compileRules, RuleProblem, violated } from './argument-rules.ts';

const breaks = (rule: ArgumentRule, args: unknown) => violated(compileRules([rule]), args) !== null;

test('every value that a path finds must match', () => {
  const rule: ArgumentRule = { path: '$.to[*]', op: 'matches', value: '[a-z.]+@acme\\.com' };
  assert.equal(breaks(rule, { to: ['a@acme.com', 'b@acme.com'] }), false);
  assert.equal(breaks(rule, { to: ['a@acme.com', 'b@evil.com'] }), true);
  assert.equal(breaks(rule, { to: ['a@acme.com.evil.com'] }), true, 'the whole text must match');
  assert.equal(breaks(rule, { to: [['a@acme.com']] }), true, 'a list is no text');
  assert.equal(breaks(rule, {}), false, 'what is missing is the schema’s business');
});

test('lists, numbers and forbidden members', () => {
  assert.equal(breaks({ path: '$.currency', op: 'in', value: ['EUR', 'USD'] }, { currency: 'EUR' }), false);
  assert.equal(breaks({ path: '$.currency', op: 'in', value: ['EUR', 'USD'] }, { currency: 'eur' }), true);
  assert.equal(breaks({ path: '$.currency', op: 'in', value: ['EUR'] }, { currency: { toString: 'EUR' } }), true);
  assert.equal(breaks({ path: '$.items[*].amount', op: 'max', value: 100 }, { items: [{ amount: 100 }, { amount: 101 }] }), true);
  assert.equal(breaks({ path: '$.amount', op: 'max', value: 100 }, { amount: '99' }), true, 'a text is no number');
  assert.equal(breaks({ path: '$.bcc', op: 'forbid' }, { bcc: null }), true);
  assert.equal(breaks({ path: '$.bcc', op: 'forbid' }, { cc: 'a' }), false);
  assert.equal(breaks({ path: '$.sql', op: 'forbid', value: '(?i)\\bdrop\\b' }, { sql: 'Drop table users' }), true);
  assert.equal(breaks({ path: '$.sql', op: 'forbid', value: '(?i)\\bdrop\\b' }, { sql: ['drop'] }), true, 'nothing hides in a list');
  assert.equal(breaks({ path: '$["a name"]["b\\"c"]', op: 'in', value: [1] }, { 'a name': { 'b"c': 2 } }), true);
});

test('members of the prototype are not members', () => {
  assert.equal(breaks({ path: '$.constructor', op: 'forbid' }, {}), false);
  assert.equal(breaks({ path: '$.__proto__', op: 'forbid' }, JSON.parse('{"__proto__": 1}')), true);
});

test('a pattern that would be slow elsewhere is linear here', async () => {
  const rule: ArgumentRule = { path: '$.text', op: 'matches', value: '(a+)+b' };
  assert.equal(breaks(rule, { text: 'a'.repeat(20_000) }), true);
  await assertGrowsLinearly(
    'pattern',
    20_000,
    (size) => ({ text: 'a'.repeat(size) }),
    (args) => breaks(rule, args),
  );
});

test('a rule that makes no sense is refused with the member at fault', () => {
  const problems: [ArgumentRule, string][] = [
    [{ path: 'to', op: 'forbid' }, 'path'],
    [{ path: '$..to', op: 'forbid' }, 'path'],
    [{ path: '$.a.b.c.d.e.f.g.h.i', op: 'forbid' }, 'path'],
    [{ path: '$.to', op: 'matches', value: '(?=a)' }, 'value'],
    [{ path: '$.to', op: 'matches', value: '(a)\\1' }, 'value'],
    [{ path: '$.to', op: 'matches', value: 'a'.repeat(501) }, 'value'],
    [{ path: '$.to', op: 'matches', value: 3 }, 'value'],
    [{ path: '$.to', op: 'in', value: [] }, 'value'],
    [{ path: '$.to', op: 'max', value: '3' }, 'value'],
  ];
  for (const [rule, member] of problems)
    assert.throws(
      () => compileRules([{ path: '$', op: 'max', value: 1 }, rule]),
      (error) => error instanceof RuleProblem && error.index === 1 && error.member === member,
      JSON.stringify(rule),
    );
});
