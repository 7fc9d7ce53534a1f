import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { freePorts } from '#scripts/ports.ts';
import { startGateway } from '#server/gateway/gateway.fixture.ts';
import { startWeb } from '#server/gateway/v1/web.fixture.ts';
import { db } from '#server/platform/db.ts';
import { testDatabase } from '#server/testing/database.ts';
import { ownerOf } from '#server/testing/owner.ts';
import { workspace } from '#server/testing/workspace.ts';
import { cli } from '../cli.fixture.ts';

// `service-cli ai` against the running service, over sockets.

const [proxyPort = 0] = await freePorts(1);
const { directory } = await testDatabase({ SVC_GATEWAYS: '1', PLANE_PORTS: `api:1,sandbox:2,admin:3,proxy:${proxyPort}` });
await startWeb();
const { gateway } = await startGateway();
const { port } = await gateway.listen('api', 0, '127.0.0.1');
const KEY = 'sk-provider-0123456789abcdef';

async function setUp() {
  const w = await workspace();
  const { text } = await w.key();
  const env = { SERVICE_API_KEY: text, SERVICE_BASE_URL: `http://localhost:${port}`, HOME: directory, MY_KEY: KEY };
  const own = { tenant_id: w.tenant.id, sandbox: false };
  return { w, own, run: (...args: string[]) => cli(['ai', ...args], { env }) };
}

test('a key in an environment variable becomes an agent, a token and lines to paste; a second run uses the key that is stored', async () => {
  const { own, run } = await setUp();
  const made = await run('create-agent', 'support', '--provider', 'openai', '--secret-from-env', 'MY_KEY');
  assert.equal(made.code, 0, made.err);
  const [, url, token] =
    /^export OPENAI_BASE_URL='(https?:\S+\/v1\/ai\/support\/v1)' OPENAI_API_KEY='(svcp_live_a_\w+)'$/m.exec(made.out) ?? [];
  assert.ok(url && token, made.out);
  assert.match(made.out, /^export ANTHROPIC_BASE_URL='\S+\/v1\/ai\/support' /m);
  assert.equal(`${made.out}${made.err}`.includes(KEY), false);
  const agent = await db().ai_agents.findFirstOrThrow({ where: own });
  const gate = await db().ai_gateways.findFirstOrThrow({ where: own });
  assert.deepEqual([agent.provider, gate.slug, gate.name], ['openai', 'default', 'Default']);
  assert.ok(await db().secrets.findFirst({ where: { ...own, shortcode_name: 'ai-gateway-support-key' } }));
  await db().ai_agents.deleteMany({ where: own });
  const again = await run('create-agent', 'support', '--provider', 'openai', '--no-token', '--json');
  assert.equal(again.code, 0, again.err);
  assert.match(again.err, /Using the secret ai-gateway-support-key/);
  assert.equal(JSON.parse(again.out).token, undefined);
  assert.equal(await db().secrets.count({ where: own }), 1);
});

test('a login that may mint no token is told how to go on, and the same command then uses the agent that was made', async () => {
  const { w, own, run } = await setUp();
  const person = await ownerOf(w);
  const attempt = async (hours: number) => {
    const { text } = await w.token({ person, login_at: new Date(Date.now() - hours * 3_600_000) });
    const env = { SERVICE_ACCESS_TOKEN: text, SERVICE_BASE_URL: `http://localhost:${port}`, HOME: directory, MY_KEY: KEY };
    return cli(['ai', 'create-agent', 'support', '--provider', 'openai', '--secret-from-env', 'MY_KEY'], { env });
  };
  const refused = await attempt(13);
  assert.equal(refused.code, 1, refused.out);
  assert.match(refused.err, /has no token yet\. Correct the cause and run the command again: it goes on from here\./);
  assert.match(refused.err, /\nRun: service-cli login\. Then unset SERVICE_ACCESS_TOKEN/);
  const done = await attempt(1);
  assert.equal(done.code, 0, done.err);
  assert.match(done.err, /Using the agent support, which exists\./);
  assert.match(done.out, /OPENAI_API_KEY='svcp_live_a_\w+'/);
  assert.deepEqual([await db().ai_agents.count({ where: own }), await db().secrets.count({ where: own })], [1, 1]);
  const other = await run('create-agent', 'support', '--provider', 'anthropic', '--secret-from-env', 'MY_KEY');
  assert.deepEqual([other.code, await db().ai_agents.count({ where: own })], [1, 1], 'an agent of another provider is a conflict');
});

test('without a provider or a key nothing is made, and several gateways are named', async () => {
  const { own, run } = await setUp();
  for (const [args, message] of [
    [[], /needs a provider/],
    [['--provider', 'nobody', '--secret-from-env', 'MY_KEY'], /No provider is called nobody/],
    [['--provider', 'openai'], /needs the provider’s key/],
    [['--provider', 'openai', '--secret-from-env', 'NOT_SET'], /NOT_SET is empty/],
    [['--provider', 'openai', '--secret', 'no-such-secret'], /No secret is called/],
    [['--provider', 'azure-openai', '--secret-from-env', 'MY_KEY'], /needs its address/],
  ] as [string[], RegExp][]) {
    const refused = await run('create-agent', 'support', ...args);
    assert.deepEqual([refused.code, message.test(refused.err)], [2, true], refused.err);
  }
  assert.deepEqual([await db().secrets.count({ where: own }), await db().ai_gateways.count({ where: own })], [0, 0]);
});

const CONFIG = `
model_list:
  - model_name: fast
    litellm_params: { model: openai/gpt-5.4-mini, api_key: os.environ/MY_KEY, rpm: 60 }
  - model_name: literal
    litellm_params: { model: anthropic/claude-sonnet-5, api_key: sk-ant-literal-0123456789 }
  - model_name: private
    litellm_params: { model: openai/local, api_base: "https://user:hunter2@models.example.com/v1", api_key: os.environ/MY_KEY }
  - model_name: odd
    litellm_params: { model: sagemaker/thing }
router_settings: { num_retries: 2, allowed_fails: 3, cooldown_time: 30, model_group_alias: { quick: fast } }
general_settings: { master_key: sk-master-0123456789 }
`;

test('a LiteLLM config is shown first and created only when told; no literal key is read, kept or shown', async () => {
  const { own, run } = await setUp();
  const file = path.join(directory, 'config.yaml');
  fs.writeFileSync(file, CONFIG);
  const shown = await run('import', '--from', 'litellm', '--file', file, '--json');
  assert.equal(shown.code, 0, shown.err);
  const plan = JSON.parse(shown.out);
  assert.deepEqual(
    plan.agents.map((agent: Record<string, unknown>) => [agent.slug, agent.provider, agent.model, agent.key_from, agent.rate_limit_rpm]),
    [
      ['fast', 'openai', 'gpt-5.4-mini', 'MY_KEY', 60],
      ['literal', 'anthropic', 'claude-sonnet-5', null, null],
    ],
  );
  assert.deepEqual(plan.agents[0].routing_policy, {
    max_attempts: 3,
    retry_on: ['429', '5xx', 'timeout'],
    circuit: { failure_threshold: 4, cooldown_ms: 30_000 },
  });
  assert.deepEqual(plan.aliases, { fast: 'gpt-5.4-mini', literal: 'claude-sonnet-5', quick: 'gpt-5.4-mini' });
  assert.deepEqual([plan.skipped.length, await db().ai_agents.count({ where: own })], [3, 0]);
  const refused = await run('import', '--from', 'litellm', '--file', file, '--apply');
  assert.deepEqual([refused.code, /No key for literal: nothing was created/.test(refused.err)], [2, true], refused.err);
  const text = await run('import', '--from', 'litellm', '--file', file);
  for (const { out, err } of [shown, refused, text]) assert.doesNotMatch(`${out}${err}`, /sk-ant|hunter2|sk-master|sk-provider/);

  fs.writeFileSync(file, CONFIG.replace('sk-ant-literal-0123456789', 'os.environ/MY_KEY'));
  const applied = await run('import', '--from', 'litellm', '--file', file, '--apply', '--json');
  assert.equal(applied.code, 0, applied.err);
  const agents = await db().ai_agents.findMany({ where: own, orderBy: { slug: 'asc' } });
  assert.deepEqual(
    agents.map(({ slug, provider, default_model }) => [slug, provider, default_model]),
    [
      ['fast', 'openai', 'gpt-5.4-mini'],
      ['literal', 'anthropic', 'claude-sonnet-5'],
    ],
  );
  const gate = await db().ai_gateways.findFirstOrThrow({ where: own });
  assert.deepEqual(gate.model_aliases, plan.aliases);
});

const BALANCED = `
model_list:
  - { model_name: chat, litellm_params: { model: openai/gpt-5.4-mini, api_key: os.environ/MY_KEY, rpm: 300 } }
  - { model_name: chat, litellm_params: { model: hosted_vllm/gpt-5.4-mini, api_base: "http://127.0.0.1:8000/v1", rpm: 100 } }
  - { model_name: backup, litellm_params: { model: anthropic/claude-sonnet-5, api_key: os.environ/MY_KEY } }
router_settings: { fallbacks: [{ chat: [backup] }] }
litellm_settings: { cache: true, cache_params: { ttl: 600 }, telemetry: false }
`;

test('deployments of LiteLLM that share calls are created as routes with weights, fallbacks after them, and a server without a key', async () => {
  const { own, run } = await setUp();
  const file = path.join(directory, 'balanced.yaml');
  fs.writeFileSync(file, BALANCED);
  const shown = await run('import', '--from', 'litellm', '--file', file);
  assert.match(shown.out, /calls of chat are shared: chat 300, chat-2 100\ncalls of chat that fail go to: chat-2, backup/);
  assert.match(shown.out, /settings of chat: rate_limit_rpm 300, cache_mode exact, cache_ttl_seconds 600\n/);
  assert.match(shown.err, /left out: litellm_settings\.telemetry: has no counterpart here/);
  assert.match(shown.err, /note: litellm_settings\.cache: answers are cached/);
  const elsewhere = await run('import', '--from', 'litellm', '--file', file, '--gateway', 'nowhere');
  assert.deepEqual([elsewhere.code, /No active gateway is called nowhere/.test(elsewhere.err)], [2, true], elsewhere.err);
  const applied = await run('import', '--from', 'litellm', '--file', file, '--apply', '--json');
  assert.equal(applied.code, 0, applied.err);
  const [backup, chat, vllm] = await db().ai_agents.findMany({ where: own, orderBy: { slug: 'asc' } });
  assert.ok(backup && chat && vllm);
  assert.deepEqual(chat.fallback_route_ids, [vllm.primary_route_id, backup.primary_route_id]);
  assert.deepEqual((chat.routing_policy as { route_weights?: object }).route_weights, {
    [chat.primary_route_id ?? '']: 300,
    [vllm.primary_route_id ?? '']: 100,
  });
  assert.deepEqual([chat.cache_mode, chat.cache_ttl_seconds, vllm.provider], ['exact', 600, 'openai-compatible']);
  const target = await db().route_environment_configs.findFirstOrThrow({ where: { route_id: vllm.primary_route_id ?? '' } });
  assert.deepEqual([target.target_base_url, target.inject_headers_json], ['http://127.0.0.1:8000/v1', {}]);
  // A second run changes nothing.
  assert.equal((await run('import', '--from', 'litellm', '--file', file, '--apply')).code, 0);
  assert.equal(await db().ai_agents.count({ where: own }), 3);
});

test('a server without a key becomes an agent without a secret', async () => {
  const { own, run } = await setUp();
  const made = await run(
    'create-agent',
    'local',
    '--provider',
    'ollama',
    '--upstream',
    'http://127.0.0.1:11434',
    '--model',
    'llama3',
    '--no-token',
  );
  assert.equal(made.code, 0, made.err);
  assert.deepEqual([await db().ai_agents.count({ where: own }), await db().secrets.count({ where: own })], [1, 0]);
});

test('a file that isn’t YAML is refused by its line, without quoting it', async () => {
  const { run } = await setUp();
  const file = path.join(directory, 'broken.yaml');
  fs.writeFileSync(file, 'model_list:\n  - "sk-broken-0123456789');
  const refused = await run('import', '--from', 'litellm', '--file', file);
  assert.equal(refused.code, 2);
  assert.doesNotMatch(refused.err, /sk-broken/);
});
