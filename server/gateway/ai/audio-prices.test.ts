import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, makeAgent, makeToken } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();

type Reply = { type: string; body: string | Buffer };

/** An agent of OpenAI in front of a provider that answers with this. */
async function setUp({ type, body }: Reply, agent: Record<string, unknown> = {}, ready: Promise<void> = Promise.resolve()) {
  const w = await workspace();
  const upstream = await startUpstream(async (_, res) => {
    await ready;
    res.writeHead(200, { 'content-type': type });
    res.end(body);
  });
  const made = await makeAgent(w, upstream, { provider: 'openai', ...agent });
  const token = await makeToken(w, made);
  await served(running, w);
  return { w, upstream, agent: made.agent, token: token.text };
}

const speech = { path: '/v1/audio/speech' };
const upload = (model: string, bytes: number, format = 'json') => ({
  path: '/v1/audio/transcriptions',
  headers: { 'content-type': 'multipart/form-data; boundary=x' },
  body:
    `--x\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n` +
    `--x\r\nContent-Disposition: form-data; name="response_format"\r\n\r\n${format}\r\n` +
    `--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n${'a'.repeat(bytes)}\r\n--x--\r\n`,
});
const audio: Reply = { type: 'audio/mpeg', body: Buffer.alloc(400_000, 1) };

async function rowOf(answer: { status: number; body: string; headers: Record<string, unknown> }) {
  assert.equal(answer.status, 200, answer.body.slice(0, 300));
  await running.flush();
  return db().ai_request_logs.findFirstOrThrow({ where: { request_id: String(answer.headers['x-svc-request-id']) } });
}

test('speech costs by its characters, whatever the size of the audio', async () => {
  const { w, agent, token } = await setUp(audio);
  const row = await rowOf(await askAgent(running, w, agent, token, { model: 'tts-1', voice: 'alloy', input: 'x'.repeat(1_000) }, speech));
  assert.deepEqual([Number(row.cost_nano), Number(row.output_tokens)], [15_000_000, 0]);
});

test('transcription costs by the length that the provider reports, else by one guessed from the bytes that is not too short', async () => {
  const ask = async (reply: Reply, format?: string) => {
    const { w, agent, token } = await setUp(reply);
    const { body, ...options } = upload('whisper-1', 200_000, format);
    const row = await rowOf(await askAgent(running, w, agent, token, body, options));
    return [Number(row.cost_nano), Number(row.input_tokens)];
  };
  const json = (body: object): Reply => ({ type: 'application/json', body: JSON.stringify(body) });
  assert.deepEqual(await ask(json({ text: 'Hi', duration: 90 })), [9_000_000, 0]);
  assert.deepEqual(await ask(json({ text: 'Hi', usage: { type: 'duration', seconds: 90 } })), [9_000_000, 0]);
  // 200,000 bytes and the fields beside them, at 2,000 bytes a second.
  for (const reply of [json({ text: 'Hi' }), { type: 'text/plain', body: 'Hi' }])
    assert.deepEqual(await ask(reply, 'text'), [10_100_000, 0]);
});

test('speech and recordings hold their cost in budgets while they are on their way', async () => {
  const recording = upload('whisper-1', 300_000);
  const spoken = { model: 'tts-1', voice: 'alloy', input: 'x'.repeat(1_000) };
  for (const [body, options] of [
    [spoken, speech],
    [recording.body, { path: recording.path, headers: recording.headers }],
  ] as const) {
    const answered = Promise.withResolvers<void>();
    const { w, upstream, agent, token } = await setUp(audio, { budget_daily_usd: '0.01' }, answered.promise);
    const first = askAgent(running, w, agent, token, body, options);
    await until(() => upstream.seen.length === 1, 'the first call is at the provider');
    const second = await askAgent(running, w, agent, token, body, options);
    answered.resolve();
    assert.deepEqual([second.status, (await first).status, upstream.seen.length], [429, 200, 1], second.body.slice(0, 300));
  }
});
