import assert from 'node:assert/strict';
import test from 'node:test';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { ask, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { askAgent, completion, makeAgent, makeToken, openAi, PROMPT, SECRET } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();
const upstream = await openAi();

async function setUp(agent: Record<string, unknown> = {}, gateway: Record<string, unknown> = {}) {
  const w = await workspace();
  const made = await makeAgent(w, upstream, agent, gateway);
  const token = await makeToken(w, made);
  await served(running, w);
  return { w, ...made, token: token.text, tokenRow: token.row };
}

test('a chat goes to the provider with its key and comes back as it was answered, with the block and the plane’s own headers', async () => {
  const { w, agent, token, route } = await setUp({}, { model_aliases: { fast: 'gpt-real' } });
  const before = upstream.seen.length;
  const answer = await askAgent(
    running,
    w,
    agent,
    token,
    { ...PROMPT, model: 'fast', vendor_option: { kept: 1 } },
    {
      headers: { cookie: 'a=b', 'x-svc-user': 'alice', 'openai-organization': 'org-mine' },
    },
  );
  assert.equal(answer.status, 200, answer.body);
  assert.deepEqual(answer.json(), completion());
  const sent = upstream.seen[before];
  assert.equal(sent?.url, '/v1/chat/completions');
  assert.equal(sent?.headers.authorization, `Bearer ${SECRET}`);
  assert.deepEqual(
    [sent?.headers.cookie, sent?.headers['x-svc-user'], sent?.headers['openai-organization']],
    [undefined, undefined, undefined],
  );
  assert.deepEqual(JSON.parse(sent?.body ?? ''), { ...PROMPT, model: 'gpt-real', vendor_option: { kept: 1 } });
  const { headers } = answer;
  assert.deepEqual(
    [
      headers['x-svc-plane'],
      headers['x-svc-origin'],
      headers['x-svc-upstream-status'],
      headers['x-svc-ai-model'],
      headers['x-svc-ai-attempts'],
    ],
    ['ai', 'upstream', '200', 'gpt-real', '1'],
  );
  assert.deepEqual([headers['cache-control'], headers['x-svc-ai-route']], ['no-store', route.id]);
  assert.match(headers['x-svc-ratelimit-route'] ?? '', /^limit=600, remaining=599/);
  await running.flush();
  const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: headers['x-svc-request-id'] ?? '' } });
  assert.deepEqual(
    [row.status, row.user, row.requested_model, row.final_model, Number(row.input_tokens), Number(row.output_tokens), row.http_status],
    ['ok', 'alice', 'fast', 'gpt-real', 10, 2, 200],
  );
});

test('a stream comes event by event, asks for usage, and hides it from a caller who had not', async () => {
  const { w, agent, token } = await setUp();
  const plain = await askAgent(running, w, agent, token, { ...PROMPT, stream: true });
  assert.equal(plain.status, 200, plain.body);
  assert.equal(plain.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(plain.headers['x-svc-latency-phase'], 'first-byte');
  assert.match(plain.body, /data: \[DONE\]\n\n$/);
  assert.equal(plain.body.includes('"usage"'), false, plain.body);
  assert.equal(JSON.parse(upstream.seen.at(-1)?.body ?? '').stream_options.include_usage, true);
  const asked = await askAgent(running, w, agent, token, { ...PROMPT, stream: true, stream_options: { include_usage: true } });
  assert.match(asked.body, /"usage":\{"prompt_tokens":10/);
  await running.flush();
  const row = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: plain.headers['x-svc-request-id'] ?? '' } });
  assert.deepEqual([row.status, row.stream, Number(row.input_tokens), Number(row.output_tokens)], ['ok', true, 10, 2]);
});

test('on the API host the token names the workspace', async () => {
  const { agent, token } = await setUp();
  const { port } = await running.gateway.listen('api', 0, '127.0.0.1');
  const at = (text: string | null) =>
    ask(port, 'x', `/v1/ai/${agent.slug}/chat/completions`, {
      method: 'POST',
      headers: { host: `localhost:${port}`, 'content-type': 'application/json', ...(text === null ? {} : { 'x-api-key': text }) },
      body: JSON.stringify(PROMPT),
    });
  assert.equal((await at(token)).status, 200);
  const none = await at(null);
  assert.deepEqual(
    [none.status, none.json().code, none.headers['x-auth-failure'], none.headers['www-authenticate']],
    [401, 'missing_token', 'missing_token', 'Bearer realm="ai"'],
  );
  const foreign = await at(`${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`);
  assert.deepEqual([foreign.status, foreign.json().code], [401, 'crc_mismatch']);
});

test('models are listed from the policy, without asking the provider', async () => {
  const { w, agent, token } = await setUp(
    { model_allowlist: ['gpt-test', 'gpt-other'], model_denylist: ['gpt-other'] },
    { model_aliases: { fast: 'gpt-test' } },
  );
  const before = upstream.seen.length;
  const list = await askAgent(running, w, agent, token, undefined, { method: 'GET', path: '/v1/models' });
  assert.deepEqual(
    (list.json().data as unknown as { id: string }[]).map(({ id }) => id),
    ['fast', 'gpt-test'],
  );
  const hidden = await askAgent(running, w, agent, token, undefined, { method: 'GET', path: '/v1/models/gpt-other' });
  assert.deepEqual([hidden.status, hidden.json().code], [403, 'model_not_allowed']);
  assert.equal(upstream.seen.length, before);
});

test('an agent reaches the answers that it stored, and no other agent’s, although the provider’s account is the same', async () => {
  const w = await workspace();
  const provider = await startUpstream((req, res) => {
    const text = JSON.stringify({
      id: 'resp_abc',
      object: 'response',
      status: 'completed',
      output: [],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    });
    res.writeHead(200, { 'content-type': 'application/json', 'x-path': req.url ?? '' }).end(text);
  });
  const [mine, theirs] = [await makeAgent(w, provider), await makeAgent(w, provider)];
  const [my, their] = [await makeToken(w, mine), await makeToken(w, theirs)];
  await served(running, w);
  const responses = { path: '/v1/responses' };
  const read = { method: 'GET', path: '/v1/responses/resp_abc' };
  assert.deepEqual(
    [(await askAgent(running, w, mine.agent, my.text, undefined, read)).json().code],
    ['operation_not_allowed'],
    'not created yet',
  );
  const made = await askAgent(running, w, mine.agent, my.text, { model: 'm', input: 'x' }, responses);
  assert.equal(made.status, 200, made.body);
  assert.equal((await askAgent(running, w, mine.agent, my.text, undefined, read)).status, 200);
  const next = { model: 'm', input: 'y', previous_response_id: 'resp_abc' };
  assert.equal((await askAgent(running, w, mine.agent, my.text, next, responses)).status, 200);
  const before = provider.seen.length;
  for (const answer of [
    await askAgent(running, w, theirs.agent, their.text, undefined, read),
    await askAgent(running, w, theirs.agent, their.text, next, responses),
  ])
    assert.deepEqual([answer.status, answer.json().code], [403, 'operation_not_allowed']);
  assert.equal(provider.seen.length, before);
});
