import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../../gateway.fixture.ts';
import { askAgent, frames, makeAgent, makeToken, PROMPT, sse } from '../ai.fixture.ts';
import { anthropicFrames, eventFrame, TEXT } from '../providers.fixture.ts';

await testDatabase();
const running = await startGateway();

/** An agent in front of a provider that streams these frames, a list for each attempt. */
async function setUp(attempts: readonly (readonly string[])[], agent: Record<string, unknown> = {}, header: Record<string, unknown> = {}) {
  const w = await workspace();
  let n = 0;
  const upstream = await startUpstream((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of attempts[Math.min(n++, attempts.length - 1)] ?? []) res.write(frame);
    res.end();
  });
  const made = await makeAgent(w, upstream, agent, {}, header);
  const token = await makeToken(w, made);
  await served(running, w);
  return { w, upstream, ...made, token: token.text };
}

const overloaded = eventFrame({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
const limited = sse({ error: { message: 'Slow down', type: 'rate_limit_error', code: 429 } });
const stream = { ...PROMPT, stream: true };

test('an error as the first event is retried, and the caller sees the answer alone', async () => {
  const routing = { max_attempts: 2, retry_on: ['5xx', '429'], backoff_ms: 1, jitter: false };
  for (const failed of [[limited], [': PROCESSING\n\n', ': PROCESSING\n\n', limited], [sse({ error: { message: 'x' } })]]) {
    const { w, agent, token } = await setUp([failed, frames()], { routing_policy: routing });
    const answer = await askAgent(running, w, agent, token, stream);
    assert.deepEqual([answer.status, answer.headers['x-svc-ai-attempts']], [200, '2'], answer.body);
    assert.equal(answer.body.includes('error'), false, answer.body);
    assert.match(answer.body, /\[DONE\]/);
  }
});

test('an error as the first event fails over to the next route', async () => {
  const first = await setUp([[sse({ error: { message: 'down', code: 503 } })]]);
  const second = await setUp([frames()]);
  const spare = await makeAgent(first.w, second.upstream);
  await db().ai_agents.update({ where: { id: first.agent.id }, data: { fallback_route_ids: [spare.route.id] } });
  await served(running, first.w);
  const answer = await askAgent(running, first.w, first.agent, first.token, stream);
  assert.deepEqual([answer.status, answer.headers['x-svc-ai-fallback']], [200, 'route'], answer.body);
});

test('without another try the caller gets the status of the error, in its own shape', async () => {
  const key = { 'x-api-key': '$KEY' };
  const claude = { provider: 'anthropic', default_model: 'claude-test' };
  const native = await setUp([[eventFrame({ type: 'ping' }), overloaded]], claude, key);
  const message = { model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stream: true };
  const own = await askAgent(running, native.w, native.agent, native.token, message, { path: '/v1/messages' });
  assert.deepEqual([own.status, own.json()], [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]);
  const translated = await askAgent(running, native.w, native.agent, native.token, { ...stream, model: 'claude-test' });
  assert.deepEqual(
    [translated.status, translated.json().error],
    [503, { message: 'Overloaded', type: 'overloaded_error', param: null, code: null }],
  );
  await running.flush();
  const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: translated.headers['x-svc-request-id'] ?? '' } });
  assert.deepEqual([row.status, row.upstream_status], ['upstream_error', 529]);
});

test('an error after the first event stays in the stream, and a whole stream comes unchanged', async () => {
  const late = await setUp([[frames()[0] as string, sse({ error: { message: 'late' } })]]);
  const cut = await askAgent(running, late.w, late.agent, late.token, stream);
  assert.equal(cut.status, 200);
  assert.match(cut.body, /late/);
  const claude = await setUp([anthropicFrames()], { provider: 'anthropic', default_model: 'claude-test' }, { 'x-api-key': '$KEY' });
  const body = { model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stream: true };
  const whole = await askAgent(running, claude.w, claude.agent, claude.token, body, { path: '/v1/messages' });
  // Personal data is looked for in pieces of the text, so that the events may be cut elsewhere.
  assert.equal([...whole.body.matchAll(/"text_delta","text":"(.*?)"/g)].map(([, text]) => text).join(''), TEXT);
  assert.ok(whole.body.startsWith(anthropicFrames()[0] as string) && whole.body.endsWith(anthropicFrames().at(-1) as string));
});

test('a stream without an event, or with one that cannot be read, is retried, fails over, and opens a circuit', async () => {
  const routing = { max_attempts: 2, retry_on: ['5xx'], backoff_ms: 1, jitter: false };
  for (const failed of [[], [': hello\n\n'], ['data: {"choices":\n\n']]) {
    const { w, agent, token } = await setUp([failed, frames()], { routing_policy: routing });
    const answer = await askAgent(running, w, agent, token, stream);
    assert.deepEqual([answer.status, answer.headers['x-svc-ai-attempts']], [200, '2'], answer.body);
    const first = await setUp([failed], { routing_policy: { circuit: { failure_threshold: 1 } } });
    const refused = await askAgent(running, first.w, first.agent, first.token, stream);
    assert.deepEqual([refused.status, refused.json().code], [502, 'upstream_invalid_response'], refused.body);
    const left = await askAgent(running, first.w, first.agent, first.token, stream);
    assert.deepEqual([left.json().code, first.upstream.seen.length], ['upstream_error', 1], left.body);
    const other = await setUp([failed]);
    const spare = await makeAgent(other.w, (await setUp([frames()])).upstream);
    await db().ai_agents.update({ where: { id: other.agent.id }, data: { fallback_route_ids: [spare.route.id] } });
    await served(running, other.w);
    const moved = await askAgent(running, other.w, other.agent, other.token, stream);
    assert.deepEqual([moved.status, moved.headers['x-svc-ai-fallback']], [200, 'route'], moved.body);
  }
});
