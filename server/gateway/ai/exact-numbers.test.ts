import assert from 'node:assert/strict';
import test from 'node:test';
import { changed, jsonOf, received } from '#server/ai/stream/event.ts';
import { streamWriter } from '#server/ai/stream/writer.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { HOSTILE_JSON as HOSTILE } from '#server/testing/hostile/json-document.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream, type Upstream } from '../gateway.fixture.ts';
import { askAgent, completion, makeAgent, makeToken } from './ai.fixture.ts';

// What callers and models give keeps its digits and names, whether a body goes on as it is, is written anew, translated, streamed or kept.

await testDatabase();
const running = await startGateway();

const SCHEMA = '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807},"price":{"multipleOf":0.10}}}';
const quoted = JSON.stringify(HOSTILE);

async function setUp(upstream: Upstream, columns: Record<string, unknown> = {}) {
  const w = await workspace();
  const made = await makeAgent(w, upstream, columns);
  const token = await makeToken(w, made);
  await served(running, w);
  return {
    w,
    ask: (body: string, path?: string) => askAgent(running, w, made.agent, token.text, body, path === undefined ? {} : { path }),
  };
}

/** A provider that sends this text. */
const saying = (text: string, type = 'application/json') =>
  startUpstream((_, res) => void res.writeHead(200, { 'content-type': type }).end(text));
const COMPLETION = JSON.stringify(completion());

const CHAT = `{"model":"gpt-test","seed":7615917337495251231,"temperature":1.0,"max_tokens":100.0,"logit_bias":{"50256":-1.50},"metadata":{"account":18446744073709551616},"x_own":${HOSTILE},"tools":[{"type":"function","function":{"name":"pay","parameters":${SCHEMA}}}],"messages":[{"role":"user","content":"Hi"}]}`;

test('a body that is written anew keeps all but settings that are the same as doubles', async () => {
  const provider = await saying(COMPLETION);
  const { ask } = await setUp(provider, { budget_per_call_max_tokens: 50 });
  const answer = await ask(CHAT);
  assert.equal(answer.status, 200, answer.body);
  assert.equal(answer.headers['x-svc-ai-max-tokens'], 'clamped=50');
  assert.equal(provider.seen[0]?.body, CHAT.replace('"temperature":1.0,"max_tokens":100.0', '"temperature":1,"max_tokens":50'));
});

test('a number that no double has is no way around the ceiling of output tokens', async () => {
  const provider = await saying(COMPLETION);
  const { ask } = await setUp(provider, { budget_per_call_max_tokens: 50 });
  for (const most of ['18446744073709551616', '1e400', '-1e400', '100.00000000000000000001']) {
    const answer = await ask(`{"model":"gpt-test","max_tokens":${most},"messages":[{"role":"user","content":"Hi"}]}`);
    assert.equal(answer.status, 200, answer.body);
    assert.equal(JSON.parse(provider.seen.at(-1)?.body ?? '').max_tokens, 50, most);
  }
});

const MESSAGES = `"messages":[{"role":"user","content":"Pay"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"pay","arguments":${quoted}}}]},{"role":"tool","tool_call_id":"c1","content":"paid"}]`;
const TOOLS = `"tools":[{"type":"function","function":{"name":"pay","parameters":${SCHEMA}}}]`;
const head = '"id":"msg_01","type":"message","role":"assistant","model":"claude-test"';

test('a translated call keeps schemas and arguments, of the request and of the answer', async () => {
  const provider = await saying(
    `{${head},"content":[{"type":"tool_use","id":"t1","name":"pay","input":${HOSTILE}}],"stop_reason":"tool_use","usage":{"input_tokens":16.0,"output_tokens":5}}`,
  );
  const { ask } = await setUp(provider, { provider: 'anthropic', default_model: 'claude-test' });
  const answer = await ask(`{"model":"claude-test","temperature":0.70,${TOOLS},${MESSAGES}}`);
  assert.equal(answer.status, 200, answer.body);
  const sent = provider.seen[0]?.body ?? '';
  assert.ok(sent.includes(`"input_schema":${SCHEMA}`), sent);
  assert.ok(sent.includes(`"input":${HOSTILE}`), sent);
  assert.ok(sent.includes('"temperature":0.7'), sent);
  assert.equal(JSON.parse(answer.body).choices[0].message.tool_calls[0].function.arguments, HOSTILE);
  assert.equal(JSON.parse(answer.body).usage.prompt_tokens, 16);
});

test('a long answer, which a thread translates, keeps the arguments of its tool calls', async () => {
  const long = `{"type":"text","text":"${'word '.repeat(30_000)}"}`;
  const provider = await saying(
    `{${head},"content":[${long},{"type":"tool_use","id":"t1","name":"pay","input":${HOSTILE}}],"stop_reason":"tool_use","usage":{"input_tokens":16,"output_tokens":5}}`,
  );
  const { ask } = await setUp(provider, { provider: 'anthropic', default_model: 'claude-test' });
  const answer = await ask(`{"model":"claude-test",${TOOLS},${MESSAGES}}`);
  assert.equal(JSON.parse(answer.body).choices[0].message.tool_calls[0].function.arguments, HOSTILE, answer.body.slice(-500));
});

test('a translated stream keeps the arguments of its tool calls', async () => {
  const events = [
    `{"type":"message_start","message":{${head},"content":[],"usage":{"input_tokens":16,"output_tokens":1}}}`,
    `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"pay","input":${HOSTILE}}}`,
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}',
    '{"type":"message_stop"}',
  ];
  const frames = events.map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`).join('');
  const provider = await saying(frames, 'text/event-stream');
  const { ask } = await setUp(provider, { provider: 'anthropic', default_model: 'claude-test' });
  const answer = await ask(`{"model":"claude-test","stream":true,${TOOLS},${MESSAGES}}`);
  const pieces = [...answer.body.matchAll(/^data: (\{.*\})$/gm)]
    .flatMap(([, data]) => JSON.parse(data as string).choices[0]?.delta?.tool_calls ?? [])
    .map((one: { function?: { arguments?: string } }) => one.function?.arguments ?? '');
  assert.equal(pieces.join(''), HOSTILE, answer.body);
});

test('an event that is written anew keeps what isn’t changed in it', () => {
  const event = received('sse', Buffer.from(`data: ${HOSTILE}\n\n`));
  jsonOf(event);
  const writer = streamWriter('sse');
  assert.equal(Buffer.from(writer.bytes([changed(event)])).toString(), `data: ${HOSTILE}\n\n`);
});

test('an answer that is written anew keeps what isn’t changed in it', async () => {
  const tool = (name: string) => `{"type":"tool_use","id":"${name}","name":"${name}","input":${HOSTILE}}`;
  const provider = await saying(
    `{${head},"content":[${tool('pay')},${tool('steal')}],"stop_reason":"tool_use","usage":{"input_tokens":16,"output_tokens":5}}`,
  );
  const { ask } = await setUp(provider, { provider: 'anthropic', default_model: 'claude-test', tool_allowlist: ['pay'] });
  const answer = await ask(
    `{"model":"claude-test","max_tokens":9,"messages":[{"role":"user","content":"Pay"}],"tools":[{"name":"pay","input_schema":${SCHEMA}}]}`,
    '/v1/messages',
  );
  assert.ok(answer.body.includes(tool('pay')) && !answer.body.includes('"steal"'), answer.body);
});

test('bodies that differ in a digit are two in the cache, and a kept answer keeps its digits', async () => {
  const provider = await saying(COMPLETION.replace('"created":1,', `"created":1,"x_own":${HOSTILE},`));
  const { w, ask } = await setUp(provider, { cache_mode: 'exact', cache_ttl_seconds: 600 });
  const first = await ask(CHAT);
  assert.equal(first.headers['x-svc-ai-cache'], 'miss', first.body);
  await until(async () => (await db().ai_cache_entries.count({ where: { tenant_id: w.tenant.id } })) === 1);
  const again = await ask(CHAT);
  assert.equal(again.headers['x-svc-ai-cache'], 'hit');
  assert.ok(again.body.includes(`"x_own":${HOSTILE}`), again.body);
  for (const other of [CHAT.replace('7615917337495251231', '7615917337495251232'), CHAT.replace('1E2', '1E3')])
    assert.equal((await ask(other)).headers['x-svc-ai-cache'], 'miss');
});
