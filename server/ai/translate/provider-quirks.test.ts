import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '../json.ts';
import { adapterOf } from '../shapes/adapters.ts';
import type { StreamEvent } from '../stream/event.ts';
import { eventsIn } from '../stream/events.fixture.ts';
import { usageMeter } from '../stream/usage-meter.ts';
import { upstreamBytes, written } from './golden.fixture.ts';
import type { ClientShape, UpstreamShape } from './shapes.ts';
import { translation } from './translation.ts';

// What providers do that their references don't say, and what clients refuse.

const context = { model: 'the-model', provider: null, requestId: 'req-01', now: new Date(1_795_196_040_000) };
type Frames = [string, unknown][];

/** The stream in the caller's shape, as it leaves after its end. */
function streamed(from: ClientShape, to: UpstreamShape, frames: Frames): unknown[] {
  const made = translation(from, to, context);
  made.request(from === 'anthropic' ? { max_tokens: 9, messages: [] } : { messages: [] });
  const stage = made.stream();
  const seen = written(stage.push, to, [upstreamBytes(to, frames)]);
  const last = stage.end();
  return [...seen, ...last.map(({ json, data }) => json ?? data)];
}

const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): [string, unknown] => [
  '',
  { id: 'chatcmpl-1', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more },
];
const call = (id: string, city: string): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: JSON.stringify({ city }) },
});
const anthropicCall = (index: number, id: string, pieces: string[]): Frames => [
  ['content_block_start', { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: 'now', input: {} } }],
  ...pieces.map((partial_json): [string, unknown] => [
    'content_block_delta',
    { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } },
  ]),
  ['content_block_stop', { type: 'content_block_stop', index }],
];
const anthropicStream = (...blocks: Frames): Frames => [
  ['message_start', { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } }],
  ...blocks,
  ['message_delta', { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } }],
  ['message_stop', { type: 'message_stop' }],
];
const converseCalls: Frames = [
  ['messageStart', { role: 'assistant' }],
  ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't1', name: 'now' } } }],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['messageStop', { stopReason: 'tool_use' }],
  ['metadata', { usage: { inputTokens: 1, outputTokens: 2 } }],
];

/** Arguments of each call of a chat stream, put together. */
function chatArguments(seen: unknown[]): string[] {
  const texts: string[] = [];
  for (const one of seen as [string, JsonObject][]) {
    const choices = (one[1]?.choices ?? []) as { delta: { tool_calls?: { index: number; function: { arguments: string } }[] } }[];
    for (const { delta } of choices)
      for (const { index, function: called } of delta.tool_calls ?? []) texts[index] = `${texts[index] ?? ''}${called.arguments}`;
  }
  return texts;
}

test('a streamed call without arguments has an empty object as its arguments', () => {
  const frames = anthropicStream(
    ...anthropicCall(0, 'a', []),
    ...anthropicCall(1, 'b', ['', '{"zone":', '1}']),
    ...anthropicCall(2, 'c', ['']),
  );
  assert.deepEqual(chatArguments(streamed('openai-chat', 'anthropic', frames)), ['{}', '{"zone":1}', '{}']);
  assert.deepEqual(chatArguments(streamed('openai-chat', 'bedrock-converse', converseCalls)), ['{}']);
});

test('two parallel calls whose server leaves out their index are two', () => {
  const frames: Frames = [
    chunk({ role: 'assistant', tool_calls: [call('a', 'Bern')] }),
    chunk({ tool_calls: [call('b', 'Basel')] }),
    chunk({}, 'tool_calls'),
    ['', '[DONE]'],
  ];
  const blocks = streamed('anthropic', 'openai-chat', frames) as [string, { content_block?: { id: string }; delta?: JsonObject }][];
  assert.deepEqual(
    blocks.flatMap(([, { content_block }]) => content_block?.id ?? []),
    ['a', 'b'],
  );
  assert.deepEqual(
    blocks.flatMap(([, { delta }]) => delta?.partial_json ?? []),
    ['{"city":"Bern"}', '{"city":"Basel"}'],
  );

  const completed = adapterOf('openai-chat').stream.completed?.() as (event: StreamEvent) => StreamEvent;
  const grammar = adapterOf('openai-chat').stream;
  const pieces: Frames = [
    chunk({ tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{' } }] }),
    chunk({ tool_calls: [{ function: { arguments: '}' } }] }),
    chunk({ tool_calls: [call('b', 'Basel'), call('c', 'Chur')] }),
  ];
  const channels = eventsIn('sse', upstreamBytes('openai-chat', pieces)).flatMap((event) =>
    grammar.deltas(completed(event)).map(({ channel }) => channel),
  );
  assert.deepEqual(channels, ['0.tool.0', '0.tool.0', '0.tool.1', '0.tool.2']);
});

test('a finish reason without a last event ends a stream, once every answer has one', () => {
  const seen = streamed('anthropic', 'openai-chat', [chunk({ content: 'Hi' }), chunk({}, 'stop')]);
  assert.equal((seen.at(-1) as JsonObject).type, 'message_stop');
  const meterOf = (frames: Frames, answers: number) => {
    const meter = usageMeter(adapterOf('openai-chat').stream, answers);
    for (const event of eventsIn('sse', upstreamBytes('openai-chat', frames))) meter.see(event);
    return meter.complete();
  };
  const second = { choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] };
  assert.equal(meterOf([chunk({ content: 'Hi' })], 1), false);
  assert.equal(meterOf([chunk({ content: 'Hi' }, 'stop')], 1), true);
  assert.equal(meterOf([chunk({}, 'stop')], 2), false);
  assert.equal(meterOf([chunk({}, 'stop'), chunk({}, null, second)], 2), true);
  assert.equal(
    streamed('anthropic', 'openai-chat', [chunk({ content: 'Hi' })]).some((one) => (one as JsonObject).type === 'message_stop'),
    false,
  );
});

test('a null beside a count doesn’t hide the count', () => {
  const { usage, finish } = adapterOf('openai-chat').stream;
  const of = (more: JsonObject) => eventsIn('sse', upstreamBytes('openai-chat', [chunk({}, null, more)]))[0] as StreamEvent;
  const counts = { prompt_tokens: 20, completion_tokens: 5 };
  assert.equal(usage(of({ usage: null, x_groq: { usage: counts } }), undefined)?.output_text, 5);
  assert.equal(usage(of({ x_groq: { usage: counts }, usage: null }), undefined)?.output_text, 5);
  const both = of({
    choices: [
      { index: 0, delta: {}, finish_reason: 'length' },
      { index: 1, delta: {}, finish_reason: null },
    ],
  });
  assert.equal(finish(both), 'length');
});

test('no member of an answer is null unless its reference says so', () => {
  const nullable = new Set(['stop_reason', 'stop_sequence', 'content', 'refusal', 'logprobs', 'finish_reason']);
  const nulls = (value: unknown): string[] =>
    Object.entries((value ?? {}) as object).flatMap(([name, member]) =>
      member === null ? [name] : typeof member === 'object' ? nulls(member) : [],
    );
  const answer = { id: 'chatcmpl-1', model: 'm', choices: [{ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }] };
  const message = { id: 'msg_1', model: 'm', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' };
  const made = [
    translation('anthropic', 'openai-chat', context).answer(answer),
    translation('openai-chat', 'anthropic', context).answer(message),
    streamed('anthropic', 'openai-chat', [chunk({ content: 'Hi' }), chunk({}, 'stop'), ['', '[DONE]']]),
    streamed('openai-chat', 'anthropic', anthropicStream(...anthropicCall(0, 'a', []))),
  ];
  assert.deepEqual(
    made.flatMap(nulls).filter((name) => !nullable.has(name)),
    [],
  );
});

test('reasoning effort makes no thinking for a conversation whose calls came without it', () => {
  const ask = (messages: object[]) =>
    translation('openai-chat', 'anthropic', context).request({ messages, reasoning_effort: 'high', max_tokens: 100 });
  const history = [
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: null, tool_calls: [call('a', 'Bern')] },
    { role: 'tool', tool_call_id: 'a', content: 'Sun' },
  ];
  const plain = ask(history.slice(0, 1));
  assert.ok('body' in plain && plain.body.thinking !== undefined);
  const later = ask(history);
  assert.ok('body' in later);
  assert.deepEqual([later.body.thinking, later.body.max_tokens, later.warnings], [undefined, 100, ['thinking_removed']]);
});

const THINKING = { type: 'thinking', thinking: [{ type: 'text', text: 'Hmm.' }] };

test('an answer whose content is a list keeps its text and its thinking, streamed and whole', () => {
  const content = [THINKING, { type: 'text', text: 'The ' }, { type: 'reference', reference_ids: [1] }, { type: 'text', text: 'answer.' }];
  const whole = { id: 'c1', model: 'm', choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] };
  const frames = [
    chunk({ content: [THINKING] }),
    chunk({ content: 'The ' }),
    chunk({ content: [{ type: 'text', text: 'answer.' }] }, 'stop'),
  ];
  for (const from of ['anthropic', 'openai-responses'] as const) {
    const made = translation(from, 'openai-chat', context);
    made.request(from === 'anthropic' ? { max_tokens: 9, messages: [], thinking: { type: 'enabled' } } : { input: 'x', reasoning: {} });
    const answer = JSON.stringify(made.answer(whole));
    assert.match(answer, /The (?:"[^A-Z]*"text":")?answer\./, answer);
    assert.match(answer, /Hmm\./, answer);
    const stream = JSON.stringify(streamed(from, 'openai-chat', frames));
    // The fixture asks for no reasoning, which the writer of Responses then leaves out.
    for (const text of from === 'anthropic' ? ['Hmm.', 'The ', 'answer.'] : ['The ', 'answer.']) assert.ok(stream.includes(text), stream);
  }
  const { answerText, answerTexts } = adapterOf('openai-chat');
  assert.equal(answerText(whole), 'The answer.');
  assert.deepEqual(
    answerTexts(whole).map(({ role, text }) => [role, text]),
    [
      ['reasoning', 'Hmm.'],
      ['assistant', 'The '],
      ['assistant', 'answer.'],
    ],
  );
});

test('JSON without a message is no answer to translate', () => {
  for (const to of ['openai-chat', 'anthropic', 'bedrock-converse'] as const) {
    const made = translation(to === 'anthropic' ? 'openai-chat' : 'anthropic', to, context);
    for (const answer of [null, [], 7, 'x', {}, { choices: [{ message: null }] }]) {
      assert.equal(made.answers(answer), false, `${to} ${JSON.stringify(answer)}`);
      assert.throws(() => made.answer(answer));
    }
  }
});
