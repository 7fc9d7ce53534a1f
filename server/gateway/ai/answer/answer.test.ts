import assert from 'node:assert/strict';
import test from 'node:test';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { answerJson } from './answer.ts';

test('an answer with the probabilities of 20 tokens at each of 700 places is read beside a loop that goes on', async () => {
  const one = { token: ' the', logprob: -0.0123, bytes: [32, 116] };
  const content = Array.from({ length: 700 }, () => ({ ...one, top_logprobs: Array.from({ length: 20 }, () => one) }));
  const bytes = Buffer.from(JSON.stringify({ choices: [{ message: { content: 'x' }, logprobs: { content } }] }));
  assert.equal(typeof (await neverBlocks(() => answerJson(bytes))), 'object');
});

test('an answer of the most members is read beside a loop that goes on, and a larger one is not', async () => {
  const bytesOf = (count: number) => Buffer.from(`{${Array.from({ length: count }, (_, i) => `"a${i}":1`).join(',')}}`);
  assert.equal(typeof (await neverBlocks(() => answerJson(bytesOf(79_990)))), 'object');
  assert.equal(await answerJson(bytesOf(80_001)), undefined);
});
