import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { freePorts } from '#scripts/ports.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway } from '../gateway.fixture.ts';
import { makeAgent, makeToken, SECRET } from './ai.fixture.ts';

// A provider that nobody here wrote: LiteLLM's proxy, whose models answer by themselves. `LITELLM` names the program.

const binary = process.env.LITELLM;
const skip = binary ? false : 'LITELLM names no program';
const TEXT = 'Grüße aus Zürich 😀, said the model.';

test('LiteLLM as the provider: chat, streams, messages, errors, and usage that the log counts', { skip, timeout: 240_000 }, async () => {
  await testDatabase();
  const running = await startGateway();
  const { port } = await running.gateway.listen('api', 0, '127.0.0.1');
  const w = await workspace();
  const upstream = await startLiteLlm(String(binary));
  const made = await makeAgent(w, { url: upstream }, { provider: 'openai-compatible', default_model: 'mocked' });
  const native = await makeAgent(w, { url: upstream }, { provider: 'anthropic', default_model: 'mocked' });
  const tokens = { made: (await makeToken(w, made)).text, native: (await makeToken(w, native)).text };
  await served(running, w);
  const at = (slug: string) => `http://localhost:${port}/v1/ai/${slug}`;
  const messages = [{ role: 'user' as const, content: 'Say something' }];

  const openai = new OpenAI({ baseURL: `${at(made.agent.slug)}/v1`, apiKey: tokens.made, maxRetries: 0 });
  const chat = await openai.chat.completions.create({ model: 'mocked', messages });
  assert.equal(chat.choices[0]?.message.content, TEXT);
  let streamed = '';
  let reported: OpenAI.CompletionUsage | null | undefined;
  for await (const chunk of await openai.chat.completions.create({
    model: 'mocked',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  })) {
    streamed += chunk.choices[0]?.delta.content ?? '';
    reported = chunk.usage ?? reported;
  }
  assert.equal(streamed, TEXT);
  const logged = async () => {
    await running.flush();
    return db().ai_request_logs.findMany({ where: { agent_id: made.agent.id }, orderBy: { ts: 'asc' } });
  };
  // The row of a stream is written once its last byte was.
  await until(async () => (await logged()).length === 2);
  const rows = await logged();
  assert.deepEqual(
    rows.map(({ status, stream, input_tokens, output_tokens }) => [status, stream, Number(input_tokens), Number(output_tokens)]),
    [chat.usage, reported].map((usage, i) => ['ok', i === 1, usage?.prompt_tokens, usage?.completion_tokens]),
    'the log counts what LiteLLM reports',
  );

  // The client of Anthropic, translated for LiteLLM's OpenAI door, and as it is at its own, which doesn't stream mock answers.
  const ask = { model: 'mocked', max_tokens: 50, messages };
  const translated = new Anthropic({ baseURL: at(made.agent.slug), apiKey: tokens.made, maxRetries: 0 });
  assert.equal(await translated.messages.stream(ask).finalText(), TEXT);
  for (const anthropic of [translated, new Anthropic({ baseURL: at(native.agent.slug), apiKey: tokens.native, maxRetries: 0 })]) {
    const [block] = (await anthropic.messages.create(ask)).content;
    assert.equal(block?.type === 'text' && block.text, TEXT);
  }

  await assert.rejects(openai.chat.completions.create({ model: 'unheard-of', messages }), (error: unknown) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.message.includes(SECRET), false);
    return true;
  });
});

async function startLiteLlm(program: string): Promise<string> {
  const [port = 0] = await freePorts(1);
  const folder = mkdtempSync(path.join(tmpdir(), 'sallyport-litellm-'));
  const config = path.join(folder, 'config.yaml');
  const model = { model_name: 'mocked', litellm_params: { model: 'openai/mocked', api_key: 'none', mock_response: TEXT } };
  writeFileSync(config, JSON.stringify({ model_list: [model], general_settings: { master_key: SECRET } }));
  // Not our environment: it would use our database.
  const env: NodeJS.ProcessEnv = {
    NODE_ENV: 'test',
    PATH: process.env.PATH,
    HOME: folder,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    LITELLM_TELEMETRY: 'False',
    NO_PROXY: '*',
  };
  const child: ChildProcess = spawn(program, ['--config', config, '--host', '127.0.0.1', '--port', String(port)], { stdio: 'ignore', env });
  after(() => {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await until(
    async () =>
      child.exitCode !== null ||
      (await fetch(`${url}/health/liveliness`).then(
        ({ ok }) => ok,
        () => false,
      )),
    'litellm logs it',
    150_000,
  );
  assert.equal(child.exitCode, null, 'LiteLLM started');
  return url;
}
