import assert from 'node:assert/strict';
import test from 'node:test';
import { PROVIDERS } from '#server/ai/providers/catalogue.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { fresh, made } from '#server/testing/factories.ts';
import { workspace } from '#server/testing/workspace.ts';

// Base URLs of agents with a provider: servers of one's own, and proxies in front of a provider.

await testDatabase({ UPSTREAM_PRIVATE_ALLOWLIST: '127.0.0.0/8' });

const refused = (message: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.type === 'validation_error' && message.test(error.message);

async function furnished() {
  const { live } = await workspace({ plan: 'pro' });
  const gateway = await made(live, 'ai_gateways.create', { name: 'G', slug: fresh('g') });
  const secret = await made(live, 'secrets.create', { name: fresh('LLM_KEY'), value: 'sk-nobody-may-see' });
  const key = { upstream_secret_id: secret.id };
  const create = (input: object) => made(live, 'ai_gateways.agents.create', { id: gateway.id, name: 'A', slug: fresh('a'), ...input });
  const update = (id: string, input: object) => made(live, 'ai_gateways.agents.update', { id, ...input });
  const routeOf = async (agent: { primary_route_id: string }) => made(live, 'routes.get', { id: agent.primary_route_id });
  return { live, gateway, key, create, update, routeOf };
}

test('every provider takes a base URL of its own, and says which one it has', async () => {
  const { live, key, create, routeOf } = await furnished();
  for (const { id, origin, defaultModel } of PROVIDERS) {
    const model = defaultModel === null ? { default_model: 'm' } : {};
    const own = id === 'bedrock' ? 'https://bedrock-runtime.eu-west-1.amazonaws.com' : 'https://example.com/llm/v1';
    const agent = await create({ provider: id, ...key, ...model, upstream: own });
    assert.deepEqual([agent.upstream, agent.provider, (await routeOf(agent)).target_base_url], [own, id, own], id);
    if (origin !== null) assert.equal((await create({ provider: id, ...key })).upstream, origin, id);
  }
  const listed = await made(live, 'ai_gateways.providers', {});
  for (const { id, default_upstream } of listed) assert.equal(default_upstream, PROVIDERS.find((one) => one.id === id)?.origin, id);
});

test('http and private addresses are allowed as for routes: only where the operator opened them', async () => {
  const { live, key, create } = await furnished();
  for (const [url, answer] of [
    ['http://127.0.0.1:11434/v1', undefined],
    ['http://example.com/v1', /^upstream: must use https; http is only allowed for hosts that the operator lists/],
    ['http://10.0.0.5:11434/v1', /^upstream: private_address: .*UPSTREAM_PRIVATE_ALLOWLIST/],
    ['https://10.0.0.5/v1', /^upstream: private_address: /],
    ['http://169.254.169.254/latest', /^upstream: private_address: /],
    ['ftp://example.com', /^upstream: must use https/],
    ['https://{{var:host}}.example.com', /^upstream: must not contain placeholders/],
  ] as const) {
    const route = () => made(live, 'routes.create', { name: fresh('r'), target_base_url: url });
    for (const provider of ['ollama', 'openai', 'anthropic']) {
      const agent = create({ provider, ...key, default_model: 'm', upstream: url });
      if (answer) await assert.rejects(agent, refused(answer), url);
      else assert.equal((await agent).upstream, url);
    }
    if (answer) await assert.rejects(route, Refusal, `a route takes ${url}`);
    else await route();
  }
});

test('a server without a key takes no key that would never be sent, and other providers ask for one', async () => {
  const { key, create, update, routeOf } = await furnished();
  const local = { provider: 'ollama', upstream: 'http://127.0.0.1:11434', default_model: 'llama3' };
  const agent = await create(local);
  assert.deepEqual((await routeOf(agent)).inject_headers_json, {});
  const more = { upstream_secret_ids: [key.upstream_secret_id] };
  const unsent = refused(/^upstream_secret_ids: is only for agents that were created with an upstream_secret_id/);
  await assert.rejects(create({ ...local, ...more }), unsent);
  await assert.rejects(update(agent.id, more), unsent);
  const keyed = await create({ ...local, ...key, ...more });
  assert.equal(typeof (await routeOf(keyed)).inject_headers_json.Authorization, 'string');
  await update(keyed.id, { upstream_secret_ids: [] });
  await assert.rejects(create({ provider: 'groq', upstream: 'https://example.com' }), refused(/^upstream_secret_id: is required/));
});

test('an agent without a provider refuses what only its own route can say', async () => {
  const { key, create, update } = await furnished();
  await assert.rejects(create({ upstream: 'https://example.com' }), refused(/^upstream: is only for agents with a provider/));
  await assert.rejects(create(key), refused(/^upstream_secret_id: is only for agents with a provider/));
  const agent = await create({});
  assert.equal(agent.upstream, null);
  await assert.rejects(update(agent.id, { upstream: 'https://example.com' }), refused(/^upstream: is only for agents with a provider/));
});

test('moving an agent changes its route and says so, and null is the usual address of its provider', async () => {
  const { live, key, create, update, routeOf } = await furnished();
  const agent = await create({ provider: 'ollama', upstream: 'http://127.0.0.1:11434', default_model: 'llama3' });
  const moved = await update(agent.id, { upstream: 'http://127.0.0.2:11434/v1' });
  assert.deepEqual([moved.upstream, (await routeOf(agent)).target_base_url], ['http://127.0.0.2:11434/v1', 'http://127.0.0.2:11434/v1']);
  const entries = await db().audit_logs.findMany({ where: { tenant_id: live.tenant_id }, orderBy: { seq: 'desc' }, take: 2 });
  assert.deepEqual(entries.map(({ resource_type }) => resource_type).sort(), ['ai_agent', 'route']);
  await assert.rejects(update(agent.id, { upstream: null }), refused(/^upstream: is required with provider ollama/));
  // Another path of one host is no other place, and nothing changes twice.
  const proxied = await create({ provider: 'openai', ...key, upstream: 'https://example.com/v1' });
  assert.equal((await update(proxied.id, { upstream: 'https://example.com/openai/v1' })).upstream, 'https://example.com/openai/v1');
  await assert.rejects(update(proxied.id, { upstream: null }), refused(/^upstream: can't be changed here while upstream_secret_id stays/));
  const bedrock = await create({ provider: 'bedrock', ...key, upstream: 'https://bedrock-runtime.eu-west-1.amazonaws.com' });
  assert.equal((await routeOf(bedrock)).upstream_auth.region, 'eu-west-1');
  await assert.rejects(update(bedrock.id, { upstream: 'https://example.com' }), Refusal);
});
