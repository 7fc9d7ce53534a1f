import assert from 'node:assert/strict';
import test from 'node:test';
import { linesOf, linesProblem, rulesOf } from './rule-lines.ts';

test('rules read as they were written, by the operator that their value calls for', () => {
  const text = 'sub = repo:acme/app:ref:refs/heads/main\nref = refs/tags/*\nenvironment = [staging, production]';
  assert.deepEqual(rulesOf(text), [
    { claim: 'sub', op: 'eq', value: 'repo:acme/app:ref:refs/heads/main' },
    { claim: 'ref', op: 'glob', value: 'refs/tags/*' },
    { claim: 'environment', op: 'in', value: ['staging', 'production'] },
  ]);
  assert.equal(linesOf(rulesOf(text)), text);
});

test('what is no rule is told', () => {
  assert.equal(linesProblem(' \n'), 'add at least one rule');
  assert.equal(linesProblem('sub'), '“sub” is no rule. Write it as claim = value.');
  assert.equal(linesProblem('sub = []'), '“sub = []” is no rule. Write it as claim = value.');
  assert.equal(linesProblem('sub = a'), null);
});
