import { inputTokens, noUsage, type ServiceTier, type Usage } from '../usage/usage.ts';
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
    count(usage.reasoning) * rate.reasoning +
    count(usage.characters) * (price.rates.input_per_mchar ?? 0n);
  const { per_request_usd, per_image_usd, web_search_usd, per_audio_minute_usd } = price.rates;
  const each =
    (per_request_usd ?? 0n) + count(usage.images) * (per_image_usd ?? 0n) + count(usage.requests_web_search) * (web_search_usd ?? 0n);
  // A model has a price per minute or per token; where it has both, the provider's count of tokens is charged.
  const seconds = inputTokens(usage) > 0 ? 0n : count(Math.ceil(usage.seconds_audio));
  const audio = (seconds * (per_audio_minute_usd ?? 0n) * 1_000_000n) / 60n;
  // One micro-USD is a million thousandths of a nano-USD.
  const whole = thousandths + audio + each * 1_000_000n;
  const share = shareOf(price, batch ? 'batch' : usage.tier);
  const nano = (whole * share + 5_000_000n) / 10_000_000n;
  return nano < MOST_NANO ? nano : MOST_NANO;
}

/** A million USD: what one call is charged at most, so that thousands of such calls fit into a counter of the database. */
export const MOST_NANO = 1_000_000n * 1_000_000_000n;

/** Ten-thousandths of the standard price: batch and flex are cheaper, priority is dearer. */
function shareOf({ batchDiscount, flexDiscount, prioritySurcharge }: Price, tier: ServiceTier | 'batch' | undefined): bigint {
  if (tier === 'batch') return 10_000n - batchDiscount;
  if (tier === 'flex') return 10_000n - flexDiscount;
  return tier === 'priority' ? 10_000n + prioritySurcharge : 10_000n;
}

/** The most a call may cost before it is made: its input as uncached, and all of its output; `audio` as it is known before. */
export const estimateNano = (price: Price, input: number, output: number, audio: Partial<Usage> = {}): bigint =>
  costNano({ ...noUsage, input_uncached: input, output_text: output, ...audio, source: 'estimated' }, price);

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
