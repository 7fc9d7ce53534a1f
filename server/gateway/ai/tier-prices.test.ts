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
