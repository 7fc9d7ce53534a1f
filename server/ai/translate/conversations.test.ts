import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '../json.ts';
import { adapterOf } from '../shapes/adapters.ts';
import { made as event, MalformedFrame } from '../stream/event.ts';
import type { ClientShape, UpstreamShape } from './shapes.ts';
import { translation } from './translation.ts';

/** The request at the provider, which must not be refused. */
function sent(from: ClientShape, to: UpstreamShape, body: JsonObject, model = 'the-model', provider: string | null = null): JsonObject {
  const result = translation(from, to, { model, provider, requestId: 'req-01', now: new Date(0) }).request(body);
  assert.ok('body' in result, JSON.stringify(result));
  return result.body;
}

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } };
const called = [
  { role: 'user', content: 'Look' },
  {
    role: 'assistant',
    content: [
      { type: 'tool_use', id: 'a', name: 'Read', input: {} },
      { type: 'tool_use', id: 'b', name: 'Read', input: {} },
    ],
  },
];
const results = {
  role: 'user',
  content: [
    { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'A picture' }, image] },
    { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'tool_reference', tool_name: 'Edit' }] },
    { type: 'text', text: 'Go on' },
  ],
};

test('images in results of tools follow all results as the user’s, or stay where the provider has them', () => {
  const { messages } = sent('anthropic', 'openai-chat', { max_tokens: 9, messages: [...called, results] }) as { messages: JsonObject[] };
  assert.deepEqual(messages.slice(2), [
    { role: 'tool', tool_call_id: 'a', content: 'A picture\n[The image is in the next message.]' },
    { role: 'tool', tool_call_id: 'b', content: 'The tool Edit is available.' },
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        { type: 'text', text: 'Go on' },
      ],
    },
  ]);
  const converse = sent('anthropic', 'bedrock-converse', { max_tokens: 9, messages: [...called, results] });
  assert.deepEqual((converse.messages as { content: JsonObject[] }[])[2]?.content[0], {
    toolResult: {
      toolUseId: 'a',
      content: [{ text: 'A picture' }, { image: { format: 'png', source: { bytes: 'aGk=' } } }],
      status: 'success',
    },
  });
  const shown = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }];
  const anthropic = sent('openai-chat', 'anthropic', { messages: [{ role: 'tool', tool_call_id: 'a', content: shown }] });
  assert.deepEqual(anthropic.messages, [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [image] }] }]);
  const part = { type: 'input_image', image_url: 'data:image/png;base64,aGk=' };
  const input = [
    { type: 'function_call', call_id: 'a', name: 'view', arguments: '' },
    { type: 'function_call', call_id: 'b', name: 'view', arguments: '{"x":1}' },
    { type: 'function_call_output', call_id: 'a', output: [part] },
    { type: 'function_call_output', call_id: 'b', output: 'Done' },
  ];
  const chat = sent('openai-responses', 'openai-chat', { input }).messages as JsonObject[];
  assert.deepEqual(
    chat.map(({ role }) => role),
    ['assistant', 'tool', 'tool', 'user'],
  );
  assert.deepEqual(
    (chat as { tool_calls?: { function: JsonObject }[] }[])[0]?.tool_calls?.map((call) => call.function.arguments),
    ['{}', '{"x":1}'],
  );
});

test('a system message in mid-conversation stays where the provider has one, and joins the system text otherwise', () => {
  const body = {
    max_tokens: 9,
    system: 'First',
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: [{ type: 'text', text: 'Later' }] },
      { role: 'user', content: 'There' },
    ],
  };
  assert.deepEqual(
    (sent('anthropic', 'openai-chat', structuredClone(body)).messages as JsonObject[]).map(({ role, content }) => [role, content]),
    [
      ['system', 'First'],
      ['user', 'Hi'],
      ['system', 'Later'],
      ['user', 'There'],
    ],
  );
  const converse = sent('anthropic', 'bedrock-converse', structuredClone(body));
  assert.deepEqual(converse.system, [{ text: 'First' }, { text: 'Later' }]);
  assert.deepEqual(converse.messages, [{ role: 'user', content: [{ text: 'Hi' }, { text: 'There' }] }]);
  const roles = adapterOf('anthropic')
    .texts(body)
    .map(({ role }) => role);
  assert.deepEqual(roles, ['system', 'user', 'system', 'user'], 'controls read it as the system’s');
});

test('effort reaches the models on Bedrock that take one in their own words, and others do without it', () => {
  const own = (model: string, effort: string, more: JsonObject = {}) =>
    sent('anthropic', 'bedrock-converse', { max_tokens: 9, messages: [], output_config: { effort }, ...more }, model)
      .additionalModelRequestFields;
  assert.deepEqual(own('us.anthropic.claude-opus-4-6-v1', 'max'), { output_config: { effort: 'max' } });
  assert.deepEqual(own('global.anthropic.claude-sonnet-5', 'low', { thinking: { type: 'adaptive' } }), {
    thinking: { type: 'adaptive' },
    output_config: { effort: 'low' },
  });
  assert.deepEqual(own('anthropic.claude-opus-4-5-20251101-v1:0', 'xhigh'), {
    output_config: { effort: 'high' },
    anthropic_beta: ['effort-2025-11-24'],
  });
  assert.deepEqual(own('openai.gpt-oss-120b-1:0', 'max'), { reasoning_effort: 'high' });
  assert.deepEqual(own('us.amazon.nova-2-lite-v1:0', 'high'), { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } });
  for (const model of [
    'anthropic.claude-sonnet-4-5-20250929-v1:0',
    'anthropic.claude-haiku-4-5-20251001-v1:0',
    'amazon.nova-pro-v1:0',
    'meta.llama3',
  ]) {
    const context = { model, provider: 'bedrock', requestId: 'req-01', now: new Date(0) };
    const request = { max_tokens: 9, messages: [], output_config: { effort: 'low' } };
    const result = translation('anthropic', 'bedrock-converse', context).request(request);
    assert.ok('body' in result && result.warnings.includes('dropped:output_config.effort'), model);
    assert.equal(result.body.additionalModelRequestFields, undefined, model);
  }
});

test('effort goes to models that take one', () => {
  const effort = (provider: string, model: string, config: JsonObject, more: JsonObject = {}) =>
    sent('anthropic', 'openai-chat', { max_tokens: 9, messages: [], output_config: config, ...more }, model, provider).reasoning_effort;
  assert.equal(effort('openai', 'gpt-5.4', { effort: 'medium' }, { thinking: { type: 'adaptive' } }), 'medium');
  assert.equal(effort('openai', 'gpt-5.4', { effort: 'xhigh' }), 'high');
  assert.equal(effort('openai', 'gpt-4o', { effort: 'medium' }), undefined);
  assert.equal(effort('mistral', 'mistral-small', { effort: 'medium' }), undefined);
  assert.equal(effort('openai', 'gpt-5.4', { effort: 'high' }, { thinking: { type: 'disabled' } }), undefined);
  const own = (model: string) =>
    sent('anthropic', 'bedrock-converse', { max_tokens: 9, messages: [], thinking: { type: 'adaptive' } }, model)
      .additionalModelRequestFields;
  assert.deepEqual([own('anthropic.claude-sonnet-5'), own('amazon.nova-pro')], [{ thinking: { type: 'adaptive' } }, undefined]);
  const low = sent('openai-responses', 'anthropic', { input: 'Hi', max_output_tokens: 50, reasoning: { effort: 'low', summary: 'auto' } });
  assert.deepEqual(low.thinking, { type: 'enabled', budget_tokens: 1_024 });
});

test('tools of a namespace and custom tools come back under their own names', () => {
  const made = translation('openai-responses', 'openai-chat', { model: 'm', provider: null, requestId: 'r', now: new Date(0) });
  const result = made.request({
    input: 'Hi',
    tools: [
      { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn', parameters: { type: 'object' } }] },
      { type: 'custom', name: 'apply_patch', description: 'Patch', format: { type: 'grammar' } },
      { type: 'web_search', external_web_access: false },
      { type: 'function', name: '__proto__', parameters: null },
    ],
  });
  assert.ok('body' in result);
  assert.deepEqual(
    (result.body.tools as { function: JsonObject }[]).map((tool) => tool.function.name),
    ['agents__spawn', 'apply_patch', '__proto__'],
  );
  assert.deepEqual(result.warnings, ['dropped:tools.web_search']);
  const call = (id: string, name: string, args: string) => ({ id, type: 'function', function: { name, arguments: args } });
  const calls = [call('a', 'agents__spawn', '{}'), call('b', 'apply_patch', '{"input":"*** Begin"}'), call('c', '__proto__', '{"x":1}')];
  const answer = made.answer({ id: 'chatcmpl-1', model: 'm', choices: [{ message: { tool_calls: calls }, finish_reason: 'tool_calls' }] });
  assert.deepEqual(
    (answer.output as JsonObject[]).map(({ id: _, status: __, ...item }) => item),
    [
      { type: 'function_call', call_id: 'a', name: 'spawn', namespace: 'agents', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'b', name: 'apply_patch', input: '*** Begin' },
      { type: 'function_call', call_id: 'c', name: '__proto__', arguments: '{"x":1}' },
    ],
  );
});

test('a stream of Responses that is too long to be repeated is cut', () => {
  const made = translation('openai-responses', 'openai-chat', { model: 'm', provider: null, requestId: 'r', now: new Date(0) });
  made.request({ input: 'Hi' });
  const stage = made.stream();
  const piece = 'x'.repeat(1024 * 1024);
  const push = () => stage.push(event('sse', { id: 'c', choices: [{ index: 0, delta: { content: piece } }] }));
  for (let count = 0; count < 8; count++) push();
  assert.throws(push, MalformedFrame);
});

test('tools that a conversation offers and withdraws are those of its end, and a message that ends with its turn is gone after it', () => {
  const tool = (name: string, more: JsonObject = {}) => ({ name, input_schema: { type: 'object' }, ...more });
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'system', content: 'Only now', clear_at: 'next_user_message' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'ToolSearch', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference', tool_name: 'Later' }] }] },
    {
      role: 'system',
      output_config: { effort: 'low' },
      content: [
        { type: 'text', text: 'New rules' },
        { type: 'tool_addition', tool: { type: 'tool_definition', definition: tool('Inline') } },
        { type: 'tool_removal', tool: { type: 'tool_reference', name: 'Bash' } },
      ],
    },
  ];
  const tools = [tool('Bash'), tool('Read'), tool('Later', { defer_loading: true }), tool('Placeholder', { defer_loading: true })];
  const body = { max_tokens: 9, messages, tools, output_config: { effort: 'high' } };
  const chat = sent('anthropic', 'openai-chat', structuredClone(body), 'gpt-5.4', 'openai');
  assert.deepEqual(
    (chat.tools as { function: JsonObject }[]).map((one) => one.function.name),
    ['Read', 'Later', 'Inline'],
  );
  assert.deepEqual(
    (chat.messages as JsonObject[]).flatMap(({ role, content }) => (role === 'system' ? [content] : [])),
    ['New rules'],
  );
  assert.equal(chat.reasoning_effort, 'low');
  const { keep, names } = adapterOf('anthropic').tools;
  assert.ok(names(body).includes('Inline'));
  assert.equal(
    keep(body, (name) => name === 'Read'),
    4,
  );
  assert.deepEqual([names(body), body.messages[4]?.content.length], [['Read'], 2]);
});
