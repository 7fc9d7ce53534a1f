import assert from 'node:assert/strict';
import test from 'node:test';
import type { ImageKind } from '../usage/image-request.ts';
import { noUsage, type Usage } from '../usage/usage.ts';
import { costNano, estimateNano, pricesTier } from './cost.ts';
import { pricesUse } from './images.ts';
import { type Price, PriceFile, priceOf } from './price.ts';
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

test('fine-tuned models have prices, the longest name first', () => {
  const rates = (model: string) => {
    const { input_per_mtok, output_per_mtok } = priced('openai', model).rates;
    return [input_per_mtok, output_per_mtok].map((rate) => Number(rate) / 1e6);
  };
  assert.deepEqual(rates('ft:gpt-4.1-2025-04-14:acme::abc123'), [3, 12]);
  assert.deepEqual(rates('ft:gpt-4.1-mini-2025-04-14:acme::abc123'), [0.8, 3.2]);
  assert.deepEqual(rates('ft:gpt-4o-mini-2024-07-18:acme:name:abc123'), [0.3, 1.2]);
  assert.deepEqual(rates('ft:o4-mini-2025-04-16:acme::abc123'), [4, 16]);
});

/** USD of a call, or null where the price can't say. */
const usd = (price: Price, parts: Partial<Usage>): number | null => {
  const used = usage(parts);
  return pricesUse(price, used) ? Number(costNano(used, price)) / 1e9 : null;
};

test('images cost by size and quality: the default of the provider where a request names none, the dearest of `auto`, and nothing known is no zero', () => {
  const image = (model: string, kind: ImageKind, images = 1, provider = 'openai') => usd(priced(provider, model), { images, image: kind });
  assert.deepEqual(
    [
      {},
      { quality: 'hd' },
      { size: '1792x1024' },
      { size: '1024x1792', quality: 'hd' },
      { size: 'auto' },
      { size: '512x512' },
      { quality: 'ultra' },
    ].map((kind) => image('dall-e-3', kind)),
    [0.04, 0.08, 0.08, 0.12, 0.08, null, null],
  );
  assert.deepEqual(
    [{}, { size: '256x256' }, { size: '512x512', quality: 'standard' }].map((kind) => image('dall-e-2', kind, 10)),
    [0.2, 0.16, 0.18],
  );
  assert.equal(image('grok-imagine-image', { size: '2k' }, 3, 'xai'), 0.06);
  assert.deepEqual(
    [{}, { quality: 'low' }, { size: '2k', quality: 'medium' }, { size: '4k' }].map((kind) =>
      image('grok-imagine-image-2.0', kind, 1, 'xai'),
    ),
    [0.06, 0.04, 0.08, null],
  );
  // A price of one's own for every other size.
  const own4k = own({ per_image_usd: 0.5, image_prices: [{ size: '1k', usd: 0.1 }] });
  assert.deepEqual(
    [{ size: '1k' }, { size: '4k' }, {}].map((kind) => usd(own4k, { images: 1, image: kind })),
    [0.1, 0.5, 0.1],
  );
});

test('an image model that counts tokens is charged by them, pictures apart from text, and by size and quality where its answer counts none', () => {
  const price = priced('openai', 'gpt-image-1');
  const counted = { images: 1, input_uncached: 1_000, input_image: 900, output_text: 4_160, output_image: 4_160 };
  assert.equal(usd(price, counted), (100 * 5 + 900 * 10 + 4_160 * 40) / 1e6);
  assert.equal(usd(price, { images: 1, image: { size: '1024x1024', quality: 'low' } }), 0.011);
  // 1.5 also writes text.
  assert.equal(
    usd(priced('openai', 'gpt-image-1.5'), { images: 1, output_text: 1_100, output_image: 1_000 }),
    (100 * 10 + 1_000 * 32) / 1e6,
  );
  assert.equal(usd(priced('gemini', 'gemini-2.5-flash-image'), { output_text: 1_290, output_image: 1_290 }), 0.0387);
  // The parts can't be more than their whole.
  assert.equal(usd(price, { output_text: 10, output_image: 4_160 }), 0.0004);
  assert.equal(usd(own({ input_per_mtok: 1, output_per_mtok: 2 }), { images: 1, image: {} }), null);
});

test('a reservation covers the dearest image that a call may get, and one larger than any known', () => {
  const most = (model: string, image: ImageKind, images = 1) =>
    Number(estimateNano(priced('openai', model), 0, 0, { images, image })) / 1e9;
  assert.deepEqual(
    [{}, { size: 'auto', quality: 'auto' }, { quality: 'low' }, { size: '1024x1024' }, { size: '1024x1024', quality: 'medium' }].map(
      (kind) => most('gpt-image-1', kind),
    ),
    [0.25, 0.25, 0.016, 0.167, 0.042],
  );
  assert.equal(most('dall-e-3', { size: 'auto', quality: 'auto' }, 2), 0.24);
  assert.equal(most('gpt-image-2', { size: '2048x2048', quality: 'high' }), 0.211 * 4);
  assert.equal(Number(estimateNano(priced('gemini', 'gemini-3-pro-image'), 0, 1_000)) / 1e9, 0.12);
});

test('the tokens of the shipped image models agree with their prices by size and quality', () => {
  // The usual sizes at high quality, as the provider counts them.
  for (const [model, tokens] of [
    ['gpt-image-1', 4_160],
    ['gpt-image-1.5', 4_160],
  ] as const) {
    const price = priced('openai', model);
    const byTokens = usd(price, { images: 1, output_text: tokens, output_image: tokens }) ?? 0;
    const byPiece = usd(price, { images: 1, image: { size: '1024x1024', quality: 'high' } }) ?? 0;
    assert.ok(Math.abs(byTokens - byPiece) < 0.001, `${model} ${byTokens} ${byPiece}`);
  }
});

test('a tier has a price where the list says what it costs, and only there', () => {
  const known = (provider: string, model: string) =>
    (['flex', 'priority'] as const).map((tier) => pricesTier(priced(provider, model), tier));
  assert.deepEqual(known('openai', 'gpt-5'), [true, true]);
  assert.deepEqual(known('openai', 'gpt-4.1'), [false, true]);
  assert.deepEqual(known('openai', 'ft:gpt-4.1-2025-04-14:acme::abc123'), [false, false]);
  assert.deepEqual(known('gemini', 'gemini-2.5-pro'), [true, true]);
  assert.deepEqual(known('bedrock', 'amazon.nova-pro-v1:0'), [true, true]);
  const none = own({ input_per_mtok: 1, flex_discount: 0, priority_surcharge: 0 });
  assert.deepEqual([pricesTier(none, 'flex'), pricesTier(none, 'priority'), pricesTier(none, undefined)], [true, true, true]);
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
