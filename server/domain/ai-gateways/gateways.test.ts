import assert from 'node:assert/strict';
import test from 'node:test';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { sql } from '#server/platform/sql.ts';
import { testDatabase } from '#server/testing/database.ts';
import { watchEvents } from '#server/testing/events.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { updateAgent } from './agents.ts';

// Gateways and agents (interface rule 50 §3 to §5).

await testDatabase();

const isRefusal = (type: string, message: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.type === type && message.test(error.message);
const invalid = (message: RegExp) => isRefusal('validation_error', message);

async function gateway(w: Workspace, input: object = {}) {
  return made(w.live, 'ai_gateways.create', { name: 'G', slug: fresh('g'), ...input });
}
async function furnished(plan: 'free' | 'pro' = 'pro') {
  const w = await workspace({ plan });
  const { id } = await gateway(w);
  const secret = await made(w.live, 'secrets.create', { name: 'LLM_KEY', value: 'sk-nobody-may-see' });
  const create = (input: object = {}) => made(w.live, 'ai_gateways.agents.create', { id, name: 'A', slug: fresh('a'), ...input });
  const update = (agent: string, input: object) => made(w.live, 'ai_gateways.agents.update', { id: agent, ...input });
  return { w, id, secret: secret.id as string, create, update };
}

test('amounts come back as decimal texts, whether they were sent as numbers or texts', async () => {
  const w = await workspace();
  const row = await gateway(w, { budget_daily_usd: 50, budget_monthly_usd: '1000.1250' });
  assert.deepEqual([row.budget_daily_usd, row.budget_monthly_usd, row.budget_overage_action], ['50.00', '1000.125', 'block']);
  const zero = await made(w.live, 'ai_gateways.update', { id: row.id, budget_daily_usd: 0, budget_monthly_usd: null });
  assert.deepEqual([zero.budget_daily_usd, zero.budget_monthly_usd], ['0.00', null]);
  for (const wrong of [-1, 1_000_000.01, 0.00001, 'ten', '1e3', Number.NaN])
    await assert.rejects(
      made(w.live, 'ai_gateways.update', { id: row.id, budget_daily_usd: wrong }),
      invalid(/^budget_daily_usd: /),
      String(wrong),
    );
});

test('an alias of an alias is refused, and the map is replaced as a whole', async () => {
  const w = await workspace();
  const row = await gateway(w, { model_aliases: { fast: 'claude-haiku-4-5', smart: 'claude-opus-5' } });
  await assert.rejects(
    made(w.live, 'ai_gateways.update', { id: row.id, model_aliases: { a: 'b', b: 'c' } }),
    invalid(/aliases are not followed twice/),
  );
  const after = await made(w.live, 'ai_gateways.update', {
    id: row.id,
    model_aliases: { fast: 'gpt-5-mini' },
    slug: 'ignored',
    status: 'archived',
  });
  assert.deepEqual([after.model_aliases, after.slug, after.status], [{ fast: 'gpt-5-mini' }, row.slug, 'active']);
});

test('an archived gateway leaves the list and the limit of the plan, frees its slug, and keeps its agents', async () => {
  const { w, id, create } = await furnished('free');
  const agent = await create();
  await assert.rejects(gateway(w), isRefusal('plan_limit', /allows 1 /));
  const { slug } = await made(w.live, 'ai_gateways.get', { id });
  assert.deepEqual(await made(w.live, 'ai_gateways.delete', { id }), { deleted: true, id, status: 'archived' });
  assert.deepEqual(await made(w.live, 'ai_gateways.delete', { id }), { deleted: true, id, status: 'archived' }, 'twice is once');
  assert.notEqual((await gateway(w, { slug })).id, id);
  const listed = await made(w.live, 'ai_gateways.list', {});
  assert.ok(!listed.some((one: { id: string }) => one.id === id));
  assert.deepEqual(
    (await made(w.live, 'ai_gateways.list', { status: 'archived' })).map((one: { id: string }) => one.id),
    [id],
  );
  assert.equal((await made(w.live, 'ai_gateways.agents.get', { id: agent.id })).status, 'active');
  for (const op of ['ai_gateways.resume', 'ai_gateways.pause'])
    await assert.rejects(made(w.live, op, { id }), isRefusal('conflict', /is archived/));
});

test('pausing is audited with its reason, and what the service paused is not resumed by a key', async () => {
  const { w, create } = await furnished();
  const agent = await create();
  const events = await watchEvents(w.live, 'ai.agent.paused');
  const paused = await made(w.live, 'ai_gateways.agents.pause', { id: agent.id, reason: 'costs' });
  await made(w.live, 'ai_gateways.agents.pause', { id: agent.id, reason: 'costs, still' });
  assert.deepEqual([paused.status, paused.paused_reason], ['paused', 'costs']);
  assert.equal((await made(w.live, 'ai_gateways.agents.resume', { id: agent.id })).paused_reason, null);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: w.tenant.id, resource_type: 'ai_agent' }, orderBy: { seq: 'asc' } });
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['create', 'disable', 'disable', 'enable'],
  );
  assert.deepEqual(
    (await events()).map(({ about, data }) => [about, data.reason, data.automatic]),
    [[agent.id, 'costs', false]],
    'a new reason of the same pause is no event',
  );
  assert.equal((entries[1]?.details as { reason?: string } | undefined)?.reason, 'costs');
  await sql().query("update ai_agents set status = 'paused', paused_automatically = true where id = $1", [agent.id]);
  await assert.rejects(made(w.live, 'ai_gateways.agents.resume', { id: agent.id }), isRefusal('forbidden', /Owner or Admin/));
});

test('an agent of a provider comes with a route that injects the key by reference, in one transaction', async () => {
  const { w, id, secret, create } = await furnished();
  const agent = await create({ provider: 'anthropic', upstream_secret_id: secret, slug: 'bot' });
  assert.equal(agent.default_model, 'claude-sonnet-5');
  assert.match(agent.agent_url, /\/v1\/ai\/bot$/);
  const route = await made(w.live, 'routes.get', { id: agent.primary_route_id });
  assert.deepEqual([route.name, route.enabled, route.requires_clients], ['ai-gateway-bot', true, false]);
  assert.deepEqual(route.inject_headers_json, { 'x-api-key': `{{secret_id:${secret}}}` });
  assert.equal((await db().routes.findUniqueOrThrow({ where: { id: route.id } })).managed_by, 'ai_gateway');
  // A name that is taken gets a number; the slug that is taken takes the route back.
  await assert.rejects(create({ provider: 'openai', upstream_secret_id: secret, slug: 'bot' }), isRefusal('conflict', /slug/));
  assert.equal(await db().routes.count({ where: { tenant_id: w.tenant.id, name: { startsWith: 'ai-gateway-bot' } } }), 1);
  await made(w.live, 'ai_gateways.agents.delete', { id: agent.id });
  const released = await db().routes.findUniqueOrThrow({ where: { id: route.id } });
  assert.deepEqual([released.enabled, released.managed_by], [false, null]);
  const again = await create({ provider: 'openai', upstream_secret_id: secret, slug: 'bot' });
  assert.equal((await made(w.live, 'routes.get', { id: again.primary_route_id })).name, 'ai-gateway-bot-2');
  assert.equal((await made(w.live, 'ai_gateways.agents.list', { id })).length, 1);
});

test('what a provider needs is asked for by name', async () => {
  const { secret, create } = await furnished();
  const key = { upstream_secret_id: secret };
  const cases: [object, RegExp][] = [
    [{ provider: 'nobody', ...key }, /^provider: must be one of openai, anthropic/],
    [{ provider: 'anthropic' }, /^upstream_secret_id: is required/],
    [{ provider: 'azure-openai', ...key }, /^upstream: is required/],
    [{ provider: 'openai-compatible', ...key, upstream: 'https://llm.example.com' }, /^default_model: is required/],
    [{ provider: 'openai-compatible', ...key, upstream: 'https://10.0.0.1', default_model: 'm' }, /^upstream: private_address: /],
    [
      { provider: 'openai-compatible', ...key, upstream: 'https://169.254.169.254/latest', default_model: 'm' },
      /^upstream: private_address: /,
    ],
    [{ provider: 'bedrock', ...key, upstream: 'https://example.com' }, /^upstream: must be https:\/\/bedrock-runtime/],
    [{ provider: 'anthropic', ...key, primary_route_id: secret }, /^primary_route_id: must not be sent with provider/],
    [{ provider: 'anthropic', ...key, model_denylist: ['claude-sonnet-5'] }, /^default_model: is in model_denylist/],
    [{ provider: 'anthropic', ...key, model_allowlist: ['claude-opus-5'] }, /^default_model: isn't in model_allowlist/],
    [{ cache_mode: 'exact' }, /^cache_ttl_seconds: must be at least 1/],
    [{ guardrail_webhook_mode: 'both' }, /^guardrail_webhook_url: is required/],
    [{ guardrail_webhook_url: 'https://10.0.0.1/check' }, /^guardrail_webhook_url: private_address: /],
    [{ output_schema: { $ref: 'https://example.com/schema' } }, /^output_schema: must be a JSON Schema .* \/\$ref must begin with #/],
    [{ output_schema: { allOf: [{ $ref: '#' }] } }, /^output_schema: must be a JSON Schema .* never ends/],
    [{ output_schema: { type: 'nothing' } }, /^output_schema: must be a JSON Schema/],
    // What no call could run with.
    [{ output_schema: { type: 'string', pattern: '(?=a)b' } }, /^output_schema: must be a JSON Schema/],
    [{ pii_detokenize_response: true, pii_response_mode: 'redact' }, /^pii_detokenize_response: contradicts/],
    [{ routing_policy: { retry_on: ['4xx'] } }, /^routing_policy\.retry_on/],
    [{ data_residency_region: 'eu-west-1' }, /^data_residency_region: /],
  ];
  for (const [input, message] of cases) await assert.rejects(create(input), invalid(message), JSON.stringify(input));
  const rewritten = await create({
    provider: 'anthropic',
    ...key,
    model_allowlist: ['claude-haiku-4-5'],
    model_rewrite: { 'claude-sonnet-5': 'claude-haiku-4-5' },
  });
  assert.equal(rewritten.default_model, 'claude-sonnet-5');
});

test('what belongs to another workspace or space is as unknown as what does not exist', async () => {
  const { w, create, update } = await furnished();
  const other = await furnished();
  const route = await made(other.w.live, 'routes.create', { name: 'r', target_base_url: 'https://example.com' });
  const testRoute = await made(w.test, 'routes.create', { name: 'r', target_base_url: 'https://example.com' });
  const theirs = await other.create();
  const agent = await create();
  const messages = new Set<string>();
  for (const id of [route.id, testRoute.id, crypto.randomUUID()])
    await assert.rejects(
      update(agent.id, { primary_route_id: id }),
      (error: Refusal) => messages.add(error.message) && /foreign_reference: /.test(error.message),
    );
  assert.equal(messages.size, 1, 'one answer for all');
  await assert.rejects(update(agent.id, { fallback_agent_id: theirs.id }), invalid(/^fallback_agent_id: foreign_reference: /));
  await assert.rejects(update(agent.id, { fallback_agent_id: agent.id }), invalid(/^fallback_agent_id: must be another agent/));
  await assert.rejects(update(agent.id, { guardrail_webhook_secret_id: other.secret }), invalid(/foreign_reference: /));
  await assert.rejects(
    create({ provider: 'openai', upstream_secret_id: other.secret }),
    invalid(/^upstream_secret_id: foreign_reference: /),
  );
  await assert.rejects(made(w.test, 'ai_gateways.agents.get', { id: agent.id }), isRefusal('not_found', /./));
});

test('a key that cannot read a secret or call a route names neither', async () => {
  const { w, id, secret } = await furnished();
  const route = await made(w.live, 'routes.create', { name: 'r', target_base_url: 'https://example.com' });
  const limited = {
    ...w.live,
    actor: { ...w.live.actor, capabilities: new Set(['ai_gateway:create', 'ai_gateway:read'] as const) },
  } as typeof w.live;
  const create = (input: object) => made(limited, 'ai_gateways.agents.create', { id, name: 'A', slug: fresh('a'), ...input });
  await assert.rejects(
    create({ provider: 'openai-compatible', upstream: 'https://example.com', default_model: 'm', upstream_secret_id: secret }),
    isRefusal('forbidden', /secret:read/),
  );
  await assert.rejects(create({ primary_route_id: route.id }), isRefusal('forbidden', /proxy:invoke/));
  assert.equal((await create({})).primary_route_id, null);
});

test('what has no effect yet is accepted with a warning, and create-only fields are not changed', async () => {
  const { w, create, update } = await furnished();
  const agent = await create();
  const input = { id: agent.id, budget_overage_action: 'fallback', cache_mode: 'semantic', cache_ttl_seconds: 60 } as const;
  const { warning } = await updateAgent(w.live, input);
  assert.match(String(warning), /without a fallback_agent_id.*without a cache_embedding_model/);
  await assert.rejects(update(agent.id, { provider: 'openai' }), invalid(/is set when the agent is created/));
  const moved = await update(agent.id, { slug: 'elsewhere', routing_policy: { max_attempts: 99, retry_on: ['5xx'] } });
  assert.match(moved.agent_url, /\/v1\/ai\/elsewhere$/);
  assert.deepEqual(moved.routing_policy, { max_attempts: 5, retry_on: ['5xx'] });
});
