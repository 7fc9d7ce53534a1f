import assert from 'node:assert/strict';
import test from 'node:test';
import { noUsage, type Usage } from '../usage/usage.ts';
import { costNano, estimateNano } from './cost.ts';
import { PriceFile, priceOf } from './price.ts';
import shipped from './prices.json' with { type: 'json' };
import { lookUp, priceTable, systemTable } from './table.ts';

const file = PriceFile.parse(shipped);
const system = systemTable(file);
const NOW = Date.parse('2026-11-23T00:00:00Z');
const priced = (provider: string, model: string) => {
  const price = lookUp(system, provider, model, NOW);
  assert.ok(price, `${provider} ${model}`);
  return price;
};
const usage = (parts: Partial<Usage>): Usage => ({ ...noUsage, ...parts });
const own = (parts: object) => priceOf({ provider: 'p', model: 'm', ...parts });

test('the shipped list is valid, names its date and source, and prices no model twice', () => {
  assert.match(file.date, /^20\d\d-/);
  assert.ok(file.source.length > 0);
  const names = file.models.map(({ provider, model, effective_from }) => `${provider} ${model} ${effective_from ?? ''}`);
  assert.equal(new Set(names).size, names.length);
});

test('the worked example of the interface: 6,060,000 nano-USD', () => {
  const price = priced('anthropic', 'claude-sonnet-5');
  assert.equal(costNano(usage({ input_uncached: 1200, input_cached: 800, output_text: 350 }), price), 6_060_000n);
});

test('every class of tokens has its price, and one without takes that of its kind', () => {
  const full = own({
    input_per_mtok: 2,
    output_per_mtok: 10,
    cached_input_per_mtok: 0.2,
    cache_write_per_mtok: 2.5,
    cache_write_1h_per_mtok: 4,
    reasoning_per_mtok: 20,
  });
  const each = usage({
    input_uncached: 1e6,
    input_cached: 1e6,
    cache_write_5m: 1e6,
    cache_write_1h: 1e6,
    output_text: 1e6,
    reasoning: 1e6,
  });
  assert.equal(costNano(each, full), 38_700_000_000n);
  assert.equal(costNano(each, own({ input_per_mtok: 2, output_per_mtok: 10 })), 28_000_000_000n);
});

test('half a nano-dollar is rounded up, once for the whole call', () => {
  const price = own({ input_per_mtok: 0.0005, output_per_mtok: 0.0005 });
  assert.equal(costNano(usage({ input_uncached: 1 }), price), 1n);
  assert.equal(costNano(usage({ input_uncached: 1, output_text: 1 }), price), 1n);
  assert.equal(costNano(usage({ input_uncached: 1 }), own({ input_per_mtok: 0.000499 })), 0n);
});

test('a tier holds for the whole call as soon as its prompt is longer than the threshold', () => {
  const price = priced('gemini', 'gemini-2.5-pro');
  const at = price.tierThreshold ?? 0;
  const cost = (input_uncached: number) => costNano(usage({ input_uncached, output_text: 1_000 }), price);
  assert.equal(cost(at), (BigInt(at) * 1_250_000n) / 1_000n + 10_000_000n);
  assert.equal(cost(at + 1), (BigInt(at + 1) * 2_500_000n) / 1_000n + 15_000_000n);
  const cached = usage({ input_uncached: 1, input_cached: at, output_text: 0 });
  assert.equal(costNano(cached, price), 2_500n + BigInt(at) * 250n, 'cached tokens belong to the prompt');
});

test('requests, images and searches cost by the piece, and a batch call less', () => {
  const price = own({ input_per_mtok: 1, per_request_usd: 0.001, per_image_usd: 0.02, web_search_usd: 0.01, batch_discount: 0.5 });
  const used = usage({ input_uncached: 1_000_000, images: 2, requests_web_search: 3 });
  assert.equal(costNano(used, price), 1_071_000_000n);
  assert.equal(costNano(used, price, { batch: true }), 535_500_000n);
});

test('flex costs less and priority more, by what the price says', () => {
  const tiers = (model: string) =>
    (['default', 'flex', 'priority'] as const).map((tier) => costNano(usage({ input_uncached: 1e6, tier }), priced('openai', model)));
  assert.deepEqual(tiers('gpt-5'), [1_250_000_000n, 625_000_000n, 2_500_000_000n]);
  assert.deepEqual(tiers('gpt-4.1'), [2_000_000_000n, 2_000_000_000n, 3_500_000_000n], 'no flex tier');
});

test('speech costs by the character, and audio by the second where no tokens are counted', () => {
  assert.equal(costNano(usage({ characters: 1_000_000 }), priced('openai', 'tts-1')), 15_000_000_000n);
  assert.equal(costNano(usage({ seconds_audio: 90 }), priced('openai', 'whisper-1')), 9_000_000n);
  assert.equal(costNano(usage({ seconds_audio: 60 }), priced('groq', 'whisper-large-v3-turbo')), 667_000n);
  const both = own({ input_per_mtok: 1, per_audio_minute_usd: 0.006 });
  assert.equal(costNano(usage({ seconds_audio: 60, input_uncached: 1_000 }), both), 1_000_000n);
  assert.equal(estimateNano(priced('openai', 'whisper-1'), 0, 4_096, { seconds_audio: 60 }), 6_000_000n);
});

test('counts that no provider should send cost nothing, and nothing overflows', () => {
  const price = priced('anthropic', 'claude-sonnet-5');
  for (const n of [Number.NaN, -5, Number.POSITIVE_INFINITY]) assert.equal(costNano(usage({ input_uncached: n }), price), 0n);
  assert.equal(costNano(usage({ output_text: Number.MAX_SAFE_INTEGER }), price), 1_000_000n * 1_000_000_000n);
  assert.equal(costNano(usage({ output_text: 1_000_000_000 }), price), 10_000_000_000_000n);
  assert.equal(estimateNano(price, 1_000, 500), 7_000_000n);
});

test('fine-tuned and image models have prices, the longest name first', () => {
  const rates = (model: string) => {
    const { input_per_mtok, output_per_mtok } = priced('openai', model).rates;
    return [input_per_mtok, output_per_mtok].map((rate) => Number(rate) / 1e6);
  };
  assert.deepEqual(rates('ft:gpt-4.1-2025-04-14:acme::abc123'), [3, 12]);
  assert.deepEqual(rates('ft:gpt-4.1-mini-2025-04-14:acme::abc123'), [0.8, 3.2]);
  assert.deepEqual(rates('ft:gpt-4o-mini-2024-07-18:acme:name:abc123'), [0.3, 1.2]);
  assert.deepEqual(rates('ft:o4-mini-2025-04-16:acme::abc123'), [4, 16]);
  assert.deepEqual(rates('gpt-image-1'), [10, 40]);
  assert.deepEqual(rates('gpt-image-1-mini'), [2.5, 8]);
});

test('a price is found in the order of the interface, or not at all', () => {
  assert.equal(priced('anthropic', 'claude-sonnet-4-5-20250929').model, 'claude-sonnet-4-5');
  assert.equal(priced('openai', 'gpt-4o-2099-01-31').model, 'gpt-4o');
  assert.equal(priced('bedrock', 'us.amazon.nova-pro-v1:0').model, 'amazon.nova-pro-v1:0');
  assert.equal(priced('gemini', 'models/gemini-2.5-pro').model, 'gemini-2.5-pro');
  assert.deepEqual(priced('ollama', 'whatever:7b').rates.input_per_mtok, 0n);
  assert.equal(lookUp(system, 'anthropic', 'claude-imaginary-9', NOW), null);
  assert.equal(lookUp(system, 'nobody', 'gpt-4o', NOW), null);
  const row = (model: string, input: number | null, from = 0) => ({
    provider: 'openai',
    model,
    from,
    price: input === null ? null : own({ model, input_per_mtok: input }),
  });
  const overrides = priceTable([
    row('gpt-4*', 7),
    row('gpt-4o*', 8),
    row('gpt-4o', 9),
    row('gpt-4o', 10, NOW),
    row('gpt-4o', null, NOW + 1_000),
  ]);
  const rate = (model: string, at = NOW) => lookUp(system, 'openai', model, at, overrides)?.rates.input_per_mtok;
  assert.equal(rate('gpt-4o'), 10_000_000n);
  assert.equal(rate('gpt-4o', NOW - 1), 9_000_000n, 'an older call keeps its price');
  assert.equal(rate('gpt-4o', NOW + 1_000), 8_000_000n, 'a withdrawn override leaves the next');
  assert.equal(rate('gpt-4o-mini'), 8_000_000n);
  assert.equal(rate('gpt-4.1'), 7_000_000n);
  assert.equal(rate('gpt-5'), 1_250_000n);
});
