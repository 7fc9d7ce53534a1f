import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { askAgent, makeAgent, makeToken, PROMPT } from '../ai.fixture.ts';

await testDatabase();
const running = await startGateway();

const completion = (more: object = {}) => ({
  ...{ id: 'c1', object: 'chat.completion', model: 'gpt-test' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1 },
  ...more,
});
const limited = { error: { message: 'Slow down', code: 429, metadata: { provider_name: 'x' } }, user_id: 'u' };

/** An agent in front of a provider that answers 200 with these bodies, one for each attempt. */
async function setUp(bodies: readonly unknown[], agent: Record<string, unknown> = {}) {
  const w = await workspace();
  let n = 0;
  const upstream = await startUpstream((_, res) => {
    const text = JSON.stringify(bodies[Math.min(n++, bodies.length - 1)]);
    res.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    // In two pieces, so that no length is announced.
    res.write(text.slice(0, 5));
    res.end(text.slice(5));
  });
  const made = await makeAgent(w, upstream, agent);
  const token = await makeToken(w, made);
  await served(running, w);
  return { w, upstream, ...made, token: token.text };
}

test('a 200 whose whole body is an error is retried, also where the caller wants a stream', async () => {
  const routing = { max_attempts: 2, retry_on: ['5xx', '429'], backoff_ms: 1, jitter: false };
  for (const failed of [limited, { error: 'model crashed' }, { error: { message: 'x' }, choices: [], id: null }]) {
    const { w, agent, token } = await setUp([failed, completion()], { routing_policy: routing });
    const answer = await askAgent(running, w, agent, token, PROMPT);
    assert.deepEqual([answer.status, answer.headers['x-svc-ai-attempts']], [200, '2'], answer.body);
    assert.match(answer.body, /"content":"Hello"/);
  }
  const streamed = await setUp([limited], { routing_policy: routing });
  const refused = await askAgent(running, streamed.w, streamed.agent, streamed.token, { ...PROMPT, stream: true });
  assert.deepEqual([refused.status, refused.headers['x-svc-ai-attempts'], streamed.upstream.seen.length], [429, '2', 2], refused.body);
});

test('a 200 whose whole body is an error fails over to the next route and costs nothing', async () => {
  const first = await setUp([{ error: { message: 'down', code: 503 } }]);
  const second = await setUp([completion()]);
  const spare = await makeAgent(first.w, second.upstream);
  await db().ai_agents.update({ where: { id: first.agent.id }, data: { fallback_route_ids: [spare.route.id] } });
  await served(running, first.w);
  const answer = await askAgent(running, first.w, first.agent, first.token, PROMPT);
  assert.deepEqual([answer.status, answer.headers['x-svc-ai-fallback']], [200, 'route'], answer.body);
  const alone = await setUp([limited]);
  const refused = await askAgent(running, alone.w, alone.agent, alone.token, PROMPT);
  assert.deepEqual([refused.status, refused.body.includes('Slow down')], [429, true], refused.body);
  await running.flush();
  const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: refused.headers['x-svc-request-id'] ?? '' } });
  assert.deepEqual([row.upstream_status, Number(row.input_tokens), Number(row.output_tokens)], [429, 0, 0]);
});

test('an answer that has an error beside its content, or is a failed response, stays an answer', async () => {
  for (const [path, body, request] of [
    ['/v1/chat/completions', completion({ error: { message: 'one of two choices failed' } }), PROMPT],
    ['/v1/chat/completions', completion({ error: null }), PROMPT],
    [
      '/v1/responses',
      { id: 'r1', object: 'response', status: 'failed', error: { code: 'server_error', message: 'x' }, output: [] },
      { model: 'gpt-test', input: 'Hi' },
    ],
    [
      '/v1/embeddings',
      { object: 'list', data: [{ index: 0, embedding: [0.5] }], note: 'x'.repeat(70_000), error: {} },
      { model: 'gpt-test', input: 'Hi' },
    ],
  ] as const) {
    const { w, agent, token } = await setUp([body]);
    const answer = await askAgent(running, w, agent, token, request, { path });
    assert.equal(answer.status, 200, answer.body);
  }
});

test('what is no answer to the call is retried, and is refused in every shape of a caller', async () => {
  const routing = { max_attempts: 2, retry_on: ['5xx'], backoff_ms: 1, jitter: false };
  const chat = { path: '/v1/chat/completions', body: PROMPT };
  const messages = { path: '/v1/messages', body: { ...PROMPT, max_tokens: 9 } };
  const responses = { path: '/v1/responses', body: { model: 'gpt-test', input: 'Hi' } };
  const cases: [unknown, readonly (typeof chat)[]][] = [
    [null, [chat, messages]],
    [[], [chat, messages]],
    [7, [messages]],
    [{ id: 'c', choices: [{ message: null }] }, [messages]],
    [{ id: 'c', choices: [] }, [messages]],
    [{}, [messages, responses as unknown as typeof chat]],
  ];
  for (const [failed, callers] of cases)
    for (const { path, body } of callers) {
      const provider = { provider: 'mistral', default_model: 'gpt-test' };
      const retried = await setUp([failed, completion()], { ...provider, routing_policy: routing });
      const answer = await askAgent(running, retried.w, retried.agent, retried.token, body, { path });
      assert.deepEqual([answer.status, answer.headers['x-svc-ai-attempts']], [200, '2'], answer.body);
      assert.match(answer.body, /Hello/);
      const alone = await setUp([failed], provider);
      const refused = await askAgent(running, alone.w, alone.agent, alone.token, body, { path });
      assert.deepEqual([refused.status, refused.json().code], [502, 'upstream_invalid_response'], `${path} ${JSON.stringify(failed)}`);
    }
});
