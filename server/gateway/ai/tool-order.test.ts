import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, makeAgent, makeToken } from './ai.fixture.ts';

// Text that is held back, because it may be the beginning of personal data, comes before what its author wrote behind it.

await testDatabase();
const running = await startGateway();

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const call = (index: number, id: string | undefined, name: string, args: string) => ({
  tool_calls: [{ index, ...(id === undefined ? {} : { id }), type: 'function', function: { name, arguments: args } }],
});

/** What a client of `path` gets of a chat provider that streams these chunks. */
async function streamed(path: string, chunks: readonly string[]): Promise<string> {
  const provider = await startUpstream((_, res) =>
    res.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${chunks.join('')}data: [DONE]\n\n`),
  );
  const w = await workspace();
  // OpenAI serves Responses itself.
  const made = await makeAgent(w, provider, { provider: path.endsWith('responses') ? 'mistral' : 'openai', default_model: 'm' });
  const { text: token } = await makeToken(w, made);
  await served(running, w);
  const prompt = path.endsWith('responses') ? { input: 'x' } : { max_tokens: 50, messages: [{ role: 'user', content: 'x' }] };
  const answer = await askAgent(running, w, made.agent, token, { model: 'm', stream: true, ...prompt }, { path });
  assert.equal(answer.status, 200, answer.body);
  return answer.body;
}

/** The events of a stream. */
const dataOf = (body: string) =>
  body
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));

type Block = { type: string; text?: string; thinking?: string; id?: string; name?: string; input?: string };
/** The blocks of a stream of messages, each as its pieces say. */
function blocksOf(body: string): Block[] {
  const blocks: Block[] = [];
  for (const { type, index, content_block, delta } of dataOf(body)) {
    if (type === 'content_block_start') blocks[index] = { ...content_block, ...(content_block.type === 'tool_use' && { input: '' }) };
    const block = blocks[index];
    if (type !== 'content_block_delta' || !block) continue;
    if (delta.type === 'text_delta') block.text += delta.text;
    if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
    if (delta.type === 'input_json_delta') block.input += delta.partial_json;
  }
  return blocks;
}

const WORDS = ['Let', ' me', ' read', ' the', ' file', ' now.'];

test('text stays before the call of a tool that was written behind it, and reasoning before the text', async () => {
  const body = await streamed('/v1/messages', [
    chunk({ role: 'assistant', content: '' }),
    ...WORDS.map((reasoning_content) => chunk({ content: '', reasoning_content })),
    ...WORDS.map((content) => chunk({ content })),
    chunk(call(0, 'c1', 'Read', '')),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"path":"f.txt"}' } }] }),
    chunk({}, 'tool_calls'),
  ]);
  assert.deepEqual(
    blocksOf(body).map(({ type, text, thinking, input }) => [type, text ?? thinking ?? input]),
    [
      ['thinking', WORDS.join('')],
      ['text', WORDS.join('')],
      ['tool_use', '{"path":"f.txt"}'],
    ],
  );
});

test('clients of chat and of Responses get the whole text before the call, too', async () => {
  const chunks = [...WORDS.map((content) => chunk({ content })), chunk(call(0, 'c1', 'Read', '{}')), chunk({}, 'tool_calls')];
  const chat = await streamed('/v1/chat/completions', chunks);
  const at = chat.indexOf('"tool_calls":[');
  const text = (part: string) => [...part.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('');
  assert.deepEqual([text(chat.slice(0, at)), text(chat.slice(at))], [WORDS.join(''), '']);
  const responses = await streamed('/v1/responses', chunks);
  const items = dataOf(responses).flatMap(({ type, item }) => (type === 'response.output_item.added' ? [item.type] : []));
  assert.deepEqual(items, ['message', 'function_call']);
});

test('personal data that is cut between chunks is found before a call of a tool', async () => {
  const body = await streamed('/v1/messages', [
    ...['Write to ja', 'ne@exam', 'ple.com'].map((content) => chunk({ content })),
    chunk(call(0, 'c1', 'Read', '{}')),
    chunk({}, 'tool_calls'),
  ]);
  assert.deepEqual(
    blocksOf(body).map(({ type, text }) => [type, text]),
    [
      ['text', 'Write to <EMAIL_ADDRESS>'],
      ['tool_use', undefined],
    ],
  );
});

test('parallel calls under one index are told apart by their IDs, and a call without an ID gets one', async () => {
  const same = blocksOf(
    await streamed('/v1/messages', [
      chunk(call(0, 'c1', 'A', '{"n":1}')),
      chunk(call(0, 'c2', 'B', '{"n":')),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '2}' } }] }),
      chunk({}, 'tool_calls'),
    ]),
  );
  assert.deepEqual(
    same.map(({ id, name, input }) => [id, name, input]),
    [
      ['c1', 'A', '{"n":1}'],
      ['c2', 'B', '{"n":2}'],
    ],
  );
  for (const id of [undefined, '']) {
    const [only] = blocksOf(await streamed('/v1/messages', [chunk(call(0, id, 'A', '{"n":1}')), chunk({}, 'tool_calls')]));
    assert.match(only?.id ?? '', /^call_\S+$/);
    assert.deepEqual([only?.name, only?.input], ['A', '{"n":1}']);
  }
});

test('the input of a custom tool stays one, with its call, whatever of it is held back', async () => {
  const piece = (input: string, more: object = {}) =>
    chunk({
      tool_calls: [{ index: 0, type: 'custom', ...more, custom: { input, ...(Object.keys(more).length > 0 && { name: 'shell' }) } }],
    });
  for (const pieces of [['print(', '"jane@exam', 'ple.com", 1)'], ['jane@example.com']]) {
    const body = await streamed('/v1/chat/completions', [
      ...pieces.map((input, i) => piece(input, i === 0 ? { id: 'c1' } : {})),
      chunk({}, 'tool_calls'),
    ]);
    const calls = dataOf(body).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    assert.deepEqual(
      calls.map(({ index, function: called }) => [index, called]).filter(([index, called]) => index !== 0 || called !== undefined),
      [],
    );
    assert.deepEqual([calls[0]?.id, calls[0]?.custom.name], ['c1', 'shell']);
    assert.equal(calls.map(({ custom }) => custom?.input ?? '').join(''), pieces.join('').replace('jane@example.com', '<EMAIL_ADDRESS>'));
  }
});
