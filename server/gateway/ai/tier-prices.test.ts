import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, makeAgent, makeToken, sse } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();

const usage = { prompt_tokens: 1_000, completion_tokens: 0 };
const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }];
/** 1,000 tokens of input at 1.25 USD a million. */
const STANDARD = 1_250_000;

test('a call is charged by the tier that its answer names, and by the one it asked for where that is dearer and the answer names none', async () => {
  for (const [requested, answered, cost] of [
    ['flex', 'flex', STANDARD / 2],
    ['flex', 'default', STANDARD],
    ['flex', undefined, STANDARD],
    ['priority', 'priority', STANDARD * 2],
    ['priority', 'default', STANDARD],
    ['priority', undefined, STANDARD * 2],
    ['auto', 'priority', STANDARD * 2],
  ] as const)
    for (const stream of [false, true]) {
      const w = await workspace();
      const tier = answered === undefined ? {} : { service_tier: answered };
      const upstream = await startUpstream((_, res) => {
        res.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
        const head = { id: 'c', model: 'gpt-5', ...tier };
        if (!stream) return void res.end(JSON.stringify({ ...head, object: 'chat.completion', choices, usage }));
        res.write(sse({ ...head, choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }] }));
        res.write(sse({ ...head, choices: [], usage }));
        res.end('data: [DONE]\n\n');
      });
      const made = await makeAgent(w, upstream, { provider: 'openai', default_model: 'gpt-5' });
      const token = await makeToken(w, made);
      await served(running, w);
      const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }], service_tier: requested, stream };
      const answer = await askAgent(running, w, made.agent, token.text, body);
      assert.equal(answer.status, 200, answer.body);
      await running.flush();
      const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: answer.headers['x-svc-request-id'] ?? '' } });
      assert.equal(Number(row.cost_nano), cost, `${requested} ${answered} ${stream}`);
    }
});

test('a tier whose share is not known is charged in full with a warning, and the dearer one is refused where the agent refuses what has no price', async () => {
  const ask = async (requested: string | undefined, answered: string, agent: object = {}) => {
    const w = await workspace();
    const upstream = await startUpstream((_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ id: 'c', model: 'grok-4.20', object: 'chat.completion', choices, usage, service_tier: answered }));
    });
    const made = await makeAgent(w, upstream, { provider: 'xai', default_model: 'grok-4.20', budget_daily_usd: 5, ...agent });
    const token = await makeToken(w, made);
    await served(running, w);
    const tier = requested === undefined ? {} : { service_tier: requested };
    const answer = await askAgent(running, w, made.agent, token.text, {
      model: 'grok-4.20',
      messages: [{ role: 'user', content: 'Hi' }],
      ...tier,
    });
    await running.flush();
    const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: answer.headers['x-svc-request-id'] ?? '' } });
    return [answer.status, row.code ?? Number(row.cost_nano), row.warnings];
  };
  const full = 1_250_000;
  for (const requested of ['priority', 'flex', undefined])
    for (const answered of ['priority', 'flex', 'default'])
      assert.deepEqual(
        await ask(requested, answered),
        [200, full, requested === undefined && answered === 'default' ? [] : ['unpriced_tier']],
        `${requested} ${answered}`,
      );
  const block = { unpriced_action: 'block' };
  assert.deepEqual(await ask('priority', 'priority', block), [503, 'price_unavailable', []]);
  assert.deepEqual(await ask('flex', 'flex', block), [200, full, ['unpriced_tier']]);
  assert.deepEqual(await ask('auto', 'default', block), [200, full, []]);
  assert.deepEqual(await ask('priority', 'priority', { budget_daily_usd: null }), [200, full, []], 'no budget applies');
});

test('the tier is read as each provider names it, and a translated call has none', async () => {
  const [gemini, converse] = [
    { promptTokenCount: 1_000, candidatesTokenCount: 0 },
    { inputTokens: 1_000, outputTokens: 0, totalTokens: 1_000 },
  ];
  const candidates = [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }];
  const output = { message: { role: 'assistant', content: [{ text: '' }] } };
  for (const [provider, model, path, body, answer, cost] of [
    // 1.25 USD a million, and 80% more.
    ['gemini', 'gemini-2.5-pro', ':generateContent', { service_tier: 'priority' }, { candidates, usageMetadata: gemini }, 2_250_000],
    [
      'gemini',
      'gemini-2.5-pro',
      ':generateContent',
      {},
      { candidates, usageMetadata: { ...gemini, trafficType: 'ON_DEMAND_FLEX' } },
      625_000,
    ],
    [
      'gemini',
      'gemini-2.5-pro',
      ':generateContent',
      { serviceTier: 'PRIORITY' },
      { candidates, usageMetadata: { ...gemini, serviceTier: 'standard' } },
      1_250_000,
    ],
    // 0.8 USD a million, and 75% more.
    [
      'bedrock',
      'amazon.nova-pro-v1:0',
      '/converse',
      { serviceTier: { type: 'priority' } },
      { output, stopReason: 'end_turn', usage: converse },
      1_400_000,
    ],
    [
      'bedrock',
      'amazon.nova-pro-v1:0',
      '/converse',
      {},
      { output, stopReason: 'end_turn', usage: converse, serviceTier: { type: 'flex' } },
      400_000,
    ],
    [
      'bedrock',
      'amazon.nova-pro-v1:0',
      '/chat/completions',
      { service_tier: 'priority' },
      { output, stopReason: 'end_turn', usage: converse },
      800_000,
    ],
  ] as const) {
    const w = await workspace();
    const upstream = await startUpstream((_, res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify(answer));
    });
    const made = await makeAgent(w, upstream, { provider, default_model: model });
    const token = await makeToken(w, made);
    await served(running, w);
    const said =
      provider === 'gemini'
        ? { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
        : { messages: [{ role: 'user', content: path === '/converse' ? [{ text: 'Hi' }] : 'Hi' }] };
    const at = provider === 'gemini' ? `/v1beta/models/${model}${path}` : path === '/converse' ? `/model/${model}${path}` : `/v1${path}`;
    const given = await askAgent(
      running,
      w,
      made.agent,
      token.text,
      { ...(path === '/chat/completions' && { model }), ...said, ...body },
      { path: at },
    );
    assert.equal(given.status, 200, given.body);
    await running.flush();
    const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: given.headers['x-svc-request-id'] ?? '' } });
    assert.equal(Number(row.cost_nano), cost, `${at} ${JSON.stringify(body)}`);
  }
});
