import { inputTokens, type Usage } from '../usage/usage.ts';
import type { Price } from './price.ts';
import type { Rate } from './rates.ts';

/**
 * What a call cost in nano-USD, rounded half up once. A rate is whole micro-USD per million tokens, so tokens times rate are thousandths of a nano-USD
 * (interface rule 51 §9.3).
 */
export function costNano(usage: Usage, price: Price, { batch = false } = {}): bigint {
  const rate = ratesFor(price, inputTokens(usage));
  const thousandths =
    count(usage.input_uncached) * rate.input +
    count(usage.input_cached) * rate.cached +
    count(usage.cache_write_5m) * rate.write +
    count(usage.cache_write_1h) * rate.writeHour +
    count(usage.output_text) * rate.output +
    count(usage.reasoning) * rate.reasoning;
  const { per_request_usd, per_image_usd, web_search_usd } = price.rates;
  const each =
    (per_request_usd ?? 0n) + count(usage.images) * (per_image_usd ?? 0n) + count(usage.requests_web_search) * (web_search_usd ?? 0n);
  // One micro-USD is a million thousandths of a nano-USD.
  const whole = thousandths + each * 1_000_000n;
  const share = batch ? 10_000n - price.batchDiscount : 10_000n;
  return (whole * share + 5_000_000n) / 10_000_000n;
}

/** The most a call may cost before it is made: its input as uncached, and all of its output. */
export const estimateNano = (price: Price, input: number, output: number): bigint =>
  costNano(
    {
      input_uncached: input,
      input_cached: 0,
      cache_write_5m: 0,
      cache_write_1h: 0,
      output_text: output,
      reasoning: 0,
      requests_web_search: 0,
      images: 0,
      seconds_audio: 0,
      source: 'estimated',
    },
    price,
  );

/** The tier's rates hold for the whole call, as soon as its prompt is longer than the threshold. */
function ratesFor({ rates, tierThreshold }: Price, promptTokens: number) {
  const tiered = tierThreshold !== null && promptTokens > tierThreshold;
  const of = (name: Rate, tier: Rate): bigint | null => (tiered ? rates[tier] : null) ?? rates[name];
  const input = of('input_per_mtok', 'tier_input_per_mtok') ?? 0n;
  const output = of('output_per_mtok', 'tier_output_per_mtok') ?? 0n;
  const write = of('cache_write_per_mtok', 'tier_cache_write_per_mtok') ?? input;
  return {
    input,
    output,
    cached: of('cached_input_per_mtok', 'tier_cached_input_per_mtok') ?? input,
    write,
    writeHour: rates.cache_write_1h_per_mtok ?? write,
    reasoning: rates.reasoning_per_mtok ?? output,
  };
}

/** Providers report whole numbers; what isn't one is cut to it, so that no answer can break the ledger. */
const count = (n: number): bigint => (Number.isFinite(n) && n > 0 ? BigInt(Math.floor(n)) : 0n);
