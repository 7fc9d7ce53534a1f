import assert from 'node:assert/strict';
import test from 'node:test';
import { unordered } from '#server/ai/patterns/hostile.fixture.ts';
import { type ArgumentRule, assertRules } from '#server/mcp/argument-rules.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { brokenRule } from './argument-rules.ts';

const rules = (value: string, count = 20): ArgumentRule[] =>
  Array.from({ length: count }, (_, i) => ({ path: '$.text', op: 'forbid', value: value.replace('#', String(i)) }));
const judged = (given: readonly ArgumentRule[], text: string) =>
  brokenRule(given, { text }, { characters: text.length, owner: 'workspace' });

test('patterns of rules are held against the largest arguments without blocking the loop', async () => {
  const text = unordered(250_000);
  await neverBlocks(async () => {
    for (const pattern of ['ab{3}a$|no#', '[ab]*a[ab]{16}$|#', '(?:[ab]{1,40}b){10}$|#', '(a|b)*a(a|b){30}$|#']) {
      const found = await judged(rules(pattern), text);
      if (found !== null && 'code' in found)
        assert.match(`${found.code}: ${found.message}`, /^dependency_unavailable: .*send shorter arguments/);
    }
  });
});

test('an ordinary rule is judged alike wherever that is done', async () => {
  const given = rules('(?i)\\bdrop\\s+table\\b', 1);
  for (const length of [10, 200_000]) {
    const filling = 'select 1; '.repeat(length / 10);
    assert.equal(await judged(given, filling), null);
    assert.deepEqual(await judged(given, `${filling}Drop table users`), { path: '$.text', op: 'forbid' });
  }
});

test('a stored rule that is not accepted any more refuses the call and says which one it is', async () => {
  const found = await judged([...rules('no', 1), ...rules('((((a{10}){10}){10}){10}){10}', 1)], 'a');
  assert.ok(found && 'code' in found);
  assert.match(`${found.code}: ${found.message}`, /^argument_rule: Rule 2 of this workspace .*its value is too large/);
});

test('rules whose patterns take long to compile are judged in turns when they are written', () =>
  neverBlocks(() => assertRules(rules('(?i)[B-\\x{1b00}]{2}[\\x{2000}-\\x{1e942}]{2}x#'))));
