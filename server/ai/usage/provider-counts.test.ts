import assert from 'node:assert/strict';
import test from 'node:test';
import { adapterOf } from '../shapes/adapters.ts';
import type { Shape } from '../shapes/shape.ts';
import { inputTokens, noUsage, outputTokens, sumOf, type Usage } from './usage.ts';

const told = (shape: Shape, answer: unknown) => adapterOf(shape).usage(answer);
const usage = (more: Partial<Usage>): Usage => ({ ...noUsage, ...more });

test('counts of every provider come out in the same classes', () => {
  assert.deepEqual(
    told('openai-chat', {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 40 },
      },
    }),
    usage({ input_uncached: 50, input_cached: 30, cache_write_5m: 20, output_text: 10, reasoning: 40 }),
  );
  assert.deepEqual(
    told('openai-chat', { usage: { prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 } }),
    usage({ input_uncached: 2, input_cached: 8, output_text: 1 }),
    'DeepSeek',
  );
  assert.deepEqual(
    told('openai-responses', {
      output: [{ type: 'web_search_call' }, { type: 'message' }],
      usage: {
        input_tokens: 9,
        output_tokens: 7,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens_details: { reasoning_tokens: 5 },
      },
    }),
    usage({ input_uncached: 5, input_cached: 4, output_text: 2, reasoning: 5, requests_web_search: 1 }),
  );
  assert.deepEqual(told('openai-embeddings', { usage: { prompt_tokens: 6, total_tokens: 6 } }), usage({ input_uncached: 6 }));
  assert.deepEqual(
    told('anthropic', {
      usage: {
        input_tokens: 1200,
        cache_read_input_tokens: 800,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 350,
        output_tokens_details: { thinking_tokens: 50 },
        server_tool_use: { web_search_requests: 2 },
      },
    }),
    usage({
      input_uncached: 1200,
      input_cached: 800,
      cache_write_5m: 10,
      cache_write_1h: 20,
      output_text: 300,
      reasoning: 50,
      requests_web_search: 2,
    }),
  );
  assert.deepEqual(
    told('gemini', {
      usageMetadata: {
        promptTokenCount: 20,
        cachedContentTokenCount: 5,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 3,
        toolUsePromptTokenCount: 2,
      },
    }),
    usage({ input_uncached: 17, input_cached: 5, output_text: 7, reasoning: 3 }),
  );
  assert.deepEqual(
    told('bedrock-converse', {
      usage: {
        inputTokens: 3,
        outputTokens: 4,
        cacheReadInputTokens: 5,
        cacheWriteInputTokens: 6,
        cacheDetails: [{ ttl: '1h', inputTokens: 2 }],
      },
    }),
    usage({ input_uncached: 3, input_cached: 5, cache_write_5m: 4, cache_write_1h: 2, output_text: 4 }),
  );
  const billed = { billed_units: { input_tokens: 5, output_tokens: 6, search_units: 1 }, tokens: { input_tokens: 50, output_tokens: 60 } };
  assert.deepEqual(told('cohere', { usage: billed }), usage({ input_uncached: 5, output_text: 6, requests_web_search: 1 }));
  assert.deepEqual(told('ollama', { prompt_eval_count: 4, eval_count: 9 }), usage({ input_uncached: 4, output_text: 9 }));
});

test('counts that cannot be true are not believed', () => {
  for (const prompt_tokens of [-1, Number.NaN, '12', 1e300, null, {}])
    assert.equal(told('openai-chat', { usage: { prompt_tokens } }), undefined, String(prompt_tokens));
  const greedy = told('openai-chat', {
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 90 },
      completion_tokens_details: { reasoning_tokens: 80 },
    },
  }) as Usage;
  assert.deepEqual([inputTokens(greedy), outputTokens(greedy)], [10, 5]);
  const anthropic = told('anthropic', {
    usage: { input_tokens: 1, output_tokens: 2, output_tokens_details: { thinking_tokens: 99 } },
  }) as Usage;
  assert.deepEqual([anthropic.output_text, anthropic.reasoning], [0, 2]);
  for (const answer of [undefined, null, [], 'x', { usage: 'none' }]) assert.equal(told('anthropic', answer), undefined);
});

test('a retry is charged for both calls', () => {
  const sum = sumOf(usage({ input_uncached: 1, output_text: 2 }), usage({ input_uncached: 3, reasoning: 4, source: 'estimated' }));
  assert.deepEqual([inputTokens(sum), outputTokens(sum), sum.source], [4, 6, 'estimated']);
});
