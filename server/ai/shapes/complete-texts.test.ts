import assert from 'node:assert/strict';
import test from 'node:test';
import { isObject, type JsonObject } from '../json.ts';
import { jsonOf, made } from '../stream/event.ts';
import type { TextRef } from './adapter.ts';
import { adapterOf } from './adapters.ts';
import { OPAQUE_MEMBERS } from './rest.ts';
import type { Shape } from './shape.ts';

const mail = 'jane@example.com';
const other = 'svc-1@pii.invalid';

/** Strings that no shape knows, at places where only a complete walk finds them. */
const unknown = () => ({
  type: 'of_tomorrow',
  said: mail,
  title: mail,
  url: { said: mail },
  filename: mail,
  name: mail,
  data: mail,
  list: [mail, { deep: [{ said: mail }] }],
  citations: [{ cited_text: mail, document_title: mail, file: { filename: mail } }],
  thinking: [{ type: 'text', text: mail }],
});

const requests: Partial<Record<Shape, () => JsonObject>> = {
  'openai-chat': () => ({
    messages: [
      { role: 'user', name: mail, content: [unknown(), mail, { type: 'file', file: { filename: mail } }] },
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: mail }, mail] }],
        reasoning_details: [{ type: 'reasoning.text', text: mail, summary: mail }],
        reasoning: mail,
        tool_calls: [{ id: 'c', function: { name: 'f', arguments: JSON.stringify({ [mail]: { [mail]: [mail] } }) } }, unknown()],
        audio: { id: 'a', transcript: mail },
      },
      { role: 'tool', content: [unknown()] },
    ],
  }),
  anthropic: () => ({
    system: [unknown(), { type: 'text', text: mail, citations: [{ cited_text: mail }] }],
    messages: [
      { role: 'user', content: [unknown(), { type: 'tool_result', tool_use_id: 't', content: [unknown(), { type: 'text', text: mail }] }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: mail, signature: 's' },
          { type: 'text', text: mail, citations: [{ type: 'char_location', cited_text: mail, document_title: mail }] },
          { type: 'tool_use', name: 'f', input: { [mail]: { a: mail } } },
          { type: 'tool_of_tomorrow', name: 'f', input: { [mail]: { a: mail } }, caller: mail },
        ],
      },
    ],
  }),
  'openai-responses': () => ({
    input: [
      mail,
      unknown(),
      { role: 'user', content: [unknown(), { type: 'input_file', filename: mail }] },
      { type: 'reasoning', summary: [unknown()], content: [{ type: 'reasoning_text', text: mail }] },
      { type: 'function_call', name: 'f', arguments: JSON.stringify({ [mail]: mail }) },
      { type: 'function_call_output', output: [unknown()] },
      { type: 'local_shell_call', action: { command: [mail], env: { USER: mail } } },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: mail, annotations: [{ title: mail }] }] },
    ],
  }),
  gemini: () => ({
    systemInstruction: { parts: [unknown()] },
    contents: [
      { role: 'user', parts: [unknown(), { text: mail }, { functionResponse: { name: 'f', response: { [mail]: mail } } }] },
      { role: 'model', parts: [{ thought: true, text: mail }, { functionCall: { name: 'f', args: { [mail]: [mail] } } }] },
    ],
  }),
  'bedrock-converse': () => ({
    system: [unknown()],
    messages: [
      { role: 'user', content: [unknown(), { toolResult: { toolUseId: 't', content: [{ json: { [mail]: mail } }, unknown()] } }] },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: mail, signature: 's' } } },
          { toolUse: { toolUseId: 't', name: 'f', input: { [mail]: mail } } },
          { citationsContent: { content: [{ text: mail }], citations: [{ title: mail, sourceContent: [{ text: mail }] }] } },
        ],
      },
    ],
  }),
  cohere: () => ({
    messages: [
      { role: 'user', content: [unknown()] },
      { role: 'assistant', tool_plan: mail, citations: [{ text: mail }] },
    ],
  }),
  ollama: () => ({
    messages: [
      { role: 'user', content: mail, extra: unknown(), images: ['aGVsbG8='] },
      { role: 'assistant', thinking: mail },
    ],
  }),
};

const answers: Partial<Record<Shape, () => JsonObject>> = {
  'openai-chat': () => ({
    choices: [
      { message: (requests['openai-chat'] as () => { messages: JsonObject[] })().messages[1] },
      { message: unknown(), of_tomorrow: mail },
    ],
    search_results: [{ title: mail }],
  }),
  anthropic: () => ({ content: (requests.anthropic as () => { messages: JsonObject[] })().messages[1]?.content }),
  'openai-responses': () => ({ output: (requests['openai-responses'] as () => { input: JsonObject[] })().input.slice(1) }),
  gemini: () => ({
    candidates: [
      {
        content: (requests.gemini as () => { contents: JsonObject[] })().contents[1],
        citationMetadata: { citations: [{ title: mail }] },
        groundingMetadata: { webSearchQueries: [mail], groundingChunks: [{ web: { title: mail, uri: 'https://a.test' } }] },
      },
    ],
  }),
  'bedrock-converse': () => ({ output: { message: (requests['bedrock-converse'] as () => { messages: JsonObject[] })().messages[1] } }),
  cohere: () => ({
    message: { content: [unknown()], tool_plan: mail, citations: [{ text: mail, sources: [{ document: { title: mail } }] }] },
  }),
  ollama: () => ({ message: { content: mail, thinking: mail, extra: unknown() } }),
};

/** Each text is set once to what stands in place of the address in it. */
const replace = (refs: readonly TextRef[]) => {
  for (const ref of refs) ref.set(ref.text.replaceAll(mail, other));
};

test('an address at any place of a message is found and replaced, in requests and answers of every shape', () => {
  for (const [bodies, textsOf] of [
    [requests, 'texts'],
    [answers, 'answerTexts'],
  ] as const)
    for (const [shape, bodyOf] of Object.entries(bodies)) {
      const body = bodyOf();
      replace(adapterOf(shape as Shape)[textsOf](body));
      const expected = JSON.stringify(bodyOf()).replaceAll(mail, other);
      assert.deepEqual(sorted(body), sorted(JSON.parse(expected)), `${shape} ${textsOf}`);
    }
});

test('each text is found once', () => {
  for (const [shape, bodyOf] of Object.entries(requests)) {
    const body = bodyOf();
    const refs = adapterOf(shape as Shape).texts(body);
    const count = JSON.stringify(body).split(mail).length - 1;
    assert.equal(refs.filter(({ text }) => text === mail).length, count, shape);
  }
});

test('members that hold no text are left as they are, in a message of any type', () => {
  const members = [...Object.values(OPAQUE_MEMBERS).flat(), 'id', 'call_id', 'file_ids', 'toolUseId'];
  for (const member of members) {
    const part = { [member]: mail, nested: { [member]: [mail] } };
    const body = { messages: [{ role: 'user', content: [part] }] };
    assert.deepEqual(adapterOf('openai-chat').texts(body), [], member);
  }
  const data = [{ data: 'QUJD' }, { bytes: 'QUJD' }, { blob: 'QUJD'.repeat(100) }, { picture: 'data:image/png;base64,QUJD' }];
  assert.deepEqual(adapterOf('openai-chat').texts({ messages: [{ role: 'user', content: data }] }), []);
});

const events: [Shape, string, JsonObject][] = [
  ['openai-chat', 'content in parts', { choices: [{ delta: { content: [{ type: 'text', text: mail }] } }] }],
  [
    'openai-chat',
    'thinking in parts',
    { choices: [{ delta: { content: [{ type: 'thinking', thinking: [{ type: 'text', text: mail }] }] } }] },
  ],
  ['openai-chat', 'details of reasoning', { choices: [{ delta: { reasoning_details: [{ text: mail, summary: mail }] } }] }],
  ['openai-chat', 'transcript', { choices: [{ delta: { audio: { transcript: mail } } }] }],
  ['openai-chat', 'unknown members', { choices: [{ delta: { content: mail, of_tomorrow: unknown(), annotations: [{ title: mail }] } }] }],
  ['openai-chat', 'results of a search', { choices: [], search_results: [{ title: mail }] }],
  ['anthropic', 'content_block_start', { type: 'content_block_start', index: 0, content_block: unknown() }],
  [
    'anthropic',
    'citations_delta',
    { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { document_title: mail } } },
  ],
  ['anthropic', 'content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'of_tomorrow_delta', said: mail } }],
  ['anthropic', 'of_tomorrow', { type: 'of_tomorrow', said: mail, message: { content: [unknown()] } }],
  ['bedrock-converse', 'ofTomorrow', { said: mail }],
  ['cohere', 'of-tomorrow', { type: 'of-tomorrow', said: mail }],
  ['openai-responses', 'response.of_tomorrow.delta', { type: 'response.of_tomorrow.delta', delta: mail }],
  ['openai-responses', 'response.of_tomorrow.done', { type: 'response.of_tomorrow.done', said: mail }],
  ['openai-responses', 'annotations', { type: 'response.output_text.annotation.added', annotation: { title: mail } }],
  ['openai-responses', 'response.output_item.added', { type: 'response.output_item.added', item: unknown() }],
  [
    'gemini',
    'parts',
    { candidates: [{ content: { parts: [unknown(), { text: mail }] }, groundingMetadata: { webSearchQueries: [mail] } }] },
  ],
  [
    'bedrock-converse',
    'contentBlockDelta',
    { contentBlockIndex: 0, delta: { citation: { title: mail, sourceContent: [{ text: mail }] } } },
  ],
  [
    'cohere',
    'citation-start',
    { type: 'citation-start', delta: { message: { citations: { text: mail, sources: [{ document: { title: mail } }] } } } },
  ],
  ['ollama', 'message', { message: { content: mail, extra: unknown() } }],
];

test('an address in an event of a stream is found in a channel or in the event, known or not', () => {
  for (const [shape, name, json] of events) {
    const grammar = adapterOf(shape).stream;
    const event = made(grammar.wire, structuredClone(json), name);
    for (const { channel, text } of grammar.deltas(event)) grammar.setDelta(event, channel, text.replaceAll(mail, other));
    replace(grammar.texts(event));
    assert.deepEqual(jsonOf(event), JSON.parse(JSON.stringify(json).replaceAll(mail, other)), `${shape}: ${name}`);
  }
});

test('an event made of a channel is read as that channel again', () => {
  for (const [shape, name, json] of events.slice(0, 4)) {
    const grammar = adapterOf(shape).stream;
    const event = made(grammar.wire, structuredClone(json), name);
    const deltas = grammar.deltas(event).map(({ channel, kind, text }) => ({ channel, kind, text }));
    assert.notEqual(deltas.length, 0, name);
    for (const delta of deltas)
      assert.deepEqual(
        grammar.deltas(grammar.delta(delta.channel, delta.text, event)).map(({ channel, kind, text }) => ({ channel, kind, text })),
        [delta],
        name,
      );
  }
});

test('names of members that become equal keep all their values', () => {
  const body: JsonObject = {
    messages: [{ role: 'assistant', content: [{ type: 'tool_use', input: { 'a@b.test': 1, 'c@d.test': 2, plain_name: 3 } }] }],
  };
  const refs = adapterOf('anthropic').texts(body);
  assert.deepEqual(
    refs.map(({ text }) => text),
    ['a@b.test', 'c@d.test'],
  );
  for (const ref of refs) ref.set('<EMAIL_ADDRESS>');
  const [message] = body.messages as { content: { input: JsonObject }[] }[];
  assert.deepEqual(message?.content[0]?.input, { plain_name: 3, '<EMAIL_ADDRESS>': 1, '<EMAIL_ADDRESS> 2': 2 });
});

/** Arguments are compared as JSON: their members may come in another order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, name === 'arguments' && typeof member === 'string' ? sorted(JSON.parse(member)) : sorted(member)])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
}
