import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { AI_CODES, type AiCode, isAuthenticationCode } from '#server/ai/codes.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { type Answer, makeSecret, served, startGateway } from '../gateway.fixture.ts';
import { countFailure } from '../governance/flood.ts';
import { limitCall } from '../governance/limits.ts';
import { askAgent, makeAgent, makeToken, openAi, PROMPT, type TokenOptions } from './ai.fixture.ts';
import { type AiCall, newAiState } from './ai-call.ts';
import { aiPhases } from './plane.ts';

// Interface rule 51 §13, number 1: the codes that neither authentication.test.ts, policy.test.ts, upstream.test.ts nor must-hold.test.ts has. Some take a
// database that fails, so nobody else may use it.

await ownDatabase();
const running = await startGateway();
const upstream = await openAi();

type Data = Record<string, unknown>;

async function setUp(agent: Data = {}, token: TokenOptions = {}) {
  const w = await workspace();
  const made = await makeAgent(w, upstream, agent);
  const { text, row } = await makeToken(w, made, token);
  await served(running, w);
  return { w, ...made, row, token: text, ask: (body: unknown = PROMPT) => askAgent(running, w, made.agent, text, body) };
}

/** Everything that every refusal promises; the provider was not asked. */
async function refused(work: Promise<Answer>, code: AiCode, extra: Data = {}): Promise<Answer> {
  const before = upstream.seen.length;
  const answer = await work;
  const body = answer.json() as Data;
  assert.deepEqual(
    [answer.status, body.error, body.code, typeof body.error_description],
    [AI_CODES[code], code, code, 'string'],
    answer.body,
  );
  assert.deepEqual(
    [answer.headers['x-svc-error'], answer.headers['x-svc-origin'], answer.headers['x-auth-failure'], 'reason' in body],
    [code, 'service', isAuthenticationCode(code) ? code : undefined, false],
  );
  for (const [name, value] of Object.entries(extra)) assert.deepEqual(body[name], value, name);
  assert.equal(upstream.seen.length, before, `${code}: nobody was asked`);
  return answer;
}

async function withFirewall(policy: Data) {
  const made = await setUp();
  const { id } = await db().ai_firewall_policies.create({
    data: { id: newId(), tenant_id: made.w.tenant.id, sandbox: false, name: 'Firewall', action: 'block', ...policy },
  });
  await db().ai_agents.update({ where: { id: made.agent.id }, data: { firewall_policy_id: id } });
  await served(running, made.w);
  return made;
}

test('firewall_block names the rule and not the prompt', async () => {
  const rule = { name: 'launch_codes', kind: 'keyword', pattern: 'launch codes' };
  const { ask } = await withFirewall({ heuristics: [rule] });
  const say = (content: string) => ask({ ...PROMPT, messages: [{ role: 'user', content }] });
  const answer = await refused(say('Print the Launch Codes of canary-7f'), 'firewall_block', { rule: 'launch_codes' });
  assert.doesNotMatch(answer.body, /canary-7f/);
  assert.equal((await say('Say hello')).status, 200);
});

test('firewall_unavailable: a stored rule that no longer compiles lets nothing through', async () => {
  const { ask } = await withFirewall({ heuristics: [{ name: 'old', kind: 'regex', pattern: '(a)\\1' }] });
  assert.equal((await refused(ask(), 'firewall_unavailable')).headers['retry-after'], undefined);
});

test('guardrail_block and guardrail_unavailable, before the provider is asked', async () => {
  let verdict: string | null = '{"action":"block","message":"Not on a Friday"}';
  const guardrail = createServer((req, res) => {
    req.resume();
    req.on('end', () => (verdict === null ? res.destroy() : res.end(verdict)));
  });
  await new Promise<void>((resolve) => guardrail.listen(0, '127.0.0.1', resolve));
  after(() => {
    guardrail.closeAllConnections();
    guardrail.close();
  });
  const guardrail_webhook_url = `http://127.0.0.1:${(guardrail.address() as AddressInfo).port}/check`;
  const { w, agent, ask } = await setUp({ guardrail_webhook_url, guardrail_webhook_mode: 'request' });
  const secret = await makeSecret(w, 'GUARDRAIL', { production: 'whsec_1' });
  await db().ai_agents.update({ where: { id: agent.id }, data: { guardrail_webhook_secret_id: secret.id } });
  await served(running, w);
  await refused(ask(), 'guardrail_block', { guardrail_message: 'Not on a Friday' });
  verdict = null;
  assert.equal((await refused(ask(), 'guardrail_unavailable')).headers['retry-after'], undefined);
  await db().ai_agents.update({ where: { id: agent.id }, data: { guardrail_webhook_failure_action: 'fail_open' } });
  await served(running, w);
  const open = await ask();
  assert.deepEqual([open.status, open.headers['x-svc-ai-warnings']], [200, 'guardrail_unavailable']);
});

test('unsupported_option: what a translation can’t carry is refused by its name', async () => {
  const { ask } = await setUp({ provider: 'anthropic' });
  const answer = await refused(ask({ ...PROMPT, logit_bias: { 50256: -100 } }), 'unsupported_option');
  assert.match(String((answer.json() as Data).error_description), /logit_bias/);
});

test('monthly_limit_exceeded and rate_limited of the workspace, which its routes and agents share', async () => {
  const { w, ask } = await setUp();
  const limit = (kind: string, value: number) => db().tenant_limit_overrides.create({ data: { tenant_id: w.tenant.id, kind, value } });
  assert.equal((await ask()).status, 200);
  await limit('api_calls', 1);
  await served(running, w);
  assert.equal((await refused(ask(), 'monthly_limit_exceeded')).headers['retry-after'], undefined);
  await db().tenant_limit_overrides.deleteMany({ where: { tenant_id: w.tenant.id } });
  await limit('tenant_rps', 1);
  await served(running, w);
  // A bucket that was emptied a moment from now has nothing left now, however slow this machine is.
  const rule = { key: `t:${w.tenant.id}:live`, limit: 60, windowMs: 60_000, burst: 60 };
  for (let i = 0; i < 60; i++) await running.runtime.counters.take([rule], Date.now() + 600_000);
  const limited = await refused(ask(), 'rate_limited', { limit: 'tenant' });
  assert.match(limited.headers['retry-after'] ?? '', /^[1-9]\d*$/);
});

test('output_schema_unavailable: an output schema that no longer runs is named with its problem, and nothing is sent', async () => {
  const pattern = '[a-z]'.repeat(3_000);
  const { ask } = await setUp({ output_schema: { properties: { sku: { pattern } } } });
  const answer = await refused(ask(), 'output_schema_unavailable');
  assert.match(answer.body, /output schema of this agent can't be run: the pattern at \/properties\/sku\/pattern is longer than/);
});

test('rate_limited by address: after 300 failures of one network its good tokens wait as well, and nobody else', async () => {
  const { w, agent, token, ask } = await setUp();
  const from = '127.0.0.77';
  const send = () =>
    new Promise<Answer>((resolve, reject) => {
      const headers = { host: `${w.tenant.slug}.localhost:${running.port}`, authorization: `Bearer ${token}`, connection: 'close' };
      const options = {
        port: running.port,
        host: '127.0.0.1',
        localAddress: from,
        method: 'POST',
        path: `/v1/ai/${agent.slug}/v1/chat/completions`,
      };
      const req = request({ ...options, headers: { ...headers, 'content-type': 'application/json' } }, (res) => {
        let body = '';
        res.on('data', (chunk) => (body += chunk));
        res.on('end', () =>
          resolve({ status: res.statusCode ?? 0, headers: res.headers as never, raw: [], body, json: () => JSON.parse(body) }),
        );
      });
      req.on('error', reject);
      req.end(JSON.stringify(PROMPT));
    });
  assert.equal((await send()).status, 200);
  let limited: Answer | undefined;
  // The minute may turn between the failures and the call.
  for (let turn = 0; turn < 3 && limited?.status !== 429; turn++) {
    for (let i = 0; i < 300; i++) countFailure(from, Date.now());
    limited = await send();
  }
  await refused(Promise.resolve(limited as Answer), 'rate_limited', { limit: 'address' });
  assert.match(limited?.headers['retry-after'] ?? '', /^([1-9]|[1-5]\d|60)$/);
  assert.equal((await ask()).status, 200, 'from another address');
});

test('oneshot_consume_error: a use that can’t be recorded is refused', async () => {
  const { row, ask } = await setUp({}, { kind: 'oneshot' });
  await db().$executeRawUnsafe(
    `create function fail_token() returns trigger language plpgsql as $$ begin raise 'the disk is full'; end $$`,
  );
  await db().$executeRawUnsafe(
    `create trigger fail_token before update on ai_tokens for each row when (old.id = '${row.id}') execute function fail_token()`,
  );
  const answer = await refused(ask(), 'oneshot_consume_error');
  assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer realm="ai"/);
  await db().$executeRawUnsafe('drop trigger fail_token on ai_tokens');
  assert.equal((await ask()).status, 200, 'it was not used up');
});

test('dependency_unavailable: a token that can’t be looked up is never called bad', async () => {
  const { ask } = await setUp();
  await db().$executeRawUnsafe('alter table ai_tokens rename to ai_tokens_away');
  try {
    assert.match((await refused(ask(), 'dependency_unavailable')).headers['retry-after'] ?? '', /^([1-9]|[1-5]\d|60)$/);
  } finally {
    await db().$executeRawUnsafe('alter table ai_tokens_away rename to ai_tokens');
  }
  assert.equal((await ask()).status, 200);
});

test('ai_gateway_unavailable: a gateway that doesn’t know what it serves refuses before it reads the credential', async (t) => {
  const { w, agent, ask } = await setUp();
  // Nothing was confirmed against the database for longer than SNAPSHOT_MAX_AGE_SECONDS.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * 3_600_000 });
  for (const token of ['svcp_live_a_nonsense', null])
    assert.equal((await refused(askAgent(running, w, agent, token, PROMPT), 'ai_gateway_unavailable')).headers['retry-after'], '60');
  t.mock.timers.reset();
  assert.equal((await ask()).status, 200);
});

test('missing_auth: a phase that finds no principal refuses, whatever else went wrong before it', async () => {
  const { w, agent, gateway } = await setUp();
  const snapshot = running.runtime.snapshots.bySlug(w.tenant.slug)?.live;
  assert.ok(snapshot, 'the workspace is served');
  const state = { ...newAiState(), slug: agent.slug, agent, gateway, detected: { shape: 'openai-chat', operation: 'chat' } };
  const call = { state, snapshot, method: 'POST', names: [], body: null, contentType: null } as unknown as AiCall;
  for (const phase of ['find_agent', 'authorize', 'choose_model', 'control'] as const) {
    const answer = await aiPhases[phase](call, running.runtime);
    assert.equal((answer as { code?: string } | undefined)?.code, 'missing_auth', phase);
  }
  assert.equal((await limitCall(call, running.runtime, null))?.code, 'missing_auth', 'limit');
});
