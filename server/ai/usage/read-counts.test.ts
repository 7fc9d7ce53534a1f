import assert from 'node:assert/strict';
import test from 'node:test';
import { parsedJson } from '../json.ts';
import { adapterOf } from '../shapes/adapters.ts';
import type { Shape } from '../shapes/shape.ts';
import type { StreamEvent } from '../stream/event.ts';
import { received } from '../stream/event.ts';
import { usageMeter } from '../stream/usage-meter.ts';
import { MOST_USED } from './read-counts.ts';
import { chargeable, noUsage } from './usage.ts';

const HOSTILE = ['1e400', '-1e400', '1e300', '9007199254740993', '1e15', '3000000000', '-1', '"600"', '{}', '[]', 'true'];
const sent = { textBytes: 4_000, images: 0 };
/** The usage that an answer of this text is charged with. */
const charged = (shape: Shape, text: string, more: object = {}) =>
  chargeable(adapterOf(shape)?.usage(parsedJson(text)), { ...sent, ...more }, 400);

/** Each number of each provider's usage, `?` for a hostile one, beside believable ones. */
const REPORTS: readonly (readonly [Shape, string])[] = [
  ['openai-chat', '{"usage":{"prompt_tokens":?,"completion_tokens":7}}'],
  ['openai-chat', '{"usage":{"prompt_tokens":7,"completion_tokens":?}}'],
  ['openai-chat', '{"usage":{"prompt_tokens":7,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":?}}}'],
  ['openai-chat', '{"usage":{"prompt_tokens":7,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":?}}}'],
  ['openai-responses', '{"usage":{"input_tokens":?,"output_tokens":7}}'],
  ['openai-responses', '{"usage":{"input_tokens":7,"output_tokens":?}}'],
  ['anthropic', '{"usage":{"input_tokens":?,"output_tokens":7}}'],
  ['anthropic', '{"usage":{"input_tokens":7,"output_tokens":7,"cache_read_input_tokens":?}}'],
  ['anthropic', '{"usage":{"input_tokens":7,"output_tokens":7,"server_tool_use":{"web_search_requests":?}}}'],
  ['gemini', '{"usageMetadata":{"promptTokenCount":?,"candidatesTokenCount":7}}'],
  ['gemini', '{"usageMetadata":{"promptTokenCount":7,"thoughtsTokenCount":?}}'],
  ['bedrock-converse', '{"usage":{"inputTokens":?,"outputTokens":7}}'],
  ['bedrock-converse', '{"usage":{"inputTokens":7,"outputTokens":7,"cacheWriteInputTokens":?}}'],
  ['cohere', '{"usage":{"billed_units":{"input_tokens":?,"output_tokens":7}}}'],
  ['cohere', '{"usage":{"billed_units":{"input_tokens":7,"search_units":?}}}'],
  ['ollama', '{"prompt_eval_count":?,"eval_count":7}'],
  ['openai-embeddings', '{"usage":{"prompt_tokens":?,"total_tokens":7}}'],
  ['openai-audio', '{"text":"h","duration":?}'],
  ['openai-audio', '{"text":"h","usage":{"type":"duration","seconds":?}}'],
  ['openai-audio', '{"text":"h","usage":{"input_tokens":?,"output_tokens":7}}'],
];

for (const [shape, report] of REPORTS)
  test(`a count of ${shape} that can't be true is estimated: ${report}`, () => {
    for (const number of HOSTILE) {
      const usage = charged(shape, report.replace('?', number), shape === 'openai-audio' ? { textBytes: 0, audioBytes: 4_000 } : {});
      assert.equal(usage.source, 'estimated', number);
      assert.ok(!('unread' in usage), number);
      for (const name of Object.keys(noUsage).filter((one) => one !== 'source')) {
        const count = usage[name as 'images'];
        assert.ok(Number.isSafeInteger(count) && count >= 0 && count <= MOST_USED, `${number}: ${name} is ${count}`);
      }
    }
  });

test('what is estimated is the side that cannot be read, and never less than what can', () => {
  const chat = (usage: string) => charged('openai-chat', `{"usage":${usage}}`);
  const [input, output] = [chat('{"prompt_tokens":1e400,"completion_tokens":7}'), chat('{"prompt_tokens":7,"completion_tokens":1e400}')];
  assert.deepEqual([input.input_uncached, input.output_text], [1_000, 7]);
  assert.deepEqual([output.input_uncached, output.output_text], [7, 100]);
  const cached = charged('anthropic', '{"usage":{"input_tokens":600,"output_tokens":7,"cache_read_input_tokens":1e400}}');
  assert.deepEqual([cached.input_uncached, cached.output_text], [1_000, 7]);
  const length = charged('openai-audio', '{"text":"h","duration":1e400}', { textBytes: 0, audioBytes: 4_000 });
  assert.equal(length.seconds_audio, 2);
});

test('absent counts and null are none, and what a provider can report is kept', () => {
  const kept = charged('openai-chat', `{"usage":{"prompt_tokens":${MOST_USED},"completion_tokens":null}}`);
  assert.deepEqual([kept.input_uncached, kept.output_text, kept.source], [MOST_USED, 0, 'provider']);
  assert.equal(charged('openai-audio', '{"text":"h","duration":3.2}').seconds_audio, 4);
  const longer = charged('openai-audio', '{"text":"h","duration":8,"usage":{"seconds":1e400}}');
  assert.deepEqual([longer.seconds_audio, longer.source], [8, 'provider']);
  // Groq repeats its counts in a place of its own.
  assert.equal(charged('openai-chat', '{"usage":null,"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":1}}}').input_uncached, 9);
});

const event = (data: string): StreamEvent => received('sse', Buffer.from(`data: ${data}\n\n`));
test('a streamed count that cannot be true is estimated, until a later event says it', () => {
  const metered = (shape: Shape, events: readonly string[]) => {
    const meter = usageMeter((adapterOf(shape) as NonNullable<ReturnType<typeof adapterOf>>).stream);
    for (const one of events) meter.see(event(one));
    const usage = meter.usage(sent);
    assert.ok(!('unread' in usage) || usage.unread === undefined);
    return [usage.input_uncached, usage.output_text, usage.source];
  };
  const start = '{"type":"message_start","message":{"usage":{"input_tokens":1e400,"output_tokens":1}}}';
  const end = (usage: string) => [`{"type":"message_delta","delta":{},"usage":${usage}}`, '{"type":"message_stop"}'];
  assert.deepEqual(metered('anthropic', [start, ...end('{"output_tokens":7}')]), [1_000, 7, 'estimated']);
  assert.deepEqual(metered('anthropic', [start, ...end('{"input_tokens":5,"output_tokens":7}')]), [5, 7, 'provider']);
  const chunk = '{"choices":[],"usage":{"prompt_tokens":1e400,"completion_tokens":7}}';
  assert.deepEqual(metered('openai-chat', [chunk, '[DONE]']), [1_000, 7, 'estimated']);
  const text = '{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hello you"}}}}';
  assert.deepEqual(metered('cohere', [text, '{"type":"message-end","delta":{"finish_reason":"COMPLETE"}}']), [1_000, 3, 'estimated']);
});
