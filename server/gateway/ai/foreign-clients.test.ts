import assert from 'node:assert/strict';
import test from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI, Type } from '@google/genai';
import { HumanMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { embedMany, generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, type Upstream } from '../gateway.fixture.ts';
import { makeAgent, makeToken, SECRET } from './ai.fixture.ts';
import { anthropicProvider, geminiProvider, openAiProvider, TEXT } from './providers.fixture.ts';

// Clients that nobody here wrote, with nothing changed but their base URL and key. What they make of an answer is the judge.

await testDatabase();
const running = await startGateway();
const { port } = await running.gateway.listen('api', 0, '127.0.0.1');
const w = await workspace();
const providers = { openai: await openAiProvider(), anthropic: await anthropicProvider(), gemini: await geminiProvider() };

/** An agent in front of a provider, and what a client must be told. */
async function agentFor(
  provider: keyof typeof providers,
  credential: Record<string, string>,
  scope: Record<string, unknown> = {},
  id: string = provider,
) {
  const made = await makeAgent(w, providers[provider], { provider: id, default_model: null }, {}, credential);
  const token = await makeToken(w, made, { scope });
  await served(running, w);
  const url = `http://localhost:${port}/v1/ai/${made.agent.slug}`;
  return { url, key: token.text, agent: made.agent, upstream: providers[provider] };
}

const openai = await agentFor('openai', { Authorization: 'Bearer $KEY' });
const anthropic = await agentFor('anthropic', { 'x-api-key': '$KEY' });
const gemini = await agentFor('gemini', { 'x-goog-api-key': '$KEY' });

/** The key that a provider saw last, in whichever header; ours never. */
function keySeen({ seen }: Upstream): unknown {
  const headers = seen.at(-1)?.headers ?? {};
  assert.equal(JSON.stringify(seen.at(-1)).includes('svcp_'), false, 'no token of ours reaches a provider');
  return headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key'];
}

/** The agent's last row of the log: how the call ended, tokens in and out, streamed or not. It is written once the last byte was. */
async function assertLogged(agentId: string, expected: readonly unknown[], message?: string): Promise<void> {
  const last = async () => {
    await running.flush();
    const row = await db().ai_request_logs.findFirst({ where: { agent_id: agentId }, orderBy: { ts: 'desc' } });
    return row && [row.status, Number(row.input_tokens), Number(row.output_tokens), row.stream];
  };
  await until(async () => JSON.stringify(await last()) === JSON.stringify(expected)).catch(() => undefined);
  assert.deepEqual(await last(), expected, message);
}

const prompt = 'Where are you?';
const weather = {
  name: 'get_weather',
  description: 'The weather in a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

test('openai: chat, tools, streams, responses, embeddings, models and errors', async () => {
  const client = new OpenAI({ baseURL: `${openai.url}/v1`, apiKey: openai.key, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: prompt }];
  const chat = await client.chat.completions.create({ model: 'gpt-test', messages });
  assert.deepEqual([chat.choices[0]?.message.content, chat.usage?.total_tokens], [TEXT, 25]);
  assert.equal(keySeen(openai.upstream), `Bearer ${SECRET}`);
  await assertLogged(openai.agent.id, ['ok', 20, 5, false]);

  const called = await client.chat.completions.create({ model: 'gpt-test', messages, tools: [{ type: 'function', function: weather }] });
  const [call] = called.choices[0]?.message.tool_calls ?? [];
  assert.deepEqual(call?.type === 'function' && [call.function.name, JSON.parse(call.function.arguments)], [
    'get_weather',
    { city: 'Bern' },
  ]);

  const stream = client.chat.completions.stream({ model: 'gpt-test', messages });
  const deltas: string[] = [];
  stream.on('content', (delta) => deltas.push(delta));
  assert.deepEqual([(await stream.finalMessage()).content, deltas.join('')], [TEXT, TEXT]);
  assert.equal(stream.currentChatCompletionSnapshot, undefined);
  await assertLogged(openai.agent.id, ['ok', 20, 5, true], 'usage is counted although the client had not asked for it');

  const reported = await client.chat.completions.create({
    model: 'gpt-test',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  let total: number | undefined;
  for await (const chunk of reported) total = chunk.usage?.total_tokens ?? total;
  assert.equal(total, 25);

  const streamedCall = client.chat.completions.stream({ model: 'gpt-test', messages, tools: [{ type: 'function', function: weather }] });
  const final = (await streamedCall.finalMessage()).tool_calls?.[0];
  assert.deepEqual(final?.type === 'function' && final.function.arguments, '{"city":"Bern"}');

  const response = await client.responses.create({ model: 'gpt-test', input: prompt });
  assert.equal(response.output_text, TEXT);
  const events = client.responses.stream({ model: 'gpt-test', input: prompt });
  assert.equal((await events.finalResponse()).output_text, TEXT);
  await assertLogged(openai.agent.id, ['ok', 20, 5, true]);

  const embedded = await client.embeddings.create({ model: 'gpt-test', input: ['a', 'b'] });
  assert.deepEqual(
    embedded.data.map(({ embedding }) => [...embedding]),
    [
      [0.5, -1],
      [0.5, -1],
    ],
  );

  await assert.rejects(client.chat.completions.create({ model: 'overloaded', messages }), (error: unknown) => {
    assert.ok(error instanceof OpenAI.RateLimitError);
    assert.deepEqual([error.status, error.code, error.message], [429, 'rate_limit_exceeded', '429 Slow down']);
    return true;
  });
  const stranger = new OpenAI({ baseURL: `${openai.url}/v1`, apiKey: 'sk-not-ours', maxRetries: 0 });
  await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
});

test('@anthropic-ai/sdk: messages, tools, streams, token counts and errors', async () => {
  const client = new Anthropic({ baseURL: anthropic.url, apiKey: anthropic.key, maxRetries: 0 });
  const ask = { model: 'claude-test', max_tokens: 100, messages: [{ role: 'user' as const, content: prompt }] };
  const message = await client.messages.create(ask);
  assert.deepEqual([message.content[0]?.type === 'text' && message.content[0].text, message.usage.output_tokens], [TEXT, 5]);
  assert.equal(keySeen(anthropic.upstream), SECRET);
  assert.match(
    String(anthropic.upstream.seen.at(-1)?.headers['anthropic-version']),
    /^\d{4}-\d\d-\d\d$/,
    'the version that the client named',
  );
  await assertLogged(anthropic.agent.id, ['ok', 20, 5, false]);

  const tools = [{ name: weather.name, description: weather.description, input_schema: weather.parameters as Anthropic.Tool.InputSchema }];
  const called = await client.messages.create({ ...ask, tools });
  assert.deepEqual(called.content[0]?.type === 'tool_use' && called.content[0].input, { city: 'Bern' });

  const stream = client.messages.stream(ask);
  const deltas: string[] = [];
  stream.on('text', (delta) => deltas.push(delta));
  assert.deepEqual([await stream.finalText(), deltas.join('')], [TEXT, TEXT]);
  await assertLogged(anthropic.agent.id, ['ok', 20, 5, true]);
  const streamedCall = await client.messages.stream({ ...ask, tools }).finalMessage();
  assert.deepEqual(streamedCall.content[0]?.type === 'tool_use' && streamedCall.content[0].input, { city: 'Bern' });

  assert.equal((await client.messages.countTokens({ model: 'claude-test', messages: ask.messages })).input_tokens, 14);
  await assert.rejects(client.messages.create({ ...ask, model: 'overloaded' }), (error: unknown) => {
    assert.ok(error instanceof Anthropic.APIError);
    assert.equal(error.status, 529);
    assert.match(error.message, /Overloaded/);
    return true;
  });
});

test('@google/genai: content, functions, streams, token counts, embeddings and errors', async () => {
  const client = new GoogleGenAI({ apiKey: gemini.key, httpOptions: { baseUrl: gemini.url } });
  const ask = { model: 'gemini-test', contents: prompt };
  assert.equal((await client.models.generateContent(ask)).text, TEXT);
  assert.equal(keySeen(gemini.upstream), SECRET);
  await assertLogged(gemini.agent.id, ['ok', 20, 5, false]);

  const parameters = { type: Type.OBJECT, properties: { city: { type: Type.STRING } } };
  const config = { tools: [{ functionDeclarations: [{ name: 'get_weather', parameters }] }] };
  const called = await client.models.generateContent({ ...ask, config });
  assert.deepEqual(called.functionCalls?.[0]?.args, { city: 'Bern' });

  let text = '';
  for await (const chunk of await client.models.generateContentStream(ask)) text += chunk.text ?? '';
  assert.equal(text, TEXT);
  await assertLogged(gemini.agent.id, ['ok', 20, 5, true]);

  assert.equal((await client.models.countTokens(ask)).totalTokens, 14);
  const embedded = await client.models.embedContent({ model: 'gemini-test', contents: ['a', 'b'] });
  assert.deepEqual(
    embedded.embeddings?.map(({ values }) => values),
    [
      [0.5, -1],
      [0.5, -1],
    ],
  );
  await assert.rejects(
    client.models.generateContent({ ...ask, model: 'overloaded' }),
    (error: { status?: number }) => error.status === 503,
  );
});

test('ai with @ai-sdk/openai and @ai-sdk/anthropic: text, a loop of tools, streams, embeddings and errors', async () => {
  const models = createOpenAI({ baseURL: `${openai.url}/v1`, apiKey: openai.key });
  const claude = createAnthropic({ baseURL: `${anthropic.url}/v1`, apiKey: anthropic.key });
  const tools = {
    get_weather: tool({
      description: 'The weather',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `12 degrees in ${city}`,
    }),
  };
  for (const model of [models.chat('gpt-test'), models.responses('gpt-test'), claude('claude-test')]) {
    const { text, usage } = await generateText({ model, prompt });
    assert.deepEqual([text, usage.inputTokens, usage.outputTokens], [TEXT, 20, 5], model.provider);
    const stream = streamText({ model, prompt });
    assert.equal(await stream.text, TEXT, model.provider);
    assert.equal((await stream.usage).outputTokens, 5, model.provider);
  }
  for (const model of [models.chat('gpt-test'), claude('claude-test')]) {
    const { steps, text } = await generateText({ model, prompt, tools, stopWhen: stepCountIs(3) });
    assert.deepEqual([steps.length, steps[0]?.toolResults[0]?.output, text], [2, '12 degrees in Bern', TEXT], model.provider);
  }
  const { embeddings } = await embedMany({ model: models.embedding('gpt-test'), values: ['a', 'b'] });
  assert.deepEqual(embeddings, [
    [0.5, -1],
    [0.5, -1],
  ]);
  await assert.rejects(
    generateText({ model: models.chat('overloaded'), prompt, maxRetries: 0 }),
    (error: { statusCode?: number }) => error.statusCode === 429,
  );
});

test('@langchain/openai: messages, tools, streams, embeddings and errors', async () => {
  const configuration = { baseURL: `${openai.url}/v1` };
  const model = new ChatOpenAI({ model: 'gpt-test', apiKey: openai.key, configuration, maxRetries: 0 });
  const said = await model.invoke([new HumanMessage(prompt)]);
  assert.deepEqual([said.content, said.usage_metadata?.total_tokens], [TEXT, 25]);
  let text = '';
  for await (const chunk of await model.stream(prompt)) text += String(chunk.content);
  assert.equal(text, TEXT);
  const getWeather = langchainTool(async ({ city }: { city: string }) => city, {
    name: 'get_weather',
    description: 'The weather',
    schema: z.object({ city: z.string() }),
  });
  const called = await model.bindTools([getWeather]).invoke(prompt);
  assert.deepEqual(called.tool_calls?.[0]?.args, { city: 'Bern' });
  const vectors = await new OpenAIEmbeddings({ model: 'gpt-test', apiKey: openai.key, configuration, maxRetries: 0 }).embedDocuments([
    'a',
    'b',
  ]);
  assert.deepEqual(vectors, [
    [0.5, -1],
    [0.5, -1],
  ]);
  const failing = new ChatOpenAI({ model: 'overloaded', apiKey: openai.key, configuration, maxRetries: 0 });
  await assert.rejects(failing.invoke(prompt), /Slow down/);
});

test('clients of one shape are served by a provider of the other', async () => {
  const client = new OpenAI({ baseURL: `${anthropic.url}/v1`, apiKey: anthropic.key, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: prompt }];
  const chat = await client.chat.completions.create({ model: 'claude-test', messages });
  assert.deepEqual([chat.choices[0]?.message.content, chat.usage?.prompt_tokens, chat.choices[0]?.finish_reason], [TEXT, 20, 'stop']);
  assert.equal(await client.chat.completions.stream({ model: 'claude-test', messages }).finalContent(), TEXT);
  const runner = client.chat.completions.runTools({
    model: 'claude-test',
    messages,
    stream: true,
    tools: [
      { type: 'function', function: { ...weather, parse: JSON.parse, function: ({ city }: { city: string }) => `12 degrees in ${city}` } },
    ],
  });
  assert.equal(await runner.finalContent(), TEXT);
  await assert.rejects(
    client.chat.completions.create({ model: 'overloaded', messages }),
    (error: unknown) => error instanceof OpenAI.APIError && error.status === 503,
  );
  await assert.rejects(client.chat.completions.create({ model: 'claude-test', messages, logprobs: true }), (error: unknown) => {
    assert.ok(error instanceof OpenAI.UnprocessableEntityError);
    assert.equal(error.code, undefined);
    return true;
  });

  const sdk = new Anthropic({ baseURL: openai.url, apiKey: openai.key, maxRetries: 0 });
  const ask = { model: 'gpt-test', max_tokens: 100, messages };
  const message = await sdk.messages.create(ask);
  assert.deepEqual(
    [message.content[0]?.type === 'text' && message.content[0].text, message.stop_reason, message.usage.input_tokens],
    [TEXT, 'end_turn', 16],
  );
  const tools = [{ name: weather.name, input_schema: weather.parameters as Anthropic.Tool.InputSchema }];
  const called = await sdk.messages.stream({ ...ask, tools }).finalMessage();
  assert.deepEqual([called.content[0]?.type === 'tool_use' && called.content[0].input, called.usage.output_tokens], [{ city: 'Bern' }, 5]);
  await assertLogged(openai.agent.id, ['ok', 20, 5, true]);
});

test('the Responses client is served by providers that don’t speak it', async () => {
  const compatible = await agentFor('openai', { Authorization: 'Bearer $KEY' }, {}, 'mistral');
  for (const [made, model] of [
    [anthropic, 'claude-test'],
    [compatible, 'mistral-test'],
  ] as const) {
    const client = new OpenAI({ baseURL: `${made.url}/v1`, apiKey: made.key, maxRetries: 0 });
    const response = await client.responses.create({ model, input: prompt, instructions: 'Be brief.' });
    assert.deepEqual([response.output_text, response.status, response.usage?.total_tokens], [TEXT, 'completed', 25]);
    const events = client.responses.stream({ model, input: prompt });
    const deltas: string[] = [];
    events.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    assert.deepEqual([(await events.finalResponse()).output_text, deltas.join('')], [TEXT, TEXT]);
    await assertLogged(made.agent.id, ['ok', 20, 5, true]);

    const tools = [{ type: 'function' as const, strict: false, ...weather }];
    const called = (await client.responses.stream({ model, input: prompt, tools }).finalResponse()).output[0];
    assert.ok(called?.type === 'function_call');
    assert.deepEqual([called.name, JSON.parse(called.arguments)], ['get_weather', { city: 'Bern' }]);
    const output = { type: 'function_call_output' as const, call_id: called.call_id, output: '12 degrees' };
    const input = [{ role: 'user' as const, content: prompt }, called, output];
    assert.equal((await client.responses.create({ model, input, tools })).output_text, TEXT);

    const refused = client.responses.create({ model, input: prompt, previous_response_id: 'resp_1' });
    await assert.rejects(refused, (error: unknown) => error instanceof OpenAI.APIError && [403, 422].includes(error.status ?? 0));
    const counted = await client.post('/responses/input_tokens', { body: { model, input: prompt } });
    assert.equal((counted as { object: string }).object, 'response.input_tokens');
  }
});

test('hints are dropped with a warning, options that change the meaning as the agent says, and tokens are estimated', async () => {
  const made = await agentFor('anthropic', { 'x-api-key': '$KEY' });
  const client = new OpenAI({ baseURL: `${made.url}/v1`, apiKey: made.key, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: prompt }];
  const hints = { prompt_cache_key: 'k', metadata: { a: 'b' }, verbosity: 'low' as const, seed: 7 };
  const warnings = async (more: object) => {
    const { response } = await client.chat.completions.create({ model: 'claude-test', messages, ...more }).withResponse();
    return response.headers.get('x-svc-ai-warnings');
  };
  const dropped = ['dropped:prompt_cache_key', 'dropped:metadata', 'dropped:verbosity', 'dropped:seed'];
  assert.equal(await warnings(hints), dropped.join(', '));
  await running.flush();
  const row = await until(() => db().ai_request_logs.findFirst({ where: { agent_id: made.agent.id }, orderBy: { ts: 'desc' } }));
  assert.deepEqual(row.warnings, dropped);
  await assert.rejects(warnings({ logit_bias: { 1: 5 } }), OpenAI.UnprocessableEntityError);
  await db().ai_agents.update({ where: { id: made.agent.id }, data: { unsupported: 'drop' } });
  await served(running, w);
  assert.equal(await warnings({ logit_bias: { 1: 5 } }), 'dropped:logit_bias');
  assert.equal(made.upstream.seen.at(-1)?.body.includes('logit_bias'), false);

  const sdk = new Anthropic({ baseURL: openai.url, apiKey: openai.key, maxRetries: 0 });
  const asked = openai.upstream.seen.length;
  const { data, response } = await sdk.messages.countTokens({ model: 'gpt-test', messages }).withResponse();
  assert.equal(data.input_tokens, Math.ceil(prompt.length / 4), 'four bytes of text and tools a token');
  assert.equal(response.headers.get('x-svc-ai-warnings'), 'tokens_estimated');
  assert.equal(openai.upstream.seen.length, asked);
});

test('a token of kind read lists models in the format of each client', async () => {
  const made = await makeAgent(w, providers.openai, { provider: 'openai', model_allowlist: ['gpt-test', 'gpt-other'] });
  const { text: key } = await makeToken(w, made, { kind: 'read' });
  await served(running, w);
  const url = `http://localhost:${port}/v1/ai/${made.agent.slug}`;
  const listed: string[] = [];
  for await (const model of new OpenAI({ baseURL: `${url}/v1`, apiKey: key }).models.list()) listed.push(model.id);
  assert.deepEqual(listed, ['gpt-other', 'gpt-test']);
  const ids = (await new Anthropic({ baseURL: url, apiKey: key }).models.list()).data.map(({ id }) => id);
  assert.deepEqual(ids, ['gpt-other', 'gpt-test']);
  const names: (string | undefined)[] = [];
  for await (const model of await new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } }).models.list()) names.push(model.name);
  assert.deepEqual(names, ['models/gpt-other', 'models/gpt-test']);
});
