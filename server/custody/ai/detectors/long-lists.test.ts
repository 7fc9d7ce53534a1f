// own process: it judges how much memory the process takes
import assert from 'node:assert/strict';
import test from 'node:test';
import { recognizer } from '#server/ai/pii/detectors.fixture.ts';
import type { PiiRules } from '#server/ai/pii/policy.ts';
import { createTokenizer } from '#server/ai/pii/tokenizer.ts';
import { passingConversationKey } from '#server/crypto/pii-keys.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { pooledPii } from './pii.ts';
import { sourceOf } from './rules.ts';

const MIB = 1024 * 1024;
const rulesOf = (recognizers: PiiRules['recognizers']): PiiRules => ({ builtIns: 'tokenize', recognizers, needsSidecar: false });
const LISTS = rulesOf(
  Array.from({ length: 150 }, (_, list) =>
    recognizer({ id: `${list}`, name: `list_${list}`, kind: 'aho_corasick', pattern: longList(list) }),
  ),
);

function longList(list: number): string {
  let words = '';
  for (let i = 0; words.length < 256 * 1024 - 40; i++) words += `customer ${list}-${i * 7919} of the long list\n`;
  return words;
}

const request = async (rules: PiiRules, text: string) => {
  const tokenizer = createTokenizer(passingConversationKey());
  return (await pooledPii({ requestMode: 'tokenize', responseMode: 'detokenize', rules, tokenizer, owner: 'one' })).request([text]);
};

test('150 lists of 256 KiB are compiled once, off the loop and in little memory, and find what they list', async () => {
  await request(rulesOf([recognizer()]), 'MEM-123456');
  const before = process.memoryUsage().rss;
  await neverBlocks(async () => {
    assert.deepEqual(await request(LISTS, 'From Customer 149-7919 of the long list'), ['From <LIST_149>']);
    const again = rulesOf(LISTS.recognizers.map((one) => ({ ...one })));
    assert.deepEqual(await request(again, 'From customer 7-79190 of the long list'), ['From <LIST_7>']);
  });
  const grown = (process.memoryUsage().rss - before) / MIB;
  assert.ok(grown < 300, `${grown.toFixed(0)} MiB`);
});

test('calls of one moment hand over the same memory of long lists', async () => {
  const rules = rulesOf(LISTS.recognizers);
  const made = await Promise.all(Array.from({ length: 200 }, () => sourceOf(rules)));
  const lists = new Set(made.flatMap(({ recognizers }) => recognizers.map(({ pattern }) => pattern)));
  assert.equal(lists.size, LISTS.recognizers.length);
  assert.ok([...lists].every((list) => list instanceof SharedArrayBuffer));
});
