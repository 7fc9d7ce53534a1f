import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '../json.ts';
import { jsonOf } from '../stream/event.ts';
import { eventsIn } from '../stream/events.fixture.ts';
import { adapterOf } from './adapters.ts';
import type { Shape } from './shape.ts';

const target = { model: 'gpt-5.4-mini', provider: 'openai' };

test('a ceiling is inserted where none stands, lowers what is above it, and leaves what is below', () => {
  const cases: [Shape, JsonObject, number, JsonObject, number?][] = [
    ['openai-chat', {}, 100, { max_completion_tokens: 100 }],
    ['openai-chat', { n: 4 }, 100, { n: 4, max_completion_tokens: 25 }],
    ['openai-chat', { max_tokens: 50 }, 100, { max_tokens: 50 }],
    ['openai-chat', { max_tokens: 500, max_completion_tokens: 90 }, 100, { max_tokens: 100, max_completion_tokens: 90 }, 100],
    ['openai-chat', { max_tokens: '5000' }, 100, { max_tokens: 100 }, 100],
    ['openai-completions', { best_of: 3 }, 2, { best_of: 3, max_tokens: 1 }],
    ['openai-responses', { max_output_tokens: 500 }, 100, { max_output_tokens: 100 }, 100],
    [
      'anthropic',
      { max_tokens: 9000, thinking: { budget_tokens: 8000 } },
      2000,
      { max_tokens: 2000, thinking: { budget_tokens: 1999 } },
      2000,
    ],
    ['anthropic', { max_tokens: 9000, thinking: { budget_tokens: 8000 } }, 1000, { max_tokens: 1000 }, 1000],
    ['gemini', { generationConfig: { candidateCount: 2 } }, 100, { generationConfig: { candidateCount: 2, maxOutputTokens: 50 } }],
    [
      'bedrock-converse',
      { additionalModelRequestFields: { max_tokens: 900 } },
      100,
      { additionalModelRequestFields: { max_tokens: 100 }, inferenceConfig: { maxTokens: 100 } },
    ],
    ['ollama', { messages: [], options: { num_predict: -1 } }, 100, { messages: [], options: { num_predict: 100 } }, 100],
    ['bedrock-invoke', { anthropic_version: 'x', max_tokens: 500 }, 100, { anthropic_version: 'x', max_tokens: 100 }, 100],
  ];
  for (const [shape, body, ceiling, expected, clamped] of cases) {
    const result = adapterOf(shape).clamp(body, ceiling, target);
    assert.deepEqual([body, result.clamped], [expected, clamped], shape);
  }
  const older: JsonObject = {};
  adapterOf('openai-chat').clamp(older, 10, { model: 'gpt-4o', provider: 'openai' });
  assert.deepEqual(older, { max_tokens: 10 });
});

const card = '4111 1111 1111 1111';

test('every text of a request is found with its role, and what is set stands in the body', () => {
  const cases: [Shape, JsonObject, string][] = [
    [
      'openai-chat',
      {
        messages: [
          { role: 'developer', content: card },
          { role: 'user', content: [{ type: 'text', text: card }] },
          { role: 'assistant', content: null, tool_calls: [{ function: { name: 'f', arguments: JSON.stringify({ a: [card] }) } }] },
          { role: 'tool', content: card },
        ],
        user: card,
      },
      'system user tool_args tool_result metadata',
    ],
    [
      'anthropic',
      {
        system: [{ type: 'text', text: card }],
        messages: [
          { role: 'user', content: card },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: card },
              { type: 'tool_use', input: { a: { b: card } } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', content: [{ type: 'text', text: card }] },
              { type: 'document', source: { type: 'text', data: card } },
            ],
          },
        ],
        metadata: { user_id: card },
      },
      'system user assistant tool_args tool_result tool_result metadata',
    ],
    [
      'openai-responses',
      {
        instructions: card,
        input: [
          { role: 'user', content: [{ type: 'input_text', text: card }] },
          { type: 'function_call', arguments: JSON.stringify({ a: card }) },
          { type: 'function_call_output', output: card },
        ],
      },
      'system user tool_args tool_result',
    ],
    [
      'gemini',
      {
        system_instruction: { parts: [{ text: card }] },
        contents: [
          { parts: [{ text: card }, { function_response: { name: 'f', response: { a_b: card } } }] },
          { role: 'model', parts: [{ functionCall: { args: { q: card } } }] },
        ],
      },
      'system user tool_result tool_args',
    ],
    [
      'bedrock-converse',
      {
        system: [{ text: card }],
        messages: [{ role: 'user', content: [{ text: card }, { toolResult: { content: [{ json: { a: card } }] } }] }],
      },
      'system user tool_result',
    ],
    [
      'cohere',
      { messages: [{ role: 'user', content: card }], documents: [{ data: { text: card } }, card] },
      'user tool_result tool_result',
    ],
    [
      'ollama',
      {
        messages: [
          { role: 'system', content: card },
          { role: 'tool', content: card },
        ],
      },
      'system tool_result',
    ],
    ['openai-embeddings', { input: [card, card] }, 'user user'],
    ['openai-moderations', { input: [{ type: 'text', text: card }] }, 'user'],
    ['bedrock-invoke', { inputText: card }, 'user'],
  ];
  for (const [shape, body, roles] of cases) {
    const adapter = adapterOf(shape);
    adapter.prepare(body);
    const texts = adapter.texts(body);
    assert.equal(texts.map(({ role }) => role).join(' '), roles, shape);
    for (const ref of texts) ref.set(ref.text.replaceAll(card, '"x"'));
    assert.equal(JSON.stringify(body).includes('4111'), false, shape);
    for (const ref of adapter.texts(body)) assert.equal(ref.text, '"x"', shape);
  }
});

test('Gemini members are checked in either spelling', () => {
  const body: JsonObject = {
    generation_config: { max_output_tokens: 9, response_schema: { max_items: 1 } },
    tools: [{ function_declarations: [{ name: 'f' }] }],
  };
  adapterOf('gemini').prepare(body);
  assert.deepEqual(body, {
    generationConfig: { maxOutputTokens: 9, responseSchema: { max_items: 1 } },
    tools: [{ functionDeclarations: [{ name: 'f' }] }],
  });
});

test('tools outside of a list are dropped with what speaks of them, and forced ones are named', () => {
  const only = (name: string) => name === 'ls';
  const cases: [Shape, JsonObject, number, JsonObject][] = [
    ['openai-chat', { tools: [{ type: 'function', function: { name: 'rm' } }], tool_choice: 'auto', web_search_options: {} }, 2, {}],
    ['openai-chat', { tools: [{ function: { name: 'rm' } }, { function: { name: 'ls' } }] }, 1, { tools: [{ function: { name: 'ls' } }] }],
    [
      'openai-responses',
      { tools: [{ type: 'web_search' }, { type: 'function', name: 'ls' }] },
      1,
      { tools: [{ type: 'function', name: 'ls' }] },
    ],
    ['anthropic', { tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: { type: 'any' } }, 1, {}],
    ['gemini', { tools: [{ functionDeclarations: [{ name: 'rm' }], googleSearch: {} }], toolConfig: {} }, 2, {}],
    [
      'bedrock-converse',
      { toolConfig: { tools: [{ toolSpec: { name: 'rm' } }, { toolSpec: { name: 'ls' } }] } },
      1,
      { toolConfig: { tools: [{ toolSpec: { name: 'ls' } }] } },
    ],
  ];
  for (const [shape, body, dropped, expected] of cases) {
    assert.equal(adapterOf(shape).tools.keep(body, only), dropped, shape);
    assert.deepEqual(body, expected, shape);
  }
  const forced = (shape: Shape, body: JsonObject) => adapterOf(shape).tools.forced(body);
  assert.deepEqual(forced('openai-chat', { tool_choice: { type: 'function', function: { name: 'rm' } } }), ['rm']);
  assert.deepEqual(forced('openai-chat', { tool_choice: 'required' }), []);
  assert.deepEqual(forced('openai-responses', { tool_choice: { type: 'web_search' } }), ['web_search']);
  assert.deepEqual(forced('anthropic', { tool_choice: { type: 'tool', name: 'rm' } }), ['rm']);
  assert.deepEqual(forced('gemini', { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['rm'] } } }), ['rm']);
  assert.deepEqual(forced('bedrock-converse', { toolConfig: { toolChoice: { tool: { name: 'rm' } } } }), ['rm']);
});

test('a delta that is set, and one that is made, carry the text of their channel', () => {
  const streams: [Shape, unknown][] = [
    ['openai-chat', { id: 'c', choices: [{ index: 0, delta: { content: 'old' }, finish_reason: null }] }],
    ['openai-chat', { id: 'c', choices: [{ index: 1, delta: { tool_calls: [{ index: 2, function: { arguments: 'old' } }] } }] }],
    ['openai-completions', { choices: [{ index: 0, text: 'old' }] }],
    ['openai-responses', { type: 'response.output_text.delta', item_id: 'i', output_index: 1, content_index: 2, delta: 'old' }],
    ['anthropic', { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'old' } }],
    ['anthropic', { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: 'old' } }],
    ['gemini', { candidates: [{ content: { parts: [{ text: 'ol' }, { text: 'd' }] } }] }],
    ['cohere', { type: 'content-delta', index: 0, delta: { message: { content: { text: 'old' } } } }],
    ['ollama', { message: { role: 'assistant', content: 'old' }, done: false }],
  ];
  for (const [shape, json] of streams) {
    const { stream } = adapterOf(shape);
    const [event] = eventsIn(
      stream.wire === 'ndjson' ? 'ndjson' : 'sse',
      Buffer.from(`${stream.wire === 'ndjson' ? '' : 'data: '}${JSON.stringify(json)}\n\n`),
    );
    assert.ok(event);
    const [delta, ...rest] = stream.deltas(event);
    assert.ok(delta && rest.length === 0, shape);
    assert.equal(delta.text, 'old', shape);
    stream.setDelta(event, `${delta.channel}x`, 'wrong');
    assert.notEqual(event.raw, undefined, 'an unchanged event keeps its bytes');
    stream.setDelta(event, delta.channel, 'new');
    assert.equal(event.raw, undefined, shape);
    assert.deepEqual(
      stream.deltas(event).map(({ text }) => text),
      ['new'],
      shape,
    );
    const made = stream.delta(delta.channel, 'made', event);
    assert.deepEqual(
      stream.deltas(made).map(({ channel, text }) => [channel, text]),
      [[delta.channel, 'made']],
      shape,
    );
    assert.notEqual(jsonOf(made), jsonOf(event));
  }
});

test('calls of tools that an answer makes are found and replaced', () => {
  const args = JSON.stringify({});
  const cases: [Shape, unknown][] = [
    [
      'openai-chat',
      {
        choices: [{ message: { content: null, tool_calls: [{ function: { name: 'rm', arguments: args } }] }, finish_reason: 'tool_calls' }],
      },
    ],
    ['openai-responses', { status: 'completed', output: [{ type: 'function_call', name: 'rm', arguments: args }] }],
    ['anthropic', { content: [{ type: 'tool_use', name: 'rm', input: {} }], stop_reason: 'tool_use' }],
    ['gemini', { candidates: [{ content: { parts: [{ functionCall: { name: 'rm' } }] }, finishReason: 'STOP' }] }],
    ['bedrock-converse', { output: { message: { content: [{ toolUse: { name: 'rm', input: {} } }] } }, stopReason: 'tool_use' }],
    ['cohere', { message: { tool_calls: [{ function: { name: 'rm', arguments: args } }] }, finish_reason: 'TOOL_CALL' }],
    ['ollama', { done: true, message: { tool_calls: [{ function: { name: 'rm', arguments: {} } }] } }],
  ];
  for (const [shape, answer] of cases) {
    const adapter = adapterOf(shape);
    assert.deepEqual([adapter.toolCalls(answer), adapter.finish(answer)], [['rm'], 'tool_calls'], shape);
    assert.deepEqual(
      adapter.blockTools(answer, () => true),
      [],
      shape,
    );
    assert.deepEqual(
      adapter.blockTools(answer, () => false),
      ['rm'],
      shape,
    );
    assert.deepEqual([adapter.toolCalls(answer), adapter.finish(answer)], [[], 'stop'], shape);
    assert.match(adapter.answerText(answer), /The call of the tool "rm" was blocked/, shape);
  }
});
