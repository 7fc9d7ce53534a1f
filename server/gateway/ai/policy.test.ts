import assert from 'node:assert/strict';
import test from 'node:test';
import { AI_CODES, type AiCode } from '#server/ai/codes.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { until } from '#server/testing/until.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Answer, type Ask, served, startGateway, startUpstream } from '../gateway.fixture.ts';
import { flushCalls } from '../governance/log/writer.ts';
import { askAgent, makeAgent, makeToken, openAi, PROMPT, type TokenOptions } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();
const upstream = await openAi();

type Columns = Record<string, unknown>;
type Case = {
  code: AiCode;
  status?: number;
  agent?: Columns;
  gateway?: Columns;
  token?: TokenOptions;
  body?: unknown;
  more?: Ask & { path?: string };
  extra?: Record<string, unknown>;
  retryAfter?: RegExp;
};

function refused(answer: Answer, { code, status = AI_CODES[code], extra, retryAfter }: Case): void {
  const body = answer.json() as Record<string, unknown>;
  assert.deepEqual(
    [answer.status, body.error, body.code, typeof body.error_description],
    [status, code, code, 'string'],
    `${code}: ${answer.body}`,
  );
  assert.deepEqual(
    [answer.headers['x-svc-error'], answer.headers['x-svc-origin'], answer.headers['x-auth-failure']],
    [code, 'service', undefined],
    code,
  );
  for (const [name, value] of Object.entries(extra ?? {})) assert.deepEqual(body[name], value, `${code}.${name}`);
  if (retryAfter) assert.match(answer.headers['retry-after'] ?? '', retryAfter);
  else if (code !== 'dependency_unavailable') assert.equal(answer.headers['retry-after'], undefined, code);
}

const tool = { type: 'function', function: { name: 'delete_all', parameters: { type: 'object' } } };
const CASES: readonly Case[] = [
  { code: 'invalid_api_version', more: { headers: { 'service-version': '2020-01-01' } } },
  { code: 'rate_limited', token: { scope: { rpm: 1 } }, extra: { limit: 'token' }, retryAfter: /^([1-9]|[1-5]\d|60)$/ },
  { code: 'rate_limited', agent: { rate_limit_rpm: 1 }, extra: { limit: 'agent' }, retryAfter: /^([1-9]|[1-5]\d|60)$/ },
  { code: 'gateway_not_active', gateway: { status: 'paused' }, agent: { status: 'paused' } },
  { code: 'agent_not_active', agent: { status: 'archived' } },
  { code: 'kind_not_allowed', token: { kind: 'read' } },
  { code: 'kind_not_allowed', token: { kind: 'tool' } },
  { code: 'operation_not_allowed', token: { scope: { operations: ['embeddings'] } } },
  { code: 'user_required', gateway: { user_attribution: 'required' } },
  { code: 'user_required', gateway: { user_attribution: 'required' }, more: { headers: { 'x-svc-user': 'nobody-knows' } } },
  { code: 'user_mismatch', token: { scope: { user: 'alice' } }, more: { headers: { 'x-svc-user': 'bob' } } },
  { code: 'invalid_path', more: { path: '/v1/%2e%2e/admin' } },
  { code: 'invalid_path', more: { path: '/v1//chat/completions' } },
  { code: 'invalid_path', more: { path: '/v1/chat%2Fcompletions' } },
  { code: 'invalid_request_body', body: '{"model":' },
  { code: 'invalid_request_body', body: '[1]' },
  { code: 'invalid_request_body', body: `{"a":${'['.repeat(300)}${']'.repeat(300)}}` },
  { code: 'payload_too_large', more: { headers: { 'content-length': String(11 * 1024 * 1024) } }, body: '' },
  { code: 'unsupported_operation', more: { path: '/v1/fine_tuning/jobs' } },
  { code: 'unsupported_operation', more: { method: 'DELETE', path: '/v1/models/x' } },
  { code: 'shape_not_supported', agent: { provider: 'anthropic' }, more: { path: '/v1/embeddings' }, body: { model: 'm', input: 'x' } },
  { code: 'model_required', agent: { default_model: null }, body: { messages: [] } },
  { code: 'model_not_allowed', agent: { model_denylist: ['gpt-test'] }, extra: { model: 'gpt-test' } },
  { code: 'model_not_allowed', agent: { model_allowlist: ['gpt-other'] }, extra: { model: 'gpt-test' } },
  {
    code: 'model_not_allowed',
    gateway: { model_aliases: { 'gpt-test': 'gpt-secret' } },
    agent: { model_denylist: ['gpt-secret'] },
    extra: { model: 'gpt-test' },
  },
  { code: 'model_not_allowed', token: { scope: { models: ['gpt-other'] } }, extra: { model: 'gpt-test' } },
  { code: 'provider_not_allowed', token: { scope: { providers: ['anthropic'] } } },
  { code: 'streaming_disabled', agent: { streaming_enabled: false }, body: { ...PROMPT, stream: true } },
  { code: 'residency_unverified', agent: { data_residency_region: 'eu' } },
  {
    code: 'tool_not_allowed',
    agent: { tool_allowlist: ['search'] },
    body: { ...PROMPT, tools: [tool], tool_choice: { type: 'function', function: { name: 'delete_all' } } },
  },
  { code: 'budget_exceeded', agent: { budget_daily_usd: 0 }, extra: { scope: 'agent', period: 'daily' }, retryAfter: /^[1-9]\d*$/ },
  { code: 'budget_exceeded', gateway: { budget_monthly_usd: 0 }, extra: { scope: 'gateway', period: 'monthly' }, retryAfter: /^[1-9]\d*$/ },
  { code: 'token_cap_exceeded', token: { scope: { daily_usd_cap: '0.00' } }, extra: { scope: 'token' }, retryAfter: /^[1-9]\d*$/ },
  { code: 'price_unavailable', agent: { budget_daily_usd: 50, unpriced_action: 'block' } },
  { code: 'upstream_not_configured', agent: { primary_route_id: null } },
];

for (const one of CASES) {
  test(`${one.code} ${JSON.stringify(one.agent ?? one.gateway ?? one.token ?? one.more ?? '').slice(0, 80)}`, async () => {
    const w = await workspace();
    const made = await makeAgent(w, upstream, one.agent, one.gateway);
    const token = await makeToken(w, made, one.token);
    await served(running, w);
    const before = upstream.seen.length;
    const send = () => askAgent(running, w, made.agent, token.text, one.body ?? PROMPT, one.more);
    let passed = 0;
    let answer = await send();
    // The window may end between two calls.
    for (; one.code === 'rate_limited' && answer.status === 200 && passed < 3; passed++) answer = await send();
    refused(answer, one);
    assert.equal(upstream.seen.length, before + passed, 'nobody was asked');
  });
}

test('an agent that is not there, and a token of another agent', async () => {
  const w = await workspace();
  const [mine, other] = [await makeAgent(w, upstream), await makeAgent(w, upstream)];
  const { text } = await makeToken(w, mine);
  await served(running, w);
  refused(await askAgent(running, w, { slug: 'nobody' }, text, PROMPT), { code: 'agent_not_found' });
  refused(await askAgent(running, w, other.agent, text, PROMPT), { code: 'agent_token_mismatch' });
});

test('tools that are not on the list are not forwarded, and the ceiling of tokens is put in or lowered', async () => {
  const w = await workspace();
  const made = await makeAgent(w, upstream, { tool_allowlist: ['search'], budget_per_call_max_tokens: 100 });
  const { text } = await makeToken(w, made, { scope: { max_tokens_per_call: 50 } });
  await served(running, w);
  const allowed = { type: 'function', function: { name: 'search' } };
  const answer = await askAgent(running, w, made.agent, text, { ...PROMPT, tools: [tool, allowed], max_tokens: 4_000 });
  assert.equal(answer.status, 200, answer.body);
  assert.deepEqual([answer.headers['x-svc-ai-tools-dropped'], answer.headers['x-svc-ai-max-tokens']], ['1', 'clamped=50']);
  const sent = JSON.parse(upstream.seen.at(-1)?.body ?? '') as { tools: unknown[]; max_tokens: number };
  assert.deepEqual([sent.tools, sent.max_tokens], [[allowed], 50]);
  await askAgent(running, w, made.agent, text, { ...PROMPT, tools: [tool], tool_choice: 'auto' });
  const none = JSON.parse(upstream.seen.at(-1)?.body ?? '') as Record<string, unknown>;
  assert.deepEqual(['tools' in none, 'tool_choice' in none, none.max_tokens], [false, false, 50]);
});

test('of a member that comes twice the provider gets the one that was checked', async () => {
  const w = await workspace();
  const made = await makeAgent(w, upstream, { model_denylist: ['gpt-denied'] });
  const { text } = await makeToken(w, made);
  await served(running, w);
  const answer = await askAgent(running, w, made.agent, text, '{"model":"gpt-denied","messages":[],"model":"gpt-test"}');
  assert.equal(answer.status, 200, answer.body);
  assert.equal(upstream.seen.at(-1)?.body.includes('gpt-denied'), false);
});

test('an agent whose budget is used up is served by its fallback agent’s route and model, and by nobody without one', async () => {
  const w = await workspace();
  const made = await makeAgent(w, upstream, { budget_daily_usd: 0, budget_overage_action: 'fallback' });
  const { text } = await makeToken(w, made);
  await served(running, w);
  refused(await askAgent(running, w, made.agent, text, PROMPT), { code: 'budget_exceeded', retryAfter: /^[1-9]\d*$/ });
  const other = await makeAgent(w, upstream, { gateway_id: made.gateway.id, default_model: 'cheap' });
  await db().ai_agents.update({ where: { id: made.agent.id }, data: { fallback_agent_id: other.agent.id } });
  await served(running, w);
  const answer = await askAgent(running, w, made.agent, text, PROMPT);
  assert.deepEqual(
    [answer.status, answer.headers['x-svc-ai-fallback'], answer.headers['x-svc-ai-model'], answer.headers['x-svc-ai-route']],
    [200, 'agent', 'cheap', other.route.id],
    answer.body,
  );
  assert.equal(JSON.parse(upstream.seen.at(-1)?.body ?? '').model, 'cheap');
});

test('limit policies bind the users, teams, tags and models that they name, each group by itself, and warn or block', async () => {
  const w = await workspace();
  const made = await makeAgent(w, upstream);
  const { text } = await makeToken(w, made);
  const limit = (name: string, data: Record<string, unknown>) =>
    db().ai_limit_policies.create({
      data: { id: newId(), tenant_id: w.tenant.id, sandbox: false, name, metric: 'requests', window: 'day', limit: 1, ...data } as never,
    });
  await limit('One a day for each user', { match: { tag: { key: 'tier', value: 'free' } }, group_by: ['user'] });
  await limit('Noted', { match: { model: 'gpt-*' }, limit: 2, action: 'warn' });
  await served(running, w);
  const send = (user: string, tags: string) =>
    askAgent(running, w, made.agent, text, PROMPT, { headers: { 'x-svc-user': user, 'x-svc-tags': tags } });
  assert.equal((await send('alice', 'tier=free')).status, 200);
  await running.flush();
  const again = await send('alice', 'tier=free');
  refused(again, { code: 'budget_exceeded', extra: { scope: 'policy', period: 'daily' }, retryAfter: /^[1-9]\d*$/ });
  assert.match(again.body, /One a day for each user/);
  assert.equal((await send('bob', 'tier=free')).status, 200, 'another group');
  await running.flush();
  const paid = await send('alice', 'tier=paid');
  assert.deepEqual([paid.status, paid.headers['x-svc-ai-warnings']], [200, 'budget'], 'the second policy only warns');
});

test('whom a served call names becomes a user of the workspace at first sight; attribution that is off, and refused calls, make none', async () => {
  const w = await workspace();
  const known = () => db().ai_attributed_users.findMany({ where: { tenant_id: w.tenant.id }, orderBy: { external_id: 'asc' } });
  const send = async (made: Awaited<ReturnType<typeof makeAgent>>, user: string) => {
    const { text } = await makeToken(w, made);
    await served(running, w);
    const answer = await askAgent(running, w, made.agent, text, PROMPT, { headers: { 'x-svc-user': user } });
    await flushCalls();
    return answer.status;
  };
  assert.equal(await send(await makeAgent(w, upstream, {}, { user_attribution: 'off' }), 'off@example.com'), 200);
  assert.equal(await send(await makeAgent(w, upstream, { model_denylist: ['gpt-test'] }), 'refused@example.com'), 403);
  const made = await makeAgent(w, upstream);
  assert.equal(await send(made, 'alice@example.com'), 200);
  await until(async () => (await known()).length > 0);
  const [alice, ...others] = await known();
  assert.deepEqual([alice?.external_id, alice?.enabled, alice?.created_by, others.length], ['alice@example.com', true, null, 0]);
  assert.ok(alice?.first_seen_at && alice.last_seen_at);
});

test('a model without a price that passes a budget in USD is named in the answer and its log row; without a budget it is not', async () => {
  const w = await workspace();
  for (const [agent, warned] of [
    [{ budget_daily_usd: 50 }, 'unpriced_model'],
    [{}, undefined],
  ] as const) {
    const made = await makeAgent(w, upstream, agent);
    const { text } = await makeToken(w, made);
    await served(running, w);
    const answer = await askAgent(running, w, made.agent, text, PROMPT);
    assert.deepEqual([answer.status, answer.headers['x-svc-ai-warnings']], [200, warned], answer.body);
    await flushCalls();
    const row = await db().ai_request_logs.findFirstOrThrow({ where: { agent_id: made.agent.id } });
    assert.deepEqual([row.priced, row.warnings], [false, warned ? [warned] : []]);
  }
});

test('an agent that refuses models without a price calls none by a fallback either', async () => {
  const w = await workspace();
  const down = await startUpstream((_, res) => res.writeHead(500, { 'content-type': 'application/json' }).end('{}'));
  const spare = await openAi();
  const own = { provider: 'openai', default_model: 'gpt-4o', budget_daily_usd: 50, unpriced_action: 'block' };
  const first = await makeAgent(w, down, own);
  const second = await makeAgent(w, spare, { provider: 'groq', default_model: 'nobody-priced-it' });
  await db().ai_agents.update({ where: { id: first.agent.id }, data: { fallback_route_ids: [second.route.id] } });
  const { text } = await makeToken(w, first);
  await served(running, w);
  const answer = await askAgent(running, w, first.agent, text, { ...PROMPT, model: 'gpt-4o' });
  assert.deepEqual([answer.status, spare.seen.length], [500, 0], answer.body);
});
