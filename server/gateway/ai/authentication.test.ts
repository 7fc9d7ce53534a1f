import assert from 'node:assert/strict';
import test from 'node:test';
import { AI_CODES, type AiCode } from '#server/ai/codes.ts';
import { proofSigner } from '#server/crypto/dpop.fixture.ts';
import { routeUrls } from '#server/domain/tenants/addresses.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { type Answer, served, startGateway } from '../gateway.fixture.ts';
import { writeAiDenials } from '../governance/denials.ts';
import { type Agent, askAgent, makeAgent, makeToken, openAi, PROMPT, type TokenOptions } from './ai.fixture.ts';

await testDatabase();
const running = await startGateway();
const upstream = await openAi();

async function setUp(options: Parameters<typeof workspace>[0] = {}) {
  const w = await workspace(options);
  const made = await makeAgent(w, upstream);
  await served(running, w);
  return { w, ...made };
}

/** Everything a failed authentication promises: status, body, header, challenge, and that nobody was asked. */
function denied(answer: Answer, code: AiCode): void {
  const body = answer.json() as Record<string, unknown>;
  assert.deepEqual(
    [answer.status, body.error, body.code, typeof body.error_description],
    [AI_CODES[code], code, code, 'string'],
    answer.body,
  );
  assert.equal('reason' in body, false);
  assert.deepEqual(
    [answer.headers['x-auth-failure'], answer.headers['x-svc-error'], answer.headers['x-svc-origin'], answer.headers['content-type']],
    [code, code, 'service', 'application/json'],
  );
  if (answer.status === 401) assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer realm="ai"/);
  assert.equal(answer.headers['x-svc-upstream-status'], undefined);
}

const entries = (w: Workspace, code: string) =>
  db().audit_logs.findMany({
    where: { tenant_id: w.tenant.id, action: 'ai_gateway.request_denied', details: { path: ['code'], equals: code } },
  });

test('what can be said of a text without looking it up is refused by its first fault', async () => {
  const { w, agent } = await setUp();
  const before = upstream.seen.length;
  const body = 'svcp_live_a_7Hq2ZxW9cK4mVb8RtY1nLs6PdGj3Fa5E';
  const cases: readonly [string | null, AiCode][] = [
    [null, 'missing_token'],
    ['sk-something', 'bad_prefix'],
    ['svcp_live_a', 'malformed'],
    [`svcp_prod_a_${'a'.repeat(32)}_000000`, 'bad_env'],
    [`svcp_live_x_${'a'.repeat(32)}_000000`, 'bad_kind'],
    [`svcp_live_a_${'a'.repeat(31)}_000000`, 'bad_random'],
    [`${body}_0xAh!O`, 'bad_crc_format'],
    [`${body}_0xAhpP`, 'crc_mismatch'],
    ['svcp_test_t_0000000000000000000000000000000A_3WwEyV', 'bad_env'],
    [`${body}_0xAhpO`, 'unknown_token'],
  ];
  for (const [text, code] of cases) denied(await askAgent(running, w, agent, text, PROMPT), code);
  denied(await askAgent(running, w, agent, null, PROMPT, { headers: { authorization: 'Bearer ' } }), 'empty');
  denied(
    await askAgent(running, w, agent, null, PROMPT, {
      headers: { authorization: `Bearer ${body}_0xAhpO`, 'x-api-key': 'svcp_live_a_other' },
    }),
    'malformed',
  );
  assert.equal(upstream.seen.length, before, 'nobody was asked');
  assert.equal((await entries(w, 'crc_mismatch')).length, 1, 'the host names the workspace, so it is told');
  for (const code of ['missing_token', 'empty', 'unknown_token']) assert.equal((await entries(w, code)).length, 0, code);
});

test('a token is found in every header in which an SDK puts its key, and in none twice differently', async () => {
  const { w, agent, gateway } = await setUp();
  const { text } = await makeToken(w, { agent, gateway });
  const basic = `Basic ${Buffer.from(`x:${text}`).toString('base64')}`;
  const places: Record<string, string>[] = [
    { 'x-api-key': text },
    { 'api-key': text },
    { 'x-goog-api-key': text },
    { authorization: basic },
    { authorization: 'Bearer sk-other', 'x-api-key': text },
  ];
  for (const headers of places) {
    const answer = await askAgent(running, w, agent, null, PROMPT, { headers });
    assert.equal(answer.status, 200, answer.body);
  }
});

test('each thing that ends a token refuses the call, is audited before the answer, and asks nobody', async () => {
  const made = await setUp();
  const { w, agent } = made;
  const past = new Date(Date.now() - 1_000);
  const cases: readonly [TokenOptions, AiCode][] = [
    [{ columns: { revoked_at: past, capability_hmac: '' } }, 'revoked'],
    [{ kind: 'oneshot', columns: { oneshot_consumed_at: past, capability_hmac: '' } }, 'oneshot_already_used'],
    [{ columns: { hmac_key_version: 99 } }, 'tenant_key_missing'],
    [{ columns: { scope_jsonb: { models: ['gpt-test', 'gpt-expensive'] } }, scope: { models: ['gpt-test'] } }, 'capability_hmac_mismatch'],
    [{ columns: { revoked_at: null, capability_hmac: '' } }, 'capability_hmac_mismatch'],
    [{ columns: { expires_at: new Date(Date.now() + 86_400_000) } }, 'capability_hmac_mismatch'],
    [{ expiresAt: past }, 'expired'],
    [{ columns: { dpop_required: true } }, 'dpop_missing'],
    [{ scope: { valid_window: { not_after: past.toISOString() } } }, 'outside_valid_window'],
    [{ scope: { ip_cidrs: ['203.0.113.0/24'] } }, 'ip_cidr_mismatch'],
    [{ columns: { step_up_required: true } }, 'step_up_required'],
    [{ kind: 'tool', agentless: true }, 'agent_missing'],
  ];
  const before = upstream.seen.length;
  for (const [options, code] of cases) {
    const token = await makeToken(w, made, options);
    denied(await askAgent(running, w, agent, token.text, PROMPT), code);
    const [entry] = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_id: token.row.id } });
    const details = entry?.details as Record<string, unknown>;
    assert.deepEqual(
      [details.code, details.status, details.plane, details.agent_slug, details.token_prefix, details.count, entry?.resource_type],
      [code, AI_CODES[code], 'ai', agent.slug, token.row.prefix, 1, 'ai_token'],
    );
    assert.equal(JSON.stringify([entry?.details, entry?.actor_label]).includes(token.text), false);
  }
  assert.equal(upstream.seen.length, before);
});

test('a workspace whose subscription ended is not served', async () => {
  const made = await setUp({ status: 'canceled' });
  const { text } = await makeToken(made.w, made);
  denied(await askAgent(running, made.w, made.agent, text, PROMPT), 'tenant_unavailable');
});

test('a token of another workspace is as unknown as one that never was', async () => {
  const [mine, theirs] = [await setUp(), await setUp()];
  const { text } = await makeToken(theirs.w, theirs);
  const foreign = await askAgent(running, mine.w, theirs.agent, text, PROMPT);
  denied(foreign, 'unknown_token');
  assert.equal((await entries(mine.w, 'unknown_token')).length, 0);
});

test('a bound token needs a proof for this call, which may be used once', async () => {
  const made = await setUp();
  const { w, agent } = made;
  const url = `${routeUrls(w.tenant.slug, 'live')[0]}/v1/ai/${agent.slug}/v1/chat/completions`;
  const { prove, jkt } = await proofSigner();
  const { text } = await makeToken(w, made, { jkt });
  const sent = async (dpop: string) => askAgent(running, w, agent, null, PROMPT, { headers: { authorization: `DPoP ${text}`, dpop } });
  const good = await prove({ method: 'POST', url, access_token: text });
  const answer = await sent(good);
  assert.equal(answer.status, 200, answer.body);
  denied(await sent(good), 'dpop_replayed');
  denied(await sent(await prove({ method: 'GET', url, access_token: text })), 'dpop_invalid');
  const other = await proofSigner();
  denied(await sent(await other.prove({ method: 'POST', url, access_token: text })), 'dpop_jkt_mismatch');
  const unbound = await makeToken(w, made, { columns: { dpop_required: true } });
  denied(await askAgent(running, w, agent, unbound.text, PROMPT, { headers: { dpop: good } }), 'dpop_jkt_missing');
});

test('fifty calls at once with a one-shot token at two gateways: exactly one passes', async () => {
  const second = await startGateway();
  const made = await setUp();
  const { w, agent } = made;
  await served(second, w);
  const { text, row } = await makeToken(w, made, { kind: 'oneshot' });
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => askAgent(i % 2 ? running : second, w, agent, text, PROMPT)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) denied(answer, 'oneshot_already_used');
  const stored = await db().ai_tokens.findUniqueOrThrow({ where: { id: row.id } });
  assert.deepEqual([stored.capability_hmac, stored.oneshot_consumed_at === null], ['', false]);
  // Whoever clears the mark in the database brings nothing back.
  await db().ai_tokens.update({ where: { id: row.id }, data: { oneshot_consumed_at: null } });
  running.runtime.capabilities.forget(w.tenant.id);
  denied(await askAgent(running, w, agent, text, PROMPT), 'capability_hmac_mismatch');
});

test('a one-shot token is used up by a call that a policy refuses', async () => {
  const made = await setUp();
  const { w, agent } = made;
  const { text } = await makeToken(w, made, { kind: 'oneshot', scope: { models: ['gpt-test'] } });
  const refused = await askAgent(running, w, agent, text, { ...PROMPT, model: 'gpt-other' });
  assert.deepEqual([refused.status, refused.json().code], [403, 'model_not_allowed']);
  denied(await askAgent(running, w, agent, text, PROMPT), 'oneshot_already_used');
});

test('equal refusals within a minute become one entry and a count', async () => {
  const made: Agent & { w: Workspace } = await setUp();
  const { w, agent } = made;
  const { text, row } = await makeToken(w, made, { scope: { ip_cidrs: ['203.0.113.0/24'] } });
  for (let n = 0; n < 4; n++) await askAgent(running, w, agent, text, PROMPT);
  assert.equal((await entries(w, 'ip_cidr_mismatch')).length, 1);
  await writeAiDenials();
  const counts = (await entries(w, 'ip_cidr_mismatch'))
    .filter((entry) => entry.resource_id === row.id)
    .map(({ details }) => (details as { count: number }).count);
  assert.deepEqual(counts.sort(), [1, 3]);
});
