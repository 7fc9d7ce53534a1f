import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { parse, stringify } from 'yaml';
import { readKeys } from '../read-keys.ts';
import { planOf } from './litellm.ts';
import { settingsText } from './litellm-plan.ts';
import { isOpenAiModel } from './litellm-providers.ts';

// What becomes of a LiteLLM config, and that nothing of it is dropped in silence.

const model = (name: string, params: object, more: object = {}) => ({ model_name: name, litellm_params: params, ...more });
const plan = (config: object) => planOf(stringify(config));
const key = (name: string) => ({ api_key: `os.environ/${name}` });

test('deployments of one model share its calls, by what all of them have', () => {
  const azure = (host: string, more: object) => model('gpt', { model: 'azure/gpt-5', api_base: `https://${host}.example.com`, ...more });
  const { agents, aliases } = plan({
    model_list: [
      azure('eu', { ...key('EU'), rpm: 600, weight: 1 }),
      azure('us', { ...key('US'), rpm: 200 }),
      model('gpt', { model: 'openai/gpt-5', ...key('OPENAI'), rpm: 100 }),
    ],
  });
  assert.deepEqual(
    agents.map(({ slug, provider, model, upstream }) => [slug, provider, model, upstream]),
    [
      ['gpt', 'azure-openai', 'gpt-5', 'https://eu.example.com'],
      ['gpt-2', 'azure-openai', 'gpt-5', 'https://us.example.com'],
      ['gpt-3', 'openai', 'gpt-5', null],
    ],
  );
  assert.deepEqual([agents[0]?.shares, agents[0]?.fallbacks], [{ gpt: 600, 'gpt-2': 200, 'gpt-3': 100 }, ['gpt-2', 'gpt-3']]);
  assert.deepEqual([agents[1]?.shares, agents[1]?.fallbacks, aliases], [{}, [], { gpt: 'gpt-5' }]);
});

test('several keys of one place are one agent that takes turns, and another model of one provider takes no share, which is said', () => {
  const { agents, skipped, aliases } = plan({
    model_list: [
      model('fast', { model: 'openai/gpt-5', ...key('ONE') }),
      model('fast', { model: 'openai/gpt-5', ...key('TWO') }),
      model('fast', { model: 'openai/gpt-4o', ...key('ONE') }),
      model('other', { model: 'openai/gpt-5', ...key('ONE') }),
    ],
  });
  assert.deepEqual(
    agents.map((agent) => [agent.slug, agent.model, agent.key_from, agent.more_keys_from, agent.shares]),
    [
      ['fast', 'gpt-5', 'ONE', ['TWO'], {}],
      ['fast-2', 'gpt-4o', 'ONE', [], {}],
    ],
  );
  assert.deepEqual(aliases, { fast: 'gpt-5', other: 'gpt-5' }, 'the first deployment of a name says what it means');
  assert.ok(skipped.some((line) => /^fast: the deployment gpt-4o has another model of the same provider/.test(line)));
});

test('fallbacks, drop_params and the cache become settings, or are reported', () => {
  const models = [
    model('gpt', { model: 'openai/gpt-5', ...key('OPENAI') }),
    model('mini', { model: 'openai/gpt-5-mini', ...key('OPENAI') }),
    model('claude', { model: 'anthropic/claude-sonnet-5', ...key('ANTHROPIC') }),
  ];
  const { agents, skipped, notes } = plan({
    model_list: models,
    router_settings: { fallbacks: [{ gpt: ['claude', 'mini', 'gone'] }] },
    litellm_settings: { drop_params: true, cache: true, cache_params: { type: 'redis', ttl: 600, host: 'os.environ/REDIS_HOST' } },
  });
  assert.deepEqual([agents[0]?.fallbacks, agents[0]?.shares], [['claude'], {}]);
  for (const agent of agents)
    assert.deepEqual([agent.unsupported, agent.cache_mode, agent.cache_ttl_seconds], ['drop', 'exact', 600], agent.slug);
  for (const line of [
    /fallbacks: gpt to mini: calls keep their model within one provider\. In the file, write mini as custom_openai\/gpt-5-mini with its api_base/,
    /fallbacks: gpt to gone: isn’t/,
    /cache_params\.host: /,
    /cache_params\.type: redis isn’t used/,
  ])
    assert.ok(
      skipped.some((text) => line.test(text)),
      `${line}: ${skipped.join('\n')}`,
    );
  assert.ok(notes.some((line) => /^litellm_settings\.cache: answers are cached for their own caller alone/.test(line)));
  assert.equal(plan({ model_list: models }).agents[0]?.unsupported, undefined);
  assert.match(
    settingsText(agents[0] as (typeof agents)[number]),
    /^unsupported drop, cache_mode exact, cache_ttl_seconds 600$/,
    'every setting that is created is in the plan',
  );
});

test('servers of one’s own become agents with a base URL, without a key where the file has none', () => {
  const { agents, skipped, notes } = plan({
    model_list: [
      model('vllm', { model: 'hosted_vllm/meta/llama-3.3', api_base: 'http://10.0.0.6:8000/v1' }),
      model('ollama', { model: 'ollama/llama3.3', api_base: 'http://10.0.0.5:11434' }),
      model('any', { model: 'openai/qwen', api_base: 'http://10.0.0.7/v1', ...key('ANY') }),
      model('proxied', { model: 'anthropic/claude-sonnet-5', api_base: 'https://llm.corp.example.com', ...key('CORP') }),
      model('nova', { model: 'bedrock/amazon.nova-pro-v1:0', aws_region_name: 'eu-west-1', ...key('AWS') }),
      model('literal', { model: 'hosted_vllm/x', api_base: 'http://10.0.0.8/v1', api_key: 'sk-literal' }),
    ],
  });
  assert.deepEqual(
    agents.map(({ provider, upstream, model: of, keyless, key_from }) => [provider, upstream, of, keyless, key_from]),
    [
      ['openai-compatible', 'http://10.0.0.6:8000/v1', 'meta/llama-3.3', true, null],
      ['ollama', 'http://10.0.0.5:11434', 'llama3.3', true, null],
      ['openai-compatible', 'http://10.0.0.7/v1', 'qwen', false, 'ANY'],
      ['anthropic', 'https://llm.corp.example.com', 'claude-sonnet-5', false, 'CORP'],
      ['bedrock', 'https://bedrock-runtime.eu-west-1.amazonaws.com', 'amazon.nova-pro-v1:0', false, 'AWS'],
      ['openai-compatible', 'http://10.0.0.8/v1', 'x', false, null],
    ],
  );
  assert.deepEqual(skipped, []);
  assert.ok(
    notes.some((line) => /^any: .* PUT \/v1\/ai-gateway\/prices\/openai-compatible\/qwen$/.test(line)),
    notes.join('\n'),
  );
});

test('OpenAI’s models keep its provider, and so their price, behind any base URL, and fall back to a server of one’s own', () => {
  const { agents, notes } = plan({
    model_list: [
      model('chat', { model: 'openai/gpt-5.4-mini', api_base: 'http://10.0.0.7/v1', ...key('OPENAI') }),
      model('house', { model: 'hosted_vllm/qwen3', api_base: 'http://10.0.0.8/v1' }),
      model('last', { model: 'ollama/llama3.3', api_base: 'http://10.0.0.9' }),
      model('open', { model: 'openai/gpt-5', api_base: 'http://10.0.0.7/v1' }),
    ],
    router_settings: { fallbacks: [{ chat: ['house'] }] },
    litellm_settings: { default_fallbacks: ['last'] },
  });
  assert.deepEqual(
    agents.map(({ slug, provider, keyless, fallbacks }) => [slug, provider, keyless, fallbacks]),
    [
      ['chat', 'openai', false, ['house']],
      ['house', 'openai-compatible', true, ['last']],
      ['last', 'ollama', true, []],
      ['open', 'openai-compatible', true, ['last']],
    ],
  );
  assert.match(notes.join('\n'), /^open: a server without an api_key is an agent of openai-compatible[^\n]*$/);
  const { models } = JSON.parse(readFileSync('server/ai/prices/prices.json', 'utf8')) as { models: { provider: string; model: string }[] };
  const priced = models.filter(({ provider }) => provider === 'openai').map(({ model: id }) => id);
  assert.ok(priced.length > 50);
  assert.deepEqual(
    priced.filter((id) => !isOpenAiModel(id)),
    [],
  );
  for (const id of ['gpt-oss-120b', 'qwen3', 'llama3.3', 'openhermes']) assert.equal(isOpenAiModel(id), false, id);
});

test('names that reach prototypes are no aliases, which is said', () => {
  const names = ['__proto__', 'constructor', 'prototype'];
  const { aliases, skipped, agents } = plan({
    model_list: names.map((name) => model(name, { model: 'openai/gpt-5', ...key('OPENAI') })),
    router_settings: { model_group_alias: { quick: 'constructor' } },
  });
  assert.deepEqual([aliases, agents.length], [{ quick: 'constructor' }, 1]);
  for (const name of names) assert.ok(skipped.includes(`the alias ${name}: no alias can have this name; rename the model in the file`));
});

const WHOLE = {
  model_list: [
    model('a', { model: 'openai/gpt-5', ...key('A'), rpm: 10, tpm: 1_000, max_parallel_requests: 2 }, { model_info: { id: '1' } }),
    model('a', { model: 'anthropic/claude-sonnet-5', ...key('B'), rpm: 10, max_budget: 5, budget_duration: '1d' }),
    model('b', { model: 'hosted_vllm/x', api_base: 'http://10.0.0.8/v1', extra_headers: { 'x-a': 'b' } }),
  ],
  router_settings: { num_retries: 2, fallbacks: [{ a: ['b'] }], model_group_alias: { quick: 'a', slow: { model: 'b', hidden: true } } },
  litellm_settings: { cache: true, cache_params: { ttl: 60, type: 'local' }, success_callback: ['langfuse'] },
  general_settings: { master_key: 'sk-master-0123456789', alerting: ['slack'] },
  environment_variables: { REDIS_HOST: 'x' },
};

test('a key that no importer knows is reported wherever it stands, and never its value', () => {
  const places = objectsIn(WHOLE);
  assert.ok(places.length > 15, String(places.length));
  for (const [i, { path }] of places.entries()) {
    const config = parse(stringify(WHOLE)) as object;
    (objectsIn(config)[i]?.object as Record<string, unknown>).planted_key = 'planted-value';
    const { skipped, aliases } = planOf(stringify(config));
    // Names of models may be any.
    if (path.endsWith('model_group_alias')) assert.equal(aliases.planted_key, 'planted-value');
    else {
      const named = skipped.some((line) => line.includes('planted_key') || path.startsWith(line.slice(0, line.indexOf(':'))));
      assert.ok(named, `${path}: ${skipped.join('\n')}`);
      assert.doesNotMatch(skipped.join('\n'), /planted-value|sk-master/, path);
    }
  }
});

test('what is read is told from what is not', () => {
  const file = readKeys({
    a: 1,
    b: { c: 2, d: 3 },
    e: [
      { f: 1, g: 2 },
      { f: 1, h: 2 },
    ],
    i: { j: 1 },
    k: {},
  });
  const value = file.value as { a: number; b: { c: number }; e: { f: number }[]; i: object; k: object };
  assert.deepEqual([value.a, value.b.c, value.e.map(({ f }) => f), Array.isArray(value.e)], [1, 2, [1, 1], true]);
  file.settle(value.i);
  assert.deepEqual([...file.unread()].sort(), ['b.d', 'e[].g', 'e[].h', 'k']);
});

function objectsIn(value: unknown, path = ''): { path: string; object: object }[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, member]) =>
    objectsIn(member, Array.isArray(value) ? `${path}[]` : path === '' ? key : `${path}.${key}`),
  );
  return Array.isArray(value) ? below : [{ path, object: value }, ...below];
}
