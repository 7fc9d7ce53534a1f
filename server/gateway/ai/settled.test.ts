import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:http';
import test from 'node:test';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { type Agent, askAgent, completion, frames, makeAgent, makeToken, PROMPT, type TokenOptions } from './ai.fixture.ts';

// A call's reservation ends before its answer does (interface rule 51 §9.4), so that the caller's next call finds the budget as it is.

await testDatabase();
const running = await startGateway();

type Provider = (req: IncomingMessage, res: ServerResponse) => void;
const json =
  (status: number, body: unknown): Provider =>
  (_, res) =>
    void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const streamed =
  (sent: readonly string[], end: (res: ServerResponse) => void): Provider =>
  (_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of sent) res.write(frame);
    end(res);
  };

/** How an answer can end. */
const ENDINGS: Readonly<Record<string, { provider: Provider; stream?: boolean }>> = {
  'a whole answer': { provider: json(200, completion()) },
  'a stream': { provider: streamed(frames(), (res) => res.end()), stream: true },
  'a stream that is cut': { provider: streamed(frames().slice(0, 2), (res) => setImmediate(() => res.destroy())), stream: true },
  'a stream without its end': { provider: streamed(frames().slice(0, 2), (res) => res.end()), stream: true },
  'a refusal of the provider': { provider: json(400, { error: { message: 'no' } }) },
  'a failure of the provider': { provider: json(500, { error: { message: 'down' } }) },
  'a refused credential': { provider: json(401, { error: { message: 'no' } }) },
  'a redirection': { provider: (_, res) => void res.writeHead(302, { location: '/x' }).end() },
  'an answer that is not JSON': { provider: (_, res) => void res.writeHead(200, { 'content-type': 'application/json' }).end('<html>') },
  'a reset': { provider: (req) => void req.socket.destroy() },
};

/** A budget that one reservation of a call fills: 100 tokens of output at 500 USD a million. */
const FULL = 0.05;
type Payer = { agent?: object; gateway?: object; token?: TokenOptions; policy?: object };
const PAYERS: Readonly<Record<string, Payer>> = {
  agent: { agent: { budget_daily_usd: FULL } },
  gateway: { gateway: { budget_monthly_usd: FULL } },
  token: { token: { scope: { daily_usd_cap: String(FULL) } } },
  user: { policy: { match: { user: 'alice' }, metric: 'usd', limit: FULL } },
  group: { policy: { match: {}, group_by: ['user'], metric: 'usd', window: 'month', limit: FULL } },
  'tokens of a user': { policy: { match: { user: 'alice' }, metric: 'tokens', limit: 120 } },
};

async function setUp(provider: Provider, { agent = {}, gateway = {}, token = {}, policy }: Payer) {
  const w = await workspace();
  const upstream = await startUpstream(provider);
  const made = await makeAgent(w, upstream, agent as never, gateway as never);
  const own = { id: newId(), tenant_id: w.tenant.id, sandbox: false };
  const model = { provider: 'openai-compatible', model: 'gpt-test', effective_from: new Date(0) };
  await db().ai_prices.create({ data: { ...own, ...model, input_per_mtok: 0, output_per_mtok: 500 } });
  if (policy) await db().ai_limit_policies.create({ data: { ...own, name: 'Limit', window: 'day', ...policy } as never });
  const { text } = await makeToken(w, made, token);
  await served(running, w);
  return { w, upstream, made, text };
}

const BODY = { ...PROMPT, max_tokens: 100 };
const ALICE = { headers: { 'x-svc-user': 'alice' } };

for (const [ending, { provider, stream = false }] of Object.entries(ENDINGS))
  for (const [payer, budget] of Object.entries(PAYERS))
    if (payer === 'agent' || ending === 'a whole answer' || ending === 'a stream')
      test(`calls one after the other find the budget free: of the ${payer}, after ${ending}`, async () => {
        const { w, upstream, made, text } = await setUp(provider, budget);
        for (let n = 0; n < 3; n++) {
          const answer = await askAgent(running, w, made.agent, text, { ...BODY, stream }, ALICE);
          assert.notEqual(answer.status, 429, `call ${n}: ${answer.body}`);
        }
        assert.equal(upstream.seen.length, 3);
      });

/** A call whose caller can go away. */
function openCall(w: Workspace, { agent }: Agent, token: string) {
  const headers = { host: `${w.tenant.slug}.localhost`, authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = request({ port: running.port, method: 'POST', path: `/v1/ai/${agent.slug}/v1/chat/completions`, headers, agent: false });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify(BODY));
  return sent;
}

test('a budget that calls in progress have reserved says to come back at once, and one that is spent says when its period ends', async () => {
  let answers = false;
  const { w, upstream, made, text } = await setUp(
    (req, res) => (answers ? json(200, completion('Hello', { usage: { prompt_tokens: 0, completion_tokens: 100 } }))(req, res) : undefined),
    { agent: { budget_daily_usd: FULL } },
  );
  const hanging = openCall(w, made, text);
  await until(() => upstream.seen.length === 1);
  const ask = () => askAgent(running, w, made.agent, text, BODY);
  const held = await ask();
  assert.deepEqual([held.status, held.json().code, held.headers['retry-after']], [429, 'budget_exceeded', '1'], held.body);
  assert.match(held.body, /is taken by calls in progress/);
  hanging.destroy();
  answers = true;
  await until(async () => {
    const next = await ask();
    if (next.status === 429) assert.equal(next.headers['retry-after'], '1', next.body);
    return next.status === 200;
  });
  const spent = await ask();
  assert.equal(spent.status, 429, spent.body);
  assert.match(spent.body, /is used up/);
  const toMidnight = Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1_000);
  assert.ok(Math.abs(Number(spent.headers['retry-after']) - toMidnight) < 60 || toMidnight < 60, spent.headers['retry-after']);
});

test('the place of a call among an agent’s parallel ones is free when its answer ends', async () => {
  for (const stream of [false, true]) {
    const provider = stream ? streamed(frames(), (res) => res.end()) : json(200, completion());
    const { w, made, text } = await setUp(provider, { agent: { max_concurrency: 1, cache_mode: 'exact', cache_ttl_seconds: 60 } });
    for (let n = 0; n < 5; n++) {
      const body = { ...BODY, stream, messages: [{ role: 'user', content: `Say ${n}` }] };
      const answer = await askAgent(running, w, made.agent, text, body);
      assert.equal(answer.status, 200, answer.body);
    }
  }
});
