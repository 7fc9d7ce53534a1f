import assert from 'node:assert/strict';
import test from 'node:test';
import { modelList } from './answers.ts';
import { type ModelPolicy, refusedFallback, resolveModel, visibleModels } from './policy.ts';

const policy = (more: Partial<ModelPolicy> = {}): ModelPolicy => ({
  defaultModel: null,
  aliases: new Map(),
  rewrite: new Map(),
  allow: new Set(),
  deny: new Set(),
  ...more,
});
const result = (rules: Partial<ModelPolicy>, asked?: string, provider = 'openai') => {
  const found = resolveModel(policy(rules), asked, provider);
  return 'refuse' in found ? found.refuse : found.final;
};

test('an alias, then a rewrite, one hop each', () => {
  const rules = {
    aliases: new Map([
      ['fast', 'a'],
      ['a', 'b'],
    ]),
    rewrite: new Map([
      ['a', 'c'],
      ['c', 'd'],
    ]),
  };
  assert.equal(result(rules, 'fast'), 'c');
  assert.equal(result(rules, 'c'), 'd');
  assert.equal(result({}, undefined), 'model_required');
  assert.equal(result({ ...rules, defaultModel: 'fast' }, ''), 'c');
});

test('the denylist wins for each name on the way; the allowlist and the token see the last one', () => {
  const rules = { aliases: new Map([['fast', 'a']]), rewrite: new Map([['a', 'b']]) };
  for (const name of ['fast', 'a', 'b'])
    assert.equal(result({ ...rules, allow: new Set(['b']), deny: new Set([name]) }, 'fast'), 'model_not_allowed');
  assert.equal(result({ ...rules, allow: new Set(['a']) }, 'fast'), 'model_not_allowed');
  assert.equal(result({ ...rules, allow: new Set(['b']) }, 'fast'), 'b');
  assert.equal(result({ ...rules, scope: new Set(['a']) }, 'fast'), 'model_not_allowed');
  assert.equal(result({ scope: new Set() }, 'a'), 'model_not_allowed');
  assert.equal(result({ deny: new Set(['gpt-x']) }, 'GPT-X'), 'GPT-X', 'names are compared exactly');
});

test('Bedrock ids are compared with and without their region', () => {
  assert.equal(result({ deny: new Set(['anthropic.claude']) }, 'eu.anthropic.claude', 'bedrock'), 'model_not_allowed');
  assert.equal(result({ deny: new Set(['us.anthropic.claude']) }, 'eu.anthropic.claude', 'bedrock'), 'model_not_allowed');
  assert.equal(result({ allow: new Set(['anthropic.claude']) }, 'global.anthropic.claude', 'bedrock'), 'global.anthropic.claude');
  assert.equal(result({ allow: new Set(['x']) }, 'eu.x', 'openai'), 'model_not_allowed');
});

test('further models of a body must be allowed as they stand', () => {
  assert.equal(refusedFallback(policy({ allow: new Set(['a']) }), ['a', 'b'], 'openai')?.model, 'b');
  assert.equal(refusedFallback(policy(), ['a', 'b'], 'openai'), undefined);
});

test('a list shows what may be called, with names that lead to it', () => {
  const rules = policy({
    aliases: new Map([
      ['fast', 'a'],
      ['slow', 'z'],
    ]),
    allow: new Set(['a', 'b']),
    deny: new Set(['b']),
  });
  assert.deepEqual(visibleModels(rules, ['known'], 'openai'), ['a', 'fast']);
  assert.deepEqual(visibleModels(policy({ deny: new Set(['x']) }), ['y', 'x'], 'openai'), ['y']);
  const created = new Date('2026-11-20T17:34:00Z');
  assert.deepEqual(modelList('openai', ['a'], 'openai', created), {
    object: 'list',
    data: [{ id: 'a', object: 'model', created: 1795196040, owned_by: 'openai' }],
  });
  assert.deepEqual(modelList('anthropic', [], 'x', created), { data: [], has_more: false, first_id: null, last_id: null });
});
