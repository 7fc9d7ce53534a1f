import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { pruneAnswers } from '#server/domain/ai-gateways/pruning.ts';
import { createCryptoKey } from '#server/domain/crypto-keys/creation.ts';
import { CreateCryptoKey } from '#server/domain/crypto-keys/schema.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream, type Upstream } from '../gateway.fixture.ts';
import { type AiAnswer, askAgent, completion, frames, makeAgent, makeToken, PROMPT } from './ai.fixture.ts';
import { anthropicProvider, TEXT } from './providers.fixture.ts';

await testDatabase();
const running = await startGateway();

/** Says something else each time, so that an answer that comes again was kept. */
const counting = (answer: (n: number) => object = (n) => completion(`Answer ${n}`)): Promise<Upstream> => {
  let n = 0;
  return startUpstream((req, res, bytes) => {
    const asked = JSON.parse(bytes.toString()) as { stream?: boolean; input?: string };
    if (req.url?.endsWith('/embeddings')) return embedding(res, asked.input ?? '');
    n++;
    if (asked.stream) {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames(`Stream ${n} goes`).join(''));
      return;
    }
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(n)));
  });
};

/** A direction of its own for each topic, and nearly the same one for each way to ask about it. */
function embedding(res: ServerResponse, text: string): void {
  if (text.includes('broken')) return void res.writeHead(500).end('{}');
  const vector = text.includes('capital') ? [1, text.includes('tell') ? 0.05 : 0, 0] : [0, 1, 0];
  const body = {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: vector }],
    usage: { prompt_tokens: 3, total_tokens: 3 },
  };
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function setUp(provider: Upstream, agent: Record<string, unknown> = {}) {
  const w = await workspace();
  const made = await makeAgent(w, provider, { cache_mode: 'exact', cache_ttl_seconds: 600, ...agent });
  const token = await makeToken(w, made);
  await served(running, w);
  const ask = (body: unknown = PROMPT, headers: Record<string, string> = {}, path?: string) =>
    askAgent(running, w, made.agent, token.text, body, { headers, ...(path === undefined ? {} : { path }) });
  return { w, ...made, ask };
}

const told = (answer: AiAnswer) => [answer.status, answer.headers['x-svc-ai-cache']];
/** An answer is kept after it was sent. */
async function kept(w: Workspace, n: number): Promise<void> {
  await until(async () => (await db().ai_cache_entries.count({ where: { tenant_id: w.tenant.id } })) === n);
}
const says = (content: string) => ({ model: 'gpt-test', messages: [{ role: 'user', content }] });

test('the same request is answered from the cache, sealed at rest, logged and free, until the agent changes', async () => {
  const provider = await counting();
  const { w, agent, ask } = await setUp(provider, { budget_daily_usd: 5 });
  const first = await ask();
  assert.deepEqual(told(first), [200, 'miss'], first.body);
  await kept(w, 1);
  const again = await ask({ messages: PROMPT.messages, store: true, model: 'gpt-test' });
  assert.deepEqual([...told(again), again.json()], [200, 'hit', first.json()]);
  assert.match(again.headers.age ?? '', /^\d+$/);
  assert.deepEqual([again.headers['x-svc-origin'], again.headers['x-svc-upstream-status']], ['service', undefined]);
  assert.equal(provider.seen.length, 1);
  assert.deepEqual(told(await ask({ ...PROMPT, temperature: 0.2 })), [200, 'miss']);
  const row = await db().ai_cache_entries.findFirstOrThrow({ where: { tenant_id: w.tenant.id } });
  assert.equal(Buffer.from(row.value_ct).includes('Answer'), false);
  await running.flush();
  const call = await db().ai_request_logs.findFirstOrThrow({ where: { request_id: again.headers['x-svc-request-id'] ?? '' } });
  assert.deepEqual([call.cache, call.status, call.attempts, Number(call.input_tokens ?? 0)], ['hit', 'ok', 0, 0]);
  await db().ai_agents.update({ where: { id: agent.id }, data: { description: 'changed', max_concurrency: 77 } });
  await served(running, w);
  assert.deepEqual(told(await ask()), [200, 'miss'], 'another configuration');
});

test('the caller says no-cache and no-store; an agent’s entries are its own; what has ended is not given and is pruned', async () => {
  const provider = await counting();
  const { w, agent, ask } = await setUp(provider);
  await ask();
  await kept(w, 1);
  assert.deepEqual(told(await ask(PROMPT, { 'x-svc-ai-cache-control': 'no-store' })), [200, 'bypass']);
  const fresh = await ask(PROMPT, { 'x-svc-ai-cache-control': 'no-cache' });
  assert.deepEqual(told(fresh), [200, 'bypass']);
  await running.flush();
  const refreshed = await ask();
  assert.deepEqual(refreshed.json(), fresh.json(), 'no-cache refreshes what is kept');
  const other = await makeAgent(w, provider, { cache_mode: 'exact', cache_ttl_seconds: 600 });
  const token = await makeToken(w, other);
  await served(running, w);
  assert.deepEqual(told(await askAgent(running, w, other.agent, token.text, PROMPT)), [200, 'miss']);
  await db().ai_cache_entries.updateMany({ where: { agent_id: agent.id }, data: { expires_at: new Date(Date.now() - 1_000) } });
  await db().ai_stored_objects.create({
    data: {
      tenant_id: w.tenant.id,
      sandbox: false,
      hash: new Uint8Array(32),
      agent_id: agent.id,
      token_id: newId(),
      expires_at: new Date(0),
    },
  });
  assert.deepEqual(told(await ask(PROMPT, { 'x-svc-ai-cache-control': 'max-age=5' })), [200, 'miss']);
  // The entry is there already; the answer that replaces what has ended is written after it was sent.
  await until(() => db().ai_cache_entries.count({ where: { agent_id: agent.id, expires_at: { gt: new Date() } } }));
  await db().ai_cache_entries.updateMany({ where: { agent_id: agent.id }, data: { expires_at: new Date(Date.now() - 1_000) } });
  await pruneAnswers(new Date());
  assert.equal(await db().ai_cache_entries.count({ where: { agent_id: agent.id } }), 0);
  assert.equal(await db().ai_stored_objects.count({ where: { agent_id: agent.id } }), 0);
});

/** Users of one agent, by everything that says who somebody is. */
async function users(sandbox: boolean, columns: Record<string, unknown>) {
  const w = await workspace();
  const provider = await counting();
  const agent = { sandbox, cache_ttl_seconds: 600, cache_embedding_model: 'embed-test', cache_similarity_threshold: 0.95, ...columns };
  const made = await makeAgent(w, provider, agent, { user_attribution: 'optional' });
  const [one, two, ada, adaAgain, bob] = await Promise.all(
    [{}, {}, { user: 'ada' }, { user: 'ada' }, { user: 'bob' }].map((scope) => makeToken(w, made, { scope })),
  );
  await served(running, w);
  const by =
    (token: { text: string } | undefined, headers: Record<string, string> = {}, more: object = {}) =>
    (body: object) =>
      askAgent(running, w, made.agent, token?.text ?? '', { ...body, ...more }, { headers });
  return {
    w,
    provider,
    ada: { first: by(ada), again: by(adaAgain) },
    others: {
      'a token that names another user': by(bob),
      'a token that names nobody': by(one),
      'a token that names nobody, for a header with her name': by(one, { 'x-svc-user': 'ada' }),
      'a token that names nobody, for a body with her name': by(one, {}, { user: 'ada' }),
      'metadata with her name': by(one, {}, { metadata: { user_id: 'ada' } }),
      'another token': by(two),
      'another token, for a header with her name': by(two, { 'x-svc-user': 'ada' }),
      'another token, for another header': by(two, { 'x-svc-user': 'bob' }),
      'another token, for a body with her name': by(two, {}, { user: 'ada' }),
    },
  };
}

for (const sandbox of [false, true])
  for (const cache_mode of ['exact', 'semantic'])
    test(`no user is given the answer of another one: ${cache_mode}, ${sandbox ? 'Test' : 'Live'}`, async () => {
      const { w, provider, ada, others } = await users(sandbox, { cache_mode });
      const question = says('What is the capital of France?');
      const asked = (stream: boolean) => (stream ? { ...says('Please tell me the capital of France'), stream } : question);
      const first = await ada.first(question);
      assert.deepEqual(told(first), [200, 'miss'], first.body);
      const entries = cache_mode === 'semantic' ? 2 : 1;
      await kept(w, entries);
      let n = 1;
      for (const [who, ask] of Object.entries(others)) {
        const answer = await ask(question);
        assert.deepEqual(told(answer), [200, 'miss'], who);
        assert.notDeepEqual(answer.json(), first.json(), who);
        await kept(w, ++n * entries);
      }
      for (const [who, ask] of Object.entries(others)) {
        const own = await ask(question);
        assert.deepEqual(told(own), [200, 'hit'], `${who} has an answer of their own`);
        assert.notDeepEqual(own.json(), first.json(), who);
      }
      const again = await ada.again({ ...question, stream: true });
      assert.deepEqual([...told(again), textOf(again.body)], [200, 'hit', 'Answer 1'], 'the same user, by another token, streamed');
      if (cache_mode === 'semantic') {
        const near = await ada.again(asked(true));
        assert.deepEqual([...told(near), textOf(near.body)], [200, 'semantic-hit', 'Answer 1']);
        const answers = new Set<string>();
        for (const ask of Object.values(others)) answers.add(textOf((await ask(asked(true))).body));
        assert.equal(answers.size, Object.keys(others).length, 'each of them has the answer of their own question');
        assert.equal(answers.has('Answer 1'), false);
      }
      assert.ok(provider.seen.length >= n);
    });

test('an agent that shares its answers gives them to every caller', async () => {
  const { w, ada, others } = await users(false, { cache_mode: 'semantic', cache_scope: 'shared' });
  const question = says('What is the capital of France?');
  const first = await ada.first(question);
  await kept(w, 2);
  for (const [who, ask] of Object.entries(others)) {
    const answer = await ask(question);
    assert.deepEqual([...told(answer), answer.json()], [200, 'hit', first.json()], who);
    assert.deepEqual(told(await ask(says('Please tell me the capital of France'))), [200, 'semantic-hit'], who);
  }
});

test('calls of tools, cut answers, answers with a credential and failures are never kept', async () => {
  const choice = (more: object) => ({
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop', ...more }],
  });
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const answers = [
    choice({ message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }),
    choice({ finish_reason: 'length' }),
    choice({ message: { role: 'assistant', content: 'Your key is AKIAIOSFODNN7EXAMPLQ' } }),
    { choices: [choice({}).choices[0], { ...choice({}).choices[0], index: 1 }] },
  ];
  for (const one of answers) {
    const provider = await counting(() => ({ ...completion(), ...one }));
    const { w, ask } = await setUp(provider);
    for (let i = 0; i < 2; i++) assert.deepEqual(told(await ask()), [200, 'miss'], JSON.stringify(one));
    await running.flush();
    assert.equal(await db().ai_cache_entries.count({ where: { tenant_id: w.tenant.id } }), 0, JSON.stringify(one));
  }
});

test('a stream is kept put together, and given whole or as a stream, with usage only for who asks', async () => {
  const provider = await counting();
  const { w, ask } = await setUp(provider);
  const first = await ask({ ...PROMPT, stream: true });
  assert.deepEqual(told(first), [200, 'miss'], first.body);
  await kept(w, 1);
  const whole = await ask();
  assert.deepEqual(told(whole), [200, 'hit'], whole.body);
  const message = (whole.json() as unknown as ReturnType<typeof completion>).choices[0]?.message.content;
  assert.equal(message, 'Stream 1 goes');
  const streamed = await ask({ ...PROMPT, stream: true });
  assert.deepEqual([...told(streamed), streamed.headers['content-type']], [200, 'hit', 'text/event-stream; charset=utf-8']);
  assert.equal(textOf(streamed.body), 'Stream 1 goes');
  assert.match(streamed.body, /data: \[DONE\]\n\n$/);
  assert.equal(streamed.body.includes('"usage"'), false);
  const counted = await ask({ ...PROMPT, stream: true, stream_options: { include_usage: true } });
  assert.match(counted.body, /"usage":\{"prompt_tokens":10/);
  assert.equal(provider.seen.length, 1);
});

const textOf = (body: string) =>
  [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json as string).choices[0]?.delta?.content ?? '').join('');

test('an answer of another shape is kept as the caller has it, whole and streamed', async () => {
  const provider = await anthropicProvider();
  const { w, ask } = await setUp(provider, { provider: 'anthropic', default_model: 'claude-test' });
  const chat = { ...says('translated'), model: 'claude-test' };
  const first = await ask({ ...chat, stream: true });
  assert.deepEqual(told(first), [200, 'miss'], first.body);
  await kept(w, 1);
  const again = await ask({ ...chat, stream: true });
  assert.deepEqual([...told(again), textOf(again.body)], [200, 'hit', TEXT]);
  const native = { model: 'claude-test', max_tokens: 50, messages: [{ role: 'user', content: 'native' }] };
  const whole = await ask(native, {}, '/v1/messages');
  assert.deepEqual(told(whole), [200, 'miss'], whole.body);
  await kept(w, 2);
  const events = await ask({ ...native, stream: true }, {}, '/v1/messages');
  assert.deepEqual(told(events), [200, 'hit'], events.body);
  assert.match(events.body, /event: message_start[\s\S]*event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/);
  assert.equal(provider.seen.length, 2);
});

test('a canary differs in each request and is no part of what is looked up; a kept answer passes the controls again', async () => {
  const provider = await counting();
  const w = await workspace();
  const firewall = await db().ai_firewall_policies.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'Canaries', canary_enabled: true } as never,
  });
  const made = await makeAgent(w, provider, { cache_mode: 'exact', cache_ttl_seconds: 600, firewall_policy_id: firewall.id });
  const { text } = await makeToken(w, made);
  await served(running, w);
  const send = () => askAgent(running, w, made.agent, text, PROMPT);
  assert.deepEqual(told(await send()), [200, 'miss']);
  assert.match(provider.seen[0]?.body ?? '', /CNRY-/);
  await kept(w, 1);
  assert.deepEqual(told(await send()), [200, 'hit']);
});

test('a question of the same meaning is answered by a semantic cache, one of another meaning and another system prompt are not', async () => {
  const provider = await counting();
  const { w, ask } = await setUp(provider, {
    cache_mode: 'semantic',
    cache_embedding_model: 'embed-test',
    cache_similarity_threshold: 0.95,
  });
  const first = await ask(says('What is the capital of France?'));
  assert.deepEqual(told(first), [200, 'miss'], first.body);
  await kept(w, 2);
  const near = await ask(says('Please tell me the capital of France'));
  assert.deepEqual([...told(near), near.json()], [200, 'semantic-hit', first.json()]);
  assert.deepEqual(told(await ask(says('How tall is the Eiffel tower?'))), [200, 'miss']);
  const other = {
    model: 'gpt-test',
    messages: [{ role: 'system', content: 'Be rude' }, ...says('tell me the capital of France').messages],
  };
  assert.deepEqual(told(await ask(other)), [200, 'miss']);
  const broken = await ask(says('broken embedding'));
  assert.deepEqual(told(broken), [200, 'degraded'], 'served by the provider');
  assert.deepEqual(told(await ask(says('What is the capital of France?'))), [200, 'hit'], 'the same words');
});

test('a semantic cache without an embedding model says that it is degraded, and an agent without a cache says off', async () => {
  const provider = await counting();
  const { ask } = await setUp(provider, { cache_mode: 'semantic' });
  for (let i = 0; i < 2; i++) assert.deepEqual(told(await ask()), [200, 'degraded']);
  const off = await setUp(provider, { cache_mode: 'off', cache_ttl_seconds: 0 });
  assert.deepEqual(told(await off.ask()), [200, 'off']);
});

test('an agent’s own key encrypts what is kept: without it nothing is given again', async () => {
  const provider = await counting();
  const w = await workspace();

  const key = await createCryptoKey(w.member('owner'), CreateCryptoKey.parse({ name: 'answers', key_type: 'aes256-gcm' }));
  const made = await makeAgent(w, provider, { cache_mode: 'exact', cache_ttl_seconds: 600, cmek_key_id: key.id });
  const { text } = await makeToken(w, made);
  await served(running, w);
  const send = () => askAgent(running, w, made.agent, text, PROMPT);
  await send();
  await kept(w, 1);
  assert.deepEqual(told(await send()), [200, 'hit']);
  await db().crypto_keys.update({ where: { id: key.id }, data: { deleted_at: new Date() } });
  assert.deepEqual(told(await send()), [200, 'miss']);
});
