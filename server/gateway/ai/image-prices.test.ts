import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, makeAgent, makeToken, sse } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();

type Reply = object | string;

/** An agent of a provider that answers with this once it is ready; text is a stream. */
async function setUp(reply: Reply, agent: Record<string, unknown> = {}, ready: Promise<void> = Promise.resolve()) {
  const w = await workspace();
  const upstream = await startUpstream(async (_, res) => {
    await ready;
    const stream = typeof reply === 'string';
    res.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    res.end(stream ? reply : JSON.stringify(reply));
  });
  const made = await makeAgent(w, upstream, { provider: 'openai', default_model: 'dall-e-3', ...agent });
  const token = await makeToken(w, made);
  await served(running, w);
  const ask = (body: object | string, operation = 'generations', headers = {}) =>
    askAgent(running, w, made.agent, token.text, body, { path: `/v1/images/${operation}`, headers });
  return { upstream, ask };
}

const MULTIPART = { 'content-type': 'multipart/form-data; boundary=x' };
/** An upload with these fields and pictures of some bytes each. */
const upload = (fields: readonly (readonly [string, string])[], pictures = 1, bytes = 2_000_000) =>
  [
    ...fields.map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
    ...Array.from(
      { length: pictures },
      (_, i) =>
        `--x\r\nContent-Disposition: form-data; name="image[]"; filename="${i}.png"\r\nContent-Type: image/png\r\n\r\n${'a'.repeat(bytes)}\r\n`,
    ),
    '--x--\r\n',
  ].join('');

const pictures = (n: number, more = {}) => ({
  created: 1,
  data: Array.from({ length: n }, () => ({ url: 'https://img.example/1' })),
  ...more,
});

async function rowOf(answer: { status: number; body: string; headers: Record<string, unknown> }) {
  assert.equal(answer.status, 200, answer.body.slice(0, 300));
  await running.flush();
  const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: String(answer.headers['x-svc-request-id']) } });
  return {
    usd: row.cost_nano === null ? null : Number(row.cost_nano) / 1e9,
    warnings: row.warnings,
    header: answer.headers['x-svc-ai-warnings'],
  };
}
const usdOf = async (asked: ReturnType<Awaited<ReturnType<typeof setUp>>['ask']>) => (await rowOf(await asked)).usd;

test('images are charged by their number, size and quality, in JSON and in uploads, with the defaults of the provider', async () => {
  const three = await setUp(pictures(1));
  const prompt = { prompt: 'A letter' };
  assert.equal(await usdOf(three.ask({ ...prompt, model: 'dall-e-3' })), 0.04);
  assert.equal(await usdOf(three.ask({ ...prompt, model: 'dall-e-3', size: '1792x1024', quality: 'hd' })), 0.12);
  const two = await setUp(pictures(3));
  assert.equal(await usdOf(two.ask({ ...prompt, model: 'dall-e-2', n: 3, size: '512x512' })), 0.054);
  const fields = [
    ['model', 'dall-e-2'],
    ['n', '3'],
    ['size', '256x256'],
  ] as const;
  assert.equal(await usdOf(two.ask(upload(fields), 'variations', MULTIPART)), 0.048);
  assert.equal(await usdOf(two.ask(upload([...fields, ['prompt', 'A hat']]), 'edits', MULTIPART)), 0.048);
  const xai = await setUp(pictures(2), { provider: 'xai', default_model: 'grok-imagine-image-2.0' });
  assert.equal(await usdOf(xai.ask({ ...prompt, model: 'grok-imagine-image-2.0', n: 2, resolution: '2k', quality: 'medium' })), 0.16);
});

test('tokens that the provider counts are charged, pictures apart from text, whole and streamed', async () => {
  const usage = {
    input_tokens: 1_000,
    input_tokens_details: { text_tokens: 100, image_tokens: 900 },
    output_tokens: 4_160,
    total_tokens: 5_160,
  };
  const usd = (100 * 5 + 900 * 10 + 4_160 * 40) / 1e6;
  const body = { model: 'gpt-image-1', prompt: 'A letter', n: 1 };
  const whole = await setUp(pictures(1, { usage, size: '1024x1024', quality: 'high' }));
  assert.equal(await usdOf(whole.ask(body)), usd);
  const done = { type: 'image_generation.completed', b64_json: 'aGk=', size: '1024x1024', quality: 'low' };
  const streamed = await setUp(sse({ type: 'image_generation.partial_image', b64_json: 'aGk=' }) + sse({ ...done, usage }));
  assert.equal(await usdOf(streamed.ask({ ...body, stream: true })), usd);
  // Nothing is counted, and the answer says what the provider chose.
  const uncounted = await setUp(pictures(1, { size: '1024x1024', quality: 'low' }));
  assert.equal(await usdOf(uncounted.ask({ ...body, size: 'auto' })), 0.011);
  assert.equal(await usdOf((await setUp(sse(done))).ask({ ...body, stream: true })), 0.011);
  assert.equal(await usdOf((await setUp(pictures(1))).ask({ ...body, size: 'auto' })), 0.25, 'the dearest where nobody says');
});

test('a size or quality without a price is unpriced with the warning, or refused where the agent says so', async () => {
  const body = { model: 'dall-e-3', prompt: 'A letter', size: '2048x2048' };
  const passed = await rowOf(await (await setUp(pictures(1), { budget_daily_usd: 5 })).ask(body));
  assert.deepEqual(passed, { usd: null, warnings: ['unpriced_model'], header: 'unpriced_model' });
  const blocking = await setUp(pictures(1), { budget_daily_usd: 5, unpriced_action: 'block' });
  const blocked = await blocking.ask(body);
  assert.deepEqual([blocked.status, blocking.upstream.seen.length], [503, 0]);
  assert.match(blocked.body, /price_unavailable/);
  assert.match(blocked.body, /image_prices/);
  assert.equal((await blocking.ask({ ...body, size: '1024x1024' })).status, 200);
});

test('a call holds in budgets the most that its images may cost, whatever an upload makes of its fields', async () => {
  const high = [
    ['model', 'gpt-image-1'],
    ['quality', 'high'],
  ] as const;
  const twice = [
    ['model', 'dall-e-2'],
    ['size', '256x256'],
    ['size', '1024x1024'],
    ['n', '5'],
  ] as const;
  for (const [body, operation, headers, budget] of [
    // 0.12, and 2 x 0.25 for a size and quality that the provider chooses.
    [{ model: 'dall-e-3', prompt: 'A letter', size: '1024x1792', quality: 'hd' }, 'generations', {}, 0.12],
    [{ model: 'gpt-image-1', prompt: 'A letter', n: 2 }, 'generations', {}, 0.5],
    // 0.25 for the picture that is made, 0.07 for the one that is sent.
    [upload([...high, ['prompt', 'A hat']]), 'edits', MULTIPART, 0.32],
    // Two sizes: whoever reads the second takes the dearer one.
    [upload(twice), 'variations', MULTIPART, 0.1],
  ] as const) {
    const name = `${operation} ${budget}`;
    const answered = Promise.withResolvers<void>();
    const { upstream, ask } = await setUp(pictures(1), { budget_daily_usd: budget }, answered.promise);
    const first = ask(body, operation, headers);
    await until(() => upstream.seen.length === 1, 'the first call is at the provider');
    const second = await ask(body, operation, headers);
    answered.resolve();
    assert.deepEqual([second.status, (await first).status, upstream.seen.length], [429, 200, 1], `${name} ${second.body.slice(0, 300)}`);
  }
});

test('a picture of megabytes is no text: it holds what a picture costs at most', async () => {
  const fields = [
    ['model', 'gpt-image-1'],
    ['prompt', 'A hat'],
    ['quality', 'low'],
  ] as const;
  const answered = Promise.withResolvers<void>();
  const { upstream, ask } = await setUp(pictures(1), { budget_daily_usd: 1 }, answered.promise);
  const calls = [1, 2].map(() => ask(upload(fields), 'edits', MULTIPART));
  await until(() => upstream.seen.length === 2, 'both calls are at the provider');
  answered.resolve();
  assert.deepEqual(
    (await Promise.all(calls)).map(({ status }) => status),
    [200, 200],
  );
});
