import assert from 'node:assert/strict';
import test from 'node:test';
import { parseExact } from '#server/kernel/lossless-json.ts';
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

test('a number with digits of its own is judged by its value, and by the double that others may read', () => {
  const broken = (rule: Omit<ArgumentRule, 'path'>, n: string) => breaks({ path: '$.n', ...rule }, parseExact(`{"n":${n}}`));
  for (const [n, breaksIn, breaksMax, breaksList, breaksPattern] of [
    ['1.0', false, false, true, true],
    ['1E0', false, false, true, false],
    ['9007199254740992.0', false, false, true, true],
    ['9007199254740993', true, true, true, true],
    ['9007199254740991.5', true, true, true, true],
    ['1e400', true, true, false, false],
    ['-1e400', true, false, false, false],
    ['7615917337495251231', true, true, false, true],
  ] as const) {
    assert.equal(broken({ op: 'in', value: [1, 9007199254740992] }, n), breaksIn, `in: ${n}`);
    assert.equal(broken({ op: 'max', value: 9007199254740992 }, n), breaksMax, `max: ${n}`);
    assert.equal(broken({ op: 'forbid', value: [1, 9007199254740992] }, n), breaksList, `forbid: ${n}`);
    assert.equal(broken({ op: 'forbid', value: '[.]0|^900|231$' }, n), breaksPattern, `pattern: ${n}`);
  }
  assert.equal(broken({ op: 'matches', value: '.*' }, '1.0'), true, 'a number is no text');
  assert.equal(breaks({ path: '$.n.value', op: 'forbid' }, parseExact('{"n":1.0}')), false, 'a number has no members');
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
