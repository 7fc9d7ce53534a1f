import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';
import { startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, completion, frames, makeToken, openAi, PROMPT, served } from './ai.fixture.ts';

// Models that people host themselves, over http on an address that the operator opened, and providers behind a base URL of their own.

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });
const running = await startGateway();
const vllm = await openAi();
const ollama = await startUpstream((req, res, body) => {
  const asked = JSON.parse(body.toString()) as { stream?: boolean };
  if (req.url === '/v1/chat/completions') {
    if (asked.stream) return void res.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames().join(''));
    return void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion()));
  }
  if (req.url !== '/api/chat') return void res.writeHead(404).end('{"error":"no such path"}');
  const line = (content: string, done: boolean) =>
    `${JSON.stringify({ model: 'llama3', message: { role: 'assistant', content }, done, ...(done ? { prompt_eval_count: 10, eval_count: 2 } : {}) })}\n`;
  if (asked.stream === false) return void res.writeHead(200, { 'content-type': 'application/json' }).end(line('Hello', true));
  res.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(line('Hello', false) + line('', true));
});

/** An agent as the management plane makes it, with a token. */
async function setUp(input: object, value?: string) {
  const w = await workspace({ plan: 'pro' });
  const gateway = await made(w.live, 'ai_gateways.create', { name: 'G', slug: fresh('g') });
  const secret = value === undefined ? undefined : await made(w.live, 'secrets.create', { name: fresh('LLM_KEY'), value });
  const key = secret ? { upstream_secret_id: secret.id } : {};
  const agent = await made(w.live, 'ai_gateways.agents.create', { id: gateway.id, name: 'A', slug: fresh('a'), ...key, ...input });
  const row = await db().ai_agents.findUniqueOrThrow({ where: { id: agent.id }, include: { gateway: true } });
  const { text: token } = await makeToken(w, { agent: row, gateway: row.gateway });
  await served(running, w);
  const call = (body: object, path?: string) => askAgent(running, w, agent, token, body, path === undefined ? {} : { path });
  const logged = async (id = '') => {
    await running.flush();
    return db().ai_request_logs.findFirstOrThrow({ where: { request_id: id } });
  };
  return { call, logged };
}

const CLAUDE = { model: 'gpt-test', max_tokens: 50, messages: PROMPT.messages };

test('Ollama over http, without a key: its own API, OpenAI’s and Anthropic’s, streamed and whole, for whichever base URL was copied', async () => {
  for (const end of ['', '/', '/v1', '/api']) {
    const { call, logged } = await setUp({ provider: 'ollama', upstream: `${ollama.url}${end}`, default_model: 'llama3' });
    const chat = await call({ ...PROMPT, model: 'llama3' });
    assert.equal(chat.status, 200, `${end}: ${chat.body}`);
    assert.deepEqual([ollama.seen.at(-1)?.url, ollama.seen.at(-1)?.headers.authorization], ['/v1/chat/completions', undefined]);
    assert.match((await call({ ...PROMPT, model: 'llama3', stream: true })).body, /"content":"Hello ".*data: \[DONE\]/s);
    const native = await call({ ...PROMPT, model: 'llama3', stream: false }, '/api/chat');
    assert.equal(native.status, 200, native.body);
    assert.equal(ollama.seen.at(-1)?.url, '/api/chat');
    const message = await call({ ...CLAUDE, model: 'llama3' }, '/v1/messages');
    assert.equal(message.status, 200, message.body);
    assert.deepEqual((message.json().content as unknown as { text?: string }[])[0]?.text, 'Hello');
    assert.match((await call({ ...CLAUDE, model: 'llama3', stream: true }, '/v1/messages')).body, /event: message_stop/);
    const row = await logged(chat.headers['x-svc-request-id']);
    assert.deepEqual([row.provider, row.status, row.priced, Number(row.cost_nano)], ['ollama', 'ok', true, 0]);
  }
});

test('a server with OpenAI’s API in the network, such as vLLM, with and without a key', async () => {
  for (const value of [undefined, 'vllm-key-0123456789']) {
    const { call } = await setUp({ provider: 'openai-compatible', upstream: `${vllm.url}/v1`, default_model: 'gpt-test' }, value);
    assert.equal((await call(PROMPT)).status, 200);
    const sent = vllm.seen.at(-1);
    assert.deepEqual([sent?.url, sent?.headers.authorization], ['/v1/chat/completions', value && `Bearer ${value}`]);
    const message = await call({ ...CLAUDE, stream: true }, '/v1/messages');
    assert.match(message.body, /event: message_stop/);
  }
});

test('a provider behind a base URL of one’s own keeps its prices, its headers and its translation', async () => {
  const { call, logged } = await setUp({ provider: 'openai', upstream: `${vllm.url}/corp/openai/v1` }, 'sk-corp-0123456789');
  const chat = await call({ ...PROMPT, model: 'gpt-5.4-mini' });
  assert.equal(chat.status, 200, chat.body);
  assert.equal(vllm.seen.at(-1)?.url, '/corp/openai/v1/chat/completions');
  const row = await logged(chat.headers['x-svc-request-id']);
  assert.deepEqual([row.provider, row.priced, Number(row.cost_nano) > 0], ['openai', true, true]);
  assert.equal((await call({ ...CLAUDE, model: 'gpt-5.4-mini' }, '/v1/messages')).status, 200);
  assert.equal(vllm.seen.at(-1)?.url, '/corp/openai/v1/chat/completions');

  const claude = await startUpstream((_, res) => {
    const usage = { input_tokens: 10, output_tokens: 2 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-5', content: [{ type: 'text', text: 'Hi' }] };
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...message, stop_reason: 'end_turn', usage }));
  });
  const anthropic = await setUp({ provider: 'anthropic', upstream: `${claude.url}/proxy` }, 'sk-ant-corp-0123456789');
  const translated = await anthropic.call({ ...PROMPT, model: 'claude-sonnet-5' });
  assert.equal(translated.status, 200, translated.body);
  const sent = claude.seen.at(-1);
  assert.deepEqual(
    [sent?.url, sent?.headers['x-api-key'], sent?.headers['anthropic-version']],
    ['/proxy/v1/messages', 'sk-ant-corp-0123456789', '2023-06-01'],
  );
  const cost = await anthropic.logged(translated.headers['x-svc-request-id']);
  assert.deepEqual([cost.provider, Number(cost.cost_nano)], ['anthropic', 10 * 2_000 + 2 * 10_000]);
});
