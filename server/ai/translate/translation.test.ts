import assert from 'node:assert/strict';
import test from 'node:test';
import { adapterOf } from '../shapes/adapters.ts';
import { eventsIn } from '../stream/events.fixture.ts';
import { usageMeter } from '../stream/usage-meter.ts';
import { translatedError } from './errors.ts';
import { type Golden, goldenCases, outcome, upstreamBytes, written } from './golden.fixture.ts';
import type { ClientShape, UpstreamShape } from './shapes.ts';
import { translation } from './translation.ts';

const contextOf = ({ context }: Golden) => ({
  model: 'the-model',
  provider: null,
  requestId: 'req-01',
  now: new Date(1_795_196_040_000),
  ...context,
});

for (const { name, golden } of goldenCases())
  test(`golden file ${name}: ${golden.from} to ${golden.to}`, () => {
    const { translated, translatedAnswer, translatedStream } = golden;
    assert.deepEqual(outcome(golden), {
      translated,
      ...(golden.answer && { translatedAnswer }),
      ...(golden.stream && { translatedStream }),
    });
  });

test('a stream cut at every byte offset is translated to the same events, with the same usage', () => {
  for (const { name, golden } of goldenCases().filter(({ golden: { stream } }) => stream)) {
    const bytes = upstreamBytes(golden.to, golden.stream ?? []);
    const grammar = adapterOf(golden.to).stream;
    const usageIn = (chunks: Buffer[]) => {
      const meter = usageMeter(grammar);
      for (const event of eventsIn(grammar.wire === 'event-stream' ? 'event-stream' : 'sse', ...chunks)) meter.see(event);
      return [meter.usage({ textBytes: 0, images: 0 }), meter.complete()];
    };
    const expected = usageIn([bytes]);
    assert.equal(expected[1], true, `${name} is complete`);
    for (let at = 0; at <= bytes.length; at++) {
      const chunks = [bytes.subarray(0, at), bytes.subarray(at)];
      const made = translation(golden.from, golden.to, contextOf(golden));
      made.request(structuredClone(golden.request));
      assert.deepEqual(written(made.stream().push, golden.to, chunks), golden.translatedStream, `${name} cut at ${at}`);
      assert.deepEqual(usageIn(chunks), expected, `${name} cut at ${at}`);
    }
  }
});

test('parts of messages without a counterpart are refused too', () => {
  const refused = (from: ClientShape, to: UpstreamShape, more: object) => {
    const result = translation(from, to, contextOf({ from, to, request: {} })).request({ messages: [], ...more });
    return 'refuse' in result ? `${result.refuse} ${result.option ?? ''}`.trim() : undefined;
  };
  const user = (part: object) => ({ messages: [{ role: 'user', content: [part] }] });
  assert.equal(refused('openai-chat', 'anthropic', user({ type: 'input_audio' })), 'unsupported_option messages.content.input_audio');
  assert.equal(
    refused('openai-chat', 'anthropic', user({ type: 'file', file: { file_id: 'f' } })),
    'unsupported_option messages.content.file.file_id',
  );
  assert.equal(
    refused('openai-chat', 'anthropic', { tools: [{ type: 'custom', custom: { name: 'x' } }] }),
    'unsupported_option tools.custom',
  );
  const badCall = { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":' } }] };
  assert.equal(refused('openai-chat', 'anthropic', { messages: [badCall] }), 'invalid_request_body');
  assert.equal(
    refused('openai-chat', 'bedrock-converse', { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'none' }),
    'unsupported_option tool_choice.none',
  );
  assert.equal(
    refused('anthropic', 'openai-chat', user({ type: 'document', source: { type: 'base64' } })),
    'unsupported_option messages.content.document',
  );
  assert.equal(
    refused('anthropic', 'openai-chat', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
    'unsupported_option tools.web_search_20250305',
  );
  assert.equal(
    refused('anthropic', 'bedrock-converse', user({ type: 'image', source: { type: 'url', url: 'https://a' } })),
    'unsupported_option messages.content.image.url',
  );
});

test('errors keep their status and message in the shape of the caller; 529 becomes 503 for OpenAI', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  assert.deepEqual(translatedError('openai-chat', 529, overloaded), {
    status: 503,
    body: { error: { message: 'Overloaded', type: 'overloaded_error', param: null, code: null } },
  });
  assert.deepEqual(translatedError('anthropic', 429, { error: { message: 'Slow down', code: 'x' } }), {
    status: 429,
    body: { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } },
  });
  assert.equal(translatedError('anthropic', 400, { message: 'Bad model' }).body.type, 'error');
});
