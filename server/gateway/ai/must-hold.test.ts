import assert from 'node:assert/strict';
import test from 'node:test';
import { AzureOpenAI } from 'openai';
import { AI_CODES, type AiCode } from '#server/ai/codes.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { onThread, work } from '#server/platform/threads/pool.ts';
import type { Asked as ThreadWork } from '#server/platform/threads/works.fixture.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Answer, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { flushCalls } from '../governance/log/writer.ts';
import { withNames } from '../moved-names.fixture.ts';
import { askAgent, completion, makeAgent, makeToken, openAi, PROMPT } from './ai.fixture.ts';

// Of the list of interface rule 51 §13, what no other test of this folder holds.

await testDatabase();
const running = await startGateway();
const { port: apiPort } = await running.gateway.listen('api', 0, '127.0.0.1');

const WORKS = work<ThreadWork, unknown>('server/platform/threads/works.fixture.ts');
const DETECTORS = work<undefined, unknown>('server/ai/detectors/detectors.thread.ts');

type Data = Record<string, unknown>;
type Asked = { messages: { role: string; content: string }[] };

async function setUp(answer: (asked: Asked) => Data, agent: Data = {}, token: Data = {}, wait?: Promise<void>) {
  const w = await workspace();
  const upstream = await startUpstream(async (_, res, body) => {
    await wait;
    const text = JSON.stringify(answer(JSON.parse(body.toString()) as Asked));
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
  });
  const made = await makeAgent(w, upstream, agent);
  const { text } = await makeToken(w, made, token);
  await served(running, w);
  return { w, upstream, token: text, ...made, ask: (body: unknown = PROMPT) => askAgent(running, w, made.agent, text, body) };
}

function refused(answer: Answer, code: AiCode): void {
  const body = answer.json() as Data;
  assert.deepEqual(
    [answer.status, body.error, body.code, typeof body.error_description, answer.headers['x-svc-error'], answer.headers['x-svc-origin']],
    [AI_CODES[code], code, code, 'string', code, 'service'],
    answer.body,
  );
  assert.equal(answer.headers['x-auth-failure'], undefined);
}

test('an upstream in another region than the agent’s data may be in is not asked', async () => {
  const w = await workspace();
  const upstream = { url: 'https://bedrock-runtime.eu-west-1.amazonaws.com' };
  const made = await makeAgent(w, upstream, { provider: 'bedrock', data_residency_region: 'us', default_model: null });
  const { text } = await makeToken(w, made);
  await served(running, w);
  const body = { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] };
  const path = '/model/anthropic.claude-sonnet-5/converse';
  refused(await askAgent(running, w, made.agent, text, body, { path }), 'residency_violation');
});

test('more calls at once than the agent may have are refused, and its place is free again afterwards', async () => {
  const gate = Promise.withResolvers<void>();
  const { ask, upstream } = await setUp(() => completion(), { max_concurrency: 1 }, {}, gate.promise);
  const first = ask();
  await until(() => upstream.seen.length === 1);
  refused(await ask(), 'concurrency_limited');
  gate.resolve();
  assert.equal((await first).status, 200);
  assert.equal((await ask()).status, 200);
  assert.equal(upstream.seen.length, 2);
});

test('an answer that the gateway has no memory left for is told as that, with a wait, and not as the provider’s fault', async () => {
  const { w, ask } = await setUp(() => completion('x'.repeat(200_000)));
  const holder = { snapshot: { tenant: { id: w.tenant.id } }, bufferedBytes: 0 } as never;
  assert.ok(running.runtime.bodies.hold(holder, 128 * 1024 * 1024));
  const answer = await ask();
  refused(answer, 'concurrency_limited');
  assert.equal(answer.headers['retry-after'], '1');
  running.runtime.bodies.release(holder);
  assert.equal((await ask()).status, 200);
});

test('an answer that repeats the canary is withheld where the policy blocks', async () => {
  const { w, agent, ask } = await setUp(({ messages }) => completion(messages.map(({ content }) => content).join(' ')));
  const policy = await db().ai_firewall_policies.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'Canary', canary_enabled: true, action: 'block' },
  });
  await db().ai_agents.update({ where: { id: agent.id }, data: { firewall_policy_id: policy.id } });
  await served(running, w);
  const events = await watchEvents(w.live, 'ai.canary.leaked');
  const answer = await ask();
  refused(answer, 'canary_leak');
  assert.doesNotMatch(answer.body, /CNRY/);
  await until(async () => (await events()).length > 0);
  const told = await events();
  assert.deepEqual([told.length, told[0]?.data.blocked], [1, true]);
  assert.doesNotMatch(JSON.stringify(told), /CNRY/);
});

test('an answer that no thread can look through for the canary is refused by what could not run', async () => {
  const held = new Int32Array(new SharedArrayBuffer(4));
  const busy: Promise<unknown>[] = [];
  const { w, agent, ask } = await setUp(() => {
    // While its answer waits to be looked at all threads are taken, and the workspace's line for them is full.
    const how = { owner: w.tenant.id, ms: 60_000, most: 200 };
    for (let i = 0; i < 4; i++) busy.push(onThread(WORKS, { hold: held }, how).catch(() => undefined));
    for (let i = 0; i < 200; i++) busy.push(onThread(DETECTORS, undefined, how).catch(() => undefined));
    return completion('A long answer. '.repeat(1_000));
  });
  const policy = await db().ai_firewall_policies.create({
    data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name: 'Canary', canary_enabled: true, action: 'block' },
  });
  await db().ai_agents.update({ where: { id: agent.id }, data: { firewall_policy_id: policy.id } });
  await served(running, w);
  refused(await ask(), 'firewall_unavailable');
  Atomics.store(held, 0, 1);
  Atomics.notify(held, 0);
  await Promise.all(busy);
});

test('an answer that doesn’t match the schema is refused by its places, without its values', async () => {
  const schema = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } };
  const { ask } = await setUp(() => completion('{"total":"a secret value"}'), { output_schema: schema, output_validation_action: 'block' });
  const answer = await ask();
  refused(answer, 'output_schema_violation');
  assert.deepEqual((answer.json() as Data).errors, [{ path: '/total', keyword: 'type' }]);
  assert.doesNotMatch(answer.body, /a secret value/);
});

test('a hundred calls at once never spend more than the budget and what was in flight', async () => {
  const usage = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
  const { w, ask, upstream } = await setUp(() => completion('Hello', { usage }), { budget_daily_usd: 1 });
  // 100 tokens of output are 0.05 USD.
  await db().ai_prices.create({
    data: {
      id: newId(),
      tenant_id: w.tenant.id,
      sandbox: false,
      provider: 'openai-compatible',
      model: 'gpt-test',
      effective_from: new Date(0),
      input_per_mtok: 0,
      output_per_mtok: 500,
    },
  });
  await served(running, w);
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask({ ...PROMPT, max_tokens: 100 })));
  const passed = answers.filter(({ status }) => status === 200).length;
  for (const answer of answers) if (answer.status !== 200) refused(answer, 'budget_exceeded');
  assert.deepEqual([passed, upstream.seen.length], [20, 20]);
  await flushCalls();
  const where = { tenant_id: w.tenant.id, subject_type: 'agent', period: 'day' };
  const counter = await db().ai_spend_counters.findFirstOrThrow({ where });
  assert.deepEqual([counter.spent_nano, counter.reserved_nano], [1_000_000_000n, 0n]);
});

test('the Azure client of the openai package does a chat and a stream, unmodified but for address and key', async () => {
  const w = await workspace();
  const upstream = await openAi();
  const made = await makeAgent(w, upstream, { provider: 'azure-openai', default_model: 'gpt-test' }, {}, { 'api-key': '$KEY' });
  const { text } = await makeToken(w, made);
  await served(running, w);
  const client = new AzureOpenAI({
    endpoint: `http://localhost:${apiPort}/v1/ai/${made.agent.slug}`,
    apiKey: text,
    apiVersion: '2024-10-21',
    deployment: 'gpt-test',
    maxRetries: 0,
  });
  const messages = [{ role: 'user' as const, content: 'Say hello' }];
  const whole = await client.chat.completions.create({ model: 'gpt-test', messages });
  assert.equal(whole.choices[0]?.message.content, 'Hello');
  let streamed = '';
  for await (const chunk of await client.chat.completions.create({ model: 'gpt-test', messages, stream: true }))
    streamed += chunk.choices[0]?.delta.content ?? '';
  assert.equal(streamed, 'Hello there');
  for (const { headers, url } of upstream.seen as { headers: Record<string, string>; url?: string }[]) {
    assert.equal(JSON.stringify(headers).includes('svcp_'), false);
    assert.match(String(url), /^\/openai\/deployments\/gpt-test\/chat\/completions\?api-version=2024-10-21$/);
  }
});

test('a provider whose name moves inside between two calls is blocked, alone or among good addresses, and the answer names none', async () => {
  const upstream = await startUpstream((_, res) =>
    res.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(completion())),
  );
  const name = 'provider.example.net';
  const names = { [name]: ['127.0.0.1'] };
  await withNames(running, names, async () => {
    const w = await workspace();
    const made = await makeAgent(w, { url: `http://${name}:${upstream.port}` });
    const { text } = await makeToken(w, made);
    await served(running, w);
    const ask = () => askAgent(running, w, made.agent, text, PROMPT);
    assert.equal((await ask()).status, 200);
    for (const addresses of [['169.254.169.254'], ['127.0.0.1', '169.254.169.254'], ['10.0.0.1'], ['::ffff:a9fe:a9fe']]) {
      names[name] = addresses;
      const answer = await ask();
      refused(answer, 'upstream_blocked');
      assert.doesNotMatch(answer.body, /169\.254|10\.0\.0|127\.0/);
    }
    assert.equal(upstream.seen.length, 1);
    names[name] = ['127.0.0.1'];
    assert.equal((await ask()).status, 200, 'and back');
  });
});
